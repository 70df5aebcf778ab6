# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Many frames, many instances, many ends in mid-run; and memory that does not grow."""
import itertools
import re

import pictures
import pytest
import support

pytestmark = pytest.mark.skipif(
    support.SANITIZED, reason="the sanitizer's runtime must come first"
)

WIDTH, HEIGHT = 32, 24
SOURCE = ("-f", "lavfi", "-i", "testsrc=s=32x24:r=25")


def test_long_clip_in_order(script):
    """Two thousand frames, random latency; the first sample counts round to 250."""
    count = 2000
    frames = pictures.make_frames("gray", WIDTH, HEIGHT, 250)
    source = pictures.raw(list(itertools.islice(itertools.cycle(frames), count)), "gray")
    model = script(latency_random_us=1500, seed=3)
    result = support.succeed(
        *pictures.raw_input("gray", WIDTH, HEIGHT),
        *("-vf", support.fake(model, nireq=16, workers=8, threads=1), "-f", "rawvideo", "-"),
        stdin=source,
        fake_engine=True,
    )
    assert result.stdout == source


def test_many_instances(need, script):
    need(filters=["testsrc", "format"], demuxers=["lavfi"])
    chain = ",".join(support.fake(script(gain=-1, offset=1, seed=n), nireq=4) for n in range(12))
    tail = ("-frames:v", "50", "-f", "framemd5", "-")
    ours = support.succeed(*SOURCE, "-vf", f"format=rgb24,{chain}", *tail, fake_engine=True)
    plain = support.succeed(*SOURCE, "-vf", "format=rgb24", *tail, plain=True)
    assert ours.stdout == plain.stdout and ours.stdout.count(b"\n0,") == 50


@pytest.mark.parametrize("round_number", range(10))
def test_ends_in_mid_run(need, script, round_number):
    """Torn down with frames queued, in flight and done."""
    need(filters=["testsrc", "format"], demuxers=["lavfi"])
    model = script(latency_random_us=8000, seed=round_number)
    graph = (
        f"format=rgb24,{support.fake(model, nireq=16, workers=4, batch_size=1 + round_number % 3)}"
    )
    result = support.succeed(
        *(*SOURCE, "-vf", graph, "-frames:v", str(1 + 3 * round_number), "-f", "framemd5", "-"),
        fake_engine=True,
    )
    assert result.stdout.count(b"\n0,") == 1 + 3 * round_number


def peak_kilobytes(model, frames):
    """Of the whole process, as the benchmark option of ffmpeg measures it."""
    result = support.succeed(
        *("-benchmark", "-f", "lavfi", "-i", "testsrc=s=320x240:r=25", "-frames:v", str(frames)),
        *("-vf", f"format=rgb24,{support.dnn(model, nireq=4)}", "-f", "null", "-"),
    )
    return int(
        re.search(r"maxrss=(\d+)", result.stderr.replace("Ki", "").replace("kB", "")).group(1)
    )


def test_memory_does_not_grow(need, model):
    """A leak of one frame of three in float would be 900 KiB a frame."""
    need(filters=["testsrc", "format"], demuxers=["lavfi"])
    short, long = (peak_kilobytes(model("enlarge2"), frames) for frames in (50, 400))
    assert long - short < 350 * 100, (short, long)


def test_graphs_anew_without_end(need, model):
    """A size that changes at each of sixty frames: as many filters are made and freed."""
    need(demuxers=["image2pipe"], decoders=["ppm"])
    sizes = [(16 + number % 7, 24 - number % 5) for number in range(60)]
    frames = [pictures.make_frame("rgb24", *size, number) for number, size in enumerate(sizes, 1)]
    images = [b"P6\n%d %d\n255\n" % frame.size + pictures.pack(frame, "rgb24") for frame in frames]
    result = support.succeed(
        *("-f", "image2pipe", "-framerate", "25", "-c:v", "ppm", "-i", "pipe:0"),
        *("-vf", support.dnn(model("identity"), **{"async": 0}), "-noautoscale"),
        *("-fps_mode", "passthrough", "-pix_fmt", "rgb24", "-f", "framemd5", "-"),
        stdin=b"".join(images),
    )
    assert support.digests(result.stdout) == [pictures.digest(frame, "rgb24") for frame in frames]
