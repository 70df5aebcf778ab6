# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""EDSR under its authors' names and under BasicSR's."""
import torch
from published import Case, MeanShift, shuffled, without_mean
from torch import nn


class AuthorsBlock(nn.Module):
    def __init__(self, features, residual):
        super().__init__()
        self.residual = residual
        self.body = nn.Sequential(nn.Conv2d(features, features, 3, padding=1), nn.ReLU(),
                                  nn.Conv2d(features, features, 3, padding=1))

    def forward(self, x):
        return x + self.body(x) * self.residual


class Authors(nn.Module):
    def __init__(self, features=12, blocks=3, scale=4, channels=3, value_range=255, shift=True,
                 residual=1):
        super().__init__()
        self.range = value_range
        self.shift = shift
        if shift:
            self.sub_mean = MeanShift(value_range, -1)
            self.add_mean = MeanShift(value_range, 1)
        conv = lambda: nn.Conv2d(features, features, 3, padding=1)
        self.head = nn.Sequential(nn.Conv2d(channels, features, 3, padding=1))
        self.body = nn.Sequential(*(AuthorsBlock(features, residual) for _ in range(blocks)), conv())
        self.tail = nn.Sequential(shuffled(features, scale),
                                  nn.Conv2d(features, channels, 3, padding=1))

    def forward(self, x):
        if self.shift:
            x = self.sub_mean(x * self.range)
        x = self.head(x)
        x = self.tail(x + self.body(x))
        return self.add_mean(x) / self.range if self.shift else x


class BasicBlock(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.conv1 = nn.Conv2d(features, features, 3, padding=1)
        self.conv2 = nn.Conv2d(features, features, 3, padding=1)

    def forward(self, x):
        return x + self.conv2(torch.relu(self.conv1(x)))


class Basic(nn.Module):
    def __init__(self, features=12, blocks=3, scale=4):
        super().__init__()
        self.conv_first = nn.Conv2d(3, features, 3, padding=1)
        self.body = nn.Sequential(*(BasicBlock(features) for _ in range(blocks)))
        self.conv_after_body = nn.Conv2d(features, features, 3, padding=1)
        self.upsample = shuffled(features, scale)
        self.conv_last = nn.Conv2d(features, 3, 3, padding=1)

    @without_mean
    def forward(self, x):
        x = self.conv_first(x)
        return self.conv_last(self.upsample(x + self.conv_after_body(self.body(x))))


def told(scale=4, value_range=255, features=12, blocks=3):
    return {"architecture": "EDSR", "scale": scale, "range": value_range, "features": features,
            "blocks": blocks}


CASES = {
    "authors-x4": Case(Authors, told()),
    "authors-x2": Case(lambda: Authors(scale=2, blocks=11), told(2, blocks=11)),
    "authors-x3": Case(lambda: Authors(scale=3), told(3)),
    "authors-range-1": Case(lambda: Authors(value_range=1), told(value_range=1)),
    "authors-large": Case(lambda: Authors(features=256, blocks=2, scale=2, residual=0.1),
                          told(2, features=256, blocks=2), size=(11, 9)),
    "authors-grey": Case(lambda: Authors(channels=1, shift=False), told(value_range=1), channels=1),
    "basicsr-x4": Case(Basic, told()),
    "basicsr-x3": Case(lambda: Basic(scale=3), told(3)),
    "basicsr-x2": Case(lambda: Basic(scale=2, blocks=2, features=8), told(2, blocks=2, features=8)),
}
