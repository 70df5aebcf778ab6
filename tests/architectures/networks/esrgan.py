# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""RRDBNet under its three sets of names: ESRGAN of 2018, its second version, and Real-ESRGAN."""
import torch
from published import Case
from torch import nn
from torch.nn import functional


def lrelu(x):
    return functional.leaky_relu(x, 0.2)


class DenseBlock(nn.Module):
    def __init__(self, features, growth, in_sequence, plus):
        super().__init__()
        if plus:
            self.conv1x1 = nn.Conv2d(features, growth, 1, bias=False)
        self.plus = plus
        for i in range(5):
            layer = nn.Conv2d(features + i * growth, features if i == 4 else growth, 3, padding=1)
            self.add_module(f"conv{i + 1}", nn.Sequential(layer) if in_sequence else layer)

    def layer(self, i, x):
        x = getattr(self, f"conv{i}")(x)
        return x if i == 5 else lrelu(x)

    def forward(self, x):
        a = self.layer(1, x)
        b = self.layer(2, torch.cat((x, a), 1))
        if self.plus:
            b = b + self.conv1x1(x)
        c = self.layer(3, torch.cat((x, a, b), 1))
        d = self.layer(4, torch.cat((x, a, b, c), 1))
        if self.plus:
            d = d + b
        return x + 0.2 * self.layer(5, torch.cat((x, a, b, c, d), 1))


class Block(nn.Module):
    def __init__(self, features, growth, names, in_sequence=False, plus=False):
        super().__init__()
        self.names = names
        for name in names:
            self.add_module(name, DenseBlock(features, growth, in_sequence, plus))

    def forward(self, x):
        y = x
        for name in self.names:
            y = getattr(self, name)(y)
        return x + 0.2 * y


class Residual(nn.Module):
    def __init__(self, sub):
        super().__init__()
        self.sub = sub

    def forward(self, x):
        return x + self.sub(x)


def unshuffled(picture, factor):
    height, width = picture.shape[2:]
    padding = (0, -width % factor, 0, -height % factor)
    return functional.pixel_unshuffle(functional.pad(picture, padding, mode="reflect"), factor)


class Places(nn.Module):
    """The names of 2018: places in a Sequential."""

    def __init__(self, steps=2, channels=3, features=12, growth=8, blocks=2, plus=False,
                 shuffle=0, unshuffle=1, enlarging=2):
        super().__init__()
        names = ["RDB1", "RDB2", "RDB3"]
        sub = [Block(features, growth, names, True, plus) for _ in range(blocks)]
        sub.append(nn.Conv2d(features, features, 3, padding=1))
        layers = [nn.Conv2d(channels * unshuffle**2, features, 3, padding=1),
                  Residual(nn.Sequential(*sub))]
        for _ in range(steps):
            if shuffle:
                layers += [nn.Conv2d(features, features * shuffle**2, 3, padding=1),
                           nn.PixelShuffle(shuffle), nn.LeakyReLU(0.2)]
            else:
                layers += [nn.Upsample(scale_factor=enlarging),
                           nn.Conv2d(features, features, 3, padding=1), nn.LeakyReLU(0.2)]
        layers += [nn.Conv2d(features, features, 3, padding=1), nn.LeakyReLU(0.2),
                   nn.Conv2d(features, channels, 3, padding=1)]
        self.model = nn.Sequential(*layers)
        self.unshuffle = unshuffle
        self.scale = (shuffle or enlarging) ** steps // unshuffle

    def forward(self, picture):
        height, width = picture.shape[2:]
        result = self.model(unshuffled(picture, self.unshuffle))
        return result[:, :, : height * self.scale, : width * self.scale]


OLD = {"trunk": "RRDB_trunk", "rdb": "RDB", "after": "trunk_conv", "up": "upconv", "hr": "HRconv"}
NEW = {"trunk": "body", "rdb": "rdb", "after": "conv_body", "up": "conv_up", "hr": "conv_hr"}


class Names(nn.Module):
    """The names of 2019 (OLD) and those of Real-ESRGAN (NEW)."""

    def __init__(self, names, steps=2, channels=3, features=12, growth=8, blocks=2, unshuffle=1):
        super().__init__()
        self.names, self.unshuffle, self.steps = names, unshuffle, steps
        rdbs = [f"{names['rdb']}{i}" for i in (1, 2, 3)]
        self.conv_first = nn.Conv2d(channels * unshuffle**2, features, 3, padding=1)
        body = [Block(features, growth, rdbs) for _ in range(blocks)]
        self.add_module(names["trunk"], nn.Sequential(*body))
        convs = [names["after"], names["hr"]] + [f"{names['up']}{i + 1}" for i in range(steps)]
        for name in convs:
            self.add_module(name, nn.Conv2d(features, features, 3, padding=1))
        self.conv_last = nn.Conv2d(features, channels, 3, padding=1)

    def part(self, key, number=""):
        return getattr(self, f"{self.names[key]}{number}")

    def forward(self, picture):
        height, width = picture.shape[2:]
        first = self.conv_first(unshuffled(picture, self.unshuffle))
        x = first + self.part("after")(self.part("trunk")(first))
        for i in range(self.steps):
            x = lrelu(self.part("up", i + 1)(functional.interpolate(x, scale_factor=2)))
        x = self.conv_last(lrelu(self.part("hr")(x)))
        scale = 2**self.steps // self.unshuffle
        return x[:, :, : height * scale, : width * scale]


def told(scale=4, features=12, blocks=2, **others):
    return {"architecture": "ESRGAN", "scale": scale, "features": features, "blocks": blocks,
            **others}


CASES = {
    "places-x4": Case(Places, told()),
    "places-x1": Case(lambda: Places(steps=0), told(1)),
    "places-x2": Case(lambda: Places(steps=1), told(2)),
    "places-x3": Case(lambda: Places(steps=1, enlarging=3), told(3), file="x3.safetensors"),
    "places-x8": Case(lambda: Places(steps=3, blocks=1), told(8, blocks=1), size=(9, 7)),
    "places-x16": Case(lambda: Places(steps=4, blocks=1), told(16, blocks=1), size=(9, 7)),
    "places-twelve-blocks": Case(lambda: Places(blocks=12, features=8),
                                 told(blocks=12, features=8)),
    "places-grey": Case(lambda: Places(channels=1), told(), channels=1),
    "places-x2-unshuffled": Case(lambda: Places(unshuffle=2), told(2, unshuffle=2)),
    "places-plus": Case(lambda: Places(plus=True), told(variant="ESRGAN+")),
    "places-shuffle-x4": Case(lambda: Places(shuffle=2), told()),
    "places-shuffle-x3": Case(lambda: Places(steps=1, shuffle=3), told(3)),
    "old-x4": Case(lambda: Names(OLD), told()),
    "old-x2": Case(lambda: Names(OLD, steps=1), told(2)),
    "new-x4": Case(lambda: Names(NEW), told()),
    "new-anime-6b": Case(lambda: Names(NEW, blocks=6), told(blocks=6)),
    "new-x2": Case(lambda: Names(NEW, unshuffle=2), told(2, unshuffle=2)),
    "new-x1": Case(lambda: Names(NEW, unshuffle=4), told(1, unshuffle=4)),
    "new-x2-grey": Case(lambda: Names(NEW, unshuffle=2, channels=1), told(2, unshuffle=2),
                        channels=1),
    "new-x8": Case(lambda: Names(NEW, steps=3, blocks=1), told(8, blocks=1), size=(9, 7)),
}
