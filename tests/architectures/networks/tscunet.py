# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""TSCUNet."""
import torch
from published import Case
from swin_conv_parts import blocks, plain
from torch import nn
from torch.nn import functional


def lrelu():
    return nn.LeakyReLU(0.2)


class Enlarge(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.up = nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(inputs, inputs, 3, padding=1), lrelu(),
                                nn.Conv2d(inputs, outputs, 3, padding=1), lrelu())

    def forward(self, x):
        return self.up(x)


class UNet(nn.Module):
    def __init__(self, wide, count, shifts):
        super().__init__()
        self.m_head = nn.Sequential(plain(3 * wide, wide))
        for depth in (1, 2, 3):
            channels = wide * 2 ** (depth - 1)
            smaller = nn.Conv2d(channels, 2 * channels, 2, 2, bias=False)
            self.add_module(f"m_down{depth}", nn.Sequential(*blocks(count, channels), smaller))
            self.add_module(f"m_up{depth}",
                            nn.Sequential(Enlarge(2 * channels, channels), *blocks(count, channels)))
        self.m_body = nn.Sequential(*blocks(count, 8 * wide, shifts))
        self.m_res = nn.Sequential(plain(wide, wide))
        self.m_tail = nn.Sequential(plain(wide, wide), lrelu())

    def forward(self, x):
        x1 = self.m_head(x)
        x2 = self.m_down1(x1)
        x3 = self.m_down2(x2)
        x4 = self.m_down3(x3)
        x = self.m_up3(self.m_body(x4) + x4)
        x = self.m_up1(self.m_up2(x + x3) + x2)
        return self.m_tail(x + self.m_res(x1))


class Dense(nn.Module):
    def __init__(self, channels):
        super().__init__()
        for i in range(5):
            self.add_module(f"conv{i + 1}", nn.Conv2d(channels + 32 * i, 32 if i < 4 else channels, 3, padding=1))

    def forward(self, x):
        all_of_them = x
        for i in range(4):
            all_of_them = torch.cat((all_of_them, functional.leaky_relu(self.get_submodule(f"conv{i + 1}")(all_of_them), 0.2)), 1)
        return x + 0.2 * self.conv5(all_of_them)


class Denses(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.rdb1, self.rdb2, self.rdb3 = Dense(channels), Dense(channels), Dense(channels)

    def forward(self, x):
        return x + 0.2 * self.rdb3(self.rdb2(self.rdb1(x)))


class Upsample(nn.Module):
    def __init__(self, channels, doublings):
        super().__init__()
        layers = [Denses(channels), Denses(channels)]
        for _ in range(doublings):
            layers += [nn.Upsample(scale_factor=2), nn.Conv2d(channels, channels, 3, padding=1), lrelu()]
        self.up = nn.Sequential(*layers, nn.Conv2d(channels, channels, 3, padding=1), lrelu())

    def forward(self, x):
        return self.up(x)


def outside(sides, size):
    """Where the pixels beyond the border come from, as far as there are any to be reflected."""
    before, after = sides
    places = torch.arange(-before, size + after)
    places = places.clamp(-(size - 1), 2 * (size - 1)).abs()
    return torch.where(places >= size, 2 * (size - 1) - places, places)


class TemporalScUnet(nn.Module):
    def __init__(self, wide=64, layers=2, count=2, doublings=1, residual=True, sigma=False):
        super().__init__()
        self.scale, self.wide = 2**doublings, wide
        self.m_head = nn.Sequential(plain(3, wide))
        self.m_layers = nn.ModuleList(UNet(wide, count, doublings == 0) for _ in range(layers))
        if residual:
            self.m_res = nn.Sequential(plain(wide, wide))
        self.m_upsample = nn.Sequential(Upsample(wide, doublings))
        self.m_tail = nn.Sequential(plain(wide, 3))
        if sigma:
            self.m_sigma = nn.Sequential(nn.Conv2d(wide, wide, 3), nn.PReLU())
            self.m_sigma_tail = nn.Sequential(plain(wide, 3))

    def forward(self, window):
        height, width = window.shape[2:]
        more = [-size % 64 + 64 for size in (height, width)]
        top, left = ((size + 1) // 2 for size in more)
        rows, columns = (outside((first, both - first), size)
                         for first, both, size in ((top, more[0], height), (left, more[1], width)))
        window = window[:, :, rows][..., columns]
        x = first = [self.m_head(frame) for frame in window.split(3, 1)]
        for layer in self.m_layers:
            x = [layer(torch.cat(x[i : i + 3], 1)) for i in range(len(x) - 2)]
        made = x[0]
        if hasattr(self, "m_res"):
            made = made + self.m_res(first[len(first) // 2])
        made = self.m_tail(self.m_upsample(made))
        top, left = top * self.scale, left * self.scale
        return made[..., top : top + height * self.scale, left : left + width * self.scale]


def case(scale, frames, blocks, **more):
    told = {"architecture": "TSCUNet", "scale": scale, "features": more.get("wide", 64), "frames": frames,
            "blocks": blocks}
    layers = frames // 2
    return Case(lambda: TemporalScUnet(layers=layers, count=blocks, doublings=scale // 2, **more), told,
                frames=frames, is_global=True, tolerance=1e-4)


CASES = {
    "x4": case(4, 3, 1, wide=16, residual=False),
    "five-frames": case(2, 5, 1, wide=16),
    "x1": case(1, 3, 2, wide=16, sigma=True),
}
