# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""SRFormer, as its authors publish it."""
import torch
from published import Case
from swin_parts import Group, SwinFamily, cut, join, offsets, parts_of_shifted
from torch import nn
from torch.nn import functional


def offsets_of_four(keys):
    """Each key stands for 2 x 2 pixels."""
    rows = offsets(keys).reshape(keys, 1, keys, 1, keys * keys)
    return rows.expand(keys, 2, keys, 2, keys * keys).reshape(4 * keys * keys, keys * keys)


def published_mask(height, width, window):
    """Of the published code: queries by the part that they are of, keys by their window alone."""
    keys = window // 2
    queries = cut(parts_of_shifted(height, width, window, keys), window)[:, :, 0]
    down = torch.arange(height // 2) >= height // 2 - keys
    right = torch.arange(width // 2) >= width // 2 - keys
    of_key = (down[:, None] * 6 + right[None, :] * 2)[None, :, :, None]
    of_key = cut(of_key, keys)[:, :, 0]
    return torch.where(queries[:, :, None] == of_key[:, None, :], 0.0, -100.0)


class PermutedAttention(nn.Module):
    def __init__(self, channels, window, heads):
        super().__init__()
        self.heads, self.keys = heads, window // 2
        table = torch.zeros((2 * self.keys - 1) ** 2, heads)
        self.relative_position_bias_table = nn.Parameter(table)
        self.register_buffer("aligned_relative_position_index", offsets_of_four(self.keys))
        self.kv = nn.Linear(channels, channels // 2)
        self.q = nn.Linear(channels, channels)
        self.proj = nn.Linear(channels, channels)

    def gathered(self, x):
        """The channels of 2 x 2 pixels as those of one key."""
        x = x.unflatten(1, (self.keys, 2, self.keys, 2)).transpose(2, 3)
        return x.flatten(3, 5).flatten(1, 2)

    def forward(self, x, mask):
        channels = x.shape[2]
        k, v = (self.gathered(part) for part in self.kv(x).chunk(2, -1))
        q, k, v = (part.unflatten(2, (self.heads, -1)).transpose(1, 2)
                   for part in (self.q(x), k, v))
        scores = q @ k.transpose(2, 3) * (channels // self.heads) ** -0.5
        bias = self.relative_position_bias_table[self.aligned_relative_position_index]
        scores = scores + bias.permute(2, 0, 1)
        if mask is not None:
            scores = scores.reshape(-1, len(mask), *scores.shape[1:]) + mask[None, :, None]
            scores = scores.flatten(0, 1)
        return self.proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class PerceptronOfNeighbours(nn.Module):
    def __init__(self, channels, hidden):
        super().__init__()
        self.fc1 = nn.Linear(channels, hidden)
        self.dwconv = nn.Module()
        conv = nn.Conv2d(hidden, hidden, 5, padding=2, groups=hidden)
        self.dwconv.depthwise_conv = nn.Sequential(conv, nn.GELU())
        self.fc2 = nn.Linear(hidden, channels)

    def forward(self, x):
        x = functional.gelu(self.fc1(x))
        return self.fc2(x + self.dwconv.depthwise_conv(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1))


class Block(nn.Module):
    def __init__(self, channels, window, heads, shift, hidden, trained):
        super().__init__()
        self.window, self.shift = window, shift if trained > window else 0
        self.norm1 = nn.LayerNorm(channels)
        self.attn = PermutedAttention(channels, window, heads)
        self.norm2 = nn.LayerNorm(channels)
        self.mlp = PerceptronOfNeighbours(channels, hidden)
        if self.shift:
            self.register_buffer("attn_mask", published_mask(trained, trained, window))

    def forward(self, x):
        height, width = x.shape[1:3]
        shifted = self.norm1(x).roll((-self.shift, -self.shift), (1, 2))
        mask = published_mask(height, width, self.window) if self.shift else None
        made = join(self.attn(cut(shifted, self.window), mask), self.window, height, width)
        x = x + made.roll((self.shift, self.shift), (1, 2))
        return x + self.mlp(self.norm2(x))


class SRFormer(SwinFamily):
    def __init__(self, depths=(2, 2), heads=(2, 2), features=12, window=4, hidden=24, trained=16,
                 residual="1conv", **family):
        layers = []
        for depth, count in zip(depths, heads):
            blocks = [Block(features, window, count, i % 2 * (window // 2), hidden, trained)
                      for i in range(depth)]
            layers.append(Group(features, blocks, residual))
        super().__init__(layers, window=window, features=features, residual=residual, **family)


def told(scale=2, blocks="2/2", heads="2/2", window=4, upsampler="pixelshuffle"):
    return {"architecture": "SRFormer", "scale": scale, "features": 12, "blocks": blocks,
            "heads": heads, "window": window, "upsampler": upsampler}


CASES = {
    "x2": Case(SRFormer, told()),
    "x3": Case(lambda: SRFormer(scale=3), told(scale=3)),
    "x4": Case(lambda: SRFormer(scale=4), told(scale=4)),
    "grey": Case(lambda: SRFormer(channels=1), told(), channels=1),
    "light": Case(lambda: SRFormer(window=16, trained=64, upsampler="pixelshuffledirect", scale=4),
                  told(window=16, scale=4, upsampler="pixelshuffledirect")),
    "published-window": Case(lambda: SRFormer(window=22, trained=66), told(window=22)),
    "real": Case(lambda: SRFormer(upsampler="nearest+conv", scale=4, residual="3conv"),
                 told(upsampler="nearest+conv", scale=4)),
    "denoise": Case(lambda: SRFormer(upsampler="none", scale=1), told(upsampler="none", scale=1)),
    "layers": Case(lambda: SRFormer(depths=(3, 1, 2), heads=(1, 2, 4), hidden=20),
                   told(blocks="3/1/2", heads="1/2/4")),
    "never-shifted": Case(lambda: SRFormer(trained=4), told()),
    "multiple-of-window": Case(SRFormer, told(), size=(24, 16)),
}
