#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the nets that the benchmarks run: make_models.py OUTDIR [NAME...]

Without names, all but those of weights alone.

Well-known shapes with random weights, the same on every machine.  What a layer
costs does not depend on its weights; they are scaled so that a picture comes
out, since the distance between two precisions is measured too.
"""
import pathlib
import sys
import warnings

import torch
import torch.nn.functional as functional
from torch import nn

warnings.filterwarnings("ignore")


class Espcn(nn.Module):
    """Doubles: 5x5 to 64, 3x3 to 32, 3x3 to four samples of each colour."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 64, 5, padding=2)
        self.second = nn.Conv2d(64, 32, 3, padding=1)
        self.last = nn.Conv2d(32, 12, 3, padding=1)
        self.shuffle = nn.PixelShuffle(2)
        nn.init.constant_(self.last.bias, 0.5)

    def forward(self, x):
        x = torch.tanh(self.first(x))
        x = torch.tanh(self.second(x))
        return self.shuffle(self.last(x))


class SrvggCompact(nn.Module):
    """Enlarges by 4: convolutions of 64 with PReLU, on top of the nearest sample."""

    def __init__(self, between=16):
        super().__init__()
        layers = [nn.Conv2d(3, 64, 3, padding=1), nn.PReLU(64)]
        for _ in range(between):
            layers += [nn.Conv2d(64, 64, 3, padding=1), nn.PReLU(64)]
        layers.append(nn.Conv2d(64, 48, 3, padding=1))
        self.body = nn.Sequential(*layers)
        self.shuffle = nn.PixelShuffle(4)
        keep_variance(self, gain=1.3)
        nn.init.normal_(layers[-1].weight, std=0.002)

    def forward(self, x):
        return self.shuffle(self.body(x)) + functional.interpolate(x, scale_factor=4.0)


class DnCnn(nn.Module):
    """Takes the noise that it finds off a luma plane: convolution, normalisation, ReLU."""

    def __init__(self, depth):
        super().__init__()
        layers = [nn.Conv2d(1, 64, 3, padding=1), nn.ReLU()]
        for _ in range(depth - 2):
            layers += [nn.Conv2d(64, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
        layers.append(nn.Conv2d(64, 1, 3, padding=1))
        self.body = nn.Sequential(*layers)
        keep_variance(self, gain=1.4)
        nn.init.normal_(layers[-1].weight, std=0.002)

    def forward(self, x):
        return x - self.body(x)


class MobileNet(nn.Module):
    """The first MobileNet, at half its width: pairs of 3x3 in each channel and 1x1 over all."""

    WIDTHS = (32, 64, 64, 128, 128, 256, 256, 256, 256, 256, 256, 512, 512)
    STRIDES = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1)

    def __init__(self):
        super().__init__()
        layers, inner = [nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU()], 16
        for width, stride in zip(self.WIDTHS, self.STRIDES):
            layers += [
                nn.Conv2d(inner, inner, 3, stride=stride, padding=1, groups=inner), nn.ReLU(),
                nn.Conv2d(inner, width, 1), nn.ReLU(),
            ]  # fmt: skip
            inner = width
        self.body = nn.Sequential(*layers)
        self.scores = nn.Linear(inner, 1000)
        keep_variance(self, gain=1.4)

    def forward(self, x):
        return self.scores(self.body(x).mean([2, 3]))


def esrgan_weights(blocks=23, channels=64, growth=32):
    """ESRGAN's generator that enlarges by 4, as its weights are published: 67 MB of them."""
    layers = {"conv_first": (3, channels), "conv_body": (channels, channels)}
    for block in range(blocks):
        for dense in range(1, 4):
            for step in range(5):
                made = growth if step < 4 else channels
                layers[f"body.{block}.rdb{dense}.conv{step + 1}"] = (channels + step * growth, made)
    layers |= {name: (channels, channels) for name in ("conv_up1", "conv_up2", "conv_hr")}
    layers["conv_last"] = (channels, 3)
    weights = {}
    for name, (taken, made) in layers.items():
        weights[f"{name}.weight"] = torch.randn(made, taken, 3, 3) * (0.1 / (9 * taken) ** 0.5)
        weights[f"{name}.bias"] = torch.zeros(made)
    return weights


class Identity(nn.Module):
    def forward(self, x):
        return x


def keep_variance(net, gain):
    """Signals neither die out nor blow up over many layers."""
    for module in net.modules():
        if isinstance(module, nn.Conv2d):
            fan_in = module.weight[0].numel()
            nn.init.normal_(module.weight, std=gain / fan_in**0.5)


# DnCNN has 17 layers; at 1280x720 those are 1 TFLOP a frame.  Cut down to what
# one core of a server does in 1 to 2 seconds; the layers themselves are as they are.
DNCNN_DEPTH = 5

NETS = {
    "espcn": (Espcn, 3),
    "srvgg": (SrvggCompact, 3),
    "dncnn": (lambda: DnCnn(DNCNN_DEPTH), 1),
    "identity": (Identity, 3),
    "mobilenet": (MobileNet, 3),
}

# Weights alone, in files that torch.save() writes.
CHECKPOINTS = {"esrgan": esrgan_weights}


def build(name):
    torch.manual_seed(20260801)
    return NETS[name][0]().eval()


def make(name, path):
    if name in CHECKPOINTS:
        torch.manual_seed(20260801)
        torch.save(CHECKPOINTS[name](), path.with_suffix(".pth"))
        return
    net = build(name)
    with torch.no_grad():
        traced = torch.jit.trace(net, torch.full([1, NETS[name][1], 64, 96], 0.5))
    traced.save(str(path))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    for name in sys.argv[2:] or NETS:
        make(name, folder / f"{name}.pt")


if __name__ == "__main__":
    main()
