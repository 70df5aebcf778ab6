# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""OmniSR, with the names that its authors publish."""
import torch
from published import Case
from torch import nn
from torch.nn import functional
from transformers import attend_between_channels, attend_in_windows, relative_index


class Residual(nn.Module):
    """The layers under the name `fn`, behind a norm if there is one."""

    def __init__(self, fn, norm=None):
        super().__init__()
        if norm:
            self.norm = norm
        self.fn = fn

    def forward(self, x):
        return x + self.fn(self.norm(x) if hasattr(self, "norm") else x)


class ChannelNorm(nn.LayerNorm):
    """Over the channels of a picture."""

    def __init__(self, channels):
        super().__init__(channels, eps=1e-6)

    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class TokenNorm(nn.LayerNorm):
    """The same, but with the other epsilon, where the published layers get windows."""

    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class Squeeze(nn.Module):
    def __init__(self, channels):
        super().__init__()
        few = channels // 4
        self.gate = nn.Sequential(
            nn.Identity(), nn.Linear(channels, few, bias=False), nn.SiLU(),
            nn.Linear(few, channels, bias=False), nn.Sigmoid())

    def forward(self, x):
        return x * self.gate(x.mean((2, 3)))[:, :, None, None]


def local_convolutions(channels):
    return nn.Sequential(
        nn.Conv2d(channels, channels, 1), nn.GELU(),
        nn.Conv2d(channels, channels, 3, padding=1, groups=channels), nn.GELU(),
        Squeeze(channels), nn.Conv2d(channels, channels, 1))


class Gated(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.project_in = nn.Conv2d(channels, 2 * channels, 1, bias=False)
        self.dwconv = nn.Conv2d(
            2 * channels, 2 * channels, 3, padding=1, groups=2 * channels, bias=False)
        self.project_out = nn.Conv2d(channels, channels, 1, bias=False)

    def forward(self, x):
        first, second = self.dwconv(self.project_in(x)).chunk(2, 1)
        return self.project_out(functional.gelu(first) * second)


def gather_grid(x, size):
    """Moves the pixels of each window of the grid together; `scatter_grid` undoes it."""
    rows = [y + i * (x.shape[2] // size) for y in range(x.shape[2] // size) for i in range(size)]
    columns = [y + i * (x.shape[3] // size) for y in range(x.shape[3] // size) for i in range(size)]
    return x[:, :, rows][:, :, :, columns], (rows, columns)


def scatter_grid(x, places):
    made = torch.empty_like(x)
    made[:, :, torch.tensor(places[0])[:, None], torch.tensor(places[1])] = x
    return made


class PixelAttention(nn.Module):
    def __init__(self, channels, size, with_bias, is_grid):
        super().__init__()
        self.to_qkv = nn.Linear(channels, 3 * channels, bias=False)
        self.to_out = nn.Sequential(nn.Linear(channels, channels, bias=False))
        if with_bias:
            self.rel_pos_bias = nn.Embedding((2 * size - 1) ** 2, 4)
        self.size, self.is_grid = size, is_grid

    def forward(self, x):
        places = None
        if self.is_grid:
            x, places = gather_grid(x, self.size)
        bias = 0
        if hasattr(self, "rel_pos_bias"):
            bias = self.rel_pos_bias(relative_index(self.size, self.size)).permute(2, 0, 1)
        qkv = self.to_qkv(x.permute(0, 2, 3, 1)).chunk(3, -1)
        x = self.to_out(attend_in_windows(*qkv, 4, (self.size, self.size), bias))
        x = x.permute(0, 3, 1, 2)
        return scatter_grid(x, places) if self.is_grid else x


class ChannelAttention(nn.Module):
    def __init__(self, channels, size, is_grid):
        super().__init__()
        self.temperature = nn.Parameter(torch.ones(4, 1, 1))
        self.qkv = nn.Conv2d(channels, 3 * channels, 1, bias=False)
        self.qkv_dwconv = nn.Conv2d(
            3 * channels, 3 * channels, 3, padding=1, groups=3 * channels, bias=False)
        self.project_out = nn.Conv2d(channels, channels, 1, bias=False)
        self.size, self.is_grid = size, is_grid

    def places(self, height, width):
        """The pixels of each window."""
        for y in range(self.size if self.is_grid else height // self.size):
            for x in range(self.size if self.is_grid else width // self.size):
                if self.is_grid:
                    yield slice(y, None, self.size), slice(x, None, self.size)
                else:
                    yield tuple(slice(a * self.size, (a + 1) * self.size) for a in (y, x))

    def forward(self, x):
        qkv = self.qkv_dwconv(self.qkv(x))
        made = torch.empty_like(x)
        for rows, columns in self.places(*x.shape[2:]):
            part = qkv[:, :, rows, columns]
            each = (q.flatten(2).unflatten(1, (4, -1)) for q in part.chunk(3, 1))
            result = attend_between_channels(*each, self.temperature).flatten(1, 2)
            made[:, :, rows, columns] = result.unflatten(2, part.shape[2:])
        return self.project_out(made)


class Block(nn.Module):
    def __init__(self, channels, size, with_bias):
        super().__init__()
        layers = [Residual(local_convolutions(channels))]
        for is_grid in (False, True):
            layers += [
                nn.Identity(),
                Residual(PixelAttention(channels, size, with_bias, is_grid), TokenNorm(channels)),
                nn.Identity(),
                Residual(Gated(channels), ChannelNorm(channels)),
                Residual(ChannelAttention(channels, size, is_grid), ChannelNorm(channels)),
                Residual(Gated(channels), ChannelNorm(channels))]
        self.layer = nn.Sequential(*layers)

    def forward(self, x):
        return self.layer(x)


class Surroundings(nn.Module):
    def __init__(self, few, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, few, 1)
        self.conv_f = nn.Conv2d(few, few, 1)
        self.conv2 = nn.Conv2d(few, few, 3, stride=2)
        self.conv3 = nn.Conv2d(few, few, 3, padding=1)
        self.conv4 = nn.Conv2d(few, channels, 1)

    def forward(self, x):
        few = self.conv1(x)
        far = self.conv3(functional.max_pool2d(self.conv2(few), 7, 3))
        far = functional.interpolate(far, x.shape[2:], mode="bilinear", align_corners=False)
        return x * self.conv4(far + self.conv_f(few)).sigmoid()


class Group(nn.Module):
    def __init__(self, channels, blocks, size, with_bias, bias):
        super().__init__()
        self.residual_layer = nn.Sequential(
            *(Block(channels, size, with_bias) for _ in range(blocks)),
            nn.Conv2d(channels, channels, 1, bias=bias))
        self.esa = Surroundings(max(channels // 4, 16), channels)

    def forward(self, x):
        return self.esa(x + self.residual_layer(x))


class OmniSR(nn.Module):
    def __init__(self, scale=2, features=32, groups=2, blocks=1, size=8, with_bias=True, bias=True,
                 channels=3):
        super().__init__()
        self.residual_layer = nn.Sequential(
            *(Group(features, blocks, size, with_bias, bias) for _ in range(groups)))
        self.input = nn.Conv2d(channels, features, 3, padding=1, bias=bias)
        self.output = nn.Conv2d(features, features, 3, padding=1, bias=bias)
        self.up = nn.Sequential(
            nn.Conv2d(features, channels * scale * scale, 3, padding=1, bias=bias),
            nn.PixelShuffle(scale))
        self.size, self.scale = size, scale

    def forward(self, picture):
        height, width = picture.shape[2:]
        down, right = (max(side, 16) + -max(side, 16) % self.size - side
                       for side in (height, width))
        first = self.input(functional.pad(picture, (0, right, 0, down)))
        x = self.up(first + self.output(self.residual_layer(first)))
        return x[:, :, :height * self.scale, :width * self.scale]


def told(scale=2, features=32, groups=2, window=8):
    return {"architecture": "OmniSR", "scale": scale, "features": features, "groups": groups,
            "window": window}


CASES = {
    "x2": Case(OmniSR, told()),
    "x3": Case(lambda: OmniSR(scale=3, features=24, groups=1), told(3, 24, 1)),
    "x4": Case(lambda: OmniSR(scale=4, features=64, groups=5), told(4, 64, 5), size=(41, 18)),
    "x1-two-blocks": Case(lambda: OmniSR(scale=1, blocks=2), told(1)),
    "window-6": Case(lambda: OmniSR(size=6), told(window=6)),
    "without-bias": Case(lambda: OmniSR(with_bias=False, bias=False), told()),
    "multiple": Case(OmniSR, told(), size=(48, 24)),
    "small-picture": Case(OmniSR, told(), size=(5, 9)),
    "counted": Case(OmniSR, told(), extras=lambda: {
        "residual_layer.0.total_ops": torch.zeros(1), "total_params": torch.zeros(1)}),
    "grey": Case(lambda: OmniSR(channels=1), told(), channels=1),
}
