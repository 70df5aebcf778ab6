# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the nets of this folder that look at whole things are made of."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.fusion import fuse_conv_bn_eval


class Unit(nn.Module):
    """A convolution, its norm until the training ends, and a ReLU."""

    def __init__(self, planes: int, features: int, side: int = 3, stride: int = 1):
        super().__init__()
        self.conv = nn.Conv2d(planes, features, side, stride, side // 2, bias=False)
        self.norm = nn.BatchNorm2d(features, momentum=0.03)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.norm(self.conv(x)))


class Residual(nn.Module):
    """Two convolutions through half of the features, beside what comes in."""

    def __init__(self, features: int):
        super().__init__()
        self.inner = nn.Sequential(Unit(features, features // 2), Unit(features // 2, features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.inner(x)


def fused(net):
    """The same net, with each norm within the convolution before it."""
    net.eval()
    for unit in net.modules():
        if isinstance(unit, Unit):
            unit.conv = fuse_conv_bn_eval(unit.conv, unit.norm)
            unit.norm = nn.Identity()
    return net
