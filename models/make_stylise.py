#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes stylise.pt, which draws videos as a comic: even colours, few shades, ink along the edges.

There is nothing to learn in it. It shows that any function of tensors makes a filter.
"""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

import training


def gaussian(sigma, reach=4):
    taps = torch.exp(-0.5 * (torch.arange(-reach, reach + 1) / sigma) ** 2)
    square = torch.outer(taps, taps)
    return square / square.sum()


class Stylise(nn.Module):
    def __init__(self, passes: int = 5, shades: float = 9.0, alike: float = 0.16,
                 colourful: float = 1.25):
        super().__init__()
        self.passes, self.shades, self.alike = passes, shades, alike
        self.colourful = colourful
        self.register_buffer("luma", torch.tensor([0.299, 0.587, 0.114]).view(1, 3, 1, 1))
        # What is darker than its surroundings gets ink.
        self.register_buffer("darker", (gaussian(0.9) - gaussian(2.0)).view(1, 1, 9, 9))

    def with_edges(self, x: torch.Tensor, reach: int) -> torch.Tensor:
        # F.pad repeats no edges in half precision on the CPU before LibTorch 2.
        rows = torch.arange(-reach, x.size(2) + reach, device=x.device).clamp(0, x.size(2) - 1)
        columns = torch.arange(-reach, x.size(3) + reach, device=x.device).clamp(0, x.size(3) - 1)
        return x.index_select(2, rows).index_select(3, columns)

    def smoothed(self, x: torch.Tensor, step: int) -> torch.Tensor:
        """The mean of each pixel and those around it that are like it: edges stay."""
        wide, height, width = self.with_edges(x, step), x.size(2), x.size(3)
        total, weights = x, torch.ones_like(x[:, :1])
        for down in (0, step, 2 * step):
            for right in (0, step, 2 * step):
                near = wide[:, :, down:down + height, right:right + width]
                apart = (near - x).abs().amax(1, keepdim=True)
                weight = (1 - apart / self.alike).clamp(min=0)
                total, weights = total + weight * near, weights + weight
        return total / weights

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in range(self.passes):
            x = self.smoothed(x, 1 + i % 2)
        light = (x * self.luma).sum(1, keepdim=True)
        shade = light * self.shades
        nearest = torch.round(shade)
        stepped = (nearest + 0.5 * torch.tanh(9 * (shade - nearest))) / self.shades
        edges = F.conv2d(self.with_edges(light, 4), self.darker)
        ink = 1 + torch.tanh(40 * (edges + 0.012).clamp(max=0))
        return ((stepped + self.colourful * (x - light)) * ink).clamp(0, 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="models/stylise.pt")
    training.save(Stylise(), parser.parse_args().out)
