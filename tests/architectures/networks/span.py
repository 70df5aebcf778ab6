# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""SPAN.  Its convolutions are folded as in the published evaluation: exactly, in float64."""
import torch
from published import Case
from torch import nn
from torch.nn import functional


class Convolution(nn.Module):
    def __init__(self, inputs, outputs, gain=2):
        super().__init__()
        self.sk = nn.Conv2d(inputs, outputs, 1)
        self.conv = nn.Sequential(
            nn.Conv2d(inputs, inputs * gain, 1),
            nn.Conv2d(inputs * gain, outputs * gain, 3),
            nn.Conv2d(outputs * gain, outputs, 1),
        )
        self.eval_conv = nn.Conv2d(inputs, outputs, 3, padding=1)

    def folded(self):
        """What the layers make of one pixel in a field of nothing is their common kernel."""
        w0, w1, w2 = (layer.weight.double() for layer in self.conv)
        b0, b1, b2, b3 = (layer.bias.double() for layer in (*self.conv, self.sk))
        w0, w2 = w0[:, :, 0, 0], w2[:, :, 0, 0]
        kernel = torch.einsum("po,omyx,mi->piyx", w2, w1, w0)
        kernel[:, :, 1, 1] += self.sk.weight.double()[:, :, 0, 0]
        return kernel, w2 @ (torch.einsum("omyx,m->o", w1, b0) + b1) + b2 + b3

    def forward(self, x):
        kernel, bias = self.folded()
        return functional.conv2d(x, kernel.float(), bias.float(), padding=1)


class Folded(nn.Module):
    """A file that somebody made smaller: nothing but what evaluation uses."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.eval_conv = nn.Conv2d(inputs, outputs, 3, padding=1)

    def forward(self, x):
        return self.eval_conv(x)


class Block(nn.Module):
    def __init__(self, features, convolution):
        super().__init__()
        self.c1_r = convolution(features, features)
        self.c2_r = convolution(features, features)
        self.c3_r = convolution(features, features)
        self.act1 = nn.SiLU(inplace=True)

    def forward(self, x):
        first = self.c1_r(x)
        y = self.c3_r(self.act1(self.c2_r(self.act1(first))))
        return (y + x) * (torch.sigmoid(y) - 0.5), first


class Span(nn.Module):
    def __init__(self, features=8, scale=4, channels=3, norm=True, convolution=Convolution):
        super().__init__()
        self.norm, self.scale = norm, scale
        if not norm:
            self.register_buffer("no_norm", torch.zeros(1))
        self.conv_1 = convolution(channels, features)
        for i in range(1, 7):
            self.add_module(f"block_{i}", Block(features, convolution))
        self.conv_cat = nn.Conv2d(features * 4, features, 1)
        self.conv_2 = convolution(features, features)
        self.upsampler = nn.Sequential(
            nn.Conv2d(features, channels * scale**2, 3, padding=1), nn.PixelShuffle(scale))

    def forward(self, x):
        if self.norm:
            x = (x - torch.tensor([0.4488, 0.4371, 0.4040]).view(1, 3, 1, 1)) * 255
        first = self.conv_1(x)
        y, after = first, []
        for i in range(1, 7):
            y, inside = getattr(self, f"block_{i}")(y)
            after.append(y)
        y = torch.cat((first, self.conv_2(y), after[0], inside), 1)
        return self.upsampler(self.conv_cat(y))


def told(scale=4, norm="yes", features=8):
    return {"architecture": "SPAN", "scale": scale, "features": features, "norm": norm}


# Samples of 0..255 make the attention so steep that some samples' rounding grows.
STEEP = 2e-3

CASES = {
    "x4": Case(Span, told(), tolerance=STEEP),
    "x2": Case(lambda: Span(scale=2), told(2), tolerance=STEEP),
    "x1-no-norm": Case(lambda: Span(scale=1, norm=False), told(1, "no")),
    "x3-no-norm": Case(lambda: Span(scale=3, norm=False, features=12), told(3, "no", 12)),
    "grey-no-norm": Case(lambda: Span(channels=1, norm=False), told(norm="no"), channels=1),
    "folded": Case(lambda: Span(convolution=Folded), told()),
}
