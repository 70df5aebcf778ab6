#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes denoise_video.pt: denoise.pt with a memory.

What stands still is averaged over the frames before, and denoise.pt removes the rest of the
noise. It learned to find how strong noise is at each place. Nothing is trained here.
"""

import argparse
import pathlib
from typing import Optional, Tuple

import torch
from torch import nn
from torch.nn import functional as F

import training
from train_denoise import Denoise

MODELS = pathlib.Path(__file__).resolve().parent
CONTRACT = {"inputs": {"state": "state=1"}}


def box(x: torch.Tensor, side: int) -> torch.Tensor:
    around = side // 2
    return F.avg_pool2d(F.pad(x, [around, around, around, around], mode="replicate"), side, 1)


def opponent(x: torch.Tensor) -> torch.Tensor:
    """Luma and two differences of colour, which have noise of their own."""
    luma = 0.299 * x[:, :1] + 0.587 * x[:, 1:2] + 0.114 * x[:, 2:]
    return torch.cat([luma, x[:, 2:] - luma, x[:, :1] - luma], 1)


def strength_of(x: torch.Tensor) -> torch.Tensor:
    """Standard deviation of each channel, from the median: few large values do not count."""
    return (x[:, :, ::2, ::2].abs().flatten(2).median(2)[0] / 0.6745)[:, :, None, None]


def roughness(luma: torch.Tensor) -> torch.Tensor:
    """Second differences in both directions, of which even areas and edges have none."""
    wide = F.pad(luma, [1, 1, 1, 1], mode="replicate")
    across = 2 * wide[:, :, :, 1:-1] - wide[:, :, :, 2:] - wide[:, :, :, :-2]
    return (2 * across[:, :, 1:-1] - across[:, :, 2:] - across[:, :, :-2]) / 6


def below(x: torch.Tensor, surely: float, not_above: float) -> torch.Tensor:
    return ((not_above - x) / (not_above - surely)).clamp(0, 1)


class DenoiseVideo(nn.Module):
    """The state is the mean of the frames, and of how many frames it is one at each place."""

    MOST = 24.0
    """Frames whose mean counts; light may change slowly."""

    def __init__(self):
        super().__init__()
        self.most: float = self.MOST
        self.denoise = Denoise()

    def stands_still(self, x: torch.Tensor, mean: torch.Tensor, count: torch.Tensor
                     ) -> torch.Tensor:
        """From 0 to 1: whether noise alone explains the difference to the mean.

        The limits are on squares of differences, of which noise has a mean of 1: in small
        areas, for their sum in larger ones, and for colours.
        """
        change = opponent(x - mean) / (1 + 1 / count).sqrt()
        strength = strength_of(change)
        # Where the whole picture moves, its change is more than noise.
        least = strength_of(roughness(opponent(x)[:, :1])) / (strength[:, :1] + 1e-6)
        change = change / (strength * least.clamp(max=1)).clamp(min=0.4 / 255)
        squares = change.square()
        still = below(box(squares[:, :1], 5), 1.5, 3.5)
        still = still * below(81 * box(change[:, :1], 9).square(), 6.0, 25.0)
        colour = torch.max(box(squares[:, 1:2], 9), box(squares[:, 2:], 9))
        return -F.max_pool2d(-still * below(colour, 1.5, 4.0), 3, 1, 1)

    def forward(self, x: torch.Tensor, state: Optional[torch.Tensor] = None
                ) -> Tuple[torch.Tensor, torch.Tensor]:
        mean, count = x, torch.ones_like(x[:, :1])
        if state is not None:
            before = state[:, 3:]
            kept = self.stands_still(x, state[:, :3], before) * before.clamp(max=self.most)
            count = kept + 1
            mean = (kept * state[:, :3] + x) / count
        return self.denoise(mean), torch.cat([mean, count], 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="models/denoise_video.pt")
    options = parser.parse_args()
    net = DenoiseVideo()
    net.denoise.load_state_dict(torch.jit.load(str(MODELS / "denoise.pt")).state_dict())
    training.save(net, options.out, CONTRACT)


if __name__ == "__main__":
    main()
