# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""HAT, as its authors publish it."""
import torch
from published import Case
from swin_parts import Group, Perceptron, SwinFamily, WindowAttention, cut, join, mask_of_shifted
from swin_parts import offsets
from torch import nn
from torch.nn import functional


class ChannelAttention(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.attention = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, squeezed, 1), nn.ReLU(),
            nn.Conv2d(squeezed, channels, 1), nn.Sigmoid(),
        )

    def forward(self, x):
        return x * self.attention(x)


class Block(nn.Module):
    def __init__(self, channels, window, heads, shift, hidden, compressed, squeezed):
        super().__init__()
        self.window, self.shift = window, shift
        self.norm1 = nn.LayerNorm(channels)
        self.attn = WindowAttention(channels, window, heads, index=False)
        self.conv_block = nn.Module()
        self.conv_block.cab = nn.Sequential(
            nn.Conv2d(channels, compressed, 3, padding=1), nn.GELU(),
            nn.Conv2d(compressed, channels, 3, padding=1), ChannelAttention(channels, squeezed),
        )
        self.norm2 = nn.LayerNorm(channels)
        self.mlp = Perceptron(channels, hidden)

    def forward(self, x):
        height, width = x.shape[1:3]
        normalised = self.norm1(x)
        convolved = self.conv_block.cab(normalised.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        mask = mask_of_shifted(height, width, self.window, self.shift) if self.shift else None
        shifted = normalised.roll((-self.shift, -self.shift), (1, 2))
        made = self.attn(cut(shifted, self.window), mask, offsets(self.window))
        attended = join(made, self.window, height, width).roll((self.shift, self.shift), (1, 2))
        x = x + attended + 0.01 * convolved
        return x + self.mlp(self.norm2(x))


def overlapping_offsets(window, size):
    queries, keys = torch.arange(window * window)[:, None], torch.arange(size * size)
    down = keys // size - queries // window + window - size + 1
    right = keys % size - queries % window + window - size + 1
    return down * (window + size - 1) + right


class OverlappingBlock(nn.Module):
    def __init__(self, channels, window, heads, hidden, size):
        super().__init__()
        self.window, self.heads, self.size = window, heads, size
        self.norm1 = nn.LayerNorm(channels)
        self.qkv = nn.Linear(channels, 3 * channels)
        table = torch.zeros((window + size - 1) ** 2, heads)
        self.relative_position_bias_table = nn.Parameter(table)
        self.proj = nn.Linear(channels, channels)
        self.norm2 = nn.LayerNorm(channels)
        self.mlp = Perceptron(channels, hidden)

    def around(self, x):
        """B, H, W, C to windows around each window."""
        channels = x.shape[3]
        border = (self.size - self.window) // 2
        columns = functional.unfold(x.permute(0, 3, 1, 2), self.size, padding=border,
                                    stride=self.window)
        columns = columns.reshape(len(x), channels, self.size**2, -1)
        return columns.permute(0, 3, 2, 1).flatten(0, 1)

    def forward(self, x):
        height, width, channels = x.shape[1:]
        queries, keys, values = self.qkv(self.norm1(x)).chunk(3, -1)
        windows = (cut(queries, self.window), self.around(keys), self.around(values))
        q, k, v = (part.unflatten(2, (self.heads, -1)).transpose(1, 2) for part in windows)
        scores = q @ k.transpose(2, 3) * (channels // self.heads) ** -0.5
        rows = overlapping_offsets(self.window, self.size)
        scores = scores + self.relative_position_bias_table[rows].permute(2, 0, 1)
        made = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
        x = x + self.proj(join(made, self.window, height, width))
        return x + self.mlp(self.norm2(x))


class Layer(Group):
    def __init__(self, channels, blocks, overlapping, residual):
        super().__init__(channels, blocks, residual)
        self.residual_group.overlap_attn = overlapping

    def inner(self, x):
        return self.residual_group.overlap_attn(super().inner(x))


class HAT(SwinFamily):
    def __init__(self, depths=(2, 2), heads=(2, 2), features=12, window=4, hidden=24, overlap=0.5,
                 compress=3, squeeze=6, residual="1conv", **family):
        size = window + int(window * overlap)
        layers = []
        for depth, count in zip(depths, heads):
            blocks = [Block(features, window, count, i % 2 * (window // 2), hidden,
                            features // compress, features // squeeze) for i in range(depth)]
            overlapping = OverlappingBlock(features, window, count, hidden, size)
            layers.append(Layer(features, blocks, overlapping, residual))
        super().__init__(layers, window=window, features=features, residual=residual, **family)
        self.register_buffer("relative_position_index_SA", offsets(window))
        self.register_buffer("relative_position_index_OCA", overlapping_offsets(window, size))


def told(scale=2, blocks="2/2", heads="2/2", window=4, features=12, overlapping=6, compressed=4,
         squeezed=2):
    return {"architecture": "HAT", "scale": scale, "features": features, "blocks": blocks,
            "heads": heads, "window": window, "overlapping": overlapping, "compressed": compressed,
            "squeezed": squeezed, "upsampler": "pixelshuffle"}


CASES = {
    "x2": Case(HAT, told()),
    "x3": Case(lambda: HAT(scale=3), told(scale=3)),
    "x4": Case(lambda: HAT(scale=4), told(scale=4)),
    "x1": Case(lambda: HAT(scale=1), told(scale=1)),
    "grey": Case(lambda: HAT(channels=1), told(), channels=1),
    "small": Case(lambda: HAT(compress=6, squeeze=12, hidden=18), told(compressed=2, squeezed=1)),
    "layers": Case(lambda: HAT(depths=(3, 1, 2), heads=(1, 2, 4)),
                   told(blocks="3/1/2", heads="1/2/4")),
    "window": Case(lambda: HAT(window=8), told(window=8, overlapping=12)),
    "overlap": Case(lambda: HAT(overlap=1), told(overlapping=8)),
    "no-overlap": Case(lambda: HAT(overlap=0), told(overlapping=4)),
    "identity": Case(lambda: HAT(residual="identity", patch_norm=False), told()),
    "multiple-of-window": Case(HAT, told(), size=(24, 16)),
}
