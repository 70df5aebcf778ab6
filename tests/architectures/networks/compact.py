# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""SRVGGNetCompact, as Real-ESRGAN publishes it."""
import torch
from published import Case
from torch import nn


class Compact(nn.Module):
    def __init__(self, channels=3, features=16, convolutions=3, scale=2, activation="prelu"):
        super().__init__()
        make = (lambda: nn.PReLU(features)) if activation == "prelu" else nn.ReLU
        layers = [nn.Conv2d(channels, features, 3, padding=1), make()]
        for _ in range(convolutions):
            layers += [nn.Conv2d(features, features, 3, padding=1), make()]
        layers.append(nn.Conv2d(features, channels * scale * scale, 3, padding=1))
        self.body = nn.ModuleList(layers)
        self.scale = scale

    def forward(self, picture):
        x = picture
        for layer in self.body:
            x = layer(x)
        x = nn.functional.pixel_shuffle(x, self.scale)
        return x + nn.functional.interpolate(picture, scale_factor=self.scale, mode="nearest")


def told(scale=2, activation="prelu", convolutions=3):
    return {"architecture": "Compact", "scale": scale, "features": 16,
            "convolutions": convolutions, "activation": activation}


CASES = {
    "x2": Case(Compact, told()),
    "x1": Case(lambda: Compact(scale=1), told(scale=1)),
    "x4": Case(lambda: Compact(scale=4, convolutions=5), told(scale=4, convolutions=5)),
    "relu": Case(lambda: Compact(activation="relu"), told(activation="relu")),
    "grey": Case(lambda: Compact(channels=1), told(), channels=1),
}
