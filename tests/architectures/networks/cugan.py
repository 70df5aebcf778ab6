# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Real-CUGAN: 2x, 3x and 4x, pro and fast."""
import torch
from published import Case
from torch import nn
from torch.nn import functional


def lrelu(x):
    return functional.leaky_relu(x, 0.1)


def inner(x, border):
    return functional.pad(x, (-border,) * 4)


class Attention(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels // 8, 1)
        self.conv2 = nn.Conv2d(channels // 8, channels, 1)

    def forward(self, x):
        mean = x.mean((2, 3), keepdim=True)
        return x * torch.sigmoid(self.conv2(torch.relu(self.conv1(mean))))


class Double(nn.Module):
    def __init__(self, inputs, middle, outputs, attention=True):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(inputs, middle, 3), nn.LeakyReLU(0.1),
                                  nn.Conv2d(middle, outputs, 3), nn.LeakyReLU(0.1))
        if attention:
            self.seblock = Attention(outputs)

    def forward(self, x):
        x = self.conv(x)
        return self.seblock(x) if hasattr(self, "seblock") else x


class First(nn.Module):
    def __init__(self, inputs, outputs, scale):
        super().__init__()
        self.conv1 = Double(inputs, 32, 64, False)
        self.conv1_down = nn.Conv2d(64, 64, 2, 2)
        self.conv2 = Double(64, 128, 64)
        self.conv2_up = nn.ConvTranspose2d(64, 64, 2, 2)
        self.conv3 = nn.Conv2d(64, 64, 3)
        kernel, padding = (5, 2) if scale == 3 else (4, 3)
        self.conv_bottom = nn.ConvTranspose2d(64, outputs, kernel, scale, padding)

    def forward(self, x):
        wide = self.conv1(x)
        half = lrelu(self.conv2_up(self.conv2(lrelu(self.conv1_down(wide)))))
        return self.conv_bottom(lrelu(self.conv3(inner(wide, 4) + half)))


class Second(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv1 = Double(inputs, 32, 64, False)
        self.conv1_down = nn.Conv2d(64, 64, 2, 2)
        self.conv2 = Double(64, 64, 128)
        self.conv2_down = nn.Conv2d(128, 128, 2, 2)
        self.conv3 = Double(128, 256, 128)
        self.conv3_up = nn.ConvTranspose2d(128, 128, 2, 2)
        self.conv4 = Double(128, 64, 64)
        self.conv4_up = nn.ConvTranspose2d(64, 64, 2, 2)
        self.conv5 = nn.Conv2d(64, 64, 3)
        self.conv_bottom = nn.Conv2d(64, outputs, 3)

    def forward(self, x):
        wide = self.conv1(x)
        half = self.conv2(lrelu(self.conv1_down(wide)))
        quarter = lrelu(self.conv3_up(self.conv3(lrelu(self.conv2_down(half)))))
        y = lrelu(self.conv4_up(self.conv4(inner(half, 4) + quarter)))
        return self.conv_bottom(lrelu(self.conv5(inner(wide, 16) + y)))


class Cugan(nn.Module):
    def __init__(self, scale=2, pro=False, fast=False, channels=3):
        super().__init__()
        self.scale, self.fast = scale, fast
        self.final = fast or scale == 4
        if pro:
            self.register_buffer("pro", torch.zeros(1))
        middle = 64 if self.final else channels
        self.unet1 = First(12 if fast else channels, middle, 3 if scale == 3 else 2)
        self.unet2 = Second(middle, middle)
        if self.final:
            self.conv_final = nn.Conv2d(64, 12, 3)

    def forward(self, picture):
        if hasattr(self, "pro"):
            return (self.enlarged(picture * 0.7 + 0.15) - 0.15) / 0.7
        return self.enlarged(picture)

    def enlarged(self, picture):
        height, width = picture.shape[2:]
        border, multiple = (38, 4) if self.fast else {2: (18, 2), 3: (14, 4), 4: (19, 2)}[self.scale]
        x = functional.pad(picture, (border, border + -width % multiple,
                                     border, border + -height % multiple), mode="reflect")
        if self.fast:
            x = functional.pixel_unshuffle(x, 2)
        x = self.unet1(x)
        x = self.unet2(x) + inner(x, 20)
        if self.final:
            x = functional.pixel_shuffle(inner(self.conv_final(x), 1), 2)
        x = x[:, :, : height * self.scale, : width * self.scale]
        if self.final:
            x = x + functional.interpolate(picture, scale_factor=self.scale, mode="nearest")
        return x


def told(scale, variant="standard"):
    return {"architecture": "Real-CUGAN", "scale": scale, "variant": variant}


CASES = {
    "x2": Case(Cugan, told(2)),
    "x3": Case(lambda: Cugan(3), told(3)),
    "x4": Case(lambda: Cugan(4), told(4)),
    "x2-even": Case(Cugan, told(2), size=(32, 24)),
    "x2-pro": Case(lambda: Cugan(pro=True), told(2, "pro")),
    "x3-pro": Case(lambda: Cugan(3, pro=True), told(3, "pro")),
    "x4-pro": Case(lambda: Cugan(4, pro=True), told(4, "pro")),
    "x2-fast": Case(lambda: Cugan(fast=True), told(2, "fast"), size=(50, 42)),
    "x2-grey": Case(lambda: Cugan(channels=1), told(2), channels=1),
}
