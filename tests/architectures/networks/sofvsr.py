# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""SOF-VSR, of luma."""
import torch
from published import Case
from torch import nn
from torch.nn import functional


def plain(inputs, outputs, kernel=1, groups=1):
    return nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, groups=groups, bias=False)


def lrelu():
    return nn.LeakyReLU(0.1)


class Half(nn.Module):
    def __init__(self, channels):
        super().__init__()
        half = channels // 2
        self.body = nn.Sequential(plain(half, half), lrelu(), plain(half, half, 3, half), plain(half, half), lrelu())

    def forward(self, x):
        kept, changed = x.chunk(2, 1)
        return torch.stack((kept, self.body(changed)), 2).flatten(1, 2)


class Halves(nn.Module):
    def __init__(self, channels, count):
        super().__init__()
        self.body = nn.Sequential(*(Half(channels) for _ in range(count)))

    def forward(self, x):
        return self.body(x)


def enlarging(channels, scale):
    layers = []
    for factor in {2: (2,), 3: (3,), 4: (2, 2)}[scale]:
        layers += [plain(channels, 64 * factor**2), nn.PixelShuffle(factor), lrelu()]
        channels = 64
    return layers


def moved(picture, flow):
    """By a flow in units of 15.5 pixels, corners being aligned."""
    height, width = picture.shape[2:]
    x = torch.arange(width) + flow[:, 0] * 15.5
    y = torch.arange(height)[:, None] + flow[:, 1] * 15.5
    places = torch.stack((2 * x / (width - 1) - 1, 2 * y / (height - 1) - 1), -1)
    return functional.grid_sample(picture, places, padding_mode="border", align_corners=True)


def fix(layer, size):
    """Sets weights that `randomise` leaves alone."""
    values = torch.randn(layer.weight.shape, generator=torch.Generator().manual_seed(2))
    del layer.weight
    layer.register_buffer("weight", values * size)


class Flow(nn.Module):
    def __init__(self, scale, channels):
        super().__init__()
        self.scale = scale
        self.RNN1 = nn.Sequential(plain(4, channels, 3), lrelu(), Halves(channels, 3))
        self.RNN2 = nn.Sequential(plain(channels, 2, 3))
        self.SR = nn.Sequential(Halves(channels, 3), *enlarging(channels, scale), plain(64, 2, 3))
        # Others would find flows that leave the picture.
        for layer in (self.RNN2[0], self.SR[-1]):
            fix(layer, 0.002)

    def forward(self, neighbour, frame):
        both = functional.avg_pool2d(torch.cat((neighbour, frame), 1), 2)
        flow = self.RNN2(self.RNN1(torch.cat((both, torch.zeros_like(both)), 1)))
        flow = 2 * functional.interpolate(flow, frame.shape[2:], mode="bilinear")
        flow = flow + self.RNN2(self.RNN1(torch.cat((moved(neighbour, flow), frame, flow), 1)))
        seen = self.RNN1(torch.cat((moved(neighbour, flow), frame, flow), 1))
        return self.SR(seen) + self.scale * functional.interpolate(flow, scale_factor=self.scale, mode="bilinear")


class Reconstruction(nn.Module):
    def __init__(self, scale, channels, frames):
        super().__init__()
        first = plain(scale**2 * (frames - 1) + 1, channels, 3)
        self.body = nn.Sequential(first, lrelu(), Halves(channels, 8), *enlarging(channels, scale),
                                  nn.Conv2d(64, 1, 3, padding=1))
        fix(self.body[-1], 0.2)

    def forward(self, x):
        return self.body(x)


class SofVsr(nn.Module):
    def __init__(self, scale=4, frames=3, channels=32):
        super().__init__()
        self.scale = scale
        self.OFR = Flow(scale, channels)
        self.SR = Reconstruction(scale, channels, frames)

    def forward(self, window):
        frames = window.split(1, 1)
        middle = frames[len(frames) // 2]
        drafts = [middle]
        for neighbour in frames:
            if neighbour is middle:
                continue
            flow = self.OFR(neighbour, middle) / self.scale
            drafts += [moved(neighbour, flow[..., y :: self.scale, x :: self.scale])
                       for y in range(self.scale) for x in range(self.scale)]
        return self.SR(torch.cat(drafts, 1))


def case(scale, frames=3, channels=32):
    told = {"architecture": "SOFVSR", "scale": scale, "features": channels, "frames": frames}
    return Case(lambda: SofVsr(scale, frames, channels), told, channels=1, frames=frames, is_global=True,
                tolerance=5e-5)


CASES = {"x4": case(4), "published": case(4, 3, 320), "x3": case(3), "x2-of-five": case(2, 5)}
