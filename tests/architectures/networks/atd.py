# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ATD, the Adaptive Token Dictionary, with the names that its authors publish."""
import math

import torch
from published import Case
from torch import nn
from torch.nn import functional
from transformers import (
    add_one_step,
    add_steps,
    attend_in_windows,
    heads_of,
    mean_of,
    picture,
    relative_index,
    residual_convolution,
    tokens,
)


class WindowAttention(nn.Module):
    def __init__(self, channels, heads, window):
        super().__init__()
        rows = (2 * window - 1) ** 2
        self.relative_position_bias_table = nn.Parameter(torch.zeros(rows, heads))
        self.proj = nn.Linear(channels, channels)
        self.heads, self.window = heads, window

    def forward(self, qkv, index, is_shifted):
        bias = self.relative_position_bias_table[index].permute(2, 0, 1)
        shift = (self.window // 2, self.window // 2) if is_shifted else None
        window = (self.window, self.window)
        return self.proj(attend_in_windows(*qkv.chunk(3, -1), self.heads, window, bias, shift))


class DictionaryAttention(nn.Module):
    def __init__(self, channels, count, few, bias):
        super().__init__()
        self.wq = nn.Linear(channels, few, bias=bias)
        self.wk = nn.Linear(channels, few, bias=bias)
        self.wv = nn.Linear(channels, channels, bias=bias)
        self.scale = nn.Parameter(torch.ones(count) / 2)

    def forward(self, pixels, dictionary):
        query = functional.normalize(self.wq(pixels), dim=-1)
        key = functional.normalize(self.wk(dictionary), dim=-1)
        factor = 1 + self.scale.clamp(0, 1) * math.log(len(self.scale))
        likeness = (query @ key.transpose(1, 2) * factor).softmax(-1)
        return likeness @ self.wv(dictionary), likeness


class CategoryAttention(nn.Module):
    """One picture at a time, one group of alike pixels at a time."""

    def __init__(self, channels, heads, most, bias):
        super().__init__()
        self.logit_scale = nn.Parameter(torch.ones(1, 1))
        self.proj = nn.Linear(channels, channels, bias=bias)
        self.heads, self.most = heads, most

    def attend(self, qkv):
        query, key, value = (heads_of(each[None], self.heads) for each in qkv.chunk(3, -1))
        scores = query @ key.transpose(2, 3) * self.logit_scale.clamp(max=math.log(100)).exp()
        return (scores.softmax(-1) @ value).transpose(1, 2).flatten(2)[0]

    def one(self, qkv, categories):
        order = sorted(range(len(categories)), key=categories.__getitem__)
        size = min(len(order), self.most)
        made = torch.empty(len(order), qkv.shape[1] // 3)
        for start in range(0, len(order), size):
            places = order[start:start + size]
            missing = size - len(places)
            filled = places + order[len(order) - missing:][::-1] if missing else places
            made[places] = self.attend(qkv[filled])[:len(places)]
        return made

    def forward(self, qkv, likeness):
        categories = likeness.argmax(-1).tolist()
        return self.proj(torch.stack([self.one(*each) for each in zip(qkv, categories)]))


class Depthwise(nn.Module):
    def __init__(self, channels, size):
        super().__init__()
        self.depthwise_conv = nn.Sequential(
            nn.Conv2d(channels, channels, size, padding=size // 2, groups=channels), nn.GELU())

    def forward(self, x):
        return tokens(self.depthwise_conv(picture(x)))


class FeedForward(nn.Module):
    def __init__(self, channels, hidden, size):
        super().__init__()
        self.fc1 = nn.Linear(channels, hidden)
        self.dwconv = Depthwise(hidden, size)
        self.fc2 = nn.Linear(hidden, channels)

    def forward(self, x):
        x = functional.gelu(self.fc1(x))
        return self.fc2(x + self.dwconv(x))


class Layer(nn.Module):
    def __init__(self, channels, heads, window, count, few, most, kernel, bias, is_shifted,
                 is_last):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(channels), nn.LayerNorm(channels)
        if not is_last:
            self.norm3 = nn.InstanceNorm1d(count, affine=True)
            self.sigma = nn.Parameter(torch.zeros(count, 1))
        self.wqkv = nn.Linear(channels, 3 * channels, bias=bias)
        self.attn_win = WindowAttention(channels, heads, window)
        self.attn_atd = DictionaryAttention(channels, count, few, bias)
        self.attn_aca = CategoryAttention(channels, heads, most, bias)
        self.convffn = FeedForward(channels, 2 * channels, kernel)
        self.is_shifted, self.is_last = is_shifted, is_last

    def forward(self, x, dictionary, index):
        normed = self.norm1(x)
        qkv = self.wqkv(normed)
        seen, likeness = self.attn_atd(normed.flatten(1, 2), dictionary)
        near = self.attn_win(qkv, index, self.is_shifted)
        alike = self.attn_aca(qkv.flatten(1, 2), likeness)
        x = x + near + (seen + alike).view_as(x)
        x = x + self.convffn(self.norm2(x))
        if not self.is_last:
            kept = self.sigma.sigmoid()
            rows = self.norm3(likeness.transpose(1, 2)).softmax(-1)
            dictionary = kept * dictionary + (1 - kept) * (rows @ x.flatten(1, 2))
        return x, dictionary


class ResidualGroup(nn.Module):
    def __init__(self, channels, depth, count, **options):
        super().__init__()
        self.layers = nn.ModuleList(
            Layer(channels, count=count, is_shifted=i % 2 == 1, is_last=i == depth - 1, **options)
            for i in range(depth))
        self.td = nn.Parameter(torch.zeros(count, channels))

    def forward(self, x, index):
        dictionary = self.td.expand(len(x), -1, -1)
        for layer in self.layers:
            x, dictionary = layer(x, dictionary, index)
        return x


class Group(nn.Module):
    def __init__(self, channels, convolutions, **options):
        super().__init__()
        self.residual_group = ResidualGroup(channels, **options)
        self.conv = residual_convolution(channels, convolutions)

    def forward(self, x, index):
        return x + tokens(self.conv(picture(self.residual_group(x, index))))


class Embedding(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.LayerNorm(channels)


class ATD(nn.Module):
    def __init__(self, scale=2, features=24, depths=(3, 2), heads=3, window=8, count=12, few=4,
                 most=256, kernel=5, upsampler="pixelshuffle", convolutions=1, bias=True,
                 has_mean=True, patch_norm=True, channels=3):
        super().__init__()
        self.mean = mean_of(channels) if has_mean else 0
        if not has_mean:
            self.register_buffer("no_norm", torch.zeros(1))
        self.register_buffer("relative_position_index_SA", relative_index(window, window))
        self.conv_first = nn.Conv2d(channels, features, 3, padding=1)
        if patch_norm:
            self.patch_embed = Embedding(features)
        self.layers = nn.ModuleList(
            Group(features, convolutions, depth=depth, heads=heads, window=window, count=count,
                  few=few, most=most, kernel=kernel, bias=bias) for depth in depths)
        self.norm = nn.LayerNorm(features)
        self.conv_after_body = residual_convolution(features, convolutions)
        self.scale, self.window, self.upsampler = scale, window, upsampler
        if upsampler == "pixelshuffle":
            add_steps(self, features, channels, scale)
        elif upsampler == "pixelshuffledirect":
            add_one_step(self, features, channels, scale)
        elif upsampler == "none":
            self.conv_last = nn.Conv2d(features, channels, 3, padding=1)
        else:
            add_steps(self, features, channels, 1)
            for name in ("conv_up1", "conv_up2", "conv_hr"):
                setattr(self, name, nn.Conv2d(64, 64, 3, padding=1))

    def enlarge(self, x, picture):
        if self.upsampler == "none":
            return picture + self.conv_last(x)
        if self.upsampler == "pixelshuffledirect":
            return self.upsample(x)
        x = self.conv_before_upsample(x)
        if self.upsampler == "pixelshuffle":
            return self.conv_last(self.upsample(x))
        for layer in (self.conv_up1, self.conv_up2):
            x = x.repeat_interleave(2, 2).repeat_interleave(2, 3)
            x = functional.leaky_relu(layer(x), 0.2)
        return self.conv_last(functional.leaky_relu(self.conv_hr(x), 0.2))

    def forward(self, x):
        height, width = x.shape[2:]
        for dimension in (2, 3):
            wanted = x.shape[dimension] + -x.shape[dimension] % self.window
            while x.shape[dimension] < wanted:
                x = torch.cat([x, x.flip(dimension)], dimension)
            x = x.narrow(dimension, 0, wanted)
        x = x - self.mean
        first = self.conv_first(x)
        body = tokens(first)
        if hasattr(self, "patch_embed"):
            body = self.patch_embed.norm(body)
        for layer in self.layers:
            body = layer(body, self.relative_position_index_SA)
        made = self.enlarge(first + self.conv_after_body(picture(self.norm(body))), x)
        return (made + self.mean)[:, :, :height * self.scale, :width * self.scale]


def told(scale=2, features=24, window=8, layers="3+2", upsampler="pixelshuffle"):
    return {"architecture": "ATD", "scale": scale, "features": features, "window": window,
            "layers": layers, "upsampler": upsampler}


def light(scale):
    return ATD(scale, features=48, depths=(3,), heads=4, window=16, most=128,
               upsampler="pixelshuffledirect")


CASES = {
    "x2": Case(ATD, told()),
    "x3": Case(lambda: ATD(3, depths=(4,), kernel=3), told(3, layers="4")),
    "x4": Case(lambda: ATD(4, depths=(2, 2), window=6, convolutions=3),
               told(4, window=6, layers="2+2"), size=(37, 21)),
    "light": Case(lambda: light(4),
                  told(4, 48, 16, "3", "pixelshuffledirect")),
    "nearest": Case(lambda: ATD(4, depths=(2,), upsampler="nearest+conv"),
                    told(4, layers="2", upsampler="nearest+conv")),
    "denoising": Case(lambda: ATD(1, depths=(2,), upsampler="none"),
                      told(1, layers="2", upsampler="none")),
    "few-options": Case(lambda: ATD(has_mean=False, bias=False, patch_norm=False), told()),
    "one-category": Case(ATD, told(), size=(16, 8)),
    "small-picture": Case(ATD, told(), size=(3, 9)),
    "grey": Case(lambda: ATD(channels=1), told(), channels=1),
}
