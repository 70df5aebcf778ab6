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


class DenseBlock(nn.Module):
    """Each convolution sees what all before it made; the last one's result is added, weakly."""

    def __init__(self, channels, growth):
        super().__init__()
        for step in range(5):
            made = growth if step < 4 else channels
            layer = nn.Conv2d(channels + step * growth, made, 3, padding=1)
            setattr(self, f"conv{step + 1}", layer)

    def forward(self, x):
        seen = [x]
        for layer in (self.conv1, self.conv2, self.conv3, self.conv4):
            seen.append(functional.leaky_relu(layer(torch.cat(seen, 1)), 0.2))
        return x + 0.2 * self.conv5(torch.cat(seen, 1))


class ResidualDenseBlock(nn.Module):
    def __init__(self, channels, growth):
        super().__init__()
        self.rdb1 = DenseBlock(channels, growth)
        self.rdb2 = DenseBlock(channels, growth)
        self.rdb3 = DenseBlock(channels, growth)

    def forward(self, x):
        return x + 0.2 * self.rdb3(self.rdb2(self.rdb1(x)))


class RrdbNet(nn.Module):
    """ESRGAN's generator, as its weights are published: enlarges by 4, 67 MB of weights."""

    def __init__(self, blocks=23, channels=64, growth=32):
        super().__init__()
        self.conv_first = nn.Conv2d(3, channels, 3, padding=1)
        self.body = nn.Sequential(*[ResidualDenseBlock(channels, growth) for _ in range(blocks)])
        self.conv_body = nn.Conv2d(channels, channels, 3, padding=1)
        self.conv_up1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.conv_up2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.conv_hr = nn.Conv2d(channels, channels, 3, padding=1)
        self.conv_last = nn.Conv2d(channels, 3, 3, padding=1)
        keep_variance(self, gain=1.4)
        keep_variance(self.body, gain=0.1)
        # Each of the 23 blocks adds a fifth of what it gets, so that signals grow 70 times.
        nn.init.normal_(self.conv_last.weight, std=0.002 / 1.2**blocks)
        nn.init.constant_(self.conv_last.bias, 0.5)

    def forward(self, x):
        x = self.conv_first(x)
        x = x + self.conv_body(self.body(x))
        for layer in (self.conv_up1, self.conv_up2):
            x = functional.leaky_relu(layer(functional.interpolate(x, scale_factor=2.0)), 0.2)
        return self.conv_last(functional.leaky_relu(self.conv_hr(x), 0.2))


class Identity(nn.Module):
    def forward(self, x):
        return x


def keep_variance(net, gain):
    """Signals neither die out nor blow up over many layers."""
    for module in net.modules():
        if isinstance(module, nn.Conv2d):
            fan_in = module.weight[0].numel()
            nn.init.normal_(module.weight, std=gain / fan_in**0.5)


# As published DnCNN has 17 layers, which at 1280x720 are 1 TFLOP a frame.  `dncnn` is cut
# down to what one core of a server does in 1 to 2 seconds; its layers are as they are.
NETS = {
    "espcn": (Espcn, 3),
    "srvgg": (SrvggCompact, 3),
    "dncnn": (lambda: DnCnn(5), 1),
    "dncnn17": (lambda: DnCnn(17), 1),
    "rrdb": (RrdbNet, 3),
    "identity": (Identity, 3),
    "mobilenet": (MobileNet, 3),
}



def as_tested(network, case):
    """Weights of a network that the tests have in PyTorch, of its published size."""
    tests = pathlib.Path(__file__).resolve().parent.parent / "tests"
    sys.path[:0] = [str(tests), str(tests / "architectures")]
    import published

    module = __import__(f"networks.{network}", fromlist=["CASES"]).CASES[case].make()
    return published.randomise(module).state_dict()


# Weights alone, in files that torch.save() writes.
CHECKPOINTS = {
    "esrgan": lambda: RrdbNet().state_dict(),
    "fastdvdnet": lambda: as_tested("fastdvdnet", "published"),
    "rife": lambda: as_tested("rife", "4.25-published"),
    "rvm": lambda: as_tested("rvm", "mobile"),
}


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
