# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""CAIN."""
import torch
from published import Case
from torch import nn
from torch.nn import functional


class Reflected(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3)

    def forward(self, x):
        return self.conv(functional.pad(x, (1, 1, 1, 1), mode="reflect"))


class Attention(nn.Module):
    def __init__(self, channels, reduction):
        super().__init__()
        self.conv_du = nn.Sequential(nn.Conv2d(channels, channels // reduction, 1), nn.ReLU(),
                                     nn.Conv2d(channels // reduction, channels, 1), nn.Sigmoid())

    def forward(self, x):
        return x * self.conv_du(x.mean((2, 3), keepdim=True))


class Residual(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.body = nn.Sequential(*layers)

    def forward(self, x):
        return self.body(x) + x


def small_layer(channels, growth):
    """Whose results are samples again: blocks of random weights make them grow."""
    layer = nn.Conv2d(channels, channels, 3, 1, 1)
    weight = torch.randn(layer.weight.shape, generator=torch.Generator().manual_seed(3)) / (12 * channels ** 0.5)
    del layer.weight
    layer.register_buffer("weight", weight / growth)
    return layer


def block(channels, reduction):
    attention = [Attention(channels, reduction)] if reduction else []
    return Residual(Reflected(channels), nn.LeakyReLU(0.2), Reflected(channels), *attention)


class Cain(nn.Module):
    def __init__(self, depth, groups, blocks, reduction):
        super().__init__()
        channels = 3 * 4 ** depth
        self.encoder = nn.Module()
        network = self.encoder.interpolate = nn.Module()
        network.headConv = nn.Conv2d(2 * channels, channels, 3, 1, 1)
        network.body = nn.Sequential(*(
            Residual(*(block(channels, reduction) for _ in range(blocks)), Reflected(channels))
            for _ in range(groups)))
        network.tailConv = small_layer(channels, 2 ** (groups * blocks / 6))
        self.factor = 2 ** depth

    def forward(self, x):
        height, width = x.shape[2:]
        frames = x.split(3, 1)
        means = [frame.mean((2, 3), keepdim=True) for frame in frames]
        across, down = -width % 128, -height % 128
        border = [across // 2, across - across // 2, down // 2, down - down // 2]
        eighths = [functional.pixel_unshuffle(reflected(frame - mean, border), self.factor)
                   for frame, mean in zip(frames, means)]
        network = self.encoder.interpolate
        first = network.headConv(torch.cat(eighths, 1))
        made = functional.pixel_shuffle(network.tailConv(network.body(first) + first), self.factor)
        left, above = border[0], border[2]
        return made[:, :, above:above + height, left:left + width] + sum(means) / 2


def reflected(x, border):
    """As far as there is a picture, which published code wants larger; then its border is repeated."""
    largest = [x.shape[3] - 1] * 2 + [x.shape[2] - 1] * 2
    near = [min(pair) for pair in zip(border, largest)]
    far = [whole - part for whole, part in zip(border, near)]
    return functional.pad(functional.pad(x, near, mode="reflect"), far, mode="replicate")


class FromTraining(Cain):
    def state_dict(self, *arguments, **options):
        return {f"module.{name}": tensor for name, tensor in super().state_dict(*arguments, **options).items()}


def case(depth, groups, blocks, reduction, make=Cain, **options):
    told = {"architecture": "CAIN", "scale": 1, "features": 3 * 4 ** depth, "groups": groups, "blocks": blocks}
    return Case(lambda: make(depth, groups, blocks, reduction), told, frames=2, is_between=True, has_time=False,
                is_global=True, border="repeat", **options)


CASES = {
    "shallow": case(2, 2, 3, 4),
    "published": case(3, 5, 12, 16, FromTraining, size=(150, 20), tolerance=1e-4),
    "without-attention": case(2, 2, 2, 0),
}
