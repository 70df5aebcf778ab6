# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Exact models give the frames of the references: every format, every scale, every way to run."""
import pathlib

import cases
import numpy
import pictures
import pytest
import support

REFERENCES = pathlib.Path(__file__).resolve().parent / "references"

WAYS_TO_RUN = {
    "synchronous": {"async": 0},
    "one-request": {"nireq": 1},
    "many-requests": {"nireq": 8},
    "more-requests-than-frames": {"nireq": 32},
    "one-worker": {"workers": 1, "nireq": 4},
    "two-workers": {"workers": 2, "nireq": 4},
    "more-workers-than-cores": {"workers": 4, "threads": 1, "nireq": 8},
    "two-threads": {"workers": 1, "threads": 2},
    "batch": {"batch_size": 3},
    "batch-dividing-the-frames": {"batch_size": cases.FRAMES},
    "batch-larger-than-the-clip": {"batch_size": 16, "nireq": 2},
    "batch-synchronous": {"batch_size": 2, "async": 0},
    "batch-and-workers": {"batch_size": 2, "workers": 2, "nireq": 4},
    "as-saved": {"optimize": 0},
}


def framemd5_of(model, pixel_format, **options):
    """The frames that the filter makes, with no conversion before or behind it."""
    result = support.succeed(
        *pictures.raw_input(pixel_format, cases.WIDTH, cases.HEIGHT),
        *("-noauto_conversion_filters", "-vf", support.dnn(model, **options)),
        *("-f", "framemd5", "-"),
        stdin=pictures.raw(cases.source(pixel_format), pixel_format),
    )
    return support.without_versions(result.stdout)


def reference(model, pixel_format):
    return (REFERENCES / cases.reference_name(model, pixel_format)).read_text()


@pytest.mark.parametrize("name,pixel_format", cases.cases())
def test_reference_is_what_numpy_says(name, pixel_format):
    assert reference(name, pixel_format) == cases.reference(name, pixel_format)


@pytest.mark.parametrize("name,pixel_format", cases.cases())
def test_format_and_scale(model, name, pixel_format):
    assert framemd5_of(model(name), pixel_format) == reference(name, pixel_format)


@pytest.mark.parametrize("options", WAYS_TO_RUN.values(), ids=WAYS_TO_RUN.keys())
@pytest.mark.parametrize("name,pixel_format", [("enlarge2", "rgb24"), ("invert", "yuv420p")])
def test_way_to_run(model, name, pixel_format, options):
    assert framemd5_of(model(name), pixel_format, **options) == reference(name, pixel_format)


@pytest.mark.parametrize("pixel_format", ["rgb24", "gbrp", "yuv444p"])
@pytest.mark.parametrize("name,same_as", [("channels_last", "identity"), ("shuffle2", "enlarge2")])
def test_other_memory_order(model, name, same_as, pixel_format):
    assert framemd5_of(model(name), pixel_format) == reference(same_as, pixel_format)


@pytest.mark.parametrize(
    "name,pixel_format",
    [
        ("rgb_invert", "rgb24"),
        ("rgb_invert", "gbrp"),
        ("luma_invert", "gray"),
        ("luma_invert", "yuv422p"),
    ],
)
def test_model_of_one_channel_count(model, name, pixel_format):
    assert framemd5_of(model(name), pixel_format) == reference("invert", pixel_format)


@pytest.mark.parametrize("name", ["dict1", "tuple1", "default_argument"])
def test_only_tensor_is_found(model, name):
    assert framemd5_of(model(name), "rgb24") == reference("invert", "rgb24")


def test_model_of_fixed_input_size(models, model):
    """A traced net often takes one size alone; frames of that size must do."""
    frames = pictures.make_frames("rgb24", 64, 48, 2)
    result = support.succeed(
        *pictures.raw_input("rgb24", 64, 48),
        *("-vf", support.dnn(model("fixed_input")), "-f", "rawvideo", "-"),
        stdin=pictures.raw(frames, "rgb24"),
    )
    got = pictures.unpack(result.stdout, "rgb24", 64, 48)
    assert [(frame.image == 255 - source.image).all() for frame, source in zip(got, frames)] == [
        True
    ] * 2


def test_model_of_fixed_output_size(model):
    result = support.succeed(
        *pictures.raw_input("gray", cases.WIDTH, cases.HEIGHT),
        *("-vf", support.dnn(model("fixed_output")), "-f", "framemd5", "-"),
        stdin=pictures.raw(cases.source("gray"), "gray"),
    )
    assert "#dimensions 0: 32x24\n" in result.stdout.decode()


@pytest.mark.parametrize("name", ["swap_red_and_blue", "first_pixel_everywhere"])
@pytest.mark.parametrize("pixel_format", ["rgb24", "bgr24", "gbrpf32le"])
def test_strides_of_the_result(model, name, pixel_format):
    frames = cases.source(pixel_format)
    result = support.succeed(
        *pictures.raw_input(pixel_format, cases.WIDTH, cases.HEIGHT),
        *("-noauto_conversion_filters", "-vf", support.dnn(model(name)), "-f", "rawvideo", "-"),
        stdin=pictures.raw(frames, pixel_format),
    )
    got = pictures.unpack(result.stdout, pixel_format, cases.WIDTH, cases.HEIGHT)
    assert len(got) == len(frames)
    for frame, source in zip(got, frames):
        flipped = source.image[::-1]
        first = source.image[:, :1, :1] + 0 * source.image
        assert (frame.image == (flipped if name == "swap_red_and_blue" else first)).all()


@pytest.mark.parametrize("name,factor", [("identity", 1), ("enlarge2", 2), ("halve", 0.5)])
@pytest.mark.parametrize("pixel_format", ["yuv420p", "yuv422p", "yuv444p"])
def test_chroma_is_scaled_along(model, need, name, factor, pixel_format):
    """As dnn_processing does: copied at equal size, else bicubic, as the scale filter has it."""
    need(filters=["extractplanes", "scale"])
    width, height = 40, 24
    frames = pictures.make_frames(pixel_format, width, height, 2, textured_chroma=True)
    stdin = pictures.raw(frames, pixel_format)
    source = pictures.raw_input(pixel_format, width, height)
    for plane in "uv":
        size = f"iw*{factor}:ih*{factor}:flags=bicubic"
        wanted = support.succeed(
            *source,
            "-vf",
            f"extractplanes={plane},scale={size}",
            "-f",
            "rawvideo",
            "-",
            stdin=stdin,
            plain=True,
        )
        got = support.succeed(
            *source,
            "-vf",
            f"{support.dnn(model(name))},extractplanes={plane}",
            "-f",
            "rawvideo",
            "-",
            stdin=stdin,
        )
        assert_close(got.stdout, wanted.stdout, exact=factor == 1)


def assert_close(got, wanted, exact):
    """swscale rounds by its own CPU flags, so bicubic may be off by 2 here and there."""
    assert len(got) == len(wanted)
    if exact:
        assert got == wanted
        return
    difference = abs(as_numbers(got) - as_numbers(wanted))
    assert difference.max() <= 2 and difference.mean() < 0.5


def as_numbers(data):
    return numpy.frombuffer(data, "u1").astype(int)
