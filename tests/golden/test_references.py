# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Exact models give the frames of the references: every format, every scale, every way to run."""
import pathlib

import cases
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


def reference(name, pixel_format):
    return (REFERENCES / cases.reference_name(name, pixel_format)).read_text()


def check(model, name, pixel_format, **options):
    """The filter makes the frames of that reference, with no conversion before or behind it."""
    result = support.succeed(
        *pictures.raw_input(pixel_format, cases.WIDTH, cases.HEIGHT),
        *("-noauto_conversion_filters", "-vf", support.dnn(model, **options)),
        *("-f", "framemd5", "-"),
        stdin=pictures.raw(cases.source(pixel_format, name), pixel_format),
    )
    assert support.without_versions(result.stdout) == reference(name, pixel_format)


def run_at_once(folder, graph, name, formats, **options):
    """What check() compares, of several formats, from one ffmpeg: most of a run is its start."""
    inputs, outputs = [], []
    for number, pixel_format in enumerate(formats):
        path = folder / f"{pixel_format}.raw"
        path.write_bytes(pictures.raw(cases.source(pixel_format, name), pixel_format))
        inputs += pictures.raw_input(pixel_format, cases.WIDTH, cases.HEIGHT, path=path)
        outputs += ["-map", str(number), "-vf", graph, "-f", "framemd5", folder / pixel_format]
    support.succeed("-noauto_conversion_filters", *inputs, *outputs, **options)
    return {one: support.without_versions((folder / one).read_bytes()) for one in formats}


def in_groups(formats, size):
    formats = list(formats)
    return [formats[at : at + size] for at in range(0, len(formats), size)]


@pytest.mark.parametrize("name,pixel_format", cases.cases())
def test_reference_is_what_numpy_says(name, pixel_format):
    assert reference(name, pixel_format) == cases.reference(name, pixel_format)


@pytest.mark.parametrize("way", ["interleaved", "takes_integers", "channels"])
@pytest.mark.parametrize("formats", in_groups(pictures.FORMATS, 12), ids=lambda names: names[0])
def test_every_format(script, tmp_path, formats, way):
    """Without LibTorch: that all bits come through is no matter of the engine.

    As planes of floats, as floats with channels side by side, and in the frame's own codes.
    """
    graph = support.fake(script(**{"channels": 0, way: int(way != "channels")}), workers=1)
    got = run_at_once(tmp_path, graph, "identity", formats, fake_engine=True)
    assert got == {name: reference("identity", name) for name in formats}


def groups_of_models():
    for name in cases.MEANING:
        formats = [one for one in cases.formats_of(name) if one in cases.COMMON + cases.OTHERS]
        for group in in_groups(formats, 9):
            yield pytest.param(name, group, id=f"{name}-{group[0]}")


@pytest.mark.parametrize("name,formats", groups_of_models())
def test_format_and_scale(model, tmp_path, name, formats):
    got = run_at_once(tmp_path, support.dnn(model(name)), name, formats)
    assert got == {found: reference(name, found) for found in formats}


@pytest.mark.parametrize("options", WAYS_TO_RUN.values(), ids=WAYS_TO_RUN.keys())
@pytest.mark.parametrize("name,pixel_format", [("enlarge2", "rgb24"), ("invert", "yuv420p")])
def test_way_to_run(model, name, pixel_format, options):
    check(model(name), name, pixel_format, **options)


@pytest.mark.parametrize("pixel_format", ["rgb24", "gbrp", "yuv444p"])
@pytest.mark.parametrize("name,same_as", [("channels_last", "identity"), ("shuffle2", "enlarge2")])
def test_other_memory_order(model, name, same_as, pixel_format):
    check(model(name), same_as, pixel_format)


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
    check(model(name), "invert", pixel_format)


@pytest.mark.parametrize("name", ["dict1", "tuple1", "default_argument"])
def test_only_tensor_is_found(model, name):
    check(model(name), "invert", "rgb24")


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


GREY_OF_DEPTH = {8: "gray", 10: "gray10le", 16: "gray16le"}
BESIDE_THE_MODEL = ("yuv420p", "yuv422p", "yuv444p", "yuv420p10le", "yuva420p", "nv12", "p010le",
                    "rgba", "ya16le", "gbrap10le")  # fmt: skip


def beside(frame):
    return frame.chroma + ([] if frame.rest is None else [frame.rest])


def scaled_by_ffmpeg(planes, factor, depth):
    """Pictures of one plane each, as the scale filter enlarges or reduces them."""
    grey = GREY_OF_DEPTH[depth]
    down, across = planes[0].shape
    frames = [pictures.Frame(plane[None]) for plane in planes]
    result = support.succeed(
        *pictures.raw_input(grey, across, down),
        *("-vf", f"scale=iw*{factor}:ih*{factor}:flags=bicubic", "-f", "rawvideo", "-"),
        stdin=pictures.raw(frames, grey),
        plain=True,
    )
    size = int(across * factor), int(down * factor)
    return [frame.image[0] for frame in pictures.unpack(result.stdout, grey, *size)]


@pytest.mark.parametrize("scale,factor", [("1", 1), ("2", 2), ("1/2", 0.5)])
@pytest.mark.parametrize("pixel_format", BESIDE_THE_MODEL)
def test_chroma_and_alpha_are_scaled_along(script, need, scale, factor, pixel_format):
    """As dnn_processing does: copied at equal size, else bicubic, as the scale filter has it."""
    need(filters=["scale"])
    width, height = 40, 24
    frames = pictures.make_frames(pixel_format, width, height, 2, textured_chroma=True)
    result = support.succeed(
        *pictures.raw_input(pixel_format, width, height),
        *("-noauto_conversion_filters", "-vf", support.fake(script(scale=scale))),
        *("-f", "rawvideo", "-"),
        stdin=pictures.raw(frames, pixel_format),
        fake_engine=True,
    )
    size = int(width * factor), int(height * factor)
    got = pictures.unpack(result.stdout, pixel_format, *size)
    assert len(got) == len(frames)
    depth = pictures.FORMATS[pixel_format].depth
    for number in range(len(beside(frames[0]))):
        wanted = scaled_by_ffmpeg([beside(frame)[number] for frame in frames], factor, depth)
        for frame, plane in zip(got, wanted):
            assert_close(beside(frame)[number], plane, depth, exact=factor == 1)


def assert_close(got, wanted, depth, exact):
    """swscale rounds by its own CPU flags, so bicubic may be off by 2 in 255 here and there."""
    assert got.shape == wanted.shape
    difference = abs(got.astype(int) - wanted.astype(int)) / 2 ** (depth - 8)
    assert difference.max() <= (0 if exact else 2) and difference.mean() < 0.5
