# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What several networks of transformers have in common: attention in windows, window by window,
residual convolutions, and how they enlarge.  Tokens are N,H,W,C."""
import torch
from torch import nn

MEAN = torch.tensor([0.4488, 0.4371, 0.4040]).view(1, 3, 1, 1)


def picture(tokens):
    return tokens.permute(0, 3, 1, 2)


def tokens(picture):
    return picture.permute(0, 2, 3, 1)


def relative_index(height, width):
    """The row of the table of differences for each pair of positions."""
    where = [(y, x) for y in range(height) for x in range(width)]
    rows = [
        [(a - c + height - 1) * (2 * width - 1) + b - d + width - 1 for c, d in where]
        for a, b in where
    ]
    return torch.tensor(rows)


def differences(height, width):
    rows = [(y, x) for y in range(1 - height, height) for x in range(1 - width, width)]
    return torch.tensor(rows, dtype=torch.float32)


def heads_of(x, heads):
    """N, positions, channels to N, heads, positions, channels of one head."""
    return x.unflatten(2, (heads, -1)).transpose(1, 2)


def cut(size, window, shift):
    """0 before the last window, 1 up to the cut of the shift, 2 behind it."""
    numbers = torch.arange(size)
    return (numbers >= size - window).long() + (numbers >= size - shift).long()


def attend_in_windows(query, key, value, heads, window, bias, shift=None):
    """Attention within each window; `shift` is how far the windows are shifted, down and right."""
    height, width = window
    scale = (query.shape[3] // heads) ** -0.5
    rows, columns = query.shape[1:3]
    parts = torch.zeros(rows, columns, dtype=torch.long)
    if shift:
        back = (-shift[0], -shift[1])
        query, key, value = (torch.roll(each, back, (1, 2)) for each in (query, key, value))
        parts = cut(rows, height, shift[0])[:, None] * 3 + cut(columns, width, shift[1])
    made = torch.empty_like(query)
    for y in range(0, rows, height):
        for x in range(0, columns, width):
            place = (slice(None), slice(y, y + height), slice(x, x + width))
            q, k, v = (heads_of(each[place].flatten(1, 2), heads) for each in (query, key, value))
            part = parts[place[1:]].flatten()
            apart = (part[:, None] != part[None]) * -100.0
            scores = (q * scale) @ k.transpose(2, 3) + bias + apart
            result = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
            made[place] = result.unflatten(1, (height, width))
    return torch.roll(made, shift, (1, 2)) if shift else made


def attend_between_channels(query, key, value, temperature):
    query = nn.functional.normalize(query, dim=-1)
    key = nn.functional.normalize(key, dim=-1)
    return ((query @ key.transpose(-2, -1)) * temperature).softmax(-1) @ value


# ---- windows that lie in one half of the channels and stand in the other


class PositionNetwork(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.pos_proj = nn.Linear(2, width)
        for number, last in ((1, width), (2, width), (3, heads)):
            layers = nn.Sequential(nn.LayerNorm(width), nn.ReLU(), nn.Linear(width, last))
            setattr(self, f"pos{number}", layers)

    def forward(self, x):
        return self.pos3(self.pos2(self.pos1(self.pos_proj(x))))


class Branch(nn.Module):
    def __init__(self, channels, heads, window):
        super().__init__()
        self.heads, self.window = heads, window
        self.pos = PositionNetwork(max(channels // 16, 1), heads)
        self.register_buffer("rpe_biases", differences(*window))
        self.register_buffer("relative_position_index", relative_index(*window))

    def forward(self, query, key, value, is_shifted):
        bias = self.pos(self.rpe_biases)[self.relative_position_index].permute(2, 0, 1)
        shift = tuple(side // 2 for side in self.window) if is_shifted else None
        return attend_in_windows(query, key, value, self.heads, self.window, bias, shift)


def add_branches(module, channels, heads, window, is_shifted):
    """What the spatial attentions of DAT and RGT both have."""
    module.is_shifted, module.multiple = is_shifted, max(window)
    module.attns = nn.ModuleList(
        Branch(channels // 2, heads // 2, each) for each in (window, window[::-1]))
    if is_shifted:  # the published masks are for one size of pictures
        size = window[0] * window[1]
        module.register_buffer("attn_mask_0", torch.zeros(4, size, size))
        module.register_buffer("attn_mask_1", torch.zeros(4, size, size))


def attend_in_branches(module, qkv):
    height, width = qkv.shape[1:3]
    down, right = -height % module.multiple, -width % module.multiple
    qkv = nn.functional.pad(qkv, (0, 0, 0, right, 0, down))
    halves = [each.chunk(2, -1) for each in qkv.chunk(3, -1)]
    made = [branch(*(each[i] for each in halves), module.is_shifted)
            for i, branch in enumerate(module.attns)]
    return torch.cat(made, -1)[:, :height, :width]


def is_shifted(group, block):
    return block in (range(2, 99, 4), range(0, 99, 4))[group % 2]


class Gate(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.LayerNorm(channels)
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, groups=channels)

    def forward(self, x):
        kept, gate = x.chunk(2, -1)
        return kept * tokens(self.conv(picture(self.norm(gate))))


class GatedFeedForward(nn.Module):
    def __init__(self, channels, hidden):
        super().__init__()
        self.fc1 = nn.Linear(channels, hidden)
        self.sg = Gate(hidden // 2)
        self.fc2 = nn.Linear(hidden // 2, channels)

    def forward(self, x):
        return self.fc2(self.sg(nn.functional.gelu(self.fc1(x))))


# ---- around the blocks


def residual_convolution(channels, count=1):
    if count == 1:
        return nn.Conv2d(channels, channels, 3, padding=1)
    few = channels // 4
    return nn.Sequential(
        nn.Conv2d(channels, few, 3, padding=1), nn.LeakyReLU(0.2),
        nn.Conv2d(few, few, 1), nn.LeakyReLU(0.2),
        nn.Conv2d(few, channels, 3, padding=1))


def add_steps(module, features, channels, scale, between=64):
    """conv_before_upsample, upsample and conv_last."""
    module.conv_before_upsample = nn.Sequential(
        nn.Conv2d(features, between, 3, padding=1), nn.LeakyReLU())
    steps = {1: [], 2: [2], 3: [3], 4: [2, 2], 8: [2, 2, 2]}[scale]
    layers = []
    for step in steps:
        layers += [nn.Conv2d(between, between * step * step, 3, padding=1), nn.PixelShuffle(step)]
    module.upsample = nn.Sequential(*layers)
    module.conv_last = nn.Conv2d(between, channels, 3, padding=1)


def add_one_step(module, features, channels, scale):
    module.upsample = nn.Sequential(
        nn.Conv2d(features, channels * scale * scale, 3, padding=1), nn.PixelShuffle(scale))


def mean_of(channels):
    return MEAN if channels == 3 else 0
