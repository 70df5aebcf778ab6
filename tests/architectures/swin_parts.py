# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the networks that follow SwinIR share, for networks/*.py."""
import torch
from torch import nn
from torch.nn import functional

MEAN = (0.4488, 0.4371, 0.4040)


def cut(x, window):
    """B, H, W, C to B * windows, window * window, C."""
    batch, height, width, channels = x.shape
    x = x.reshape(batch, height // window, window, width // window, window, channels)
    return x.transpose(2, 3).reshape(-1, window * window, channels)


def join(windows, window, height, width):
    channels = windows.shape[-1]
    x = windows.reshape(-1, height // window, width // window, window, window, channels)
    return x.transpose(2, 3).reshape(-1, height, width, channels)


def offsets(window):
    """The row of a table for each pair of pixels of a window."""
    at = torch.arange(window * window)
    down = at[:, None] // window - at // window + window - 1
    right = at[:, None] % window - at % window + window - 1
    return down * (2 * window - 1) + right


def parts_of_shifted(height, width, window, shift):
    """Which part of a shifted picture each pixel is of: 1, H, W, 1."""

    def bands(size):
        position = torch.arange(size)
        return (position >= size - window).int() + (position >= size - shift).int()

    return (bands(height)[:, None] * 3 + bands(width)[None, :])[None, :, :, None]


def mask_of_shifted(height, width, window, shift):
    parts = cut(parts_of_shifted(height, width, window, shift), window)[:, :, 0]
    return torch.where(parts[:, :, None] == parts[:, None, :], 0.0, -100.0)


class WindowAttention(nn.Module):
    def __init__(self, channels, window, heads, qkv_bias=True, index=True):
        super().__init__()
        self.heads = heads
        table = torch.zeros((2 * window - 1) ** 2, heads)
        self.relative_position_bias_table = nn.Parameter(table)
        if index:
            self.register_buffer("relative_position_index", offsets(window))
        self.qkv = nn.Linear(channels, 3 * channels, bias=qkv_bias)
        self.proj = nn.Linear(channels, channels)

    def forward(self, x, mask=None, index=None):
        windows, tokens, channels = x.shape
        qkv = self.qkv(x).reshape(windows, tokens, 3, self.heads, channels // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(2, 3) / (channels // self.heads) ** 0.5
        index = self.relative_position_index if index is None else index
        scores = scores + self.relative_position_bias_table[index].permute(2, 0, 1)
        if mask is not None:
            scores = scores.reshape(-1, len(mask), *scores.shape[1:]) + mask[None, :, None]
            scores = scores.flatten(0, 1)
        x = scores.softmax(-1) @ v
        return self.proj(x.transpose(1, 2).reshape(windows, tokens, channels))


class Perceptron(nn.Module):
    def __init__(self, channels, hidden):
        super().__init__()
        self.fc1 = nn.Linear(channels, hidden)
        self.fc2 = nn.Linear(hidden, channels)

    def forward(self, x):
        return self.fc2(functional.gelu(self.fc1(x)))


class SwinBlock(nn.Module):
    """Of B, H, W, C.  `trained` is the size of the pictures that it was made for."""

    def __init__(self, channels, window, heads, shift, hidden, qkv_bias=True, trained=64):
        super().__init__()
        self.window = window
        self.shift = shift if trained > window else 0
        self.norm1 = nn.LayerNorm(channels)
        self.attn = WindowAttention(channels, window, heads, qkv_bias)
        self.norm2 = nn.LayerNorm(channels)
        self.mlp = Perceptron(channels, hidden)
        if self.shift:
            mask = mask_of_shifted(trained, trained, window, self.shift)
            self.register_buffer("attn_mask", mask)

    def attended(self, x):
        height, width = x.shape[1:3]
        mask = None
        if self.shift:
            mask = mask_of_shifted(height, width, self.window, self.shift)
            x = x.roll((-self.shift, -self.shift), (1, 2))
        x = join(self.attn(cut(x, self.window), mask), self.window, height, width)
        return x.roll((self.shift, self.shift), (1, 2))

    def forward(self, x):
        x = x + self.attended(self.norm1(x))
        return x + self.mlp(self.norm2(x))


def last_convolution(channels, kind):
    if kind == "1conv":
        return nn.Conv2d(channels, channels, 3, padding=1)
    if kind == "identity":
        return nn.Identity()
    inner = channels // 4
    return nn.Sequential(
        nn.Conv2d(channels, inner, 3, padding=1), nn.LeakyReLU(0.2),
        nn.Conv2d(inner, inner, 1), nn.LeakyReLU(0.2),
        nn.Conv2d(inner, channels, 3, padding=1),
    )


class Group(nn.Module):
    """Blocks, a convolution, and the way around both."""

    def __init__(self, channels, blocks, residual="1conv"):
        super().__init__()
        self.residual_group = nn.Module()
        self.residual_group.blocks = nn.ModuleList(blocks)
        self.conv = last_convolution(channels, residual)

    def inner(self, x):
        for block in self.residual_group.blocks:
            x = block(x)
        return x

    def forward(self, x):
        return x + self.conv(self.inner(x).permute(0, 3, 1, 2)).permute(0, 2, 3, 1)


class SwinFamily(nn.Module):
    """All but the layers, which map B, H, W, C."""

    def __init__(self, layers, *, window, features, channels=3, upsampler="pixelshuffle", scale=2,
                 residual="1conv", patch_norm=True, inner=16, span=1.0, unshuffle=1):
        super().__init__()
        self.window, self.scale, self.upsampler, self.span = window, scale, upsampler, span
        self.unshuffle = unshuffle
        mean = MEAN if channels == 3 else (0,) * channels
        self.mean = torch.tensor(mean).reshape(1, channels, 1, 1)
        self.conv_first = nn.Conv2d(channels * unshuffle**2, features, 3, padding=1)
        if unshuffle > 1:
            self.conv_first = nn.Sequential(nn.PixelUnshuffle(unshuffle), self.conv_first)
        self.patch_embed = nn.Module()
        self.patch_embed.norm = nn.LayerNorm(features) if patch_norm else nn.Identity()
        self.layers = nn.ModuleList(layers)
        self.norm = nn.LayerNorm(features)
        self.conv_after_body = last_convolution(features, residual)
        self.add_upsampler(features, channels, inner)

    def add_upsampler(self, features, channels, inner):
        def conv(inputs, outputs):
            return nn.Conv2d(inputs, outputs, 3, padding=1)

        if self.upsampler in ("pixelshuffle", "nearest+conv"):
            self.conv_before_upsample = nn.Sequential(conv(features, inner), nn.LeakyReLU())
            self.conv_last = conv(inner, channels)
        if self.upsampler == "pixelshuffle":
            steps = [3] if self.scale == 3 else [2] * (self.scale.bit_length() - 1)
            pairs = [(conv(inner, inner * step**2), nn.PixelShuffle(step)) for step in steps]
            self.upsample = nn.Sequential(*(layer for pair in pairs for layer in pair))
        if self.upsampler == "nearest+conv":
            self.ups = [f"conv_up{i + 1}" for i in range(self.scale.bit_length() - 1)]
            for name in self.ups:
                self.add_module(name, conv(inner, inner))
            self.conv_hr = conv(inner, inner)
        if self.upsampler == "pixelshuffledirect":
            last = conv(features, channels * self.scale**2)
            self.upsample = nn.Sequential(last, nn.PixelShuffle(self.scale))
        if self.upsampler == "none":
            self.conv_last = conv(features, channels)

    def enlarged(self, x, picture):
        if self.upsampler == "pixelshuffledirect":
            return self.upsample(x)
        if self.upsampler == "none":
            return picture + self.conv_last(x)
        x = self.conv_before_upsample(x)
        if self.upsampler == "pixelshuffle":
            return self.conv_last(self.upsample(x))
        for name in self.ups:
            x = functional.interpolate(x, scale_factor=2, mode="nearest")
            x = functional.leaky_relu(self.get_submodule(name)(x), 0.2)
        return self.conv_last(functional.leaky_relu(self.conv_hr(x), 0.2))

    def forward(self, picture):
        height, width = picture.shape[2:]
        padding = (0, -width % self.window, 0, -height % self.window)
        x = functional.pad(picture, padding, "reflect")
        x = within = (x - self.mean) * self.span
        if self.unshuffle > 1:
            x = functional.interpolate(x, scale_factor=self.unshuffle, mode="bicubic")
        x = first = self.conv_first(x)
        x = self.patch_embed.norm(x.permute(0, 2, 3, 1))
        for layer in self.layers:
            x = layer(x)
        x = self.conv_after_body(self.norm(x).permute(0, 3, 1, 2)) + first
        x = self.enlarged(x, within) / self.span + self.mean
        return x[:, :, : height * self.scale, : width * self.scale]
