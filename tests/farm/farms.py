# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of `dnn-torch farm` share: clips, commands, and the judge."""
import json
import os
import pathlib
import sys

import pytest
import support

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "plugin" / "farm"))

# Nightly: all cases.
WHOLE = os.environ.get("DNN_TORCH_FARM_WHOLE") == "1"

NTSC = ["-f", "lavfi", "-i", "testsrc2=s=64x48:r=30000/1001"]
OPEN = "open-gop=1:keyint=12:min-keyint=12:bframes=3:scenecut=0"


def some(cases, count):
    """All cases by night, and the first of them for each change."""
    return cases if WHOLE else cases[:count]


def farm(*words, **options):
    # A plan runs ffmpeg up to nine times.
    options.setdefault("timeout", 3 * support.TIME_LIMIT)
    return support.execute([support.LAUNCHER, "farm", *words], **options)


def done(*words, **options):
    result = farm(*words, **options)
    assert result.returncode == 0, str(result)
    return result


def refused(*words, code=2, **options):
    """The one line of a command that fails with this code."""
    result = farm(*words, **options)
    assert result.returncode == code, str(result)
    assert "Traceback" not in result.stderr, str(result)
    lines = [line for line in result.stderr.splitlines() if not line.startswith(
        "dnn-torch farm: trying the chain")]
    assert len(lines) == 1, str(result)
    return lines[0]


def make(path, *words):
    encoders = [coder for option, coder in zip(words, words[1:])
                if str(option).startswith("-c:") and coder != "copy"]
    missing = support.OWN_FFMPEG and support.lacks(encoders=encoders)
    if missing:
        pytest.skip(f"this ffmpeg was built without: {missing}")
    support.succeed(*words, path, plain=True, loglevel="error")
    return path


def clip(folder, name="in.mkv", frames=40, rate="25", *more):
    return make(folder / name, "-f", "lavfi", "-i", f"testsrc2=s=64x48:r={rate}", "-frames:v",
                frames, "-c:v", "libx264", "-g", "12", *more)


def plan(source, output, *words, chain="hflip", frames=7, after=("-c:v", "ffv1"), **options):
    done("plan", source, "--vf", chain, "-o", output, "--slice-frames", str(frames), *words, "--",
         *after, **options)
    return output.with_suffix(".farm")


def plan_of(folder):
    return json.loads((folder / "plan.json").read_text())


def frames_of(path, stream="0:v:0"):
    """Time bases, times and hashes."""
    text = support.execute([support.FFMPEG, "-v", "error", "-i", f"file:{path}", "-map", stream,
                            "-fps_mode", "passthrough", "-f", "framemd5", "-"])
    assert text.returncode == 0, str(text)
    lines = text.stdout.decode().splitlines()
    kept = [line for line in lines if not line.startswith("#") or line.startswith(("#tb", "#sar"))]
    assert len(kept) > 2, "no frames to compare"
    return kept


def whole_run(source, output, planned, chain, after=("-c:v", "ffv1")):
    """One run of ffmpeg.  The frames keep their times, which by default are those of a constant
    rate."""
    support.succeed("-i", f"file:{source}", "-map", f"0:{planned['stream']}", "-map", "0:a?",
                    "-vf", chain, "-fps_mode", "passthrough", "-enc_time_base",
                    planned["encoder_time_base"], *after, "-c:a", "copy", f"file:{output}",
                    loglevel="error")
    return output


def judge(source, folder, frames, chain="hflip", after=("-c:v", "ffv1"), ending="mkv", words=()):
    """The joined frames are those of one whole run, at the same times.  Returns the plan."""
    output = folder / f"joined{frames}.{ending}"
    made = plan(source, output, *words, chain=chain, frames=frames, after=after)
    done("run", made)
    done("join", made)
    whole = whole_run(source, folder / f"whole{frames}.{ending}", plan_of(made), chain, after)
    assert frames_of(output) == frames_of(whole)
    return made
