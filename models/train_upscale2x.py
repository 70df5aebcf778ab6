#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains the x2 upscaling nets of this folder, for RGB or for luma, and saves them as TorchScript.

They learn from photographs (photographs.py) as video has them: halved in several ways, of
8 bits, 4:2:0, compressed.
"""

import hashlib
import itertools

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import large_batches
import photographs
import training
from degradations import (HALVINGS, SWSCALE_CUBIC, as_luma, cubic, encoded, halved,
                          through_420, to_bytes_and_back)

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
    side = torch.linspace(-1, 1, weight.shape[-1], device=weight.device)
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

    def __init__(self, planes: int, channels: int, layers: int = 6):
        super().__init__()
        self.planes: int = planes
        self.reach: int = layers + 1
        self.register_buffer("bicubic", bicubic_weights(planes))
        body = [nn.Conv2d(planes, channels, 5, bias=False), nn.LeakyReLU(0.1)]
        for _ in range(layers - 2):
            body += [nn.Conv2d(channels, channels, 3, bias=False), nn.LeakyReLU(0.1)]
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

PAN = 4
"""Pixels by which the camera moves in each direction from frame to frame."""

FRAMES = 5
SHARES = {"area": 0.35, "bilinear": 0.05, "bicubic": 0.5, "lanczos": 0.1}
"""How often each way of halving is met."""

LARGE_SHARES = {"area": 0.45, "bilinear": 0.05, "bicubic": 0.4, "lanczos": 0.1}
"""The same for trainings by time."""

QUALITIES = 18, 23, 28
"""Of libx264, whose --crf they are."""


class Pan:
    """A camera that moves over a photograph: the frames, and what video makes of their halves."""

    def __init__(self, picture, small):
        self.picture, self.small = picture, small

    @staticmethod
    def frame(picture, number):
        """The last multiples of four are left, because libx264 takes even halves."""
        height, width = (extent // 4 * 4 - PAN * FRAMES for extent in picture.shape[1:])
        at = PAN * number
        return picture[:, at:at + height, at:at + width]

    @classmethod
    def compressed(cls, picture, taps, crf):
        frames = [cls.frame(picture, number)[None].float() / 255 for number in range(FRAMES)]
        small = torch.cat([halved(frame, taps).mul(255).round().byte() for frame in frames])
        return cls(picture, encoded(small, crf))

    def pair(self, side, rng):
        """The same place of the small frame and of the large one."""
        number = rng.integers(FRAMES)
        small, large = self.small[number], self.frame(self.picture, number)
        top, left = training.random_crop(small, side // 2, rng)
        return training.turned([training.cut(small, top, left, side // 2),
                                training.cut(large, 2 * top, 2 * left, side)], rng)


class Examples:
    """Makes small pictures, as video has them, and the large ones that they were."""

    def __init__(self, pictures, planes, options):
        self.pictures, self.planes = pictures, planes
        self.batch, self.side = options.batch, options.side
        self.pans = self.make_pans(options.seed)

    def make_pans(self, seed):
        """Kept for the next training from the same pictures, because it takes minutes."""
        made_from = hashlib.sha256(repr((seed, PAN, FRAMES, QUALITIES)).encode())
        for picture in self.pictures:
            made_from.update(picture.numpy().tobytes())
        kept = training.STATES / f"pans-{made_from.hexdigest()[:16]}.pt"
        pictures = [picture for picture in self.pictures for _ in QUALITIES]
        if kept.exists():
            return [Pan(*each) for each in zip(pictures, torch.load(kept))]
        rng, ways = np.random.default_rng(seed), list(HALVINGS.values())
        pans = [Pan.compressed(picture, ways[rng.integers(len(ways))], crf)
                for picture, crf in zip(pictures, itertools.cycle(QUALITIES))]
        training.keep_state([pan.small for pan in pans], kept)
        return pans

    def compressed(self, count, rng):
        pairs = [self.pans[rng.integers(len(self.pans))].pair(self.side, rng)
                 for _ in range(count)]
        return [torch.stack(images).float() / 255 for images in zip(*pairs)]

    def uncompressed(self, count, rng):
        wanted = training.crops(self.pictures, count, self.side, rng)
        small = halved(wanted, HALVINGS[rng.choice(list(SHARES), p=list(SHARES.values()))])
        return through_420(small) if rng.random() < 0.5 else small, wanted

    def __call__(self, rng):
        compressed = self.compressed(self.batch // 4, rng)
        uncompressed = self.uncompressed(self.batch - self.batch // 4, rng)
        small, wanted = (torch.cat(parts) for parts in zip(compressed, uncompressed))
        if self.planes == 1:
            small, wanted = (to_bytes_and_back(as_luma(images)) for images in (small, wanted))
        return small, wanted


class LargeBatches:
    """The same, made on a GPU; compressed frames come from packed_photographs.py."""

    CHUNKS, CHOICES = 4, 4

    def __init__(self, planes, options):
        self.planes, self.batch, self.side = planes, options.batch, options.side
        pictures = large_batches.read_all(f"{options.data}/photographs")
        self.photographs = large_batches.Photographs(pictures.values(), options.device, self.CHOICES)
        self.small, self.large = (large_batches.Pictures(each, options.device)
                                  for each in self.pairs(pictures, f"{options.data}/pairs"))
        self.ways = [HALVINGS[name].to(options.device) for name in LARGE_SHARES]

    @staticmethod
    def pairs(pictures, folder):
        """Small frames, compressed, and the large ones that they were."""
        small = large_batches.read_all(folder)
        names = [name.split(".") for name in small]
        return small.values(), [Pan.frame(pictures[name], int(number)) for name, number, _ in names]

    def compressed(self, count):
        places = self.small.places(count, self.side // 2)
        return (self.small.crops(places, self.side // 2),
                self.large.crops(places.of_doubles(), self.side))

    def uncompressed(self, count, rng):
        wanted = self.photographs.crops(count, self.side)
        small = [halved(part, self.ways[rng.choice(len(self.ways), p=list(LARGE_SHARES.values()))])
                 for part in wanted.chunk(self.CHUNKS)]
        return torch.cat([through_420(part) if rng.random() < 0.6 else part for part in small]), wanted

    def __call__(self, rng):
        compressed = self.compressed(self.batch // 8)
        uncompressed = self.uncompressed(self.batch - self.batch // 8, rng)
        small, wanted = (torch.cat(parts) for parts in zip(compressed, uncompressed))
        if self.planes == 1:
            small, wanted = (to_bytes_and_back(as_luma(images)) for images in (small, wanted))
        return small, wanted


def train_and_save(make_net, options, planes, constrain, report, keep=training.save):
    """By steps, or by time."""
    if options.minutes:
        torch.manual_seed(options.seed)
        large_batches.train_and_keep(make_net(), options, LargeBatches(planes, options), constrain,
                                     training.with_luma, large_batches.root_of_mean)
    else:
        training.train_and_save(make_net, options,
                                lambda: Examples(photographs.load(), planes, options), constrain,
                                report, keep, training.with_luma)


def bicubic(planes):
    """ffmpeg's scaler, as a net."""
    net = Upscale2x(planes, 4)
    net.bicubic.copy_(bicubic_weights(planes, SWSCALE_CUBIC))
    return net


def scores_of(net, planes=3):
    """For each way of halving: PSNR of luma of bicubic and of the net, on photographs held out."""
    pictures = [picture[None].float() / 255 for picture in photographs.load(held_out=True)]
    if planes == 1:
        pictures = [to_bytes_and_back(as_luma(picture)) for picture in pictures]
    luma = (lambda x: x) if planes == 1 else as_luma
    with torch.no_grad():
        return {name: [np.mean([training.psnr(luma(upscale(halved(picture, taps))), luma(picture))
                                for picture in pictures]) for upscale in (bicubic(planes), net)]
                for name, taps in HALVINGS.items()}


def report(net, planes=3):
    for name, (plain, mine) in scores_of(net, planes).items():
        print(f"halved by {name:8}  bicubic {plain:.2f} dB  net {mine:.2f} dB  "
              f"gain {mine - plain:+.2f} dB")


def main():
    parser = training.options_of(__doc__.splitlines()[0], "models/upscale2x.pt", steps=14000)
    parser.add_argument("--luma", action="store_true", help="one channel, and a smaller net")
    options = parser.parse_args()
    planes, channels = (1, 24) if options.luma else (3, 32)
    train_and_save(lambda: Upscale2x(planes, channels), options, planes,
                   lambda net: curvature_only(net.body[0].weight), lambda net: report(net, planes))


if __name__ == "__main__":
    main()
