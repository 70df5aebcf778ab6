# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""RobustVideoMatting."""
import torch
from published import Case
from torch import nn
from torch.nn import functional

# Of MobileNetV3's blocks: kernel, channels between, channels out, squeezed channels, stride.
MOBILE = [
    (3, 16, 16, 0, 1), (3, 64, 24, 0, 2), (3, 72, 24, 0, 1), (5, 72, 40, 24, 2), (5, 120, 40, 32, 1),
    (5, 120, 40, 32, 1), (3, 240, 80, 0, 2), (3, 200, 80, 0, 1), (3, 184, 80, 0, 1), (3, 184, 80, 0, 1),
    (3, 480, 112, 120, 1), (3, 672, 112, 168, 1), (5, 672, 160, 168, 1), (5, 960, 160, 240, 1),
    (5, 960, 160, 240, 1),
]


def convolution(inputs, outputs, kernel=1, stride=1, dilation=1, groups=1, epsilon=1e-5):
    padding = kernel // 2 * dilation
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, stride, padding, dilation, groups, bias=False),
                         nn.BatchNorm2d(outputs, epsilon))


class Squeeze(nn.Module):
    def __init__(self, channels, few):
        super().__init__()
        self.fc1 = nn.Conv2d(channels, few, 1)
        self.fc2 = nn.Conv2d(few, channels, 1)

    def forward(self, x):
        return x * functional.hardsigmoid(self.fc2(functional.relu(self.fc1(x.mean((2, 3), keepdim=True)))))


class MobileBlock(nn.Module):
    def __init__(self, inputs, row, number):
        super().__init__()
        kernel, between, outputs, few, stride = row
        self.is_kept = inputs == outputs and stride == 1
        act = nn.Hardswish if number > 6 else nn.ReLU
        dilation = 2 if number > 12 else 1
        layers = []
        if between != inputs:
            layers.append(convolution(inputs, between, epsilon=0.001).append(act()))
        layers.append(convolution(between, between, kernel, stride, dilation, between, 0.001).append(act()))
        if few:
            layers.append(Squeeze(between, few))
        layers.append(convolution(between, outputs, epsilon=0.001))
        self.block = nn.Sequential(*layers)

    def forward(self, x):
        return self.block(x) + x if self.is_kept else self.block(x)


class MobileNet(nn.Module):
    channels = (16, 24, 40, 960)

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(convolution(3, 16, 3, 2, epsilon=0.001).append(nn.Hardswish()))
        for number, row in enumerate(MOBILE, 1):
            self.features.append(MobileBlock(MOBILE[number - 2][2] if number > 1 else 16, row, number))
        self.features.append(convolution(160, 960, epsilon=0.001).append(nn.Hardswish()))

    def forward(self, x):
        mean, deviation = (torch.tensor(x).view(1, 3, 1, 1) for x in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
        x, made = (x - mean) / deviation, []
        for layer in self.features:
            made.append(x := layer(x))
        return made[1], made[3], made[6], made[16]


class Bottleneck(nn.Module):
    def __init__(self, inputs, wide, stride, dilation, is_first):
        super().__init__()
        sizes = ((inputs, wide, 1, 1, 1), (wide, wide, 3, stride, dilation), (wide, 4 * wide, 1, 1, 1))
        for number, size in enumerate(sizes, 1):
            conv, norm = convolution(*size)
            self.add_module(f"conv{number}", conv)
            self.add_module(f"bn{number}", norm)
        self.downsample = convolution(inputs, 4 * wide, 1, stride) if is_first else nn.Identity()

    def forward(self, x):
        y = functional.relu(self.bn1(self.conv1(x)))
        y = functional.relu(self.bn2(self.conv2(y)))
        return functional.relu(self.bn3(self.conv3(y)) + self.downsample(x))


class ResNet(nn.Module):
    channels = (64, 256, 512, 2048)

    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = convolution(3, 64, 7, 2)
        inputs = 64
        for number, (count, stride) in enumerate(((3, 1), (4, 2), (6, 2), (3, 1)), 1):
            wide, layers = 32 * 2**number, []
            for i in range(count):
                dilation = 2 if number == 4 and i else 1
                layers.append(Bottleneck(inputs, wide, stride if i == 0 else 1, dilation, i == 0))
                inputs = 4 * wide
            self.add_module(f"layer{number}", nn.Sequential(*layers))

    def forward(self, x):
        f1 = functional.relu(self.bn1(self.conv1(x)))
        f2 = self.layer1(functional.max_pool2d(f1, 3, 2, 1))
        f3 = self.layer2(f2)
        return f1, f2, f3, self.layer4(self.layer3(f3))


class Pool(nn.Module):
    """What weighs the channels of the smallest features."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.aspp1 = convolution(inputs, outputs).append(nn.ReLU())
        self.aspp2 = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(inputs, outputs, 1, bias=False), nn.Sigmoid())

    def forward(self, x):
        return self.aspp1(x) * self.aspp2(x)


class Unit(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.ih = nn.Sequential(nn.Conv2d(2 * channels, 2 * channels, 3, padding=1), nn.Sigmoid())
        self.hh = nn.Sequential(nn.Conv2d(2 * channels, channels, 3, padding=1), nn.Tanh())

    def forward(self, x, state):
        state = torch.zeros_like(x) if state is None else state
        r, z = self.ih(torch.cat((x, state), 1)).chunk(2, 1)
        return state + z * (self.hh(torch.cat((x, r * state), 1)) - state)


class Step(nn.Module):
    """Of the decoder.  The first one has no convolution, the last one two and no memory."""

    def __init__(self, inputs, outputs, has_memory=True):
        super().__init__()
        if inputs:
            self.conv = convolution(inputs, outputs, 3).append(nn.ReLU())
        if has_memory:
            self.gru = Unit(outputs // 2)
        else:
            self.conv.extend(convolution(outputs, outputs, 3).append(nn.ReLU()))

    def forward(self, x, *beside):
        if beside:
            height, width = beside[-1].shape[2:]
            x = functional.interpolate(x, scale_factor=2, mode="bilinear")[..., :height, :width]
            x = self.conv(torch.cat((x, *beside), 1))
        return x

    def remember(self, x, state):
        kept, now = x.chunk(2, 1)
        state = self.gru(now, state)
        return torch.cat((kept, state), 1), state


class Decoder(nn.Module):
    def __init__(self, features, smallest, outputs):
        super().__init__()
        f1, f2, f3, _ = features
        o3, o2, o1, o0 = outputs
        self.decode4 = Step(0, smallest)
        self.decode3 = Step(smallest + f3 + 3, o3)
        self.decode2 = Step(o3 + f2 + 3, o2)
        self.decode1 = Step(o2 + f1 + 3, o1)
        self.decode0 = Step(o1 + 3, o0, False)

    def forward(self, picture, features, before):
        smaller = [picture]
        for _ in range(3):
            smaller.append(functional.avg_pool2d(smaller[-1], 2, ceil_mode=True, count_include_pad=False))
        x, r4 = self.decode4.remember(features[3], before[3])
        states = [r4]
        for level in (3, 2, 1):
            step = getattr(self, f"decode{level}")
            x, state = step.remember(step(x, features[level - 1], smaller[level]), before[level - 1])
            states.insert(0, state)
        return self.decode0(x, picture), states


class Projection(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(16, channels, 1)


class Refiner(nn.Module):
    def __init__(self):
        super().__init__()
        self.box_filter = nn.Conv2d(4, 4, 3, padding=1, groups=4, bias=False)
        self.conv = nn.Sequential(*convolution(24, 16), nn.ReLU(), *convolution(16, 16), nn.ReLU(), nn.Conv2d(16, 4, 1))

    def forward(self, large, small, found, features):
        large, small = (torch.cat((x, x.mean(1, keepdim=True)), 1) for x in (large, small))
        mean, mean_found = self.box_filter(small), self.box_filter(found)
        shared = self.box_filter(small * found) - mean * mean_found
        own = self.box_filter(small * small) - mean * mean
        gain = self.conv(torch.cat((shared, own, features), 1))
        gain, offset = (functional.interpolate(x, large.shape[2:], mode="bilinear")
                        for x in (gain, mean_found - gain * mean))
        return gain * large + offset


def fix(module, name, value):
    delattr(module, name)
    module.register_buffer(name, value)


class Matting(nn.Module):
    def __init__(self, backbone, smallest, outputs):
        super().__init__()
        self.backbone = backbone
        self.aspp = Pool(backbone.channels[3], smallest)
        self.decoder = Decoder(backbone.channels, smallest, outputs)
        self.project_mat = Projection(4)
        self.project_seg = Projection(1)
        self.refiner = Refiner()
        # Random ones would give an alpha that is white or black nearly everywhere.
        fix(self.project_mat.conv, "weight", ((torch.arange(64) * 5 % 13 - 6) / 3).view(4, 16, 1, 1))
        fix(self.project_mat.conv, "bias", torch.full((4,), 0.5))
        fix(self.refiner.box_filter, "weight", torch.full((4, 1, 3, 3), 1 / 9))

    def step(self, picture, states, ratio=None):
        """The alpha, and what to remember."""
        ratio = min(512 / max(picture.shape[2:]), 1) if ratio is None else ratio
        small = picture if ratio == 1 else functional.interpolate(picture, scale_factor=ratio, mode="bilinear")
        features = list(self.backbone(small))
        features[3] = self.aspp(features[3])
        found, states = self.decoder(small, features, states or [None] * 4)
        made = self.project_mat.conv(found)
        if ratio != 1:
            made = self.refiner(picture, small, made, found)
        return made[:, 3:].clamp(0, 1), states

    def forward(self, picture):
        return self.step(picture, None)[0]


def case(make, backbone, **more):
    told = {"architecture": "RobustVideoMatting", "scale": 1, "backbone": backbone}
    return Case(make, told, has_states=True, **more)


CASES = {
    "mobile": case(lambda: Matting(MobileNet(), 128, (80, 40, 32, 16)), "mobilenetv3"),
    "mobile-large": case(lambda: Matting(MobileNet(), 128, (80, 40, 32, 16)), "mobilenetv3", size=(651, 37)),
    "resnet": case(lambda: Matting(ResNet(), 256, (128, 64, 32, 16)), "resnet50", size=(70, 45)),
}
