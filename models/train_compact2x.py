#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains a Compact net that doubles the size, and saves its weights alone, as such nets are published.

It learns from what upscale2x.pt learns from.
"""

import torch
from torch import nn
from torch.nn import functional as F

import training
from train_upscale2x import report, train_and_save


class Compact(nn.Module):
    """Convolutions in a row that add to the picture enlarged by repeated pixels.

    The names of the weights are those of SRVGGNetCompact. No layer has a bias and
    the first one is blind to brightness, so that even areas come out as they are;
    the file has biases, all zero, because the published layout has them.
    """

    def __init__(self, features: int = 24, convolutions: int = 6):
        super().__init__()
        layers = [nn.Conv2d(3, features, 3, padding=1), nn.PReLU(features)]
        for _ in range(convolutions):
            layers += [nn.Conv2d(features, features, 3, padding=1), nn.PReLU(features)]
        self.body = nn.ModuleList([*layers, nn.Conv2d(features, 12, 3, padding=1)])
        for layer in self.body[::2]:
            nn.init.kaiming_normal_(layer.weight, a=0.25)
            nn.init.zeros_(layer.bias)
            layer.bias.requires_grad_(False)
        nn.init.zeros_(self.body[-1].weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found = x
        for layer in self.body:
            found = layer(found)
        return F.pixel_shuffle(found, 2) + F.interpolate(x, scale_factor=2.0, mode="nearest")


def blind_to_brightness(net):
    """Takes out of the first filters what they would answer to an even colour."""
    weight = net.body[0].weight
    weight.sub_(weight.mean((2, 3), keepdim=True))


def save(net, path):
    """Under the key of published checkpoints, and without what belongs to this machine."""
    net.to(memory_format=torch.contiguous_format)
    torch.save({"params": {name: weight.clone() for name, weight in net.state_dict().items()}}, path)


def main():
    parser = training.options_of(__doc__.splitlines()[0], "models/compact2x.pth", steps=10000)
    options = parser.parse_args()
    train_and_save(Compact, options, 3, blind_to_brightness, report, keep=save)


if __name__ == "__main__":
    main()
