# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""DAT, the Dual Aggregation Transformer, with the names that its authors publish."""
import torch
from published import Case
from torch import nn
from transformers import (
    GatedFeedForward,
    add_branches,
    add_one_step,
    add_steps,
    attend_between_channels,
    attend_in_branches,
    is_shifted,
    mean_of,
    picture,
    residual_convolution,
    tokens,
)


def add_interaction(module, channels):
    module.dwconv = nn.Sequential(
        nn.Conv2d(channels, channels, 3, padding=1, groups=channels),
        nn.BatchNorm2d(channels), nn.GELU())
    module.channel_interaction = nn.Sequential(
        nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, channels // 8, 1),
        nn.BatchNorm2d(channels // 8), nn.GELU(), nn.Conv2d(channels // 8, channels, 1))
    module.spatial_interaction = nn.Sequential(
        nn.Conv2d(channels, channels // 16, 1),
        nn.BatchNorm2d(channels // 16), nn.GELU(), nn.Conv2d(channels // 16, 1, 1))


class SpatialAttention(nn.Module):
    def __init__(self, channels, heads, window, shifted, bias):
        super().__init__()
        self.qkv = nn.Linear(channels, 3 * channels, bias=bias)
        self.proj = nn.Linear(channels, channels)
        add_branches(self, channels, heads, window, shifted)
        add_interaction(self, channels)

    def forward(self, x):
        qkv = self.qkv(x)
        attended = picture(attend_in_branches(self, qkv))
        beside = self.dwconv(picture(qkv.chunk(3, -1)[2]))
        attended, beside = (
            attended * self.channel_interaction(beside).sigmoid(),
            beside * self.spatial_interaction(attended).sigmoid())
        return self.proj(tokens(attended + beside))


class ChannelAttention(nn.Module):
    def __init__(self, channels, heads, bias):
        super().__init__()
        self.temperature = nn.Parameter(torch.ones(heads, 1, 1))
        self.qkv = nn.Linear(channels, 3 * channels, bias=bias)
        self.proj = nn.Linear(channels, channels)
        add_interaction(self, channels)
        self.heads = heads

    def forward(self, x):
        query, key, value = picture(self.qkv(x)).chunk(3, 1)
        rows = (each.flatten(2).unflatten(1, (self.heads, -1)) for each in (query, key, value))
        attended = attend_between_channels(*rows, self.temperature).flatten(1, 2)
        attended = attended.unflatten(2, x.shape[1:3])
        beside = self.dwconv(value)
        attended, beside = (
            attended * self.spatial_interaction(beside).sigmoid(),
            beside * self.channel_interaction(attended).sigmoid())
        return self.proj(tokens(attended + beside))


class Block(nn.Module):
    def __init__(self, channels, heads, window, group, number, expansion, bias):
        super().__init__()
        self.norm1 = nn.LayerNorm(channels)
        if number % 2:
            self.attn = ChannelAttention(channels, heads, bias)
        else:
            shifted = is_shifted(group, number)
            self.attn = SpatialAttention(channels, heads, window, shifted, bias)
        self.ffn = GatedFeedForward(channels, int(channels * expansion))
        self.norm2 = nn.LayerNorm(channels)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.ffn(self.norm2(x))


class Group(nn.Module):
    def __init__(self, blocks, channels, convolutions):
        super().__init__()
        self.blocks = nn.Sequential(*blocks)
        self.conv = residual_convolution(channels, convolutions)

    def forward(self, x):
        return x + tokens(self.conv(picture(self.blocks(x))))


class DAT(nn.Module):
    def __init__(self, scale=2, features=32, depths=(3, 3), heads=4, window=(4, 8), expansion=2,
                 bias=True, convolutions=1, direct=False, channels=3):
        super().__init__()
        self.mean = mean_of(channels)
        self.conv_first = nn.Conv2d(channels, features, 3, padding=1)
        self.before_RG = nn.Sequential(nn.Identity(), nn.LayerNorm(features))
        self.layers = nn.Sequential(*(
            Group([Block(features, heads, window, group, i, expansion, bias)
                   for i in range(depth)], features, convolutions)
            for group, depth in enumerate(depths)))
        self.norm = nn.LayerNorm(features)
        self.conv_after_body = residual_convolution(features, convolutions)
        if direct:
            add_one_step(self, features, channels, scale)
        else:
            add_steps(self, features, channels, scale)
        self.direct = direct

    def forward(self, x):
        first = self.conv_first(x - self.mean)
        body = self.norm(self.layers(self.before_RG(tokens(first))))
        x = first + self.conv_after_body(picture(body))
        if not self.direct:
            x = self.conv_before_upsample(x)
        x = self.upsample(x)
        return (x if self.direct else self.conv_last(x)) + self.mean


def told(scale=2, features=32, window="4x8", blocks="3+3", upsampler="pixelshuffle"):
    return {"architecture": "DAT", "scale": scale, "features": features, "window": window,
            "blocks": blocks, "upsampler": upsampler}


CASES = {
    "x2": Case(DAT, told()),
    "x1": Case(lambda: DAT(scale=1, depths=(1,)), told(scale=1, blocks="1")),
    "x3": Case(lambda: DAT(scale=3, depths=(2, 1, 1)), told(scale=3, blocks="2+1+1")),
    "x4-deep": Case(lambda: DAT(scale=4, depths=(5, 6)), told(scale=4, blocks="5+6"),
                    size=(33, 17)),
    "light": Case(lambda: DAT(scale=2, depths=(4,), direct=True, convolutions=3),
                  told(blocks="4", upsampler="pixelshuffledirect")),
    "published-window": Case(lambda: DAT(window=(8, 32), features=36, heads=6, expansion=4),
                             told(window="8x32", features=36)),
    "square": Case(lambda: DAT(window=(8, 8), bias=False), told(window="8x8"), size=(32, 16)),
    "standing": Case(lambda: DAT(window=(6, 2)), told(window="6x2")),
    "small-picture": Case(DAT, told(), size=(5, 3)),
    "grey": Case(lambda: DAT(channels=1), told(), channels=1),
}
