#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains backdrop.pt, which cuts drawn persons out of their background, and saves it as TorchScript.

Every picture that it learns from is drawn here, from a seed.
"""

import torch
from torch import nn
from torch.nn import functional as F

import drawn_training
import training
from drawn_figures import draw_scene
from units import Residual, Unit

SIDE, SIDE_HELD_OUT = 128, 160

CONTRACT = {
    "task": "matte",
    "author": "the ffmpeg-dnn-torch authors",
    "licence": "LGPL-2.1-or-later",
    "input": {"channels": 3, "order": "rgb", "range": [0, 1], "multiple": 32},
    "output": {"channels": 1, "range": [0, 1], "as": "alpha"},
}

# --------------------------------------------------------------------- net


class Backdrop(nn.Module):
    """Goes down to a 32th of the size and up again, with what it saw on the way.

    Returns how much of each pixel is person, from 0 to 1. Width and height are
    multiples of 32. The loss asks for a cautious answer, which would leave persons
    half transparent, and so the trained net's logits are multiplied.
    """

    def __init__(self):
        super().__init__()
        self.start = Unit(12, 12)
        self.quarter = nn.Sequential(Unit(12, 16, stride=2), Residual(16))
        self.eighth = nn.Sequential(Unit(16, 24, stride=2), Residual(24))
        self.sixteenth = nn.Sequential(Unit(24, 32, stride=2), Residual(32))
        self.lowest = nn.Sequential(Unit(32, 32, stride=2), Residual(32), Residual(32))
        self.to_sixteenth = Unit(32 + 32, 24)
        self.to_eighth = Unit(24 + 24, 16)
        self.to_quarter = Unit(16 + 16, 12)
        self.to_half = Unit(12 + 12, 12)
        self.end = nn.Conv2d(12, 4, 3, padding=1)

    def beside(self, low: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        return torch.cat([F.interpolate(low, scale_factor=2.0, mode="nearest"), seen], 1)

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        half = self.start(F.pixel_unshuffle(x, 2))
        quarter = self.quarter(half)
        eighth = self.eighth(quarter)
        sixteenth = self.sixteenth(eighth)
        up = self.to_sixteenth(self.beside(self.lowest(sixteenth), sixteenth))
        up = self.to_eighth(self.beside(up, eighth))
        up = self.to_quarter(self.beside(up, quarter))
        up = self.to_half(self.beside(up, half))
        return F.pixel_shuffle(self.end(up), 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(4.0 * self.logits(x))


# ---------------------------------------------------------------- training


def draw_many(first_seed, count, side=SIDE):
    """Pictures and mattes, as bytes."""
    pictures = torch.empty(count, 3, side, side, dtype=torch.uint8)
    mattes = torch.empty(count, 1, side, side, dtype=torch.uint8)
    for i in range(count):
        picture, matte = draw_scene(first_seed + i, side, side)
        pictures[i] = torch.from_numpy(picture).permute(2, 0, 1)
        mattes[i, 0] = torch.from_numpy(matte)
    return pictures, mattes


def varied(pictures, mattes, rng):
    """Mirrored, and each brighter or darker, of more or less contrast."""
    pictures, mattes = pictures.float().div_(255), mattes.float().div_(255)
    if rng.random() < 0.5:
        pictures, mattes = pictures.flip(3), mattes.flip(3)
    size = (len(pictures), 1, 1, 1)
    contrast = torch.from_numpy(rng.uniform(0.6, 1.15, size)).float()
    shift = torch.from_numpy(rng.uniform(-0.15, 0.15, (len(pictures), 3, 1, 1))).float()
    pictures = ((pictures - 0.5) * contrast + 0.5 + shift).clamp_(0, 1)
    return pictures.contiguous(memory_format=torch.channels_last), mattes


def loss_with(drawn):
    def loss_of(net, chosen, rng, _):
        pictures, mattes = varied(drawn[0][chosen], drawn[1][chosen], rng)
        found = net.logits(pictures)
        return (F.binary_cross_entropy_with_logits(found, mattes)
                + F.l1_loss(torch.sigmoid(found), mattes))

    return loss_of


def scores_of(net, count):
    """On pictures held out: intersection over union of the persons, and the mean difference."""
    pictures, mattes = draw_many(training.HELD_OUT_SEED, count, SIDE_HELD_OUT)
    with torch.no_grad():
        found = torch.cat([net(part.float() / 255) for part in pictures.split(4)])
    wanted = mattes.float() / 255
    inside, person = found > 0.5, wanted > 0.5
    overlap = (inside & person).sum().item() / max(1, (inside | person).sum().item())
    return overlap, (found - wanted).abs().mean().item()


def report(net, count=100):
    overlap, difference = scores_of(net, count)
    print(f"{count} pictures: intersection over union {overlap:.3f}  "
          f"mean difference {difference:.4f}")


def main():
    parser = drawn_training.options_of(__doc__.splitlines()[0], "models/backdrop.pt",
                                       steps=2500, rate=4e-3, batch=10)
    drawn_training.train_and_save(Backdrop, parser.parse_args(), draw_many, loss_with, CONTRACT, report)


if __name__ == "__main__":
    main()
