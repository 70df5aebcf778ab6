# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""DnCNN, IRCNN, FDnCNN and FFDNet."""
import torch
from published import Case
from torch import nn
from torch.nn import functional

NOISE = 15 / 255


class Row(nn.Module):
    """`name` holds the layers.  `biases`: of the first, the middle and the last convolution."""

    def __init__(self, inputs, outputs, count, name="model", epsilon=None, dilations=None,
                 features=12, biases=(True, True, True)):
        super().__init__()
        layers = []
        for i in range(count):
            first, last = i == 0, i == count - 1
            dilation = dilations[i] if dilations else 1
            layers.append(nn.Conv2d(inputs if first else features, outputs if last else features,
                                    3, padding=dilation, dilation=dilation,
                                    bias=biases[0 if first else 2 if last else 1]))
            if epsilon and not first and not last:
                layers.append(nn.BatchNorm2d(features, epsilon))
            if not last:
                layers.append(nn.ReLU())
        self.name = name
        self.add_module(name, nn.Sequential(*layers))

    def row(self, x):
        return getattr(self, self.name)(x)


class Residual(Row):
    def forward(self, x):
        return x - self.row(x)


class WithNoise(Row):
    def forward(self, x):
        return self.row(functional.pad(x, (0, 0, 0, 0, 0, 1), value=NOISE))


class Ffdnet(Row):
    def forward(self, picture):
        height, width = picture.shape[2:]
        x = functional.pad(picture, (0, width % 2, 0, height % 2), mode="replicate")
        x = functional.pixel_unshuffle(x, 2)
        x = self.row(torch.cat((x, torch.full_like(x[:, :1], NOISE)), 1))
        return functional.pixel_shuffle(x, 2)[:, :, :height, :width]


def told(name, convolutions):
    return {"architecture": name, "scale": 1, "features": 12, "convolutions": convolutions}


CASES = {
    "dncnn-merged": Case(lambda: Residual(1, 1, 6), told("DnCNN", 6), channels=1),
    "dncnn-colour": Case(lambda: Residual(3, 3, 8), told("DnCNN", 8)),
    "dncnn-norms": Case(lambda: Residual(1, 1, 6, epsilon=1e-4), told("DnCNN", 6), channels=1),
    "dncnn-authors": Case(
        lambda: Residual(1, 1, 6, "dncnn", 1e-4, biases=(True, False, False)),
        told("DnCNN", 6), channels=1),
    "dncnn-no-biases": Case(
        lambda: Residual(1, 1, 6, "dncnn", 1e-5, biases=(False, False, False)),
        told("DnCNN", 6), channels=1),
    "ircnn": Case(lambda: Residual(1, 1, 7, dilations=(1, 2, 3, 4, 3, 2, 1)), told("IRCNN", 7),
                  channels=1),
    "fdncnn-grey": Case(lambda: WithNoise(2, 1, 5), told("FDnCNN", 5), channels=1),
    "fdncnn-colour": Case(lambda: WithNoise(4, 3, 6), told("FDnCNN", 6)),
    "ffdnet-grey": Case(lambda: Ffdnet(5, 4, 5), told("FFDNet", 5), channels=1),
    "ffdnet-colour": Case(lambda: Ffdnet(13, 12, 6), told("FFDNet", 6)),
    "ffdnet-even": Case(lambda: Ffdnet(13, 12, 6), told("FFDNet", 6), size=(20, 16)),
}
