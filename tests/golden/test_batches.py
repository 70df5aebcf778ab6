# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A frame's picture does not depend on the frames that are in its batch."""
import numpy
import pictures
import pytest
import support
import torch
from torch import Tensor, nn

WIDTH, HEIGHT, FRAMES = 48, 40, 7


class Stretched(nn.Module):
    """Statistics of all that comes in."""

    def forward(self, x: Tensor) -> Tensor:
        return (x - x.min()) / (x.max() - x.min() + 0.01)


class NormedAnew(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(3, track_running_stats=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x) * 0.2 + 0.5


class WrittenForOne(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return 1 - x.view(1, 3, x.size(2), x.size(3))


class PickedByNumber(nn.Module):
    """No branch, but an element of a list."""

    def forward(self, x: Tensor) -> Tensor:
        return [x, 1 - x][int(x.mean() > 0.5)]


class AsTime(nn.Module):
    """Takes a batch for frames that follow each other."""

    def forward(self, x: Tensor) -> Tensor:
        return x * 0.5 + x.roll(1, 0) * 0.5


class EachByItself(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return 1 - x * x.mean([1, 2, 3], keepdim=True)


def clip():
    """Noise, darker and brighter by turns."""
    noise = numpy.random.default_rng(3).integers(0, 96, (FRAMES, HEIGHT, WIDTH, 3), numpy.uint8)
    noise[1::2] += 150
    return noise


def by_pytorch(module, frames):
    made = []
    for frame in frames:
        x = torch.from_numpy(frame).permute(2, 0, 1)[None].float() / 255
        with torch.no_grad():
            y = module.eval()(x)[0].clamp(0, 1) * 255
        made.append(y.round().permute(1, 2, 0).numpy())
    return numpy.stack(made)


def run(path, frames, **options):
    result = support.succeed(
        *pictures.raw_input("rgb24", WIDTH, HEIGHT),
        *("-vf", support.dnn(path, **options), "-pix_fmt", "rgb24", "-f", "rawvideo", "-"),
        stdin=frames.tobytes(),
    )
    made = numpy.frombuffer(result.stdout, numpy.uint8).reshape(frames.shape)
    return made.astype(float), "one by one" in result.stderr


@pytest.mark.parametrize("isolate", [0, 1])
@pytest.mark.parametrize("model", [Stretched, NormedAnew, WrittenForOne, AsTime, PickedByNumber,
                                   EachByItself])
def test_frames_of_a_batch(tmp_path, model, isolate):
    frames, path = clip(), tmp_path / "net.pt"
    torch.jit.script(model().eval()).save(str(path))
    wanted = by_pytorch(model(), frames)
    for options in [{"batch_size": 2}, {"batch_size": 3, "workers": 2}]:
        made, is_told = run(path, frames, tune=0, isolate=isolate, **options)
        assert abs(made - wanted).max() <= 1
        assert is_told == (model not in (PickedByNumber, EachByItself))


class MakesNan(nn.Module):
    """Of dark samples."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.log(x - 0.1) * 0.2 + 0.8


def test_nan_in_a_batch(tmp_path):
    torch.jit.script(MakesNan()).save(str(tmp_path / "net.pt"))
    alone, _ = run(tmp_path / "net.pt", clip(), tune=0)
    together, is_told = run(tmp_path / "net.pt", clip(), tune=0, batch_size=3)
    assert (alone == together).all() and not is_told


class Adds(nn.Module):
    def __init__(self, far: bool):
        super().__init__()
        self.one, self.other = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 3, 3, padding=1)
        self.far = far

    def half(self, x: Tensor) -> Tensor:
        return self.other(torch.relu(self.one(x)))

    def forward(self, x: Tensor) -> Tensor:
        tasks = [torch.jit.fork(self.half, x), torch.jit.fork(self.half, 1 - x)]
        if self.far:  # who waits for which task is not seen
            y = x
            for task in tasks:
                y = y + torch.jit.wait(task)
            return y
        first, second = torch.jit.fork(self.half, x), torch.jit.fork(self.half, 1 - x)
        return x + torch.jit.wait(first) + torch.jit.wait(second)


class RaisesInTask(Adds):
    def half(self, x: Tensor) -> Tensor:
        assert bool(x.mean() < 0.5), "too bright"
        return x


@pytest.mark.parametrize("isolate", [0, 1])
@pytest.mark.parametrize("far", [False, True])
def test_tasks(tmp_path, far, isolate):
    """torch.jit.fork(): all forms are tried, also those that fail in a task."""
    torch.manual_seed(4)
    model, frames, path = Adds(far).eval(), clip(), tmp_path / "net.pt"
    torch.jit.script(model).save(str(path))
    made, _ = run(path, frames, isolate=isolate)
    assert abs(made - by_pytorch(model, frames)).max() <= 1
    made, _ = run(path, frames, isolate=isolate, precision="bf16", tune=0)
    assert abs(made - by_pytorch(model, frames)).max() <= 8


@pytest.mark.parametrize("isolate", [0, 1])
@pytest.mark.parametrize("far", [False, True])
def test_a_task_that_raises(tmp_path, far, isolate):
    path = tmp_path / "net.pt"
    torch.jit.script(RaisesInTask(far).eval()).save(str(path))
    for _ in range(3):
        result = support.ffmpeg(
            *pictures.raw_input("rgb24", WIDTH, HEIGHT),
            *("-vf", support.dnn(path, isolate=isolate, tune=0), "-f", "null", "-"),
            stdin=clip().tobytes(),
        )
        support.assert_fails_clearly(result, "too bright")
