# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Traced models, whose numbers torch.jit.trace writes as tensors, give what PyTorch gives."""
import warnings

import numpy
import pictures
import pytest
import support
import torch
import torch.nn.functional as F
from torch import Tensor, nn

WIDTH, HEIGHT = 48, 32


def positions(x: Tensor) -> Tensor:
    width = x.shape[3]
    return torch.arange(width) / (width - 1) * 2 - 1


def bright(x: Tensor) -> Tensor:
    return x > 0.5


def levels(x: Tensor) -> Tensor:
    return (x * 255).to(torch.int64)


def sampled(x: Tensor) -> Tensor:
    """The grid's numbers depend on the picture's size."""
    height, width = x.shape[2:]
    down, across = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    grid = torch.stack([2.0 * across / (width - 1) - 1.0, 2.0 * down / (height - 1) - 1.0], -1)
    return F.grid_sample(x, grid[None], align_corners=True)


# Each gives what the layer behind it reads, so that it must be of the layer's type.
INPUTS = {
    "a picture, a mask and a number": lambda x: x * bright(x) * 2.0,
    "a mask and numbers": lambda x: bright(x) * 2.0 - 1.0,
    "a number minus a mask": lambda x: 1 - bright(x) * 0.7,
    "a whole number and a fraction": lambda x: bright(x) * 2 / 3.0,
    "a mask and the size": lambda x: bright(x) * (x.shape[2] * 0.02),
    "a mask plus a picture": lambda x: torch.add(x, bright(x), alpha=0.3),
    "powers of a mask": lambda x: 2.0 ** bright(x) + bright(x) ** 2.0,
    "a comparison of whole numbers": lambda x: (levels(x) >= 127.5) * x * 1.5,
    "whole numbers over a number": lambda x: levels(x) / 255,
    "whole numbers over whole ones": lambda x: levels(x) // 2.0 / 127,
    "rest of a division": lambda x: levels(x) % 2.5,
    "positions": lambda x: x + positions(x) * 0.1,
    "positions alone": lambda x: positions(x).expand_as(x) * 0.5,
    "a choice": lambda x: torch.where(bright(x), x, x * 0.1),
    "a choice between numbers": lambda x: torch.where(bright(x), 1.0, 0.1),
    "a complex number": lambda x: torch.real(torch.exp(x * 1j)) * 0.5,
    "a grid": sampled,
}


class Net(nn.Module):
    def __init__(self, of_input):
        super().__init__()
        torch.manual_seed(4)
        self.layer = nn.Conv2d(3, 3, 3, padding=1)
        self.of_input = of_input

    def forward(self, x: Tensor) -> Tensor:
        return torch.sigmoid(self.layer(self.of_input(x)))


def run(model, frame, **options):
    done = support.succeed(
        *pictures.raw_input("gbrpf32le", WIDTH, HEIGHT),
        *("-vf", support.dnn(model, **options), "-f", "rawvideo", "-"),
        stdin=pictures.pack(frame, "gbrpf32le"),
    )
    return pictures.unpack(done.stdout, "gbrpf32le", WIDTH, HEIGHT)[0].image


@pytest.mark.parametrize("options", [{"optimize": 0}, {"tune": 0}], ids=str)
@pytest.mark.parametrize("name", INPUTS)
def test_numbers_are_numbers(tmp_path, name, options):
    frame = pictures.make_frame("gbrpf32le", WIDTH, HEIGHT, 1)
    images = torch.from_numpy(pictures.to_unit(frame.image))[None]
    net = Net(INPUTS[name]).eval()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore", torch.jit.TracerWarning)
        wanted = net(images)[0].numpy()
        torch.jit.trace(net, images, check_trace=False).save(str(tmp_path / "net.pt"))
    got = run(tmp_path / "net.pt", frame, **options)
    assert numpy.abs(got - wanted).max() < 1e-5


class Named(nn.Module):
    """A member has the name that TorchScript's operators begin with."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(6)
        self.ops = nn.ModuleList([nn.Conv2d(3, 3, 3, padding=1), nn.Conv2d(3, 3, 1)])

    def forward(self, x: Tensor) -> Tensor:
        for each in self.ops:
            x = torch.sigmoid(each(x))
        return x


@pytest.mark.parametrize("write", ["trace", "script"])
def test_a_member_has_the_name_of_operators(tmp_path, write):
    frame = pictures.make_frame("gbrpf32le", WIDTH, HEIGHT, 1)
    images = torch.from_numpy(pictures.to_unit(frame.image))[None]
    net = Named().eval()
    with torch.no_grad():
        wanted = net(images)[0].numpy()
        made = torch.jit.script(net) if write == "script" else torch.jit.trace(net, images)
    made.save(str(tmp_path / "net.pt"))
    assert numpy.abs(run(tmp_path / "net.pt", frame) - wanted).max() < 1e-5
