# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Everything about a frame but its pixels comes out as it went in, as with ffmpeg's own null."""
import json

import pictures
import pytest
import support

WIDTH, HEIGHT, FRAMES = 48, 32, 12

# What a showinfo line says of the pixels, of their size or of where in a file the frame was.
OF_PIXELS = ("checksum", "plane_checksum", "mean", "stdev", "s", "fmt", "pos")

SETTINGS = {
    "even-times": ["null"],
    "variable-rate": ["settb=1/1000", "setpts=N*N*7+3"],
    "times-below-zero": ["settb=1/90000", "setpts=N*3003-9000"],
    "far-times": ["settb=1/90000", "setpts=N*3003+8000000000"],
    "sample-aspect-ratio": ["setsar=16/11"],
    "full-range": ["setparams=range=pc:colorspace=bt709:color_primaries=bt709:color_trc=bt709"],
    "limited-range": ["setparams=range=tv:colorspace=smpte170m:color_primaries=smpte170m"],
    "top-field-first": ["setfield=tff"],
}

OPTIONS = {
    "synchronous": {"async": 0},
    "in-flight": {"nireq": 8, "workers": 2},
    "batch": {"batch_size": 5},
}


@pytest.fixture
def model(quick_model):
    return quick_model


def run(chain, pixel_format="yuv420p", frames=FRAMES):
    return support.succeed(
        *pictures.raw_input(pixel_format, WIDTH, HEIGHT),
        *("-vf", ",".join(chain), "-fps_mode", "passthrough", "-f", "null", "-"),
        stdin=pictures.raw(pictures.make_frames(pixel_format, WIDTH, HEIGHT, frames), pixel_format),
    )


def frame_around(setting, graph, pixel_format="yuv420p"):
    """What showinfo says around a graph. One frame: later lines mix with other threads'."""
    result = run([*setting, "showinfo@before", graph, "showinfo@after"], pixel_format, 1)
    before, after = (support.shown_frames(result, name) for name in ("before", "after"))
    assert len(before) == len(after) == 1, str(result)
    return before[0], after[0]


def less_pixels(frame):
    return {key: value for key, value in frame.items() if key not in OF_PIXELS}


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS.keys())
@pytest.mark.parametrize("name", ["invert", "enlarge2"])
def test_kept(need, model, name, setting):
    need(filters=["showinfo", "settb", "setpts", "setsar", "setparams", "setfield"])
    before, after = frame_around(setting, support.dnn(model(name)))
    assert less_pixels(after) == less_pixels(before)
    assert before["checksum"] != after["checksum"]


@pytest.mark.parametrize("pixel_format", ["rgb24", "gbrp", "gray", "gbrpf32le"])
def test_kept_in_format(need, model, pixel_format):
    need(filters=["showinfo", "setsar"])
    before, after = frame_around(["setsar=4/3"], support.dnn(model("enlarge2")), pixel_format)
    assert less_pixels(after) == less_pixels(before)
    assert after["sar"] == "4/3"
    assert after["s"] == f"{2 * WIDTH}x{2 * HEIGHT}"


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS.keys())
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_times_and_metadata_of_every_frame(need, model, tmp_path, setting, options):
    """The metadata filter writes into files: number, time stamp, seconds, and its entry."""
    need(filters=["metadata", "settb", "setpts", "setsar", "setparams", "setfield"])
    graph = support.dnn(model("enlarge2"), **options)
    before, after = tmp_path / "before.txt", tmp_path / "after.txt"
    add = "metadata=mode=add:key=origin:value=the-test"
    run(
        [
            *setting,
            add,
            f"metadata=mode=print:file={before}",
            graph,
            f"metadata=mode=print:file={after}",
        ]
    )
    assert after.read_text() == before.read_text()
    assert after.read_text().count("origin=the-test") == FRAMES


@pytest.fixture
def clip(need, tmp_path):
    """Two seconds of a file with an odd start, uneven times, an aspect ratio and colour tags."""
    need(filters=["testsrc", "format", "settb", "setpts", "setsar", "setparams"], encoders=["ffv1"])
    path = tmp_path / "clip.mkv"
    graph = (
        "testsrc=s=64x48:r=10:d=2,format=yuv420p,settb=1/1000,setpts=N*100+mod(N\\,3)*20+12345,"
        "setsar=8/9,setparams=range=tv:colorspace=bt709:color_primaries=bt709:color_trc=bt709"
    )
    support.succeed(
        *("-f", "lavfi", "-i", "anullsrc", "-filter_complex", f"{graph}[v]", "-map", "[v]"),
        *("-copyts", "-fps_mode", "passthrough", "-enc_time_base", "1/1000", "-c:v", "ffv1", path),
        plain=True,
    )
    return path


def times(framemd5):
    """All of a framemd5 text but the digests and the sizes."""
    lines = framemd5.decode().splitlines()
    return [line.split(",")[:4] for line in lines if not line.startswith("#")]


@pytest.mark.parametrize("copyts", [["-copyts"], []], ids=["copyts", "rebased"])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_times_of_a_file(model, clip, copyts, options):
    """As if the filter were null, through demuxer, encoder and muxer."""
    texts = []
    for graph in ("null", support.dnn(model("invert"), **options)):
        output = ["-fps_mode", "passthrough", "-enc_time_base", "1/1000", "-f", "framemd5", "-"]
        texts.append(support.succeed(*copyts, "-i", clip, "-vf", graph, *output).stdout)
    assert times(texts[0]) == times(texts[1])
    assert len(times(texts[0])) == 20
    assert texts[0] != texts[1]


def test_tags_reach_the_file(program, model, clip, tmp_path):
    """What a player is told of range, matrix and shape is that of the source."""
    program(support.sibling("ffprobe"))
    keys = (
        "color_range",
        "color_space",
        "color_primaries",
        "color_transfer",
        "sample_aspect_ratio",
    )
    made = []
    for name, graph in (("null", "null"), ("enlarged", support.dnn(model("enlarge2")))):
        path = tmp_path / f"{name}.mkv"
        support.succeed("-i", clip, "-vf", graph, "-fps_mode", "passthrough", "-c:v", "ffv1", path)
        made.append(stream_of(path))
    assert [made[0].get(key) for key in keys] == [made[1].get(key) for key in keys]
    assert made[1]["color_space"] == "bt709" and made[1]["sample_aspect_ratio"] == "8:9"
    assert (made[1]["width"], made[1]["height"]) == (128, 96)
    assert made[0]["nb_read_frames"] == made[1]["nb_read_frames"] == "20"


def stream_of(path):
    command = [
        support.sibling("ffprobe"),
        "-v",
        "error",
        "-count_frames",
        "-show_streams",
        "-of",
        "json",
        path,
    ]
    return json.loads(support.execute(command).stdout)["streams"][0]
