# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""PLKSR and RealPLKSR."""
import torch
from dysample import DySample
from published import Case, ChannelNorm
from torch import nn


class LargeKernel(nn.Module):
    def __init__(self, channels, kernel, crossed=False):
        super().__init__()
        self.channels, self.crossed = channels, crossed
        make = lambda size: nn.Conv2d(channels, channels, size, padding="same")
        if crossed:
            third = kernel // 3
            self.mn_conv = make((kernel, third))
            self.nm_conv = make((third, kernel))
            self.nn_conv = make((third, third))
        else:
            self.conv = make(kernel)

    def forward(self, x):
        part, rest = x[:, : self.channels], x[:, self.channels :]
        if self.crossed:
            part = self.mn_conv(part) + self.nm_conv(part) + self.nn_conv(part)
        else:
            part = self.conv(part)
        return torch.cat((part, rest), 1)


class Attention(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.f = nn.Sequential(nn.Conv2d(features, features, 3, padding=1), nn.Sigmoid())

    def forward(self, x):
        return x * self.f(x)


def mixer(features, kernels, activation):
    first, second = kernels
    return nn.Sequential(
        nn.Conv2d(features, features * 2, first, padding=first // 2), activation,
        nn.Conv2d(features * 2, features, second, padding=second // 2))


class Block(nn.Module):
    def __init__(self, features, kernel, split, real, attention=True, layer_norm=False,
                 kernels=(3, 3), crossed=False):
        super().__init__()
        self.mixer = "channel_mixer" if real else "channe_mixer"
        self.add_module(self.mixer, mixer(features, kernels, nn.Mish() if real else nn.GELU()))
        self.lk = LargeKernel(int(features * split), kernel, crossed)
        self.attn = Attention(features) if attention else nn.Identity()
        self.refine = nn.Conv2d(features, features, 1)
        self.layer_norm = ChannelNorm(features) if layer_norm else nn.Identity()
        has_groups = real and not layer_norm
        self.norm = nn.GroupNorm(4, features) if has_groups else nn.Identity()

    def forward(self, x):
        y = getattr(self, self.mixer)(self.layer_norm(x))
        return x + self.norm(self.refine(self.attn(self.lk(y))))


class Plksr(nn.Module):
    def __init__(self, features=16, blocks=3, scale=4, kernel=7, split=0.25, real=True,
                 dysample=False, **others):
        super().__init__()
        self.scale = scale
        layers = [nn.Conv2d(3, features, 3, padding=1)]
        layers += [Block(features, kernel, split, real, **others) for _ in range(blocks)]
        if real:
            layers.append(nn.Dropout2d(0))
        layers.append(nn.Conv2d(features, 3 * scale**2, 3, padding=1))
        self.feats = nn.Sequential(*layers)
        self.to_img = nn.PixelShuffle(scale)
        if dysample:
            groups = 4 if scale % 2 == 0 else 3
            self.to_img = DySample(3 * scale**2, 3, scale, groups, scale != 1)

    def forward(self, x):
        return self.to_img(self.feats(x) + torch.repeat_interleave(x, self.scale**2, dim=1))


def told(variant="RealPLKSR", scale=4, kernel=7, features=16, blocks=3, upsampler="pixelshuffle",
         **others):
    return {"architecture": "PLKSR", "scale": scale, "variant": variant, "features": features,
            "blocks": blocks, "kernel": kernel, "upsampler": upsampler, **others}


def real(norm="group", **others):
    return told(norm=norm, **others)


def plain(mixer="CCM", **others):
    return told("PLKSR", mixer=mixer, **others)


CASES = {
    "real-x4": Case(Plksr, real()),
    "real-x2-kernel-17": Case(lambda: Plksr(scale=2, kernel=17, blocks=2),
                              real(scale=2, kernel=17, blocks=2)),
    "real-x1": Case(lambda: Plksr(scale=1), real(scale=1)),
    "real-x3-half": Case(lambda: Plksr(scale=3, split=0.5), real(scale=3)),
    "real-no-attention": Case(lambda: Plksr(attention=False), real()),
    "real-layer-norm": Case(lambda: Plksr(layer_norm=True), real("layer")),
    "real-dysample-x4": Case(lambda: Plksr(dysample=True), real(upsampler="dysample")),
    "real-dysample-x2": Case(lambda: Plksr(scale=2, dysample=True, layer_norm=True),
                             real("layer", scale=2, upsampler="dysample")),
    "real-dysample-x3": Case(lambda: Plksr(scale=3, dysample=True),
                             real(scale=3, upsampler="dysample")),
    "real-dysample-x1": Case(lambda: Plksr(scale=1, dysample=True),
                             real(scale=1, upsampler="dysample")),
    "ccm": Case(lambda: Plksr(real=False, kernels=(3, 1)), plain()),
    "dccm": Case(lambda: Plksr(real=False, kernels=(3, 3), scale=2), plain("DCCM", scale=2)),
    "iccm": Case(lambda: Plksr(real=False, kernels=(1, 3), attention=False), plain("ICCM")),
    "crossed": Case(lambda: Plksr(real=False, kernels=(3, 1), crossed=True, kernel=9),
                    plain(kernel=9)),
}
