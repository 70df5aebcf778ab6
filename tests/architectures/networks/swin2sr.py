# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Swin2SR, as its authors publish it."""
import math

import torch
from published import Case
from swin_parts import Group, Perceptron, SwinBlock, SwinFamily, offsets
from torch import nn
from torch.nn import functional


def coordinates(window):
    steps = torch.arange(1.0 - window, window) / (window - 1) * 8
    steps = steps.sign() * (steps.abs() + 1).log2() / 3
    side = len(steps)
    return torch.stack([steps[:, None].expand(side, side), steps.expand(side, side)], 2)[None]


class CosineAttention(nn.Module):
    def __init__(self, channels, window, heads, qkv_bias, inner=20):
        super().__init__()
        self.heads = heads
        # From 1/e to above 100, which no factor exceeds.
        self.logit_scale = nn.Parameter(torch.zeros(heads, 1, 1))
        self.cpb_mlp = nn.Sequential(nn.Linear(2, inner), nn.ReLU(),
                                     nn.Linear(inner, heads, bias=False))
        self.register_buffer("relative_coords_table", coordinates(window))
        self.register_buffer("relative_position_index", offsets(window))
        self.qkv = nn.Linear(channels, 3 * channels, bias=False)
        self.q_bias = nn.Parameter(torch.zeros(channels)) if qkv_bias else None
        self.v_bias = nn.Parameter(torch.zeros(channels)) if qkv_bias else None
        self.proj = nn.Linear(channels, channels)

    def forward(self, x, mask=None):
        windows, tokens, channels = x.shape
        x = self.qkv(x)
        if self.q_bias is not None:
            x = x + torch.cat([self.q_bias, torch.zeros(channels), self.v_bias])
        q, k, v = x.unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        scores = functional.normalize(q, dim=-1) @ functional.normalize(k, dim=-1).mT
        scores = scores * self.logit_scale.clamp(max=math.log(100)).exp()
        table = self.cpb_mlp(self.relative_coords_table).flatten(0, 2)
        scores = scores + 16 * table[self.relative_position_index].sigmoid().permute(2, 0, 1)
        if mask is not None:
            scores = scores.reshape(-1, len(mask), *scores.shape[1:]) + mask[None, :, None]
            scores = scores.flatten(0, 1)
        x = scores.softmax(-1) @ v
        return self.proj(x.transpose(1, 2).reshape(windows, tokens, channels))


class Block(SwinBlock):
    """Its norms come after the layers."""

    def __init__(self, channels, window, heads, shift, hidden, qkv_bias, trained):
        super().__init__(channels, window, heads, shift, hidden, qkv_bias, trained)
        self.attn = CosineAttention(channels, window, heads, qkv_bias)
        self.mlp = Perceptron(channels, hidden)

    def forward(self, x):
        x = x + self.norm1(self.attended(x))
        return x + self.norm2(self.mlp(x))


class Layer(Group):
    def __init__(self, channels, blocks, residual):
        super().__init__(channels, blocks, residual)
        self.patch_embed = nn.Module()
        self.patch_embed.proj = nn.Conv2d(channels, channels, 1)

    def forward(self, x):
        inner = self.conv(self.inner(x).permute(0, 3, 1, 2))
        return x + self.patch_embed.proj(inner).permute(0, 2, 3, 1)


class Embedding(nn.Module):
    """Stands where SwinIR has the norm alone."""

    def __init__(self, channels, normed):
        super().__init__()
        self.proj = nn.Conv2d(channels, channels, 1)
        self.norm = nn.LayerNorm(channels) if normed else nn.Identity()


class Swin2SR(SwinFamily):
    def __init__(self, depths=(2, 2), heads=(2, 2), features=12, window=4, hidden=24,
                 qkv_bias=True, trained=16, residual="1conv", patch_norm=True,
                 upsampler="pixelshuffle", channels=3, inner=16, **family):
        layers = []
        for depth, count in zip(depths, heads):
            blocks = [Block(features, window, count, i % 2 * (window // 2), hidden, qkv_bias,
                            trained) for i in range(depth)]
            layers.append(Layer(features, blocks, residual))
        plain = "pixelshuffle" if upsampler == "pixelshuffle_aux" else upsampler
        super().__init__(layers, window=window, features=features, residual=residual,
                         upsampler=plain, channels=channels, inner=inner, **family)
        self.patch_embed = Embedding(features, patch_norm)
        self.has_small = upsampler == "pixelshuffle_aux"
        if self.has_small:
            self.conv_bicubic = nn.Conv2d(channels, inner, 3, padding=1)
            self.conv_aux = nn.Conv2d(inner, channels, 3, padding=1)
            self.conv_after_aux = nn.Sequential(nn.Conv2d(3, inner, 3, padding=1), nn.LeakyReLU())

    def over_small_picture(self, x, picture, height, width):
        size = height * self.scale, width * self.scale
        bicubic = functional.interpolate(picture, size=size, mode="bicubic")
        x = self.conv_after_aux(self.conv_aux(self.conv_before_upsample(x)))
        x = self.upsample(x)[:, :, : size[0], : size[1]]
        return self.conv_last(x + self.conv_bicubic(bicubic))

    def forward(self, picture):
        height, width = picture.shape[2:]
        padding = (0, -width % self.window, 0, -height % self.window)
        x = functional.pad(picture, padding, "reflect")
        within = (x - self.mean) * self.span
        first = self.conv_first(within)
        x = self.patch_embed.norm(self.patch_embed.proj(first).permute(0, 2, 3, 1))
        for layer in self.layers:
            x = layer(x)
        x = self.conv_after_body(self.norm(x).permute(0, 3, 1, 2)) + first
        x = (self.over_small_picture(x, within, height, width) if self.has_small
             else self.enlarged(x, within))
        x = x / self.span + self.mean
        return x[:, :, : height * self.scale, : width * self.scale]


def told(scale=2, blocks="2/2", heads="2/2", window=4, features=12, upsampler="pixelshuffle"):
    return {"architecture": "Swin2SR", "scale": scale, "features": features, "blocks": blocks,
            "heads": heads, "window": window, "upsampler": upsampler}


class WithoutTable(Swin2SR):
    """The buffers can be computed anew: some files have only one of them."""

    def state_dict(self, *arguments, **options):
        return {name: tensor for name, tensor in super().state_dict(*arguments, **options).items()
                if not name.endswith("relative_coords_table")}


CASES = {
    "classic-x2": Case(Swin2SR, told()),
    "classic-x3": Case(lambda: Swin2SR(scale=3), told(scale=3)),
    "classic-x4": Case(lambda: Swin2SR(scale=4), told(scale=4)),
    "layers": Case(lambda: Swin2SR(depths=(3, 1), heads=(1, 4), hidden=20),
                   told(blocks="3/1", heads="1/4")),
    "light-x2": Case(lambda: Swin2SR(upsampler="pixelshuffledirect"),
                     told(upsampler="pixelshuffledirect")),
    "compressed-x4": Case(lambda: Swin2SR(upsampler="pixelshuffle_aux", scale=4),
                          told(scale=4, upsampler="pixelshuffle_aux")),
    "real-x4": Case(lambda: Swin2SR(upsampler="nearest+conv", scale=4, residual="3conv"),
                    told(scale=4, upsampler="nearest+conv")),
    "jpeg-grey": Case(
        lambda: Swin2SR(upsampler="none", scale=1, window=7, trained=21, span=255.0, channels=1),
        told(scale=1, window=7, upsampler="none"), channels=1),
    "no-bias": Case(lambda: Swin2SR(qkv_bias=False, patch_norm=False), told()),
    "never-shifted": Case(lambda: Swin2SR(trained=4), told()),
    "without-table": Case(WithoutTable, told()),
}
