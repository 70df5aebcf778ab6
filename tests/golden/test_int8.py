# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""precision=int8 is as close to fp32 as the log says, whatever numbers a model's pictures have."""
import math
import re

import numpy
import pytest
import support
import torch
from torch import Tensor, nn

MODELS = support.REPOSITORY / "models"
WIDTH, HEIGHT, FRAMES = 96, 64, 6


class InOtherNumbers(nn.Module):
    """A net of ours for pictures whose black is `low` and whose white is `high`."""

    def __init__(self, name: str, low: float, high: float, depth: float):
        super().__init__()
        self.net = torch.jit.load(str(MODELS / name))
        self.low, self.range, self.depth = low, high - low, depth

    def forward(self, x: Tensor) -> Tensor:
        y = self.net((x - self.low) / self.range) * self.depth
        return y * self.range + self.low


def save(folder, low, high, depth=1.0):
    net = InOtherNumbers("denoise.pt", low, high, depth).eval()
    path = folder / "net.pt"
    torch.jit.trace(net, torch.rand(1, 3, 32, 32) * (high - low) + low).save(str(path))
    return path


def frames(model, precision, before, after="null", **options):
    result = support.succeed(
        *("-f", "lavfi", "-i", f"testsrc2=s={WIDTH}x{HEIGHT}"),
        "-vf",
        f"{before},{support.dnn(model, precision=precision, tune=0, **options)},{after}",
        *("-frames:v", FRAMES, "-pix_fmt", "gbrpf32le", "-f", "rawvideo", "-"),
        loglevel="verbose",
    )
    made = numpy.frombuffer(result.stdout, numpy.float32).reshape(FRAMES, -1)
    return made.astype(float), result


def decibels(one, other):
    squares = ((one.clip(0, 1) - other.clip(0, 1)) ** 2).mean(axis=1)
    return [99.9 if square == 0 else -10 * math.log10(square) for square in squares]


def said(result):
    """The PSNR in the log."""
    found = re.search(r"int8, fused, \d+ of \d+ layers, ([\d.]+) dB PSNR from fp32", result.stderr)
    if not found and "fused programs" in result.stderr:
        pytest.skip("no fused programs here")
    assert found, result
    return float(found[1])


@pytest.mark.parametrize("low,high", [(0.0, 1.0), (0.0, 255.0), (-1.0, 1.0)])
def test_models_of_other_ranges(tmp_path, low, high):
    """The first frame is black, and tells nothing of the others."""
    model, fade = save(tmp_path, low, high), "fade=in:0:4,format=gbrp"
    range_option = {"range": f"{low}..{high}"}
    plain, _ = frames(model, "fp32", fade, **range_option)
    made, result = frames(model, "int8", fade, **range_option)
    assert said(result) >= 40
    assert min(decibels(plain, made)) >= 36, decibels(plain, made)


def test_samples_beyond_those_of_the_calibration(tmp_path):
    """Such frames are computed in fp32, as fp32 computes them, and it is said once."""
    brighter = "format=gbrpf32le,exposure=exposure=3:enable='gte(n,3)'"
    darker = "exposure=exposure=-3:enable='gte(n,3)'"
    model = MODELS / "upscale2x.pt"
    plain, _ = frames(model, "fp32", brighter, darker, optimize="fused")
    for options in [{"workers": 1}, {"workers": 2}, {"batch_size": 2}]:
        made, result = frames(model, "int8", brighter, darker, **options)
        said(result)
        told = [line for line in result.filter_lines() if "calibrated for" in line]
        assert len(told) == 1 and "fp32" in told[0], result
        assert min(decibels(plain, made)[:3]) >= 40 and not numpy.array_equal(plain[:3], made[:3])
        assert numpy.array_equal(plain[3:], made[3:])


def test_results_of_small_numbers(tmp_path):
    """What 40 dB are depends on what the model makes.  Frames of 8 bits would round it away."""
    model = save(tmp_path, 0.0, 1.0, depth=0.01)
    plain, _ = frames(model, "fp32", "format=gbrpf32le")
    made, result = frames(model, "int8", "format=gbrpf32le")
    assert said(result) >= 40
    assert min(decibels(plain * 100, made * 100)) >= 36


def stripes(width, height):
    """Of one sample, in one channel and in all, behind ordinary noise."""
    x, y = numpy.meshgrid(numpy.arange(width), numpy.arange(height))
    some = [numpy.zeros((height, width, 3)) for _ in range(5)]
    some[1][..., 0] = x % 2
    some[2][:] = (y % 2)[..., None]
    some[3][:] = ((x + y) % 2)[..., None]
    some[3][..., 2] = x % 4 > 1
    some[4][..., 0] = (x % 2) * 0.3
    some[0][:] = numpy.random.default_rng(2).random((height, width, 3))
    return numpy.stack([(each * 255).round() for each in some]).astype(numpy.uint8)


@pytest.mark.parametrize("name", ["denoise.pt", "upscale2x.pt"])
def test_stripes_of_one_sample(name):
    """What is rounded in them adds up."""
    clip = stripes(WIDTH, HEIGHT)
    made = {}
    for precision in ("fp32", "int8"):
        result = support.succeed(
            *("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}", "-i", "-"),
            *("-vf", support.dnn(MODELS / name, precision=precision, tune=0)),
            *("-pix_fmt", "gbrpf32le", "-f", "rawvideo", "-"),
            stdin=clip.tobytes(),
            loglevel="verbose",
        )
        made[precision] = numpy.frombuffer(result.stdout, numpy.float32).reshape(len(clip), -1)
    said(result)
    assert min(decibels(made["fp32"].astype(float), made["int8"].astype(float))) >= 28


class FindsChequers(nn.Module):
    """A layer in the middle sees large numbers where pixels alternate, and small ones elsewhere."""

    def __init__(self):
        super().__init__()
        signs = torch.tensor([[1.0, -1, 1], [-1, 1, -1], [1, -1, 1]])
        self.find = nn.Conv2d(3, 16, 3, padding=1)
        self.mix = nn.Conv2d(16, 16, 3, padding=1)
        self.paint = nn.Conv2d(16, 3, 3, padding=1)
        generator = torch.Generator().manual_seed(3)
        with torch.no_grad():
            for layer in (self.find, self.mix, self.paint):
                layer.weight.copy_(torch.randn(layer.weight.shape, generator=generator) * 0.05)
                layer.bias.zero_()
            self.find.weight[:8] = signs / 3

    def forward(self, x: Tensor) -> Tensor:
        return x + self.paint(torch.relu(self.mix(torch.relu(self.find(x)))))


def test_layers_in_the_middle_leave_their_codes(tmp_path):
    """The frame's own samples are in range; what int8 cut off is noticed all the same."""
    path = tmp_path / "chequers.pt"
    torch.jit.trace(FindsChequers().eval(), torch.rand(1, 3, 32, 32)).save(str(path))
    alternating = "format=gbrp,geq=r='255*mod(X+Y,2)':g='255*mod(X+Y,2)':b='255*mod(X+Y,2)'"
    alternating += ":enable='gte(n,3)'"
    plain, _ = frames(path, "fp32", alternating, optimize="fused")
    for options in [{"workers": 1}, {"workers": 2}, {"batch_size": 2}]:
        made, result = frames(path, "int8", alternating, **options)
        assert min(decibels(plain, made)) >= 36, decibels(plain, made)
        told = [line for line in result.filter_lines() if "calibrated for" in line]
        assert said(result) >= 40 and len(told) == 1, result
        assert not numpy.array_equal(plain[:3], made[:3])
        assert numpy.array_equal(plain[3:], made[3:])
