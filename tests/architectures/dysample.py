# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""DySample, which several networks enlarge with, pixel by pixel as its paper says it."""
import torch
from torch import nn
from torch.nn import functional


class DySample(nn.Module):
    def __init__(self, channels, outputs, scale, groups, end=True):
        super().__init__()
        self.scale, self.groups = scale, groups
        if end:
            self.end_conv = nn.Conv2d(channels, outputs, 1)
        self.offset = nn.Conv2d(channels, 2 * groups * scale**2, 1)
        self.scope = nn.Conv2d(channels, 2 * groups * scale**2, 1, bias=False)
        steps = (torch.arange(scale) - (scale - 1) / 2) / scale
        across, down = steps.repeat(scale), steps.repeat_interleave(scale)
        start = torch.stack([across.repeat(groups), down.repeat(groups)])
        self.register_buffer("init_pos", start.reshape(1, -1, 1, 1))

    def forward(self, x):
        count, _, height, width = x.shape
        offset = self.offset(x) * torch.sigmoid(self.scope(x)) / 2 + self.init_pos
        # direction, group, row and column within the pixel
        offset = offset.reshape(count, 2, self.groups, self.scale, self.scale, height, width)
        offset = offset.permute(1, 0, 2, 5, 3, 6, 4)
        offset = offset.reshape(2, count * self.groups, height * self.scale, width * self.scale)
        column = torch.arange(width).repeat_interleave(self.scale) + 0.5
        row = (torch.arange(height).repeat_interleave(self.scale) + 0.5).unsqueeze(1)
        grid = torch.stack(((offset[0] + column) / width, (offset[1] + row) / height), -1) * 2 - 1
        parts = x.reshape(count * self.groups, -1, height, width)
        sampled = functional.grid_sample(parts, grid, padding_mode="border", align_corners=False)
        sampled = sampled.reshape(count, -1, *grid.shape[1:3])
        return self.end_conv(sampled) if hasattr(self, "end_conv") else sampled
