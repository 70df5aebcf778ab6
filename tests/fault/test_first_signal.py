# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""One signal ends ffmpeg as fast as with the filter null, whatever the model is doing."""
import pathlib
import re
import signal
import subprocess
import time

import pytest
import support

# From the signal to the end of the process, beside what the same takes with null.
SECONDS_MORE = 4 if support.SANITIZED else 0.5
TRIES = 3  # other programs take time too: the quickest counts

GREY = 128  # what the first sample of a picture is with which a model is tried
MARK = "drawbox=color=0x070707:t=fill"

# What the engine does, and the seconds after which it surely does it.
STAGES = {
    "opening": {"hang_open": 1},
    "probing": {"hang_at": GREY},
    "tuning": {"hang_tune": 1},
    "running": {"hang_at": 7},
    "slow": {"latency_us": 20_000_000},
}
NUMBERS = [signal.SIGINT, signal.SIGTERM]
SOURCE = ("-re", "-f", "lavfi", "-i", "testsrc=s=32x24")


def begin(graph, output=("-f", "null", "-"), **options):
    words = (*SOURCE, "-vf", f"format=rgb24,{graph}", *output)
    plain = graph == "null"
    return support.start(support.ffmpeg_command(*words, plain=plain), **options)


def wait_for_handler(process, number):
    """Before ffmpeg has one for it, a signal ends it as any program."""
    deadline = time.monotonic() + support.TIME_LIMIT
    while time.monotonic() < deadline:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        name = re.search(r"^Name:\s*(\S+)", status).group(1)
        caught = int(re.search(r"^SigCgt:\s*(\w+)", status, re.MULTILINE).group(1), 16)
        if name.startswith("ffmpeg") and caught >> (number - 1) & 1:
            return
        time.sleep(0.02)
    raise AssertionError("ffmpeg has not begun")


def seconds_to_end(process, number, wait=2.5):
    wait_for_handler(process, number)
    time.sleep(wait)
    assert process.poll() is None, str(support.finish(process))
    started = time.monotonic()
    process.send_signal(number)
    result = support.finish(process, timeout=support.TIME_LIMIT)
    return result, time.monotonic() - started


def check(start, number, returncode=255):
    """Starts it a few times, and null in turns with it."""
    ours, plain = [], []
    for _ in range(TRIES):
        other, seconds = seconds_to_end(begin("null"), number, wait=1)
        plain.append(seconds)
        result, seconds = seconds_to_end(start(), number)
        ours.append(seconds)
        assert result.returncode == other.returncode == returncode, str(result)
        assert not result.errors, str(result)
        if min(ours) <= min(plain) + SECONDS_MORE:
            return
    raise AssertionError(f"{min(ours):.2f} s, and {min(plain):.2f} s with null\n{result}")


@pytest.mark.parametrize("number", NUMBERS, ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("settings", STAGES.values(), ids=STAGES.keys())
def test_whatever_the_engine_does(need, script, settings, number):
    need(filters=["testsrc", "format", "drawbox"], demuxers=["lavfi"])
    graph = f"{MARK},{support.fake(script(**settings), nireq=4)}"
    check(lambda: begin(graph, fake_engine=True), number)


@pytest.mark.parametrize("isolate", [0, 1])
@pytest.mark.parametrize("name", ["never_returns_below_64", "never_returns_at_5"])
def test_model_that_computes(need, model, name, isolate):
    need(filters=["testsrc", "format", "drawbox"], demuxers=["lavfi"])
    graph = support.dnn(model(name), isolate=isolate, threads=2)
    check(lambda: begin(f"drawbox=color=0x050505:t=fill,{graph}"), signal.SIGINT)


def test_frames_that_are_done_are_kept(need, script, tmp_path):
    """The frame in the model is given up, the file is complete.  Large frames, because ffmpeg writes
    256 KiB at a time."""
    need(filters=["testsrc", "format", "scale"], demuxers=["lavfi"], muxers=["nut"])
    path = tmp_path / "some.nut"
    graph = support.fake(script(latency_us=300_000), nireq=4, workers=1)
    process = begin(f"scale=320:240,{graph}", ("-c:v", "rawvideo", "-f", "nut", path), fake_engine=True)
    deadline = time.monotonic() + support.TIME_LIMIT
    while not (path.exists() and path.stat().st_size > 5 * 320 * 240 * 3):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    result, _ = seconds_to_end(process, signal.SIGINT, wait=0)
    assert result.returncode == 255 and not result.errors, str(result)
    read = support.succeed("-i", path, "-f", "framemd5", "-", plain=True, loglevel="warning")
    assert read.stdout.decode().count("\n0,") >= 5 and "[error]" not in read.stderr, str(read)


def test_two_signals(need, script):
    need(filters=["testsrc", "format", "drawbox"], demuxers=["lavfi"])
    process = begin(f"{MARK},{support.fake(script(hang_at=7))}", fake_engine=True)
    wait_for_handler(process, signal.SIGINT)
    time.sleep(2.5)
    started = time.monotonic()
    for number in NUMBERS:
        process.send_signal(number)
    result = support.finish(process, timeout=20)
    assert result.returncode == 255, str(result)
    assert time.monotonic() - started < 5 * (1 + SECONDS_MORE)


def test_a_signal_that_the_program_ignores(need, script):
    """nohup, and what a shell starts in the background: the filter takes no notice."""
    need(filters=["testsrc", "format"], demuxers=["lavfi"])
    graph = support.fake(script(latency_us=50_000))
    ignoring = {
        "preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
        "stdin": subprocess.DEVNULL,
    }
    words = ("-f", "lavfi", "-i", "testsrc=s=32x24", "-vf", f"format=rgb24,{graph}")
    command = support.ffmpeg_command(*words, "-frames:v", "30", "-f", "framemd5", "-")
    process = support.start(command, fake_engine=True, **ignoring)
    time.sleep(1.2)
    process.send_signal(signal.SIGHUP)
    result = support.finish(process)
    assert result.returncode == 0, str(result)
    assert result.stdout.decode().count("\n0,") == 30
