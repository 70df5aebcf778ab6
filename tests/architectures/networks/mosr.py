# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""MoSR."""
import torch
from dysample import DySample
from published import Case, ChannelNorm
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, features, expansion, kernel, ratio):
        super().__init__()
        hidden, convolved = int(features * expansion), int(features * ratio)
        self.split = [hidden, hidden - convolved, convolved]
        self.norm = ChannelNorm(features)
        self.fc1 = nn.Conv2d(features, hidden * 2, 3, padding=1)
        self.conv = nn.Conv2d(convolved, convolved, kernel, padding=kernel // 2, groups=convolved)
        self.fc2 = nn.Conv2d(hidden, features, 3, padding=1)

    def forward(self, x):
        gate, same, large = torch.split(self.fc1(self.norm(x)), self.split, 1)
        y = functional.mish(gate) * torch.cat((same, self.conv(large)), 1)
        return functional.mish(self.fc2(y)) + x - 0.5


class Shortcut(nn.Module):
    def __init__(self, channels, features):
        super().__init__()
        self.block = nn.Sequential(
            nn.Conv2d(channels, features, 3, padding=1), nn.Mish(),
            nn.Conv2d(features, features, 3, padding=1), nn.Mish())
        self.conv11 = nn.Conv2d(channels, features, 1)

    def forward(self, x):
        return self.block(x) + self.conv11(x)


class Ensemble(nn.Module):
    def __init__(self, features, scale, channels):
        super().__init__()
        self.scale = scale
        self.in_to_k = nn.Conv2d(features, scale**2 * channels * 8, 3, padding=1)

    def forward(self, x):
        mean = torch.stack(self.in_to_k(x).chunk(8, 1)).mean(0)
        return functional.pixel_shuffle(mean, self.scale)


class Mosr(nn.Module):
    def __init__(self, features=16, blocks=3, scale=4, channels=3, upsampler="ps", expansion=1.5,
                 kernel=7, ratio=1.0):
        super().__init__()
        layers = [nn.Conv2d(channels, features, 3, padding=1)]
        layers += [Block(features, expansion, kernel, ratio) for _ in range(blocks)]
        layers += [nn.Conv2d(features, features * 2, 3, padding=1), nn.Mish(),
                   nn.Conv2d(features * 2, features, 3, padding=1), nn.Mish(),
                   nn.Conv2d(features, features, 1)]
        self.gblocks = nn.Sequential(*layers)
        self.shortcut = Shortcut(channels, features)
        self.upsampler = {
            "ps": lambda: nn.Sequential(
                nn.Conv2d(features, channels * scale**2, 3, padding=1), nn.PixelShuffle(scale)),
            "gps": lambda: Ensemble(features, scale, channels),
            "dys": lambda: DySample(features, channels, scale, 4),
        }[upsampler]()

    def forward(self, x):
        return self.upsampler(self.gblocks(x) + self.shortcut(x) - 0.5)


def told(scale=4, upsampler="pixelshuffle", features=16, blocks=3, kernel=7):
    return {"architecture": "MoSR", "scale": scale, "upsampler": upsampler, "features": features,
            "blocks": blocks, "kernel": kernel}


CASES = {
    "x4": Case(Mosr, told()),
    "x2-wide": Case(lambda: Mosr(scale=2, expansion=2, kernel=5), told(2, kernel=5)),
    "x1-half": Case(lambda: Mosr(scale=1, ratio=0.5), told(1)),
    "gps": Case(lambda: Mosr(upsampler="gps", scale=3), told(3, "gps")),
    "dysample": Case(lambda: Mosr(upsampler="dys", scale=2), told(2, "dysample")),
    "grey": Case(lambda: Mosr(channels=1, blocks=2), told(blocks=2), channels=1),
}
