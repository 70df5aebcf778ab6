# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""RIFE 4.x, the graphs of the versions that people have."""
import torch
from published import Case
from torch import nn
from torch.nn import functional


def strided(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, 2, 1), nn.LeakyReLU(0.2))


class Residual(nn.Module):
    def __init__(self, channels, groups):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, groups=groups)
        self.beta = nn.Parameter(torch.ones(1, channels, 1, 1))

    def forward(self, x):
        return functional.leaky_relu(self.conv(x) * self.beta + x, 0.2)


def resized(x, factor):
    return functional.interpolate(x, scale_factor=factor, mode="bilinear", align_corners=False)


def last_layer(inputs, channels, positions=4):
    """Whose flows stay within a few pixels, which `randomise` would not see to."""
    layer = nn.ConvTranspose2d(inputs, positions * channels, 4, 2, 1)
    weight = torch.randn(layer.weight.shape, generator=torch.Generator().manual_seed(3)) / (2 * inputs ** 0.5)
    weight[:, :4 * positions] *= 0.3
    del layer.weight
    layer.register_buffer("weight", weight)
    return nn.Sequential(layer, nn.PixelShuffle(2)) if positions > 1 else layer


class Block(nn.Module):
    def __init__(self, inputs, channels, outputs, groups):
        super().__init__()
        self.conv0 = nn.Sequential(strided(inputs, channels // 2), strided(channels // 2, channels))
        self.convblock = nn.Sequential(*(Residual(channels, groups) for _ in range(8)))
        self.lastconv = last_layer(channels, outputs)

    def forward(self, x, flow, scale):
        x = resized(x, 1 / scale)
        if flow is not None:
            x = torch.cat((x, resized(flow, 1 / scale) * (1 / scale)), 1)
        x = resized(self.lastconv(self.convblock(self.conv0(x))), scale)
        return x[:, :4] * scale, x[:, 4:5], x[:, 5:]


class PlainBlock(nn.Module):
    """Of 4.0 to 4.4: `made` says which."""

    def __init__(self, inputs, channels, made, _):
        super().__init__()
        self.adds = made == "4.0"

        def layer(inputs, outputs, stride=1):
            after = nn.PReLU(outputs) if self.adds else nn.LeakyReLU(0.2)
            return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1), after)

        self.conv0 = nn.Sequential(layer(inputs, channels // 2, 2), layer(channels // 2, channels, 2))
        self.convblock = nn.Sequential(*(layer(channels, channels) for _ in range(8)))
        self.lastconv = last_layer(channels, 5, 1)

    def forward(self, x, flow, scale):
        x = resized(x, 1 / scale)
        if flow is not None:
            x = torch.cat((x, resized(flow, 1 / scale) * (1 / scale)), 1)
        features = self.conv0(x)
        deeper = self.convblock(features)
        x = resized(self.lastconv(deeper + features if self.adds else deeper), 2 * scale)
        return x[:, :4] * 2 * scale, x[:, 4:], None


class Encoder(nn.Module):
    def __init__(self, wide, features):
        super().__init__()
        self.cnn0 = nn.Conv2d(3, wide, 3, 2, 1)
        self.cnn1 = nn.Conv2d(wide, wide, 3, 1, 1)
        self.cnn2 = nn.Conv2d(wide, wide, 3, 1, 1)
        self.cnn3 = nn.ConvTranspose2d(wide, features, 4, 2, 1)

    def forward(self, x):
        for layer in (self.cnn0, self.cnn1, self.cnn2):
            x = functional.leaky_relu(layer(x), 0.2)
        return self.cnn3(x)


def in_sequence(wide, features):
    return nn.Sequential(nn.Conv2d(3, wide, 3, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(wide, wide, 3, 1, 1),
                         nn.LeakyReLU(0.2), nn.Conv2d(wide, wide, 3, 1, 1), nn.LeakyReLU(0.2),
                         nn.ConvTranspose2d(wide, features, 4, 2, 1))


def two_layers(wide, features):
    return nn.Sequential(nn.Conv2d(3, wide, 3, 2, 1), nn.ConvTranspose2d(wide, features, 4, 2, 1))


def warped(x, flow):
    height, width = x.shape[2:]
    across = torch.linspace(-1, 1, width) + flow[:, 0] / ((width - 1) / 2)
    down = torch.linspace(-1, 1, height)[:, None] + flow[:, 1] / ((height - 1) / 2)
    return functional.grid_sample(x, torch.stack((across, down), -1), "bilinear", "border", align_corners=True)


def mean_of_both(made, back):
    """What a block makes of two frames, and of these in the other order."""
    return (made[0] + back[0].roll(2, 1)) / 2, (made[1] - back[1]) / 2, made[2]


class Rife(nn.Module):
    def __init__(self, widths, encoder, made, groups=1, scales=(8, 4, 2, 1)):
        super().__init__()
        features = 0
        if encoder:
            make, wide, features = encoder
            self.encode = make(wide, features)
        first = 2 * (3 + features) + 1
        later = first + 1 + 4 + (8 if made == 13 else 0)
        block = PlainBlock if isinstance(made, str) else Block
        self.blocks = [block(later if i else first, width, made, groups) for i, width in enumerate(widths)]
        for i, block in enumerate(self.blocks):
            self.add_module(f"block{i}", block)
        self.made, self.scales, self.adds = made, scales, not encoder
        self.multiple = 64 if made == "4.0" else 4 * scales[0]

    def features_of(self, frame):
        return [self.encode(frame)] if not self.adds else []

    def begun(self, frames, features, time, step):
        return self.block0(torch.cat((*frames, *features[0], *features[1], time), 1), None, step)

    def begun_both_ways(self, frames, features, time, step):
        back = self.begun(frames[::-1], features[::-1], 1 - time, step)
        return mean_of_both(self.begun(frames, features, time, step), back)

    def change_back(self, block, step, frames, features, time, flow, mask, kept):
        return self.change(block, step, frames[::-1], features[::-1], 1 - time, flow.roll(2, 1), -mask, kept)

    def change(self, block, step, frames, features, time, flow, mask, kept):
        parts = [warped(frame, part) for frame, part in zip(frames, flow.split(2, 1))]
        parts += [warped(each[0], part) for each, part in zip(features, flow.split(2, 1)) if each]
        parts += [time, mask] + ([kept] if self.made == 13 else [])
        return block(torch.cat(parts, 1), flow, step)

    def forward(self, x, t=0.5, scale=1.0, ensemble=False):
        height, width = x.shape[2:]
        multiple = int(self.multiple / min(scale, 1))
        x = functional.pad(x, (0, -width % multiple, 0, -height % multiple))
        frames = x.split(3, 1)
        time = torch.full_like(x[:, :1], t)
        features = [self.features_of(frame) for frame in frames]
        given = frames, features, time
        begun = self.begun_both_ways if ensemble else self.begun
        flow, mask, kept = begun(*given, self.scales[0] / scale)
        for i in range(1, len(self.blocks)):
            made = self.change(self.blocks[i], self.scales[i] / scale, *given, flow, mask, kept)
            if i == 1 and self.made == "4.0" and self.is_far(made[0]):
                scale /= 2
                flow, mask, kept = self.begun(*given, self.scales[0] / scale)
                made = self.change(self.blocks[i], self.scales[i] / scale, *given, flow, mask, kept)
            if ensemble:
                back = self.change_back(self.blocks[i], self.scales[i] / scale, *given, flow, mask, kept)
                made = mean_of_both(made, back)
            change, other, kept = made
            flow = flow + change
            mask = mask + other if self.adds else other
        weight = mask.sigmoid()
        first, second = (warped(frame, part) for frame, part in zip(frames, flow.split(2, 1)))
        return (first * weight + second * (1 - weight))[:, :, :height, :width]

    def is_far(self, change):
        return all(part.abs().max() > 32 for part in change.split(2, 1))


class Far(Rife):
    """Of 4.0, which then sees smaller pictures."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.block1.lastconv.weight[:, :4] *= 30

    def is_far(self, change):
        assert super().is_far(change), "the weights show the other branch"
        return True


class FromTraining(Rife):
    """As flownet.pkl is: from DataParallel, with what training left."""

    def state_dict(self, *arguments, **options):
        weights = super().state_dict(*arguments, **options)
        weights |= {f"{extra}.{name}": weights[name] for extra in ("teacher", "caltime")
                    for name in list(weights) if name.startswith("block0.")}
        return {f"module.{name}": tensor for name, tensor in weights.items()}


def case(widths, encoder, made, make=Rife, **options):
    told = {"architecture": "RIFE", "scale": 1, "blocks": len(widths), "features": "/".join(map(str, widths)),
            "encoder": encoder[2] if encoder else 0}
    return Case(lambda: make(widths, encoder, made, **options), told, frames=2, is_between=True, is_global=True,
                border="repeat", tolerance=1e-4)


FIVE = {"scales": (16, 8, 4, 2, 1)}
CASES = {
    "4.25": case((24, 16, 12, 8, 8), (Encoder, 16, 4), 13, **FIVE),
    "4.25-published": case((192, 128, 96, 64, 32), (Encoder, 16, 4), 13, FromTraining, **FIVE),
    "4.25-lite": case((192, 128, 96, 64, 24), (Encoder, 16, 4), 13, scales=(32, 16, 8, 4, 1)),
    "4.26-heavy": case((24, 16, 12, 8, 8), (Encoder, 16, 16), 13, **FIVE),
    "4.22": case((32, 24, 12, 8), (Encoder, 32, 8), 13),
    "4.22-lite": case((24, 16, 8, 4), (Encoder, 16, 4), 13),
    "4.14-lite": case((24, 16, 12, 8), (Encoder, 32, 8), 6, groups=2),
    "4.15": case((24, 16, 12, 8), (Encoder, 32, 8), 6),
    "4.15-lite": case((16, 12, 8, 6), (Encoder, 16, 4), 6),
    "4.10": case((24, 16, 12, 8), (in_sequence, 32, 8), 6),
    "4.12-lite": case((16, 12, 8, 6), (in_sequence, 32, 4), 6),
    "4.7": case((24, 16, 12, 8), (two_layers, 16, 4), 6),
    "4.6": case((24, 16, 12, 8), None, 6),
    "4.6-training": case((192, 128, 96, 64), None, 6, FromTraining),
    "4.4": case((24, 16, 12, 8), None, "4.4"),
    "4.4-training": case((192, 128, 96, 64), None, "4.4", FromTraining),
    "4.0": case((24, 16, 12, 8), None, "4.0"),
    "4.0-far": case((24, 16, 12, 8), None, "4.0", Far),
    "4.5": case((24, 16, 12, 8), None, 5),
}
