# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""RCAN under its authors' names and under BasicSR's."""
import torch
from published import Case, MeanShift, shuffled, without_mean
from torch import nn
from torch.nn import functional


def conv(features):
    return nn.Conv2d(features, features, 3, padding=1)


class Attention(nn.Module):
    """`name` holds two convolutions over the means, at the first of the places and two later."""

    def __init__(self, features, squeezed, name, place):
        super().__init__()
        layers = [nn.Identity()] * place
        layers += [nn.Conv2d(features, squeezed, 1), nn.ReLU(), nn.Conv2d(squeezed, features, 1)]
        self.name = name
        self.add_module(name, nn.Sequential(*layers))

    def forward(self, x):
        mean = functional.adaptive_avg_pool2d(x, 1)
        return x * torch.sigmoid(getattr(self, self.name)(mean))


class Block(nn.Module):
    def __init__(self, features, squeezed, layers, attention, place):
        super().__init__()
        self.layers = layers
        self.add_module(layers, nn.Sequential(
            conv(features), nn.ReLU(), conv(features),
            Attention(features, squeezed, attention, place)))

    def forward(self, x):
        return x + getattr(self, self.layers)(x)


class AuthorsGroup(nn.Module):
    def __init__(self, features, squeezed, blocks):
        super().__init__()
        self.body = nn.Sequential(
            *(Block(features, squeezed, "body", "conv_du", 0) for _ in range(blocks)),
            conv(features))

    def forward(self, x):
        return x + self.body(x)


class Authors(nn.Module):
    def __init__(self, features=12, groups=2, blocks=2, squeezed=3, steps=4, channels=3,
                 shift=True, unshuffle=1):
        super().__init__()
        self.shift, self.unshuffle, self.scale = shift, unshuffle, steps // unshuffle
        if shift:
            self.sub_mean, self.add_mean = MeanShift(255, -1), MeanShift(255, 1)
        first = nn.Conv2d(channels * unshuffle**2, features, 3, padding=1)
        self.head = nn.Sequential(*([nn.PixelUnshuffle(unshuffle)] if unshuffle > 1 else []), first)
        self.body = nn.Sequential(
            *(AuthorsGroup(features, squeezed, blocks) for _ in range(groups)), conv(features))
        self.tail = nn.Sequential(shuffled(features, steps),
                                  nn.Conv2d(features, channels, 3, padding=1))

    def forward(self, picture):
        height, width = picture.shape[2:]
        padding = (0, -width % self.unshuffle, 0, -height % self.unshuffle)
        x = functional.pad(picture, padding, mode="reflect")
        x = self.head(self.sub_mean(x * 255) if self.shift else x)
        x = self.tail(x + self.body(x))
        x = self.add_mean(x) / 255 if self.shift else x
        return x[:, :, : height * self.scale, : width * self.scale]


class BasicGroup(nn.Module):
    def __init__(self, features, squeezed, blocks):
        super().__init__()
        self.residual_group = nn.Sequential(
            *(Block(features, squeezed, "rcab", "attention", 1) for _ in range(blocks)))
        self.conv = conv(features)

    def forward(self, x):
        return x + self.conv(self.residual_group(x))


class Basic(nn.Module):
    def __init__(self, features=12, groups=2, blocks=2, squeezed=3, scale=4):
        super().__init__()
        self.conv_first = nn.Conv2d(3, features, 3, padding=1)
        self.body = nn.Sequential(*(BasicGroup(features, squeezed, blocks) for _ in range(groups)))
        self.conv_after_body = conv(features)
        self.upsample = shuffled(features, scale)
        self.conv_last = nn.Conv2d(features, 3, 3, padding=1)

    @without_mean
    def forward(self, x):
        x = self.conv_first(x)
        return self.conv_last(self.upsample(x + self.conv_after_body(self.body(x))))


def told(scale=4, value_range=255, features=12, groups=2, blocks=2, **others):
    return {"architecture": "RCAN", "scale": scale, "range": value_range, "features": features,
            "groups": groups, "blocks": blocks, **others}


CASES = {
    "authors-x4": Case(Authors, told()),
    "authors-x2": Case(lambda: Authors(steps=2, groups=11, blocks=1), told(2, groups=11, blocks=1)),
    "authors-x3": Case(lambda: Authors(steps=3), told(3)),
    "authors-no-mean": Case(lambda: Authors(shift=False), told(value_range=1)),
    "authors-grey": Case(lambda: Authors(channels=1, shift=False), told(value_range=1), channels=1),
    "authors-unshuffle-x2": Case(lambda: Authors(unshuffle=2), told(2, unshuffle=2)),
    "authors-unshuffle-x1": Case(lambda: Authors(unshuffle=4), told(1, unshuffle=4)),
    "basicsr-x4": Case(Basic, told()),
    "basicsr-x3": Case(lambda: Basic(scale=3, blocks=3), told(3, blocks=3)),
}
