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
    channels: int = 3
    # Of the published code and not of the tensors: names that a file has besides.
    extras: typing.Callable = dict
    size: tuple = (29, 23)  # width, height
    tolerance: float = 2e-5  # of the largest sample


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
