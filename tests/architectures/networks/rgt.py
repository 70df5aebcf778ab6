# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""RGT, the Recursive Generalization Transformer, with the names that its authors publish."""
import math

import torch
from published import Case
from torch import nn
from transformers import (
    GatedFeedForward,
    add_branches,
    add_steps,
    attend_in_branches,
    heads_of,
    is_shifted,
    mean_of,
    picture,
    residual_convolution,
    tokens,
)


def depthwise(channels):
    return nn.Conv2d(channels, channels, 3, padding=1, groups=channels)


class WindowAttention(nn.Module):
    def __init__(self, channels, heads, window, shifted, bias):
        super().__init__()
        self.qkv = nn.Linear(channels, 3 * channels, bias=bias)
        self.proj = nn.Linear(channels, channels)
        self.get_v = depthwise(channels)
        add_branches(self, channels, heads, window, shifted)

    def forward(self, x):
        qkv = self.qkv(x)
        beside = tokens(self.get_v(picture(qkv.chunk(3, -1)[2])))
        return self.proj(attend_in_branches(self, qkv) + beside)


class RecursiveAttention(nn.Module):
    def __init__(self, channels, heads, ratio, bias):
        super().__init__()
        few = int(channels * ratio)
        self.reduction1 = nn.Conv2d(channels, channels, 4, stride=4, groups=channels)
        self.dwconv = depthwise(channels)
        self.conv = nn.Conv2d(channels, few, 1)
        self.norm_act = nn.Sequential(nn.LayerNorm(few), nn.GELU())
        self.q = nn.Linear(channels, few, bias=bias)
        self.k = nn.Linear(few, few, bias=bias)
        self.v = nn.Linear(few, channels, bias=bias)
        self.cpe = depthwise(channels)
        self.proj = nn.Linear(channels, channels)
        self.heads, self.scale = heads, (channels // heads * ratio) ** -0.5

    def reduced(self, x):
        sides = x.shape[2:]
        times = 0
        if min(sides) >= 16:  # the published network knows no smaller ones
            times = max(2, *(int(math.log(side // 16, 4)) for side in sides))
        elif min(sides) >= 4:
            times = 1
        for _ in range(times):
            x = self.reduction1(x)
        return x

    def forward(self, x):
        small = self.norm_act(tokens(self.conv(self.dwconv(self.reduced(picture(x))))))
        value = self.v(small)
        value = value + tokens(self.cpe(picture(value)))
        query, key, value = (heads_of(each.flatten(1, 2), self.heads)
                             for each in (self.q(x), self.k(small), value))
        scores = (query @ key.transpose(2, 3) * self.scale).softmax(-1)
        made = (scores @ value).transpose(1, 2).flatten(2)
        return self.proj(made.unflatten(1, x.shape[1:3]))


class Block(nn.Module):
    def __init__(self, channels, heads, window, group, number, expansion, ratio, bias):
        super().__init__()
        self.norm1 = nn.LayerNorm(channels)
        if number % 2:
            self.attn = RecursiveAttention(channels, heads, ratio, bias)
        else:
            shifted = is_shifted(group, number)
            self.attn = WindowAttention(channels, heads, window, shifted, bias)
        self.mlp = GatedFeedForward(channels, int(channels * expansion))
        self.norm2 = nn.LayerNorm(channels)
        self.gamma = nn.Parameter(torch.ones(channels))

    def forward(self, x):
        before = x
        x = x + self.attn(self.norm1(x))
        x = x + self.mlp(self.norm2(x))
        return x + before * self.gamma


class Group(nn.Module):
    def __init__(self, blocks, channels, convolutions):
        super().__init__()
        self.blocks = nn.Sequential(*blocks)
        self.conv = residual_convolution(channels, convolutions)

    def forward(self, x):
        return x + tokens(self.conv(picture(self.blocks(x))))


class RGT(nn.Module):
    def __init__(self, scale=2, features=32, depths=(3, 3), heads=4, window=(4, 8), expansion=2,
                 ratio=0.5, bias=True, convolutions=1, channels=3):
        super().__init__()
        self.mean = mean_of(channels)
        self.conv_first = nn.Conv2d(channels, features, 3, padding=1)
        self.before_RG = nn.Sequential(nn.Identity(), nn.LayerNorm(features))
        self.layers = nn.Sequential(*(
            Group([Block(features, heads, window, group, i, expansion, ratio, bias)
                   for i in range(depth)], features, convolutions)
            for group, depth in enumerate(depths)))
        self.norm = nn.LayerNorm(features)
        self.conv_after_body = residual_convolution(features, convolutions)
        add_steps(self, features, channels, scale)

    def forward(self, x):
        first = self.conv_first(x - self.mean)
        body = self.norm(self.layers(self.before_RG(tokens(first))))
        x = self.conv_before_upsample(first + self.conv_after_body(picture(body)))
        return self.conv_last(self.upsample(x)) + self.mean


def told(scale=2, features=32, window="4x8", blocks="3+3"):
    return {"architecture": "RGT", "scale": scale, "features": features, "window": window,
            "blocks": blocks, "upsampler": "pixelshuffle"}


CASES = {
    "x2": Case(RGT, told()),
    "x1": Case(lambda: RGT(scale=1, depths=(1,)), told(scale=1, blocks="1")),
    "x3": Case(lambda: RGT(scale=3, depths=(2, 1, 1), convolutions=3),
               told(scale=3, blocks="2+1+1")),
    "x4-deep": Case(lambda: RGT(scale=4, depths=(5, 6)), told(scale=4, blocks="5+6"),
                    size=(33, 19)),
    "published-window": Case(lambda: RGT(window=(8, 32), features=36, heads=6),
                             told(window="8x32", features=36)),
    "square": Case(lambda: RGT(window=(8, 8), bias=False), told(window="8x8"), size=(32, 16)),
    "whole-ratio": Case(lambda: RGT(ratio=1.0), told()),
    "reduced-thrice": Case(lambda: RGT(features=16, depths=(2,)), told(features=16, blocks="2"),
                           size=(1030, 70)),
    "small-picture": Case(RGT, told(), size=(5, 6)),
    "tiny-picture": Case(RGT, told(), size=(5, 3)),
    "grey": Case(lambda: RGT(channels=1), told(), channels=1),
}
