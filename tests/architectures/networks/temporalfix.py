# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""temporal fix: averages what six frames around one have of it."""
import torch
from published import Case
from torch import nn
from torch.nn import functional

FRAMES = 7


def resize(x, size):
    if tuple(x.shape[2:]) == tuple(size):
        return x
    if size[0] < x.shape[2] or size[1] < x.shape[3]:
        row = torch.tensor([1.0, 4.0, 6.0, 4.0, 1.0]) / 16
        x = functional.conv2d(x.flatten(0, 1).unsqueeze(1), torch.outer(row, row)[None, None],
                              padding=2).view_as(x)
    return functional.interpolate(x, tuple(size), mode="bilinear")


def resize_flow(flow, size):
    factor = torch.tensor([size[1] / flow.shape[3], size[0] / flow.shape[2]])
    return resize(flow, size) * factor.view(1, 2, 1, 1)


def moved(x, flow):
    """By a flow in pixels, across and down; zeros are outside."""
    affine = torch.eye(2, 3).expand(len(x), 2, 3)
    grid = functional.affine_grid(affine, list(x.shape), align_corners=False)
    step = flow.permute(0, 2, 3, 1) * torch.tensor([2 / x.shape[3], 2 / x.shape[2]])
    return functional.grid_sample(x, grid + step, "bilinear", "zeros", align_corners=False)


def with_activation(*convolution, **options):
    return nn.Sequential(nn.Conv2d(*convolution, **options), nn.LeakyReLU(0.2))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.cnn0 = nn.Conv2d(3, 16, 3, 2, 1)
        self.cnn1 = nn.Conv2d(16, 16, 3, 1, 1)
        self.cnn2 = nn.Conv2d(16, 16, 3, 1, 1)
        self.proj = nn.Conv2d(16, 4, 3, 1, 1)

    def forward(self, x):
        size = x.shape[2:]
        for part in (self.cnn0, self.cnn1, self.cnn2):
            x = functional.leaky_relu(part(x), 0.2)
        return functional.interpolate(self.proj(x), size, mode="bilinear")


class Residual(nn.Module):
    def __init__(self, channels, is_separable):
        super().__init__()
        if is_separable:
            self.dw = nn.Conv2d(channels, channels, 3, padding=1, groups=channels)
            self.pw = nn.Conv2d(channels, channels, 1)
        else:
            self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.is_separable = is_separable
        self.beta = nn.Parameter(torch.ones(1, channels, 1, 1))

    def forward(self, x):
        y = self.pw(self.dw(x)) if self.is_separable else self.conv(x)
        return functional.leaky_relu(y * self.beta + x, 0.2)


class Stage(nn.Module):
    def __init__(self, inputs, channels, blocks, is_separable):
        super().__init__()
        self.conv0 = nn.Sequential(with_activation(inputs, channels // 2, 3, 2, 1),
                                   with_activation(channels // 2, channels, 3, 2, 1))
        self.convblock = nn.Sequential(*(Residual(channels, is_separable) for _ in range(blocks)))
        self.out_conv = nn.Conv2d(channels, 11, 3, 1, 1)

    def forward(self, x):
        y = self.out_conv(self.convblock(self.conv0(x)))
        return functional.interpolate(y, x.shape[2:], mode="bilinear").split([2, 1, 8], 1)


class Aligner(nn.Module):
    def __init__(self, channels, blocks):
        super().__init__()
        self.blocks = nn.ModuleList(Stage(26 if i else 15, each, blocks, i > 0) for i, each in enumerate(channels))

    def forward(self, middle, other, middle_features, other_features, distance):
        whole = middle.shape[2:]
        flow = trust = hint = None
        for stage, by in zip(self.blocks, (8, 4, 2)):
            size = [-(-extent // by) for extent in whole]
            a, b, fa, fb = (resize(each, size) for each in (middle, other, middle_features, other_features))
            time = distance.expand(-1, -1, *size)
            if flow is None:
                flow, trust, hint = stage(torch.cat((a, b, fa, fb, time), 1))
                continue
            flow, trust, hint = resize_flow(flow, size), resize(trust, size), resize(hint, size)
            given = (a, moved(b, flow), fa, moved(fb, flow), time, trust, hint, flow)
            step, trust, hint = stage(torch.cat(given, 1))
            flow = flow + step
        return resize_flow(flow, whole), resize(trust, whole)


class Trust(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(with_activation(25, 32, 3, 1, 1), with_activation(32, 32, 3, 1, 1),
                                 nn.Conv2d(32, 1, 3, 1, 1))

    def forward(self, x):
        return self.net(x)


class TemporalFix(nn.Module):
    """One pair of frames after the other; the published network takes all at once."""

    def __init__(self, channels=(16, 12, 8), blocks=2):
        super().__init__()
        self.encode = Encoder()
        self.aligner = Aligner(channels, blocks)
        self.conf_head = Trust()

    def forward(self, window):
        pictures = window.split(3, 1)
        features = [self.encode(each) for each in pictures]
        middle, middle_features = pictures[3], features[3]
        total, weights, count = 0, 0, 0
        for i, (other, other_features) in enumerate(zip(pictures, features)):
            if i == 3:
                continue
            time = torch.full_like(middle[:, :1, :1, :1], (i - 3) / 3)
            flow, trust = self.aligner(middle, other, middle_features, other_features, time)
            there = moved(other, flow)
            logit = self.judge(middle, there, middle_features, other_features, flow, time, trust)
            sure = torch.sigmoid(logit) * moved(torch.ones_like(trust), flow)
            gate = torch.sigmoid(12 * (sure - 0.6))
            total, weights, count = total + sure * gate * there, weights + sure * gate, count + gate
        mean = (middle + total) / (1 + weights)
        return middle + torch.sigmoid(4 * (count - 0.5)) * (mean - middle)

    def judge(self, middle, there, middle_features, other_features, flow, time, trust):
        whole = middle.shape[2:]
        size = [-(-extent // 2) for extent in whole]
        a, b, fa = (resize(each, size) for each in (middle, there, middle_features))
        flow = resize_flow(flow, size)
        fb = moved(resize(other_features, size), flow)
        length = flow.square().sum(1, keepdim=True).sqrt()
        given = torch.cat((a, b, (b - a).abs(), fa, fb, (fb - fa).abs(), flow, length,
                           time.expand(-1, -1, *size)), 1)
        return resize(resize(trust, size) + self.conf_head(given), whole)


def case(channels=(16, 12, 8), blocks=2, **options):
    told = {"architecture": "temporal fix", "scale": 1, "features": channels[0], "frames": FRAMES}
    return Case(lambda: TemporalFix(channels, blocks), told, frames=FRAMES, is_global=True, tolerance=5e-5, **options)


CASES = {"small": case(), "published": case((96, 64, 48), 4), "one-pixel": case(size=(1, 9)), "wide": case(size=(64, 8))}
