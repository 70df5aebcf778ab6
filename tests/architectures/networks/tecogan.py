# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""TecoGAN and FRVSR."""
import torch
from published import Case
from torch import nn
from torch.nn import functional


def pair(inputs, between, outputs, slope=0.2):
    return nn.Sequential(nn.Conv2d(inputs, between, 3, padding=1), nn.LeakyReLU(slope),
                         nn.Conv2d(between, outputs, 3, padding=1))


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        inputs = 6
        for number, channels in enumerate((32, 64, 128, 256, 128, 64), 1):
            name = f"encoder{number}" if number < 4 else f"decoder{number - 3}"
            self.add_module(name, pair(inputs, channels, channels).append(nn.LeakyReLU(0.2)))
            inputs = channels
        self.flow = pair(64, 32, 2)

    def forward(self, now, before):
        x = torch.cat((now, before), 1)
        for layers in (self.encoder1, self.encoder2, self.encoder3):
            x = functional.max_pool2d(layers(x), 2)
        for layers in (self.decoder1, self.decoder2, self.decoder3):
            x = functional.interpolate(layers(x), scale_factor=2, mode="bilinear")
        return 24 * self.flow(x).tanh()


class Residual(nn.Module):
    def __init__(self, wide):
        super().__init__()
        self.conv = pair(wide, wide, wide, 0)

    def forward(self, x):
        return x + self.conv(x)


class Bicubic(nn.Module):
    """Its first pixel is the frame's: the picture moves by a part of a pixel."""

    def __init__(self, scale):
        super().__init__()
        t = torch.arange(scale)[:, None] / scale
        away = torch.cat((1 + t, t, 1 - t, 2 - t), 1)
        near = 1.25 * away**3 - 2.25 * away**2 + 1
        far = -0.75 * (away**3 - 5 * away**2 + 8 * away - 4)
        self.register_buffer("kernels", torch.where(away <= 1, near, far))

    def along(self, x, dimension):
        x = x.movedim(dimension, -1)
        size = x.shape[-1]
        places = torch.arange(size)[:, None] + torch.arange(-1, 3)
        x = x[..., places.clamp(0, size - 1)] @ self.kernels.T
        return x.flatten(-2).movedim(-1, dimension)

    def forward(self, x):
        return self.along(self.along(x, 2), 3)


class Bilinear(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        return functional.interpolate(x, scale_factor=self.scale, mode="bilinear")


class Reconstruction(nn.Module):
    def __init__(self, wide, blocks, scale, upsample):
        super().__init__()
        self.conv_in = nn.Sequential(nn.Conv2d(3 * scale**2 + 3, wide, 3, padding=1), nn.ReLU())
        self.resblocks = nn.Sequential(*(Residual(wide) for _ in range(blocks)))
        self.conv_up = nn.Sequential()
        for _ in range(scale // 2):
            self.conv_up.extend((nn.ConvTranspose2d(wide, wide, 3, 2, 1, 1), nn.ReLU()))
        self.conv_out = nn.Conv2d(wide, 3, 3, padding=1)
        self.upsample_func = upsample
        # Random ones would make each result many times as large as the one before.
        values = torch.randn(self.conv_out.weight.shape, generator=torch.Generator().manual_seed(2))
        del self.conv_out.weight
        self.conv_out.register_buffer("weight", values * 0.01)

    def forward(self, frame, moved):
        x = self.conv_up(self.resblocks(self.conv_in(torch.cat((frame, moved), 1))))
        return self.conv_out(x) + self.upsample_func(frame)


class TecoGan(nn.Module):
    def __init__(self, wide=16, blocks=2, scale=4, upsample=Bicubic):
        super().__init__()
        self.scale = scale
        self.upsample_func = upsample(scale)
        self.fnet = Flow()
        self.srnet = Reconstruction(wide, blocks, scale, self.upsample_func)

    def moved(self, picture, flow):
        height, width = picture.shape[2:]
        y, x = torch.meshgrid(torch.linspace(-1, 1, height), torch.linspace(-1, 1, width), indexing="ij")
        x, y = x + 2 * flow[:, 0] / (width - 1), y + 2 * flow[:, 1] / (height - 1)
        return functional.grid_sample(picture, torch.stack((x, y), -1), padding_mode="border", align_corners=True)

    def step(self, frame, states):
        zeros = torch.zeros_like(frame)
        before, result = states or (zeros, zeros.repeat(1, 1, self.scale, self.scale))
        height, width = frame.shape[2:]
        flow = functional.pad(self.fnet(frame, before), (0, width % 8, 0, height % 8), mode="reflect")
        moved = self.moved(result, self.scale * self.upsample_func(flow))
        parts = [moved[..., y :: self.scale, x :: self.scale] for y in range(self.scale) for x in range(self.scale)]
        result = self.srnet(frame, torch.cat(parts, 1))
        return result, (frame, result)

    def forward(self, frame):
        return self.step(frame, None)[0]


def case(scale, upsampler, **more):
    told = {"architecture": "TecoGAN", "scale": scale, "features": more.get("wide", 16), "blocks": more.get("blocks", 2),
            "upsampler": upsampler}
    upsample = Bicubic if upsampler == "bicubic" else Bilinear
    return Case(lambda: TecoGan(scale=scale, upsample=upsample, **more), told, has_states=True, is_global=True,
                tolerance=5e-5)


CASES = {
    "x4": case(4, "bicubic"),
    "published": case(4, "bicubic", wide=64, blocks=10),
    "x2": case(2, "bilinear"),
}
