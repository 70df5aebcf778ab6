# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a file in networks/ gives: networks with the names that are published, in PyTorch.

They are written for these tests, from papers and published names of weights, and know nothing of
the code that the engine writes.
"""
import dataclasses
import typing

import torch


@dataclasses.dataclass(frozen=True)
class Case:
    """A network that somebody could have published."""

    make: typing.Callable  # returns the module
    told: dict  # what inspect has to say of it: {"architecture": "Compact", "scale": 2, ...}
    channels: int = 3  # of a frame
    frames: int = 1  # of which the input has the channels
    # Whether the module has step(picture, states): the result and the next states; None begins.
    has_states: bool = False
    is_between: bool = False  # the result lies between two frames, half-way unless forward() gets a time
    has_time: bool = True  # otherwise it makes the middle alone
    is_global: bool = False  # even if no test shows it: an optical flow may lead anywhere
    border: str = "reflect"  # beyond which frames are missing: or "repeat"
    # Of the published code and not of the tensors: names that a file has besides.
    extras: typing.Callable = dict
    size: tuple = (29, 23)  # width, height
    tolerance: float = 2e-5  # of the largest sample
    file: str = "net.safetensors"  # some files' names tell what the weights do not


def randomise(module, seed=1):
    """Weights that keep each layer's output about as large as its input, so that no layer could be
    left out without notice."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, tensor in module.named_parameters():
            noise = torch.randn(tensor.shape, generator=generator)
            if tensor.dim() > 1:
                tensor.copy_(noise / (tensor[0].numel() ** 0.5))
            elif name.endswith("weight"):
                tensor.copy_(1 + 0.2 * noise)
            else:
                tensor.copy_(0.1 * noise)
        for name, tensor in module.named_buffers():
            if name.endswith("running_mean"):
                tensor.copy_(0.1 * torch.randn(tensor.shape, generator=generator))
            elif name.endswith("running_var"):
                tensor.copy_(1 + 0.2 * torch.rand(tensor.shape, generator=generator))
    return module.eval()


class ChannelNorm(torch.nn.Module):
    """A norm over the channels of each pixel, which many published networks have."""

    def __init__(self, channels, epsilon=1e-6):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(channels))
        self.bias = torch.nn.Parameter(torch.zeros(channels))
        self.epsilon = epsilon

    def forward(self, x):
        x = x.permute(0, 2, 3, 1)
        size = self.weight.shape
        x = torch.nn.functional.layer_norm(x, size, self.weight, self.bias, self.epsilon)
        return x.permute(0, 3, 1, 2)


DIV2K_MEAN = torch.tensor([0.4488, 0.4371, 0.4040])


class MeanShift(torch.nn.Conv2d):
    """Takes the mean off, or adds it.  The weights are no parameters: they are not learnt."""

    def __init__(self, value_range, sign):
        super().__init__(3, 3, 1)
        for name, value in (("weight", torch.eye(3).reshape(3, 3, 1, 1)),
                            ("bias", sign * value_range * DIV2K_MEAN)):
            delattr(self, name)
            self.register_buffer(name, value)


def shuffled(features, scale):
    """Enlarges by 2 as often as it takes, or by 3 once."""
    factors = [scale] if scale == 3 else [2] * (scale.bit_length() - 1)
    layers = []
    for factor in factors:
        layers += [torch.nn.Conv2d(features, features * factor**2, 3, padding=1),
                   torch.nn.PixelShuffle(factor)]
    return torch.nn.Sequential(*layers)


def without_mean(forward):
    """BasicSR's networks see samples of 0..255 without the mean."""

    def normalised(self, picture):
        mean = DIV2K_MEAN.reshape(1, 3, 1, 1)
        return forward(self, (picture - mean) * 255) / 255 + mean

    return normalised
