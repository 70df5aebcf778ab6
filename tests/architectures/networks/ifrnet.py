# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""IFRNet, of three sizes."""
import torch
from published import Case
from torch import nn
from torch.nn import functional


def layer(inputs, outputs, kernel=3, stride=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2), nn.PReLU(outputs))


class Block(nn.Module):
    """Whose last channels have layers of their own."""

    def __init__(self, channels, side):
        super().__init__()
        self.conv1, self.conv3 = layer(channels, channels), layer(channels, channels)
        self.conv2, self.conv4 = layer(side, side), layer(side, side)
        self.conv5, self.prelu = nn.Conv2d(channels, channels, 3, 1, 1), nn.PReLU(channels)
        self.split = channels - side, side

    def forward(self, x):
        deeper = x
        for whole, beside in ((self.conv1, self.conv2), (self.conv3, self.conv4)):
            first, last = whole(deeper).split(self.split, 1)
            deeper = torch.cat((first, beside(last)), 1)
        return self.prelu(x + self.conv5(deeper))


class Decoder(nn.Module):
    def __init__(self, inputs, channels, side, outputs):
        super().__init__()
        last = nn.ConvTranspose2d(channels, outputs, 4, 2, 1)
        weight = torch.randn(last.weight.shape, generator=torch.Generator().manual_seed(3)) / (2 * channels ** 0.5)
        # Flows of a few pixels and small corrections, which `randomise` would not see to.
        weight[:, :4] *= 0.5
        weight[:, -3:] *= 0.1
        del last.weight
        last.register_buffer("weight", weight)
        self.convblock = nn.Sequential(layer(inputs, channels), Block(channels, side), last)

    def forward(self, *parts):
        return self.convblock(torch.cat(parts, 1))


def warped(x, flow):
    height, width = x.shape[2:]
    across = torch.linspace(-1, 1, width) + flow[:, 0] / ((width - 1) / 2)
    down = torch.linspace(-1, 1, height)[:, None] + flow[:, 1] / ((height - 1) / 2)
    return functional.grid_sample(x, torch.stack((across, down), -1), "bilinear", "border", align_corners=True)


def resized(x, factor):
    return functional.interpolate(x, scale_factor=factor, mode="bilinear", align_corners=False)


class IfrNet(nn.Module):
    def __init__(self, widths, side, kernel=3):
        super().__init__()
        self.encoder = nn.Module()
        for i, (inputs, outputs) in enumerate(zip((3, *widths), widths)):
            pyramid = nn.Sequential(layer(inputs, outputs, 3 if i else kernel, 2), layer(outputs, outputs))
            self.encoder.add_module(f"pyramid{i + 1}", pyramid)
        self.decoder4 = Decoder(2 * widths[3] + 1, 2 * widths[3], side, 4 + widths[2])
        for i in (3, 2, 1):
            channels = 3 * widths[i - 1]
            decoder = Decoder(channels + 4, channels, side, 4 + widths[i - 2] if i > 1 else 8)
            self.add_module(f"decoder{i}", decoder)

    def features(self, frame):
        made = [frame]
        for pyramid in self.encoder.children():
            made.append(pyramid(made[-1]))
        return made

    def forward(self, x, t=0.5, scale=1.0):
        height, width = x.shape[2:]
        multiple = int(16 / min(scale, 1))
        across, down = -width % multiple, -height % multiple
        left, above = across // 2, down // 2
        x = functional.pad(x, (left, across - left, above, down - above), mode="replicate")
        mean = x.mean((1, 2, 3), keepdim=True)
        frames = (x - mean).split(3, 1)
        pyramids = [self.features(resized(frame, scale)) for frame in frames]
        last = pyramids[0][4]
        made = self.decoder4(last, pyramids[1][4], torch.full_like(last[:, :1], t))
        flow = made[:, :4]
        for i in (3, 2, 1):
            moved = [warped(pyramid[i], part) for pyramid, part in zip(pyramids, flow.split(2, 1))]
            made = self.add_to(i, made, moved, flow)
            flow = made[:, :4] + 2 * resized(flow, 2)
        flow = resized(flow, 1 / scale) / scale
        weight, change = resized(made[:, 4:5].sigmoid(), 1 / scale), resized(made[:, 5:], 1 / scale)
        first, second = (warped(frame, part) for frame, part in zip(frames, flow.split(2, 1)))
        made = (first * weight + second * (1 - weight) + mean + change).clamp(0, 1)
        return made[:, :, above:above + height, left:left + width]

    def add_to(self, level, made, moved, flow):
        return getattr(self, f"decoder{level}")(made[:, 4:], *moved, flow)


class FromTraining(IfrNet):
    def state_dict(self, *arguments, **options):
        return {f"module.{name}": tensor for name, tensor in super().state_dict(*arguments, **options).items()}


def case(widths, side, make=IfrNet, **options):
    told = {"architecture": "IFRNet", "scale": 1, "features": "/".join(map(str, widths))}
    return Case(lambda: make(widths, side, **options), told, frames=2, is_between=True, is_global=True,
                border="repeat", tolerance=1e-4)


CASES = {
    "narrow": case((8, 6, 10, 12), 4),
    "published": case((32, 48, 72, 96), 32, FromTraining),
    "small": case((24, 36, 54, 72), 24),
    "large": case((16, 12, 8, 10), 8, kernel=7),
}
