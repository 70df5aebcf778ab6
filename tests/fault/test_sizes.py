# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Frames of unusual size, and of a size that changes on the way."""
import numpy
import pictures
import pytest
import support

ODD_SIZES = [
    (1, 1),
    (1, 2),
    (2, 1),
    (3, 3),
    (1, 64),
    (64, 1),
    (17, 9),
    (33, 65),
    (641, 3),
    (127, 128),
]


def run(graph, size, pixel_format="rgb24", frames=3, **options):
    return support.ffmpeg(
        *pictures.raw_input(pixel_format, *size),
        *("-noauto_conversion_filters", "-vf", graph, "-f", "rawvideo", "-"),
        stdin=pictures.raw(pictures.make_frames(pixel_format, *size, frames), pixel_format),
        **options,
    )


def run_side_by_side(graph, sizes, pixel_format, tmp_path, frames=3):
    """All sizes in one ffmpeg, which loads LibTorch once; the source's frames and what came out."""
    sources = [pictures.make_frames(pixel_format, *size, frames) for size in sizes]
    inputs, outputs = [], []
    for number, (size, source) in enumerate(zip(sizes, sources)):
        (tmp_path / f"{number}.in").write_bytes(pictures.raw(source, pixel_format))
        inputs += pictures.raw_input(pixel_format, *size, path=tmp_path / f"{number}.in")
        outputs += ["-map", str(number), "-vf", graph, "-f", "rawvideo", tmp_path / f"{number}.out"]
    support.succeed("-noauto_conversion_filters", *inputs, *outputs)
    return [
        (size, source, (tmp_path / f"{number}.out").read_bytes())
        for number, (size, source) in enumerate(zip(sizes, sources))
    ]


MEANING = {
    "invert": (lambda side: side, lambda image: 255 - image),
    "enlarge2": (lambda side: side * 2, lambda image: image.repeat(2, 1).repeat(2, 2)),
    "enlarge3": (lambda side: side * 3, lambda image: image.repeat(3, 1).repeat(3, 2)),
    "halve": (lambda side: (side + 1) // 2, lambda image: image[:, ::2, ::2]),
}


@pytest.mark.parametrize("name", MEANING)
def test_any_size(model, name, tmp_path):
    side, meaning = MEANING[name]
    for size, source, made in run_side_by_side(
        support.dnn(model(name)), ODD_SIZES, "rgb24", tmp_path
    ):
        got = pictures.unpack(made, "rgb24", side(size[0]), side(size[1]))
        assert len(got) == 3, size
        for frame, wanted in zip(got, source):
            assert (frame.image == meaning(wanted.image)).all(), size


@pytest.mark.parametrize("pixel_format", ["yuv420p", "yuv422p", "yuv444p", "gray", "gbrp"])
@pytest.mark.parametrize("name", ["invert", "enlarge2"])
def test_any_size_in_format(model, pixel_format, name, tmp_path):
    side, meaning = MEANING[name]
    for size, source, made in run_side_by_side(
        support.dnn(model(name)), [(1, 1), (3, 5), (17, 9), (1, 64)], pixel_format, tmp_path
    ):
        got = pictures.unpack(made, pixel_format, side(size[0]), side(size[1]))
        assert len(got) == 3, size
        for frame, wanted in zip(got, source):
            assert (frame.image == meaning(wanted.image)).all(), size
            for plane, flat in zip(frame.chroma, wanted.chroma):
                assert (plane == flat[0, 0]).all(), size


@pytest.mark.parametrize(
    "name,size",
    [
        ("crop", (4, 4)),
        ("crop", (3, 40)),
        ("crop", (1, 1)),
    ],
)
def test_too_small_for_the_model(model, name, size):
    """One clear line: its own complaint, or the size.  Padding would not help."""
    support.assert_fails_clearly(run(support.dnn(model(name)), size), rf"{size[0]}x{size[1]}")


@pytest.mark.parametrize(
    "name,size,out",
    [("crop", (5, 5), (1, 1)), ("needs16", (16, 16), (16, 16)), ("needs16", (40, 33), (40, 33))],
)
def test_just_large_enough(model, name, size, out):
    """Probing may not ask for pictures that the model never had to stand."""
    result = run(support.dnn(model(name)), size)
    assert result.returncode == 0, str(result)
    assert len(pictures.unpack(result.stdout, "rgb24", *out)) == 3


def test_even_sizes_only(model):
    result = run(support.dnn(model("even_only")), (64, 48))
    assert result.returncode == 0, str(result)
    assert run(support.dnn(model("even_only")), (63, 48)).returncode == 0, "it is padded"


def test_another_size_than_the_model_is_made_for(model):
    """A size that nobody would try; golden/test_any_size.py has those that are tried."""
    support.assert_fails_clearly(
        run(support.dnn(model("fixed_100x76")), (64, 64)), "made for 100x76 alone"
    )


# ---- a size that changes ------------------------------------------------------------


def sequence(sizes):
    """A stream of pixmaps, and the frames in it."""
    frames = [pictures.make_frame("rgb24", *size, number) for number, size in enumerate(sizes, 1)]
    return (
        b"".join(
            b"P6\n%d %d\n255\n" % frame.size + pictures.pack(frame, "rgb24") for frame in frames
        ),
        frames,
    )


SEQUENCE_INPUT = ("-f", "image2pipe", "-framerate", "25", "-c:v", "ppm", "-i", "pipe:0")
AS_THEY_COME = (
    "-noautoscale",
    "-fps_mode",
    "passthrough",
    "-pix_fmt",
    "rgb24",
    "-f",
    "framemd5",
    "-",
)


SEQUENCES = {
    "once": [(64, 48)] * 10 + [(40, 30)] * 10,
    "to larger": [(40, 30)] * 7 + [(128, 96)] * 3,
    "back again": [(64, 48)] * 5 + [(40, 30)] * 5 + [(64, 48)] * 5,
    "at every frame": [(16 + 2 * number, 40 - 2 * number) for number in range(10)],
    "at the second frame": [(64, 48)] + [(40, 30)] * 5,
    "at the last frame": [(64, 48)] * 5 + [(40, 30)],
}


def doubled(frames):
    """The digests that have to come."""
    enlarged = [pictures.Frame(frame.image.repeat(2, 1).repeat(2, 2)) for frame in frames]
    return [pictures.digest(frame, "rgb24") for frame in enlarged]


@pytest.mark.parametrize("sizes", SEQUENCES.values(), ids=SEQUENCES.keys())
def test_size_changes_on_the_way(need, model, sizes):
    """ffmpeg builds its graph anew; frame by frame, none is lost."""
    need(demuxers=["image2pipe"], decoders=["ppm"])
    stdin, frames = sequence(sizes)
    graph = support.dnn(model("enlarge2"), **{"async": 0})
    result = support.succeed(*SEQUENCE_INPUT, "-vf", graph, *AS_THEY_COME, stdin=stdin)
    assert support.digests(result.stdout) == doubled(frames)
    assert not result.errors


@pytest.mark.parametrize("sizes", SEQUENCES.values(), ids=SEQUENCES.keys())
@pytest.mark.parametrize(
    "options", [{"nireq": 8, "workers": 2}, {"batch_size": 4, "nireq": 2}], ids=str
)
def test_size_changes_with_frames_in_flight(need, script, sizes, options):
    """ffmpeg replaces its graph, and what was in flight comes out of the new one."""
    need(demuxers=["image2pipe"], decoders=["ppm"])
    stdin, frames = sequence(sizes)
    graph = support.fake(script(scale=2), **options)
    result = support.succeed(
        *SEQUENCE_INPUT, "-vf", graph, *AS_THEY_COME, stdin=stdin, fake_engine=True
    )
    assert support.digests(result.stdout) == doubled(frames)
    assert not result.errors and not result.warnings


def test_size_changes_to_one_that_the_model_cannot_take(need, model):
    need(demuxers=["image2pipe"], decoders=["ppm"])
    stdin, frames = sequence([(64, 48)] * 5 + [(640, 48)] * 5)
    graph = support.dnn(model("small_only"), **{"async": 0})
    result = support.ffmpeg(*SEQUENCE_INPUT, "-vf", graph, *AS_THEY_COME, stdin=stdin)
    support.assert_fails_clearly(result, "wider than the model can bear")
    got = support.digests(result.stdout)
    # ffmpeg itself may drop the latest frames when it gives up.
    assert 3 <= len(got) <= 5
    assert got == [pictures.digest(frame, "rgb24") for frame in frames[: len(got)]]


@pytest.mark.parametrize("factor", [2, 3, 4])
def test_crop_of_a_larger_frame(need, model, factor):
    """Planes that lie inside a larger picture, at an offset and with its stride."""
    need(filters=["crop"])
    size = (70, 40)
    source = pictures.make_frames("gbrp", *size, 2)
    result = support.succeed(
        *pictures.raw_input("gbrp", *size),
        *(
            "-noauto_conversion_filters",
            "-vf",
            f"crop=33:21:5:7,{support.dnn(model(f'enlarge{factor}'))}",
        ),
        *("-f", "rawvideo", "-"),
        stdin=pictures.raw(source, "gbrp"),
    )
    got = pictures.unpack(result.stdout, "gbrp", 33 * factor, 21 * factor)
    for frame, whole in zip(got, source):
        part = whole.image[:, 7 : 7 + 21, 5 : 5 + 33]
        assert numpy.array_equal(frame.image, part.repeat(factor, 1).repeat(factor, 2))
    assert len(got) == 2


@pytest.mark.parametrize("pixel_format", ["rgb24", "gray", "yuv420p"])
def test_upside_down(need, model, pixel_format):
    """vflip hands on planes with a stride below zero."""
    need(filters=["vflip"])
    graph = f"vflip,{support.dnn(model('identity'))}"
    assert (
        run(graph, (38, 22), pixel_format).stdout
        == run("vflip", (38, 22), pixel_format, plain=True).stdout
        != b""
    )
