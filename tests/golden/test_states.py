# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What models keep from one frame to the next."""
from typing import List

import numpy
import pytest
import support
import torch
from torch import Tensor, nn

BRIGHTNESS = [40, 40, 220, 40, 220, 220, 40, 40, 40, 90, 40, 220]


def through(module, path, workers):
    """The first sample of each frame."""
    torch.jit.script(module.eval()).save(str(path))
    pixels = b"".join(bytes([value]) * (16 * 12 * 3) for value in BRIGHTNESS)
    graph = support.dnn(path, workers=workers, optimize=0, tune=0)
    made = support.succeed("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "16x12", "-i", "-", "-vf", graph, "-f", "rawvideo",
                           "-", stdin=pixels, loglevel="error").stdout
    return numpy.frombuffer(made, "u1").reshape(len(BRIGHTNESS), -1)[:, 0].tolist()


class Rounds(nn.Module):
    """Shows the rounding of a list that it converts to half precision after a bright picture."""

    def __init__(self):
        super().__init__()
        self.anchors = [torch.full((1, 3, 1, 1), 1 / 3)]

    def forward(self, x: Tensor) -> Tensor:
        error = (self.anchors[0].float() - 1 / 3).abs() * 5000.0
        if bool(x.mean() > 0.5):
            self.anchors = [each.to(torch.float16) for each in self.anchors]
        return x * 0.1 + error


@pytest.mark.parametrize("workers", [1, 2])
def test_a_list_that_is_converted_is_the_saved_one_in_each_run(workers, tmp_path):
    assert through(Rounds(), tmp_path / "m.pt", workers) == [round(value / 10) for value in BRIGHTNESS]


class Sums(nn.Module):
    """Adds to a parameter through another attribute that shares its memory."""

    def __init__(self, how: str):
        super().__init__()
        self.total = nn.Parameter(torch.zeros(1), requires_grad=False)
        self.lists: List[Tensor] = [self.total] if how == "list" else [torch.zeros(1)]
        self.register_buffer("alias", self.total.data if how == "buffer" else torch.zeros(1))
        self.by_list = how == "list"

    def forward(self, x: Tensor) -> Tensor:
        if self.by_list:
            self.lists[0].add_(0.02)
        else:
            self.alias.add_(0.02)
        return x * 0.1 + self.total


@pytest.mark.parametrize("how", ["list", "buffer"])
def test_a_parameter_that_is_written_through_another_attribute(how, tmp_path):
    wanted = [value / 10 + 5.1 * (i + 1) for i, value in enumerate(BRIGHTNESS)]
    made = through(Sums(how), tmp_path / "m.pt", 2)
    assert max(abs(a - b) for a, b in zip(made, wanted)) < 0.6
