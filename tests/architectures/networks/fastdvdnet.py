# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""FastDVDnet."""
import torch
from published import Case
from torch import nn
from torch.nn import functional

NOISE = 25 / 255


def convolution(inputs, outputs, stride=1, groups=1):
    return nn.Conv2d(inputs, outputs, 3, stride, 1, groups=groups, bias=False)


class Block(nn.Module):
    """All parts of the network keep their layers in `convblock`."""

    def __init__(self, *layers):
        super().__init__()
        self.convblock = nn.Sequential(*layers)

    def forward(self, x):
        return self.convblock(x)


def pair(inputs, outputs):
    return Block(convolution(inputs, outputs), nn.BatchNorm2d(outputs), nn.ReLU(),
                 convolution(outputs, outputs), nn.BatchNorm2d(outputs), nn.ReLU())


class Denoiser(nn.Module):
    """Of the middle one of three frames."""

    def __init__(self, channels, wide, first):
        super().__init__()
        self.inc = Block(
            convolution(3 * (channels + 1), 3 * first, groups=3), nn.BatchNorm2d(3 * first), nn.ReLU(),
            convolution(3 * first, wide), nn.BatchNorm2d(wide), nn.ReLU())
        for name, inputs, outputs in (("downc0", wide, 2 * wide), ("downc1", 2 * wide, 4 * wide)):
            self.add_module(name, Block(convolution(inputs, outputs, 2), nn.BatchNorm2d(outputs), nn.ReLU(),
                                        pair(outputs, outputs)))
        for name, inputs, outputs in (("upc2", 4 * wide, 2 * wide), ("upc1", 2 * wide, wide)):
            self.add_module(name, Block(pair(inputs, inputs), convolution(inputs, 4 * outputs), nn.PixelShuffle(2)))
        self.outc = Block(convolution(wide, wide), nn.BatchNorm2d(wide), nn.ReLU(), convolution(wide, channels))

    def forward(self, before, now, after, noise):
        x0 = self.inc(torch.cat((before, noise, now, noise, after, noise), 1))
        x1 = self.downc0(x0)
        x2 = self.upc2(self.downc1(x1))
        return now - self.outc(x0 + self.upc1(x1 + x2))


class FastDvdNet(nn.Module):
    def __init__(self, channels=3, wide=8, first=6):
        super().__init__()
        self.temp1 = Denoiser(channels, wide, first)
        self.temp2 = Denoiser(channels, wide, first)
        self.channels = channels

    def forward(self, window):
        height, width = window.shape[2:]
        window = functional.pad(window, (0, -width % 4, 0, -height % 4), mode="reflect")
        frames = window.split(self.channels, 1)
        noise = torch.full_like(frames[0][:, :1], NOISE)
        middle = [self.temp1(*frames[i:i + 3], noise) for i in range(3)]
        return self.temp2(*middle, noise)[:, :, :height, :width]


class Prefixed(FastDvdNet):
    """As the authors save it, from DataParallel."""

    def state_dict(self, *arguments, **options):
        return {f"module.{name}": tensor for name, tensor in super().state_dict(*arguments, **options).items()}


def told(features):
    return {"architecture": "FastDVDnet", "scale": 1, "features": features, "frames": 5}


CASES = {
    "colour": Case(FastDvdNet, told(8), frames=5),
    "published": Case(lambda: Prefixed(3, 32, 30), told(32), frames=5, size=(20, 16)),
    "grey": Case(lambda: FastDvdNet(1), told(8), channels=1, frames=5),
}
