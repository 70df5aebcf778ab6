# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Models that never come back, wherever they are run: one line, and the process ends itself."""
import re
import signal
import subprocess
import time

import pictures
import pytest
import support

WIDTH, HEIGHT = 32, 24
GREY = 128  # what the first sample of a picture is with which a model is tried


def start(graph, frames=7, size=(WIDTH, HEIGHT), **options):
    """ffmpeg, with its whole input in a pipe."""
    source = pictures.raw(pictures.make_frames("rgb24", *size, frames), "rgb24")
    process = support.start(
        support.ffmpeg_command(
            *pictures.raw_input("rgb24", *size), "-vf", graph, "-f", "null", "-"
        ),
        stdin=subprocess.PIPE,
        **options,
    )
    process.stdin.write(source)
    process.stdin.close()
    process.stdin = None
    return process


HANGS = {
    "opened": ({"hang_open": 1}, "within 10 s while it was opened"),
    "tried": ({"hang_at": GREY}, r"within 1 s while it was tried on \d+x\d+"),
    "measured": ({"hang_tune": 1}, r"within \d+ s while its fastest variant was looked for"),
}


def test_every_call_has_a_limit(script, model):
    """All at once, for they wait most of the time: ffmpeg, inspect and bench."""
    filters, tools = [], []
    for settings, words in HANGS.values():
        path = script(**settings)
        graph = support.fake(path, timeout=1, tune=1)
        filters.append((start(graph, fake_engine=True), words))
        for command in ("inspect", "bench"):
            words_of_tool = [support.LAUNCHER, command, "--engine=fake", "--timeout=1", path]
            measures = command == "bench" or "hang_tune" not in settings
            if measures:
                tools.append((support.start(words_of_tool, fake_engine=True), words))
    loading = start(support.dnn(model("loads_for_ever"), timeout=1, allow="__setstate__"))
    filters.append((loading, "while it was opened"))
    for process, words in filters:
        support.assert_fails_clearly(support.finish(process), words, "raise timeout")
    for process, words in tools:
        result = support.finish(process)
        assert result.returncode == 1, str(result)
        assert re.search(f"^dnn-torch: .*{words}; raise timeout", result.stderr), str(result)


def test_end_beside_a_model_that_computes(model):
    """With threads of LibTorch's own; the exit code is that of the failure, and no signal."""
    places = {"never_returns_at_5": r"^frame at 0\.160 s: ", "never_returns_below_64": "32x24"}
    names = list(places) * 3
    graphs = [
        support.dnn(model(name), timeout=1, workers=1, threads=2, tune=0, isolate=i // 2 % 2)
        for i, name in enumerate(names)
    ]
    for name, process in zip(names, [start(graph) for graph in graphs]):
        support.assert_fails_clearly(
            support.finish(process), places[name], "within 1 s", "timeout"
        )


STAGES = {
    "opening": {"hang_open": 1},
    "probing": {"hang_at": GREY},
    "tuning": {"hang_tune": 1},
    "running": {"hang_at": 7},
}


def begin(graph, **options):
    """Endless, at the speed of real time."""
    source = ("-re", "-f", "lavfi", "-i", "testsrc=s=32x24")
    words = (*source, "-vf", f"format=rgb24,{graph}", "-f", "null", "-")
    return support.start(support.ffmpeg_command(*words), **options)


def test_user_insists(need, script, model):
    """Four signals: ffmpeg's own handler calls exit() at the last one, wherever we wait."""
    need(filters=["testsrc", "format", "drawbox"], demuxers=["lavfi"])
    mark = "drawbox=color=0x070707:t=fill"
    numbers = (signal.SIGINT, signal.SIGTERM)
    stuck = [
        (begin(f"{mark},{support.fake(script(**settings))}", fake_engine=True), number)
        for settings in STAGES.values()
        for number in numbers
    ]
    stuck += [
        (begin(support.dnn(model("never_returns_below_64"))), signal.SIGINT) for _ in range(4)
    ]
    time.sleep(4)
    for _ in range(4):
        for process, number in stuck:
            process.send_signal(number)
        time.sleep(0.2)
    for process, number in stuck:
        result = support.finish(process, timeout=10)
        # 255 where the first one could already end it.
        assert result.returncode in (123, 255), str(result)


def test_user_insists_at_any_moment(need, model):
    """Also while LibTorch is loaded, whose constructors may not meet exit()."""
    need(filters=["testsrc", "format"], demuxers=["lavfi"])
    graph = support.dnn(model("never_returns_below_64"))
    for moment in range(6):
        process = begin(graph)
        time.sleep(0.25 + 0.16 * moment)
        # Those that come before the process runs again are one to it: more than four.
        for _ in range(100):
            process.send_signal(signal.SIGINT)
            time.sleep(0.03)
            if process.poll() is not None:
                break
        result = support.finish(process, timeout=10)
        # By the signal itself where ffmpeg has no handler for it yet.
        assert result.returncode in (123, 255, -signal.SIGINT), str(result)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_tools_end_at_the_first_signal(model, number):
    process = support.start([support.LAUNCHER, "inspect", model("never_returns_below_64")])
    time.sleep(2)
    process.send_signal(number)
    assert support.finish(process, timeout=5).returncode == -number
