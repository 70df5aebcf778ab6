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


def in_python(module):
    """The same as PyTorch makes it, frame by frame."""
    module = torch.jit.script(module.eval())
    frames = [torch.full((1, 3, 12, 16), value / 255) for value in BRIGHTNESS]
    return [float(module(frame)[0, 0, 0, 0].clamp(0, 1) * 255) for frame in frames]


def remembers(path):
    notice = support.inspect(path)["notice"] or ""
    assert "remembers earlier pictures" in notice or not notice
    return bool(notice)


class Mean(nn.Module):
    """Takes a mean off, as BasicSR's EDSR does."""

    def __init__(self):
        super().__init__()
        self.mean = torch.full((1, 3, 1, 1), 1 / 3, dtype=torch.float64)

    def forward(self, x: Tensor) -> Tensor:
        self.mean = self.mean.type_as(x)
        x = (x - self.mean) * 0.5
        return x + self.mean


class Twice(nn.Module):
    """Has one object by two names, and converts its attribute by both."""

    def __init__(self):
        super().__init__()
        self.first = Mean()
        self.second = self.first

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        return self.second(x) * 0.5 + self.first.mean


class ByType(nn.Module):
    """Converts if a flag says so and the type is another one, and asks for the type of a list's elements."""

    def __init__(self):
        super().__init__()
        self.mean = torch.full((1, 3, 1, 1), 1 / 3, dtype=torch.float64)
        self.anchors = [torch.full((1, 3, 1, 1), 0.1, dtype=torch.float64)]
        self.converts_anchors = True

    def forward(self, x: Tensor) -> Tensor:
        if self.mean.dtype != x.dtype:
            self.mean = self.mean.to(x.dtype)
        elif not self.mean.device == x.device:
            self.mean = self.mean.to(x)
        if self.converts_anchors and self.anchors[0].dtype != x.dtype:
            self.anchors = [each.to(x.dtype) for each in self.anchors]
        return x * 0.1 + self.mean + self.anchors[0]


class Elements(nn.Module):
    """Converts the elements of a list to the type of its input, in a loop."""

    def __init__(self):
        super().__init__()
        self.anchors = [torch.full((1, 3, 1, 1), value, dtype=torch.float64) for value in (0.1, 0.3)]

    def forward(self, x: Tensor) -> Tensor:
        self.anchors = [each.type_as(x) for each in self.anchors]
        return x * 0.1 + self.anchors[0] + self.anchors[1]


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


class Chooses(nn.Module):
    """Shows the rounding of half precision, which bright pictures choose."""

    def __init__(self):
        super().__init__()
        self.mean = torch.full((1, 3, 1, 1), 1 / 3)

    def forward(self, x: Tensor) -> Tensor:
        self.mean = self.mean.to(6 - int(x.mean() > 0.5))
        return x * 0.1 + (self.mean.float() - 1 / 3).abs() * 5000.0


class ReadsBefore(nn.Module):
    """Shows the rounding from the second picture on."""

    def __init__(self):
        super().__init__()
        self.mean = torch.full((1, 3, 1, 1), 1 / 3)

    def forward(self, x: Tensor) -> Tensor:
        error = (self.mean.float() - 1 / 3).abs() * 5000.0
        self.mean = self.mean.to(torch.float16)
        return x * 0.1 + error


class ConvertsTwice(nn.Module):
    """Ends a run with less than it began with."""

    def __init__(self):
        super().__init__()
        self.gain = torch.full((1,), 1.7)

    def forward(self, x: Tensor) -> Tensor:
        self.gain = self.gain.to(torch.float32)
        x = x * self.gain * 0.3
        self.gain = self.gain.to(torch.uint8)
        return x


class Gain(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = torch.full((1,), 1.7)

    def forward(self, x: Tensor) -> Tensor:
        self.gain = self.gain.type_as(x)
        return x * self.gain


class CallsTwice(nn.Module):
    """The second call is with integers."""

    def __init__(self):
        super().__init__()
        self.gain = Gain()

    def forward(self, x: Tensor) -> Tensor:
        return self.gain(x) * 0.3 + self.gain((x * 100).to(torch.uint8)) * 0.001


class ReadsType(nn.Module):
    """Reads the type before it converts, for something else."""

    def __init__(self):
        super().__init__()
        self.gain = torch.full((1,), 1.7)

    def forward(self, x: Tensor) -> Tensor:
        is_float = self.gain.dtype == torch.float32
        self.gain = self.gain.to(torch.uint8)
        return x * 0.5 if is_float else x * 0.2


class TypeAsBefore(ReadsType):
    """Converts something else to the type of before."""

    def forward(self, x: Tensor) -> Tensor:
        rounded = (x * 10).type_as(self.gain)
        self.gain = self.gain.to(torch.uint8)
        return rounded * 0.05


class TypeOfAnother(nn.Module):
    """Converts to the type of an attribute that is converted later."""

    def __init__(self):
        super().__init__()
        self.gain, self.other = torch.full((1,), 1.7), torch.zeros(1)

    def forward(self, x: Tensor) -> Tensor:
        self.gain = self.gain.to(self.other.dtype)
        self.other = self.other.to(torch.uint8)
        return x * self.gain * 0.3


class Alternates(nn.Module):
    """Converts to one type and to another one by turns."""

    def __init__(self):
        super().__init__()
        self.gain = torch.full((1,), 1.7)

    def forward(self, x: Tensor) -> Tensor:
        if self.gain.dtype == torch.float32:
            self.gain = self.gain.to(torch.uint8)
        else:
            self.gain = self.gain.to(torch.float32)
        return x * 0.3 * (self.gain / 2 + (self.gain.to(torch.float32) * 0 + 0.5).type_as(self.gain))


class TypeBySamples(nn.Module):
    """Bright pictures choose the tensor whose type it is."""

    def __init__(self):
        super().__init__()
        self.gain = torch.full((1,), 1.7)

    def forward(self, x: Tensor) -> Tensor:
        like = x.to(torch.uint8) if bool(x.mean() > 0.5) else x
        self.gain = self.gain.type_as(like)
        return x * 0.3 * self.gain


class Adds(nn.Module):
    """Adds to what it converts."""

    def __init__(self):
        super().__init__()
        self.total = torch.zeros(1, dtype=torch.float64)

    def forward(self, x: Tensor) -> Tensor:
        self.total = self.total.to(x.dtype)
        self.total.add_(0.02)
        return x * 0.1 + self.total


class Appends(nn.Module):
    """Makes the list longer that it converts."""

    def __init__(self):
        super().__init__()
        self.anchors = [torch.full((1, 3, 1, 1), 0.02, dtype=torch.float64)]

    def forward(self, x: Tensor) -> Tensor:
        self.anchors = [each.to(x.dtype) for each in self.anchors]
        anchors = self.anchors
        anchors.append(anchors[0])
        return x * 0.1 + 0.02 * len(self.anchors)


class Averages(nn.Module):
    """Converts one attribute, and remembers another one that depends on it."""

    def __init__(self):
        super().__init__()
        self.mean = torch.full((1, 3, 1, 1), 0.1, dtype=torch.float64)
        self.average = torch.zeros(1)

    def forward(self, x: Tensor) -> Tensor:
        self.mean = self.mean.type_as(x)
        self.average = self.average * 0.5 + x.mean() * 0.1
        return x * 0.1 + self.average + self.mean


class Repeats(nn.Module):
    """Converts in a loop."""

    def __init__(self):
        super().__init__()
        self.mean = torch.full((1, 3, 1, 1), 0.1, dtype=torch.float64)

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(x.size(1)):
            self.mean = self.mean.type_as(x)
        return x * 0.1 + self.mean


def asked_twice(answer: bool) -> bool:
    return answer != (not answer)


def asked_16_times(answer: bool) -> bool:
    return asked_twice(asked_twice(asked_twice(asked_twice(answer))))


def asked_65536_times(answer: bool) -> bool:
    return asked_16_times(asked_16_times(asked_16_times(asked_16_times(answer))))


class Asks(nn.Module):
    """Converts after a question for a type, whose answer is used 2 to the power of 64 times."""

    def __init__(self):
        super().__init__()
        self.mean = torch.full((1, 3, 1, 1), 0.1, dtype=torch.float64)

    def forward(self, x: Tensor) -> Tensor:
        differs = self.mean.dtype != x.dtype
        differs = asked_65536_times(asked_65536_times(asked_65536_times(asked_65536_times(differs))))
        if differs:
            self.mean = self.mean.to(x.dtype)
        return x * 0.1 + self.mean


def like_one_of(one: Tensor, flag: bool) -> Tensor:
    return one if flag else one


def like_one_of_8(one: Tensor, flag: bool) -> Tensor:
    four = like_one_of(like_one_of(like_one_of(like_one_of(one, flag), flag), flag), flag)
    return like_one_of(like_one_of(like_one_of(like_one_of(four, flag), flag), flag), flag)


class ChoosesOften(nn.Module):
    """Takes its type from one of 2 to the power of 64 choices."""

    def __init__(self):
        super().__init__()
        self.mean = torch.full((1, 3, 1, 1), 0.1, dtype=torch.float64)

    def forward(self, x: Tensor) -> Tensor:
        flag = x.dtype == torch.float32
        like = x
        like = like_one_of_8(like_one_of_8(like_one_of_8(like_one_of_8(like, flag), flag), flag), flag)
        like = like_one_of_8(like_one_of_8(like_one_of_8(like_one_of_8(like, flag), flag), flag), flag)
        self.mean = self.mean.type_as(like)
        return x * 0.1 + self.mean


@pytest.mark.parametrize("kind", [Mean, Twice, ByType, Elements, Asks, ChoosesOften])
def test_attributes_that_are_converted_are_no_memory(kind, tmp_path):
    path = tmp_path / "m.pt"
    for workers in (1, 2):
        made = through(kind(), path, workers)
        assert max(abs(a - b) for a, b in zip(made, in_python(kind()), strict=True)) < 0.51
    assert not remembers(path)


@pytest.mark.parametrize("kind", [
    Rounds, Chooses, ReadsBefore, Adds, Appends, Averages, Repeats, ConvertsTwice, CallsTwice, ReadsType,
    TypeAsBefore, TypeOfAnother, Alternates, TypeBySamples])
def test_conversions_that_runs_depend_on_are_memory(kind, tmp_path):
    path = tmp_path / "m.pt"
    made = through(kind(), path, 2)
    assert remembers(path)
    assert max(abs(a - b) for a, b in zip(made, in_python(kind()), strict=True)) < 0.51


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
