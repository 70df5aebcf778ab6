# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""FFmpeg's other programs, with LibTorch."""
import re

import support


def test_ffprobe(program, model):
    """The lavfi input device parses its graph itself."""
    graph = f"testsrc=s=64x48:r=25:d=0.4,format=gray,{support.dnn(model('enlarge2'))}"
    command = [program(support.sibling("ffprobe")), "-v", "error", "-f", "lavfi", "-i", graph]
    command += ["-count_frames", "-of", "default=noprint_wrappers=1"]
    command += ["-show_entries", "stream=width,height,pix_fmt,nb_read_frames"]
    result = support.execute(support.launched(*command))
    assert result.returncode == 0, str(result)
    shown = "width=128 height=96 pix_fmt=gray nb_read_frames=10"
    assert result.stdout.decode().split() == shown.split()


def test_ffplay(program, model, clip):
    graph = f"showinfo@before,{support.dnn(model('enlarge2'))},showinfo@after"
    command = [program(support.sibling("ffplay")), "-hide_banner", "-loglevel", "level+info"]
    command += ["-autoexit", "-an", "-framedrop", "-vf", graph, clip]
    silent = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
    result = support.execute(support.launched(*command), env=silent)
    assert result.returncode == 0, str(result)
    before, after = (support.shown_frames(result, name) for name in ("before", "after"))
    # ffplay drops frames that come too late, before they are filtered, and tells no filter of the
    # input's end: what is in flight then is lost.
    assert len(before) > 10 and {frame["s"] for frame in before} == {"64x48"}, str(result)
    assert {frame["s"] for frame in after} == {"128x96"}, str(result)
    moments = [[frame["pts"] for frame in frames] for frames in (before, after)]
    in_flight = int(re.search(r"(\d+) requests? of 1 frame ", result.stderr).group(1))
    assert moments[0][: len(after)] == moments[1] and len(before) - len(after) <= in_flight
