#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains the denoising net of this folder and saves it as TorchScript.

It learns from photographs (photographs.py) with the noise of cameras, as video of 8 bits,
4:2:0, has it.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import large_batches
import photographs
import training
from degradations import (as_luma, from_420, quantised, through_420, to_420,
                          to_bytes_and_back)

STRONGEST = 32
"""Standard deviation of the strongest noise that it learns to remove; white is 255."""


class Denoise(nn.Module):
    """What a small net takes for noise is taken away.

    It works at half the size, on the four pixels of each square at once, and finds at a
    quarter of it what needs a larger area. It has no biases, so that it treats contrast and
    noise of any strength alike; its first layer does not see how bright a picture is. The
    picture is mirrored at its edges, and the first layer pads nothing: the zeros of the other
    layers then stand for even areas.
    """

    EDGE = 8
    """Pixels around the picture, besides those of the first layer."""

    def __init__(self, half: int = 32, quarter: int = 40):
        super().__init__()
        self.edge: int = self.EDGE
        self.first = nn.Conv2d(12, half, 3, bias=False)
        self.before = layers(half, 3)
        self.smaller = nn.Conv2d(half, quarter, 2, 2, bias=False)
        self.coarse = layers(quarter, 2)
        self.larger = nn.Conv2d(quarter, 4 * half, 1, bias=False)
        self.after = layers(half, 5)
        self.last = nn.Conv2d(half, 12, 3, padding=1, bias=False)
        for layer in self.modules():
            # Without biases nothing else keeps noise as large as it comes in.
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
        nn.init.zeros_(self.last.weight)

    def mirrored(self, x: torch.Tensor, extent: int) -> torch.Tensor:
        """Indices around an extent, a multiple of four besides what the first layer takes."""
        around = self.edge + 2
        i = torch.arange(-around, (extent + 3) // 4 * 4 + around, device=x.device).abs()
        return (extent - 1 - (extent - 1 - i).abs()).clamp(0, extent - 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        height, width, edge = x.size(2), x.size(3), self.edge
        wide = x.index_select(2, self.mirrored(x, height)).index_select(3, self.mirrored(x, width))
        half = self.before(F.relu(self.first(F.pixel_unshuffle(wide, 2))))
        quarter = self.coarse(F.relu(self.smaller(half)))
        half = half + F.pixel_shuffle(self.larger(quarter), 2)
        noise = F.pixel_shuffle(self.last(half + self.after(half)), 2)
        return x - noise[:, :, edge:edge + height, edge:edge + width]


def layers(channels, count):
    return nn.Sequential(*[part for _ in range(count) for part in (
        nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.ReLU())])


def blind_to_brightness(net):
    """Takes out of the first filters what they would answer to an even colour."""
    by_colour = net.first.weight.unflatten(1, (3, 4))
    by_colour.sub_(by_colour.mean((2, 3, 4), keepdim=True))


# ----------------------------------------------------------------- noise


def in_codes(images, strength):
    """Noise of luma and chroma alike, rounded to 8 bits and cut to what these hold."""
    luma, chroma = to_420(images)
    return from_420(*(
        (part + strength * torch.randn_like(part)).round().clamp(0, 255) for part in (luma, chroma)
    ))


def of_a_camera(images, strength):
    """More where it is bright, more in all colours together than in each, these at times coarse."""
    noise = torch.randn_like(images)
    gray = noise.mean(1, keepdim=True)
    colour = noise - gray
    if torch.rand(()) < 0.5:
        colour = F.interpolate(F.avg_pool2d(colour, 2) * 2, scale_factor=2)
    noise = 3**0.5 * gray + torch.rand(()) * colour
    by_light = (0.3 + 0.7 * as_luma(images)).sqrt()
    return through_420(images + strength / 255 * by_light * noise)


def in_rgb(images, strength):
    return to_bytes_and_back(images + strength / 255 * torch.randn_like(images))


class Examples:
    """Makes noisy pictures, and what they were before."""

    def __init__(self, pictures, options):
        self.pictures, self.batch, self.side = pictures, options.batch, options.side

    def __call__(self, rng):
        wanted = training.crops(self.pictures, self.batch, self.side, rng)
        strength = torch.from_numpy(rng.uniform(0, STRONGEST, (self.batch, 1, 1, 1))).float()
        kind = rng.random()
        if kind < 0.2:
            return in_rgb(wanted, strength), wanted
        wanted = through_420(wanted)
        return (in_codes if kind < 0.7 else of_a_camera)(wanted, strength), wanted


class LargeBatches:
    """The same, made on a GPU. Some pictures are of footage that was compressed before."""

    QUANTISED = 0.4
    """Their share; their cosines are rounded to STEPS of 255."""

    STEPS = 4, 40
    CHOICES = 2
    KINDS = {in_rgb: 0.15, in_codes: 0.6, of_a_camera: 0.25}

    def __init__(self, options):
        self.batch, self.side, self.device = options.batch, options.side, options.device
        pictures = large_batches.read_all(f"{options.data}/photographs")
        self.photographs = large_batches.Photographs(pictures.values(), options.device, self.CHOICES)

    def uniform(self, count, least, most):
        return least + (most - least) * torch.rand(count, 1, 1, 1, device=self.device)

    def footage(self, rng):
        """Blocks lie anywhere in a crop."""
        wide = self.photographs.crops(self.batch, self.side + 8)
        count = int(self.batch * self.QUANTISED)
        steps = self.uniform(count, *self.STEPS) / 255
        wide = torch.cat([quantised(wide[:count], steps), wide[count:]])
        top, left = 2 * rng.integers(0, 5, 2)
        return wide[..., top:top + self.side, left:left + self.side]

    def __call__(self, rng):
        wanted = self.footage(rng)[torch.randperm(self.batch, device=self.device)]
        given, clean, begin = [], [], 0
        for kind, share in self.KINDS.items():
            count = round(self.batch * share) if kind is not of_a_camera else self.batch - begin
            part = wanted[begin:begin + count]
            part = part if kind is in_rgb else through_420(part)
            given.append(kind(part, self.uniform(count, 0, STRONGEST)))
            clean.append(part)
            begin += count
        return torch.cat(given), torch.cat(clean)


def scores_of(net):
    """For strengths of noise: PSNR of luma with it and without, on photographs held out."""
    pictures = [through_420(picture[None].float() / 255)
                for picture in photographs.load(held_out=True, longer_side=800)]
    scores = {}
    for strength in (5, 10, 15, 25):
        torch.manual_seed(strength)
        pairs = [(in_codes(picture, strength), picture) for picture in pictures]
        with torch.no_grad():
            scores[strength] = [
                np.mean([training.psnr(as_luma(way(noisy)), as_luma(picture))
                         for noisy, picture in pairs]) for way in (lambda x: x, net)]
    return scores


def report(net):
    for strength, (before, after) in scores_of(net).items():
        print(f"noise of {strength:2}  {before:.2f} dB  without it {after:.2f} dB  "
              f"gain {after - before:+.2f} dB")


def main():
    parser = training.options_of(__doc__.splitlines()[0], "models/denoise.pt", steps=8000)
    parser.set_defaults(side=64)
    options = parser.parse_args()
    if options.minutes:
        torch.manual_seed(options.seed)
        large_batches.train_and_keep(Denoise(), options, LargeBatches(options), blind_to_brightness,
                                     training.with_luma, large_batches.mean_of_roots)
    else:
        training.train_and_save(Denoise, options, lambda: Examples(photographs.load(), options),
                                blind_to_brightness, report, loss_of=training.with_luma)


if __name__ == "__main__":
    main()
