#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains the x2 upscaling nets of this folder, for RGB or for luma, and saves them as TorchScript.

Every picture that they learn from is drawn here, from a seed.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import training

# ----------------------------------------------------------------- halving


def cubic(distance, a):
    d = abs(distance)
    if d < 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * (d**3 - 5 * d**2 + 8 * d - 4) if d < 2 else 0.0


def lanczos(distance, lobes=3):
    return float(np.sinc(distance) * np.sinc(distance / lobes)) if abs(distance) < lobes else 0.0


def halving_taps(kernel, reach):
    """Taps of a scaler that widens its kernel by the factor by which it shrinks."""
    taps = torch.tensor([kernel((i - reach + 0.5) / 2) for i in range(2 * reach)])
    return taps / taps.sum()


SWSCALE_CUBIC = -0.6
HALVINGS = {
    "area": halving_taps(lambda d: float(abs(d) < 0.5), 1),
    "bilinear": halving_taps(lambda d: max(0.0, 1 - abs(d)), 2),
    "bicubic": halving_taps(lambda d: cubic(d, SWSCALE_CUBIC), 4),
    "lanczos": halving_taps(lanczos, 6),
}
"""The ways in which pictures get half as large in practice."""


def halved(images, taps):
    n, c, height, width = images.shape
    reach = len(taps) // 2 - 1
    padded = F.pad(images, (reach,) * 4, mode="replicate").reshape(n * c, 1, *(
        extent + 2 * reach for extent in (height, width)))
    rows = F.conv2d(padded, taps.view(1, 1, -1, 1), stride=(2, 1))
    small = F.conv2d(rows, taps.view(1, 1, 1, -1), stride=(1, 2))
    return training.to_bytes_and_back(small.view(n, c, height // 2, width // 2))


# --------------------------------------------------------------------- net


def bicubic_weights(planes, a=-0.5):
    """Doubling as a convolution: four outputs per channel, one for each quarter of a pixel."""
    phases = []
    for offset in (-0.25, 0.25):
        taps = torch.tensor([cubic(i - 2 - offset, a) for i in range(5)])
        phases.append(taps / taps.sum())
    quarters = torch.stack([torch.outer(down, across) for down in phases for across in phases])
    weights = torch.zeros(planes, 4, planes, 5, 5)
    for plane in range(planes):
        weights[plane, :, plane] = quarters
    return weights.flatten(0, 1)


def curvature_only(weight):
    """Takes out of filters what they would answer to even and evenly shaded areas."""
    side = torch.linspace(-1, 1, weight.shape[-1])
    across, down = side.repeat(len(side), 1), side.repeat(len(side), 1).t()
    for slope in (torch.ones_like(across), across, down):
        unit = slope / slope.norm()
        weight.sub_((weight * unit).sum((2, 3), keepdim=True) * unit)


class Upscale2x(nn.Module):
    """Bicubic doubling plus what a small net adds to it.

    The net has no biases and its first layer sees curvature alone, so that it
    adds nothing to even and evenly shaded areas. What comes out lies within
    the pixels around, give or take their range, so that no edge rings far. The
    picture's edges are repeated once, at the input, and no layer pads: its
    border comes out as its inside would.
    """

    def __init__(self, planes: int, channels: int, layers: int = 5):
        super().__init__()
        self.planes: int = planes
        self.reach: int = layers + 1
        self.register_buffer("bicubic", bicubic_weights(planes))
        body = [nn.Conv2d(planes, channels, 5, bias=False), nn.ReLU()]
        for _ in range(layers - 2):
            body += [nn.Conv2d(channels, channels, 3, bias=False), nn.ReLU()]
        self.body = nn.Sequential(*body, nn.Conv2d(channels, 4 * planes, 3, bias=False))
        nn.init.zeros_(self.body[-1].weight)

    def with_edges(self, x: torch.Tensor, reach: int) -> torch.Tensor:
        # F.pad repeats no edges in half precision on the CPU before LibTorch 2.
        rows = torch.arange(-reach, x.size(2) + reach, device=x.device).clamp(0, x.size(2) - 1)
        columns = torch.arange(-reach, x.size(3) + reach, device=x.device).clamp(0, x.size(3) - 1)
        return x.index_select(2, rows).index_select(3, columns)

    def lightest(self, x: torch.Tensor) -> torch.Tensor:
        # A tenth of the time of max_pool2d().
        x = torch.maximum(torch.maximum(x[:, :, :-2], x[:, :, 1:-1]), x[:, :, 2:])
        return torch.maximum(torch.maximum(x[..., :-2], x[..., 1:-1]), x[..., 2:])

    def within_range(self, quarters: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        near = self.with_edges(x, 1)
        highest, lowest = self.lightest(near), -self.lightest(-near)
        spread = highest - lowest
        by_plane = quarters.view(x.size(0), self.planes, 4, x.size(2), x.size(3))
        by_plane = torch.maximum(by_plane, (lowest - spread).unsqueeze(2))
        by_plane = torch.minimum(by_plane, (highest + spread).unsqueeze(2))
        return by_plane.flatten(1, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        doubled = F.conv2d(self.with_edges(x, 2), self.bicubic)
        added = self.body(self.with_edges(x, self.reach))
        return F.pixel_shuffle(self.within_range(doubled + added, x), 2)


# ---------------------------------------------------------------- training


def examples(planes):
    """Makes pairs of a small picture and the one that it was, halved in one of the ways."""
    ways = list(HALVINGS.values())

    def example(wanted, rng):
        wanted = wanted if planes == 3 else training.to_bytes_and_back(training.as_luma(wanted))
        return halved(wanted, ways[rng.integers(len(ways))]), wanted

    return example


def report(net, wanted):
    wanted = wanted if net.planes == 3 else training.to_bytes_and_back(training.as_luma(wanted))
    plain = Upscale2x(net.planes, 4)
    plain.bicubic.copy_(bicubic_weights(net.planes, SWSCALE_CUBIC))
    for name, taps in HALVINGS.items():
        small = halved(wanted, taps)
        results = [torch.cat([f(s) for s in small.split(8)]) for f in (plain, net)]
        scores = [training.psnr(result, wanted) for result in results]
        print(f"halved by {name:8}  bicubic {scores[0]:.2f} dB  net {scores[1]:.2f} dB  "
              f"gain {scores[1] - scores[0]:+.2f} dB")


def main():
    parser = training.options_of(__doc__.splitlines()[0], "models/upscale2x.pt", steps=5000)
    parser.add_argument("--luma", action="store_true", help="one channel, and a smaller net")
    options = parser.parse_args()
    planes, channels = (1, 24) if options.luma else (3, 32)
    training.train_and_save(lambda: Upscale2x(planes, channels), options, examples(planes),
                            lambda net: curvature_only(net.body[0].weight), report)


if __name__ == "__main__":
    main()
