# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What SCUNet and TSCUNet share, for networks/*.py."""
import torch
from swin_parts import cut, join, mask_of_shifted, offsets
from torch import nn

WINDOW = 8


def plain(inputs, outputs, kernel=3):
    return nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False)


class Attention(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.heads = max(channels // 32, 1)
        self.embedding_layer = nn.Linear(channels, 3 * channels)
        self.linear = nn.Linear(channels, channels)
        self.relative_position_params = nn.Parameter(torch.zeros(self.heads, 2 * WINDOW - 1, 2 * WINDOW - 1))

    def forward(self, x, shift):
        size = x.shape[1:3]
        windows = cut(x.roll((-shift, -shift), (1, 2)), WINDOW)
        q, k, v = self.embedding_layer(windows).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(2, 3) / q.shape[3] ** 0.5 + self.relative_position_params.flatten(1)[:, offsets(WINDOW)]
        if shift:
            mask = mask_of_shifted(*size, WINDOW, shift)
            scores = scores + mask.repeat(len(x), 1, 1)[:, None]
        made = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
        return join(self.linear(made), WINDOW, *size).roll((shift, shift), (1, 2))


class Transformer(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(channels), nn.LayerNorm(channels)
        self.msa = Attention(channels)
        self.mlp = nn.Sequential(nn.Linear(channels, 4 * channels), nn.GELU(), nn.Linear(4 * channels, channels))

    def forward(self, x, shift):
        x = x + self.msa(self.ln1(x), shift)
        return x + self.mlp(self.ln2(x))


class Block(nn.Module):
    def __init__(self, channels, shift):
        super().__init__()
        self.shift = shift
        self.conv1_1, self.conv1_2 = nn.Conv2d(channels, channels, 1), nn.Conv2d(channels, channels, 1)
        half = channels // 2
        self.conv_block = nn.Sequential(plain(half, half), nn.ReLU(), plain(half, half))
        self.trans_block = Transformer(half)

    def forward(self, x):
        near, far = self.conv1_1(x).chunk(2, 1)
        far = self.trans_block(far.permute(0, 2, 3, 1), self.shift).permute(0, 3, 1, 2)
        return x + self.conv1_2(torch.cat((near + self.conv_block(near), far), 1))


def blocks(count, channels, shifts=True):
    return [Block(channels, WINDOW // 2 if i % 2 and shifts else 0) for i in range(count)]
