# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs on top of libavfilter other than ffmpeg."""
import os
import sys

import pictures
import pytest
import support


@pytest.fixture
def clip(need, tmp_path):
    need(encoders=["ffv1"])
    path = tmp_path / "clip.mkv"
    support.succeed(
        *pictures.raw_input("yuv420p", 64, 48),
        *("-c:v", "ffv1", path),
        stdin=pictures.raw(pictures.make_frames("yuv420p", 64, 48, 10), "yuv420p"),
        plain=True,
    )
    return path


def test_ffprobe(program, model):
    """The lavfi input device parses its graph itself."""
    ffprobe = program(support.sibling("ffprobe"))
    graph = f"testsrc=s=64x48:r=25:d=0.4,format=gray,{support.dnn(model('enlarge2'))}"
    command = [ffprobe, "-v", "error", "-f", "lavfi", "-i", graph, "-count_frames"]
    show = [
        "-show_entries",
        "stream=width,height,pix_fmt,nb_read_frames",
        "-of",
        "default=noprint_wrappers=1",
    ]
    result = support.execute(support.launched(*command, *show))
    assert result.returncode == 0, str(result)
    assert result.stdout.decode().split() == [
        "width=128",
        "height=96",
        "pix_fmt=gray",
        "nb_read_frames=10",
    ]


def test_ffplay(program, model, clip):
    ffplay = program(support.sibling("ffplay"))
    graph = f"{support.dnn(model('enlarge2'))},showinfo@after"
    command = [
        ffplay,
        "-hide_banner",
        "-loglevel",
        "level+info",
        "-autoexit",
        "-an",
        "-vf",
        graph,
        clip,
    ]
    silent = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
    result = support.execute(support.launched(*map(str, command)), env=silent)
    assert result.returncode == 0, str(result)
    shown = support.shown_frames(result, "after")
    # ffplay drops frames that come too late.
    assert shown and {frame["s"] for frame in shown} == {"128x96"}, str(result)


def test_mpv(program, model, clip, tmp_path):
    mpv = program("mpv")
    out = tmp_path / "out.mkv"
    graph = f"lavfi=[{support.dnn(model('enlarge2'))},showinfo@after]"
    command = [
        mpv,
        "--no-config",
        "--msg-level=ffmpeg=v",
        f"--vf={graph}",
        f"--o={out}",
        "--ovc=ffv1",
        str(clip),
    ]
    result = support.execute(support.launched(*command))
    assert result.returncode == 0, str(result)
    raw = support.succeed(
        "-i", out, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-", plain=True
    ).stdout
    assert len(pictures.unpack(raw, "yuv420p", 128, 96)) == 10


PYAV = """
import sys
from fractions import Fraction
import av
graph = av.filter.Graph()
assert "dnn_torch" in av.filter.filters_available
source = graph.add_buffer(width=64, height=48, format="rgb24", time_base=Fraction(1, 25))
ours = graph.add("dnn_torch", "model=" + sys.argv[1])
sink = graph.add("buffersink")
source.link_to(ours)
ours.link_to(sink)
graph.configure()
sizes = []
for number in range(5):
    frame = av.VideoFrame(64, 48, "rgb24")
    frame.pts = number
    source.push(frame)
source.push(None)
try:
    while True:
        frame = sink.pull()
        sizes.append((frame.width, frame.height, frame.pts))
except (av.error.EOFError, av.error.BlockingIOError):
    pass
print(sizes)
assert sizes == [(128, 96, number) for number in range(5)]
"""


def test_pyav(model, tmp_path):
    """A Python extension opens libavfilter with RTLD_LOCAL."""
    if os.system(f"{sys.executable} -c 'import av' 2>/dev/null") != 0:
        pytest.skip("python3-av is not installed")
    path = tmp_path / "pull.py"
    path.write_text(PYAV)
    result = support.execute(support.launched(sys.executable, str(path), str(model("enlarge2"))))
    assert result.returncode == 0, str(result)
