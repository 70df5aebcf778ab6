# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nets give what plain PyTorch gives that runs the same file on the same pixels."""
import numpy
import pictures
import pytest
import support
import torch

WIDTH, HEIGHT, FRAMES = 96, 64, 3

RGB_FORMATS = ("rgb24", "bgr24", "gbrp", "gbrpf32le")
LUMA_FORMATS = ("gray", "grayf32le", "yuv420p", "yuv422p", "yuv444p")
CASES = [
    *(("espcn_rgb", pixel_format) for pixel_format in RGB_FORMATS),
    *(("espcn_traced", pixel_format) for pixel_format in ("rgb24", "gbrpf32le")),
    *(("denoiser", pixel_format) for pixel_format in RGB_FORMATS),
    *(("espcn_luma", pixel_format) for pixel_format in LUMA_FORMATS),
    *(("denoiser_luma", pixel_format) for pixel_format in ("gray", "yuv420p")),
]


def by_pytorch(path, frames, pixel_format):
    net = torch.jit.load(str(path)).eval()
    with torch.no_grad():
        results = [
            net(torch.from_numpy(pictures.to_unit(frame.image))[None])[0].numpy()
            for frame in frames
        ]
    return [pictures.from_unit(result, pixel_format) for result in results]


def by_ffmpeg(path, frames, pixel_format, size, **options):
    result = support.succeed(
        *pictures.raw_input(pixel_format, WIDTH, HEIGHT),
        *("-noauto_conversion_filters", "-vf", support.dnn(path, **options), "-f", "rawvideo", "-"),
        stdin=pictures.raw(frames, pixel_format),
    )
    return [frame.image for frame in pictures.unpack(result.stdout, pixel_format, *size)]


def assert_agrees(got, wanted):
    """8 bits: off by 1 at most, and in less than 0.1 % of all samples."""
    assert got.shape == wanted.shape
    if got.dtype != numpy.uint8:
        assert abs(got - wanted).max() < 1e-5
        return
    difference = abs(got.astype(int) - wanted.astype(int))
    assert difference.max() <= 1
    assert (difference > 0).mean() < 0.001


def check(path, pixel_format, **options):
    frames = pictures.make_frames(pixel_format, WIDTH, HEIGHT, FRAMES)
    wanted = by_pytorch(path, frames, pixel_format)
    got = by_ffmpeg(path, frames, pixel_format, wanted[0].shape[:0:-1], **options)
    assert len(got) == FRAMES
    assert numpy.std(wanted[0]) > (10 if wanted[0].dtype == numpy.uint8 else 0.04), "no picture"
    assert_agrees(numpy.stack(got), numpy.stack(wanted))


@pytest.mark.parametrize("name,pixel_format", CASES)
def test_agrees(model, name, pixel_format):
    check(model(name), pixel_format)


@pytest.mark.parametrize(
    "options",
    [
        {"optimize": 0},
        {"async": 0},
        {"batch_size": 2},
        {"workers": 2, "nireq": 4},
        {"workers": 1, "threads": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("name,pixel_format", [("espcn_rgb", "rgb24"), ("denoiser", "gbrpf32le")])
def test_agrees_however_it_runs(model, name, pixel_format, options):
    check(model(name), pixel_format, **options)


@pytest.mark.parametrize("form", ["0", "frozen", "channels_last", "inference"])
def test_same_bytes_for_any_number_of_workers(model, form):
    frames = pictures.make_frames("gbrpf32le", WIDTH, HEIGHT, 6)
    runs = [
        by_ffmpeg(
            model("espcn_rgb"),
            frames,
            "gbrpf32le",
            (WIDTH * 2, HEIGHT * 2),
            threads=1,
            workers=n,
            nireq=8,
            optimize=form,
        )
        for n in (1, 2, 3)
    ]
    assert len(runs[0]) == 6
    assert all((numpy.stack(run) == numpy.stack(runs[0])).all() for run in runs)


def test_results_outside_the_range_are_clamped(model):
    """8 bits are clamped, floats are kept."""
    frames = pictures.make_frames("grayf32le", WIDTH, HEIGHT, 1)
    wanted = by_pytorch(model("stretch"), frames, "grayf32le")[0]
    assert wanted.min() < 0 and wanted.max() > 1
    assert_agrees(by_ffmpeg(model("stretch"), frames, "grayf32le", (WIDTH, HEIGHT))[0], wanted)
    check(model("stretch"), "gray")


def test_infinity(model):
    """Both infinities end at the ends of the range."""
    check(model("extremes_are_infinite"), "gray")
