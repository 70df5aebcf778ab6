# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""AnimeSR."""
import torch
from published import Case
from torch import nn
from torch.nn import functional


def larger(x, factor):
    return functional.interpolate(x, scale_factor=factor, mode="bilinear")


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1, self.conv2 = (nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2))

    def forward(self, x):
        return x + self.conv2(functional.relu(self.conv1(x)))


class Cell(nn.Module):
    def __init__(self, inputs, wide, outputs, counts):
        super().__init__()
        self.counts = counts
        for name, count in zip("124", counts):
            first = nn.Conv2d(inputs if name == "1" else wide, wide, 3, 1 if name == "1" else 2, 1)
            self.add_module(f"conv_s{name}_first", nn.Sequential(first, nn.LeakyReLU(0.1)))
            self.add_module(f"body_s{name}_first", nn.ModuleList(Block(wide) for _ in range(count)))
        self.fusion = nn.Sequential(nn.Conv2d(3 * wide, 2 * outputs, 3, padding=1), nn.LeakyReLU(0.1),
                                    nn.Conv2d(2 * outputs, outputs, 3, padding=1))

    def forward(self, x):
        x1 = self.conv_s1_first(x)
        x2 = self.conv_s2_first(x1)
        x4 = self.conv_s4_first(x2)
        all1, all2, all4 = self.counts
        two_began = four_began = False
        for i in range(all1):
            given = x1
            if two_began:
                given = given + larger(x2, 2)
            if four_began:
                given = given + larger(x4, 4)
            x1 = self.body_s1_first[i](given)
            if all1 - i <= all2:
                x2 = self.body_s2_first[i - all1 + all2](x2 + larger(x4, 2) if four_began else x2)
                two_began = True
            if all1 - i <= all4:
                x4 = self.body_s4_first[i - all1 + all4](x4)
                four_began = True
        return self.fusion(torch.cat((x1, larger(x2, 2), larger(x4, 4)), 1))


class AnimeSr(nn.Module):
    def __init__(self, wide=16, counts=(5, 3, 2), scale=4):
        super().__init__()
        self.wide, self.scale = wide, scale
        more = 3 * scale**2
        self.recurrent_cell = Cell(9 + more + wide, wide, wide + more, counts)
        # Random ones would make each result many times as large as the one before.
        last = self.recurrent_cell.fusion[2]
        values = torch.randn(last.weight.shape, generator=torch.Generator().manual_seed(2))
        del last.weight
        last.register_buffer("weight", values * 0.003)

    def step(self, window, states):
        height, width = window.shape[2:]
        window = functional.pad(window, (0, -width % 4, 0, -height % 4), mode="reflect")
        if states is None:
            states = (torch.zeros_like(window[:, :3]).repeat(1, 1, self.scale, self.scale),
                      torch.zeros_like(window[:, :1]).repeat(1, self.wide, 1, 1))
        result, state = states
        made = self.recurrent_cell(torch.cat((window, functional.pixel_unshuffle(result, self.scale), state), 1))
        picture, state = made.split((made.shape[1] - self.wide, self.wide), 1)
        result = functional.pixel_shuffle(picture, self.scale) + larger(window[:, 3:6], self.scale)
        return (result[..., :height * self.scale, :width * self.scale],
                (result, functional.leaky_relu(state, 0.1)))

    def forward(self, window):
        return self.step(window, None)[0]


def case(make, features, blocks, scale):
    told = {"architecture": "AnimeSR", "scale": scale, "features": features, "blocks": blocks}
    return Case(make, told, frames=3, has_states=True, border="repeat")


CASES = {
    "small": case(AnimeSr, 16, "5/3/2", 4),
    "published": case(lambda: AnimeSr(64), 64, "5/3/2", 4),
    "x2": case(lambda: AnimeSr(16, (3, 3, 1), 2), 16, "3/3/1", 2),
}
