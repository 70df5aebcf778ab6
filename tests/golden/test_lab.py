# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Models that make a and b of Lab: the formulas of CIE and sRGB in numpy are the reference."""
import re

import numpy
import pictures
import pytest
import support
import torch
from torch import Tensor, nn

XYZ = numpy.array([[0.412453, 0.357580, 0.180423],
                   [0.212671, 0.715160, 0.072169],
                   [0.019334, 0.119193, 0.950227]])
XYZ = XYZ / XYZ.sum(1, keepdims=True)
BEND = 6 / 29


def lightness_of(rgb):
    """L of R, G and B between 0 and 1, channels last."""
    light = numpy.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    y = light @ XYZ[1]
    return 116 * numpy.where(y > BEND ** 3, numpy.cbrt(y), y / (3 * BEND ** 2) + 4 / 29) - 16


def rgb_of(lightness, a, b):
    y = (lightness + 16) / 116
    roots = numpy.stack([y + a / 500, y, y - b / 200], -1)
    xyz = numpy.where(roots > BEND, roots ** 3, 3 * BEND ** 2 * (roots - 4 / 29))
    light = xyz @ numpy.linalg.inv(XYZ).T
    bright = 1.055 * numpy.maximum(light, 0) ** (1 / 2.4) - 0.055
    return numpy.where(light <= 0.0031308, light * 12.92, bright).clip(0, 1)


class Tints(nn.Module):
    """a and b follow the lightness, of `white` for 100."""

    def __init__(self, white: float = 100.0, unit: float = 1.0, only: int = 0):
        super().__init__()
        self.layer = nn.Conv2d(1, 2, 1, bias=False)
        self.layer.weight.data[:] = torch.tensor([0.8, -1.1]).view(2, 1, 1, 1)
        self.white, self.unit, self.only = white, unit, only

    def forward(self, x: Tensor) -> Tensor:
        if self.only > 0 and (x.size(2) != self.only or x.size(3) != self.only):
            raise RuntimeError("another size")
        return self.layer(x * (100.0 / self.white) - 50.0) * self.unit


class TintsGrey(nn.Module):
    """Takes R, G and B of gray, as DDColor does."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 2, 1, bias=False)
        self.layer.weight.data[:] = torch.tensor([[20.0, 10, 30], [-10, -20, -12]]).view(2, 3, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x - 0.5)


class Constant(nn.Module):
    def __init__(self, a: float, b: float):
        super().__init__()
        self.layer = nn.Conv2d(1, 2, 3, padding=1)
        self.a, self.b = a, b

    def forward(self, x: Tensor) -> Tensor:
        y = self.layer(x) * 0.0
        return y + torch.tensor([self.a, self.b]).view(1, 2, 1, 1)


@pytest.fixture(name="save")
def save_fixture(tmp_path):
    def save(module):
        torch.jit.script(module.eval()).save(str(tmp_path / "net.pt"))
        return tmp_path / "net.pt"
    return save


def graph_of(path, **options):
    return support.dnn(path, **{"as": "lab", "tune": 0, "isolate": 0, **options})


def run(graph, pixel_format, frames, *more):
    return support.succeed(*pictures.raw_input(pixel_format, *frames[0].size), "-vf", graph, *more,
                           stdin=pictures.raw(frames, pixel_format))


def coloured(graph, pixel_format, frames, out):
    result = run(f"{graph},format={out}", pixel_format, frames, "-f", "rawvideo", "-")
    made = pictures.unpack(result.stdout, out, *frames[0].size)
    assert len(made) == len(frames)
    return made


def assert_close(frame, rgb, rarely=0.005):
    wanted = numpy.rint(rgb * 255).transpose(2, 0, 1)
    assert abs(frame.image.astype(int) - wanted).max() <= 1
    assert (frame.image != wanted).mean() <= rarely


def frames_of(pixel_format, size=(75, 53), count=2):
    return pictures.make_frames(pixel_format, *size, count)


def samples_of(frame):
    return numpy.asarray(pictures.to_unit(frame.image), numpy.float64).transpose(1, 2, 0)


def tinted(rgb):
    lightness = lightness_of(rgb)
    return rgb_of(lightness, 0.8 * (lightness - 50), -1.1 * (lightness - 50))


@pytest.mark.parametrize("module,options", [
    (Tints(), {}),
    (Tints(white=1.0, unit=1 / 128), {"range": "0..1|-1..1"}),
    (Tints(white=255.0), {"range": 255}),
    (Tints(), {"tile": 32}),
    (Tints(only=64), {"tile": 64}),
], ids=["plain", "fractions", "lightness of 255", "tiles", "tiles of one size"])
def test_results_are_those_of_the_formulas(save, module, options):
    frames = frames_of("rgb24")
    made = coloured(graph_of(save(module), **options), "rgb24", frames, "rgb24")
    for frame, result in zip(frames, made):
        assert_close(result, tinted(samples_of(frame)))
        assert (result.image != frame.image).mean() > 0.5


def test_gray_of_rgb_goes_into_models_of_rgb(save):
    frames = frames_of("rgb24")
    made = coloured(graph_of(save(TintsGrey())), "rgb24", frames, "rgb24")
    for frame, result in zip(frames, made):
        lightness = lightness_of(samples_of(frame))
        grey = rgb_of(lightness, 0 * lightness, 0 * lightness)[..., 0] - 0.5
        assert_close(result, rgb_of(lightness, 60 * grey, -42 * grey))


@pytest.mark.parametrize("pixel_format,out", [("gray", "rgb24"), ("gray16le", "rgb48le")])
def test_gray_stays_gray_where_the_model_has_no_colours(save, pixel_format, out):
    frames = frames_of(pixel_format)
    made = coloured(graph_of(save(Constant(0, 0))), pixel_format, frames, out)
    for frame, result in zip(frames, made):
        assert (result.image == frame.image).all()


@pytest.mark.parametrize("pixel_format,out", [
    ("yuv420p", "yuv420p"), ("yuv422p10le", "yuv422p10le"), ("rgb24", "rgb24"), ("gray", "rgb24"),
    ("rgba", "rgba"), ("ya8", "rgba"), ("gbrp12le", "gbrp12le"), ("nv12", "nv12"),
])
def test_formats(save, pixel_format, out):
    """What has colours keeps its format, and gray becomes RGB."""
    graph = graph_of(save(Constant(30, 40))) + ",showinfo"
    result = run(graph, pixel_format, frames_of(pixel_format), "-noauto_conversion_filters",
                 "-f", "null", "-")
    assert set(re.findall(r" fmt:(\w+)", result.stderr)) == {out}, str(result)


def test_alpha_goes_around(save):
    frames = frames_of("rgba")
    made = coloured(graph_of(save(Constant(30, 40))), "rgba", frames, "rgba")
    for frame, result in zip(frames, made):
        assert (result.rest == frame.rest).all() and frame.rest.max() < 255
        assert (result.image != frame.image).any()


def test_strength_mixes_colours(save):
    frames = frames_of("gray")
    made = coloured(graph_of(save(Constant(30, -40)), strength=0.5), "gray", frames, "rgb24")
    for frame, result in zip(frames, made):
        lightness = lightness_of(numpy.repeat(samples_of(frame), 3, 2))
        assert_close(result, rgb_of(lightness, 0 * lightness + 15, 0 * lightness - 20))


def test_frames_that_the_timeline_excludes(save):
    frames = frames_of("rgb24", count=3)
    graph = graph_of(save(Constant(30, 40))) + ":enable='not(eq(n,1))'"
    made = coloured(graph, "rgb24", frames, "rgb24")
    changed = [(result.image != frame.image).any() for frame, result in zip(frames, made)]
    assert changed == [True, False, True]


class Spoils(nn.Module):
    """No number in the upper half."""

    def forward(self, x: Tensor) -> Tensor:
        y = torch.cat([x * 0.0 + 30.0, x * 0.0 - 40.0], 1)
        y[:, :, : x.size(2) // 2] = float("nan")
        return y


@pytest.mark.parametrize("options", [{}, {"tile": 32}, {"strength": 0.5}],
                         ids=["whole", "tiles", "mixed"])
def test_what_is_no_number_is_gray(save, options):
    frames = frames_of("rgb24")
    made = coloured(graph_of(save(Spoils()), **options), "rgb24", frames, "rgb24")
    for result in made:
        upper = result.image[:, : result.image.shape[1] // 2].astype(int)
        assert abs(upper - upper[:1]).max() == 0
        assert (result.image[0] != result.image[2])[-1].any()


def test_four_channels_are_no_lightness(save):
    frames = frames_of("rgb24")
    refused = support.ffmpeg(
        *pictures.raw_input("rgb24", *frames[0].size), "-vf", graph_of(save(nn.Conv2d(4, 2, 1))),
        *("-f", "null", "-"), stdin=pictures.raw(frames, "rgb24"))
    support.assert_fails_clearly(refused, "the model takes 4 channels; as=lab gives it the light")


class Halves(nn.Module):
    """a and b of half the size, as they leave ECCV16's last layer."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(1, 2, 1)
        self.layer.weight.data[:] = torch.tensor([0.0, 0.0]).view(2, 1, 1, 1)
        self.layer.bias.data[:] = torch.tensor([25.0, -35.0])

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.avg_pool2d(self.layer(x), 2)


def test_colours_of_another_size(save):
    frames, path = frames_of("rgb24", (64, 48)), save(Halves())
    refused = support.ffmpeg(
        *pictures.raw_input("rgb24", 64, 48), "-vf", graph_of(path), *("-f", "null", "-"),
        stdin=pictures.raw(frames, "rgb24"))
    support.assert_fails_clearly(refused, "there comes out 32x24 of 64x48; scale=1 scales it")
    made = coloured(graph_of(path, scale=1), "rgb24", frames, "rgb24")
    for frame, result in zip(frames, made):
        lightness = lightness_of(samples_of(frame))
        assert_close(result, rgb_of(lightness, 0 * lightness + 25, 0 * lightness - 35))


def test_colours_of_fractions_are_named(save):
    frames = frames_of("rgb24")
    result = run(graph_of(save(Tints(unit=1 / 128))), "rgb24", frames, "-f", "null", "-")
    assert "which are hardly any colours: range=IN|-1..1" in result.stderr, str(result)
