# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""SRCNN, FSRCNN and VDSR, as they are commonly published for PyTorch."""
import torch
from published import Case
from torch import nn


class Srcnn(nn.Module):
    def __init__(self, kernels=(9, 5, 5), channels=1):
        super().__init__()
        a, b, c = kernels
        self.conv1 = nn.Conv2d(channels, 16, a, padding=a // 2)
        self.conv2 = nn.Conv2d(16, 8, b, padding=b // 2)
        self.conv3 = nn.Conv2d(8, channels, c, padding=c // 2)

    def forward(self, x):
        return self.conv3(torch.relu(self.conv2(torch.relu(self.conv1(x)))))


class SrcnnInParts(nn.Module):
    def __init__(self, channels=1):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(channels, 16, 9, padding=4), nn.ReLU())
        self.map = nn.Sequential(nn.Conv2d(16, 8, 5, padding=2), nn.ReLU())
        self.reconstruction = nn.Conv2d(8, channels, 5, padding=2)

    def forward(self, x):
        return self.reconstruction(self.map(self.features(x)))


def rows(wide, narrow, middle):
    row = lambda inputs, outputs, kernel: [
        nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2), nn.PReLU(outputs)]
    maps = [layer for _ in range(middle) for layer in row(narrow, narrow, 3)]
    return row, maps


class Fsrcnn(nn.Module):
    def __init__(self, scale, channels=1, wide=16, narrow=6, middle=4):
        super().__init__()
        row, maps = rows(wide, narrow, middle)
        self.first_part = nn.Sequential(*row(channels, wide, 5))
        self.mid_part = nn.Sequential(*row(wide, narrow, 1), *maps, *row(narrow, wide, 1))
        self.last_part = nn.ConvTranspose2d(wide, channels, 9, scale, 4, scale - 1)

    def forward(self, x):
        return self.last_part(self.mid_part(self.first_part(x)))


class LongNames(nn.Module):
    def __init__(self, scale, channels=1, wide=16, narrow=6, middle=4):
        super().__init__()
        row, maps = rows(wide, narrow, middle)
        self.feature_extraction = nn.Sequential(*row(channels, wide, 5))
        self.shrink = nn.Sequential(*row(wide, narrow, 1))
        self.map = nn.Sequential(*maps)
        self.expand = nn.Sequential(*row(narrow, wide, 1))
        self.deconv = nn.ConvTranspose2d(wide, channels, 9, scale, 4, scale - 1)

    def forward(self, x):
        return self.deconv(self.expand(self.map(self.shrink(self.feature_extraction(x)))))


class VdsrLayer(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.conv = nn.Conv2d(features, features, 3, padding=1, bias=False)

    def forward(self, x):
        return torch.relu(self.conv(x))


class Vdsr(nn.Module):
    def __init__(self, channels=1, features=12, layers=11):
        super().__init__()
        self.residual_layer = nn.Sequential(*(VdsrLayer(features) for _ in range(layers)))
        self.input = nn.Conv2d(channels, features, 3, padding=1, bias=False)
        self.output = nn.Conv2d(features, channels, 3, padding=1, bias=False)

    def forward(self, x):
        return x + self.output(self.residual_layer(torch.relu(self.input(x))))


class VdsrInParts(nn.Module):
    def __init__(self, channels=1, features=12, layers=11):
        super().__init__()
        convolution = lambda inputs, outputs: nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        self.conv1 = nn.Sequential(convolution(channels, features), nn.ReLU())
        self.trunk = nn.Sequential(*(VdsrLayer(features) for _ in range(layers)))
        self.conv2 = convolution(features, channels)

    def forward(self, x):
        return x + self.conv2(self.trunk(self.conv1(x)))


def srcnn(kernels="9-5-5"):
    return {"architecture": "SRCNN", "scale": 1, "features": 16, "kernels": kernels}


def fsrcnn(scale):
    return {"architecture": "FSRCNN", "scale": scale, "features": 16, "convolutions": 7}


def vdsr():
    return {"architecture": "VDSR", "scale": 1, "features": 12, "convolutions": 13}


CASES = {
    "srcnn": Case(Srcnn, srcnn(), channels=1),
    "srcnn-9-1-5": Case(lambda: Srcnn((9, 1, 5)), srcnn("9-1-5"), channels=1),
    "srcnn-colour": Case(lambda: Srcnn(channels=3), srcnn()),
    "srcnn-in-parts": Case(SrcnnInParts, srcnn(), channels=1),
    "fsrcnn-x2": Case(lambda: Fsrcnn(2), fsrcnn(2), channels=1, file="fsrcnn_x2.safetensors"),
    "fsrcnn-x3": Case(lambda: Fsrcnn(3), fsrcnn(3), channels=1, file="3x-net.safetensors"),
    "fsrcnn-x4": Case(lambda: Fsrcnn(4, channels=3), fsrcnn(4), file="a64x64_X4.safetensors"),
    "fsrcnn-long-names": Case(lambda: LongNames(3), fsrcnn(3), channels=1, file="x3.safetensors"),
    "vdsr": Case(Vdsr, vdsr(), channels=1),
    "vdsr-in-parts": Case(VdsrInParts, vdsr(), channels=1),
    "vdsr-colour": Case(lambda: Vdsr(channels=3), vdsr()),
}
