#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Streams with a deadline, as from a camera, with models of 5 to 200 ms and random stalls.

Each frame that comes out is judged: its place, whether it is what `late` allows, and that hiding
never shows a frame.  Deadlines that are missed are compared with how late this machine wakes a
program that sleeps.  Exits with 1 if there was a fault.
"""
import argparse
import json
import os
import pathlib
import random
import signal
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import ffmpeg_run
import numpy
import plans
import support

WIDTH, HEIGHT = 16, 12
# The third sample of a frame, of its result, and of a hidden one.
CAME, RAN, HIDDEN = 10, 245, 0
MOST_GROWTH_KILOBYTES = 4096
# A stream that takes so much longer than its clip becomes late without end.  ffmpeg's start is in it.
MOST_SECONDS_MORE = 8


class Sleeper(threading.Thread):
    """How often this machine wakes a program more than 5 ms late."""

    def __init__(self):
        super().__init__(daemon=True)
        self.ended, self.sleeps, self.late = False, 0, 0

    def run(self):
        while not self.ended:
            start = time.monotonic()
            time.sleep(0.005)
            self.sleeps += 1
            self.late += time.monotonic() - start > 0.010

    def share(self):
        self.ended = True
        return self.late / max(self.sleeps, 1)


def clip(count):
    """Frames that hold their number, and no sample that is black."""
    frames = numpy.full((count, HEIGHT * WIDTH), CAME, numpy.uint8)
    numbers = numpy.arange(count)
    frames[:, 0], frames[:, 1] = 1 + numbers % 200, 1 + numbers // 200
    return frames


def plan_of(seed, seconds):
    dice = random.Random(seed)
    rate = dice.choice([25, 60])
    deadline_ms = dice.choice([15, 40, 100])
    options = {"deadline": f"{deadline_ms}ms", "workers": dice.choice([1, 2]),
               "late": dice.choice(["pass", "last", "drop", "hide", "hide"]), "threads": 1,
               "async": dice.choice([0, 1, 1]), "tune": 0, "isolate": 0}
    if deadline_ms > 1000 / rate:
        options["async"] = 1  # otherwise frames wait before the filter, as docs/live.md says
    script = {"gain": -1, "offset": 1, "latency_us": dice.choice([5, 10, 20, 50, 100]) * 1000,
              "latency_random_us": dice.choice([0, 10, 100]) * 1000, "seed": dice.randrange(1000)}
    if options["late"] == "last":
        options["every"] = dice.choice([1, "auto"])
    is_killed = options["late"] == "hide" and plans.can_isolate() and dice.random() < 0.5
    if is_killed:
        options.update(isolate=1, on_crash="restart=9")
    return rate, int(rate * seconds), options, script, is_killed


def play(folder, rate, count, options, script, is_killed):
    """(what came out, the statistics, growth of memory in KiB)"""
    clip(count).tofile(folder / "in.raw")
    model, out, stats = folder / "model.txt", folder / "out.raw", folder / "stats.json"
    model.write_text("".join(f"{key} {value}\n" for key, value in script.items()))
    graph = support.fake(model, stats=stats, **options)
    process = ffmpeg_run.Process(support.ffmpeg_command(
        "-re", "-f", "rawvideo", "-pixel_format", "gray", "-video_size", f"{WIDTH}x{HEIGHT}",
        "-framerate", rate, "-i", folder / "in.raw", "-vf", graph, "-fps_mode", "passthrough",
        "-flush_packets", 1, "-f", "rawvideo", out), folder)
    start = time.monotonic()
    process.deadline += count / rate
    half = time.monotonic() + count / rate / 2
    process.wait(lambda: time.monotonic() > half)
    before = process.peak_kilobytes
    hosts = ffmpeg_run.engine_hosts(process.process.pid) if is_killed else []
    for host in hosts:
        os.kill(host, signal.SIGKILL)
    process.wait()
    took = time.monotonic() - start
    assert took < count / rate + MOST_SECONDS_MORE, f"the stream of {count / rate} s took {took:.1f} s"
    log = (folder / "log.txt").read_text(errors="replace")
    assert process.process.returncode == 0, f"exit code {process.process.returncode}: {log[-800:]}"
    found = numpy.fromfile(out, numpy.uint8).reshape(-1, HEIGHT * WIDTH)
    return found, json.loads(stats.read_text()), process.peak_kilobytes - before


def judge_frames(found, count, late):
    kinds = found[:, 2]
    hidden, ran = kinds == HIDDEN, kinds == RAN
    assert (hidden | ran | (kinds == CAME)).all(), "a frame is neither black nor one of the clip"
    assert (found[hidden] == 0).all(), "a hidden frame shows something"
    first, second = found[:, 0].astype(int), found[:, 1].astype(int)
    first[ran], second[ran] = 255 - first[ran], 255 - second[ran]
    numbers = first - 1 + 200 * (second - 1)
    places = numpy.arange(len(found))
    assert late == "drop" or len(found) == count, f"{len(found)} frames of {count}"
    if late == "drop":
        assert (numpy.diff(numbers) > 0).all(), "frames are out of order"
    elif late == "last":
        assert (numbers <= places).all() and (numpy.diff(numbers[ran]) >= 0).all(), "wrong results"
        assert (numbers[~ran] == places[~ran]).all(), "frames are out of order"
    else:
        assert (numbers[~hidden] == places[~hidden]).all(), "frames are out of order"
    wanted = {"hide": hidden | ran, "drop": ran}.get(late, hidden | True)
    assert wanted.all(), f"frame {int(numpy.argmin(wanted))} is shown with late={late}"
    return hidden.sum()


def run(seed, seconds, folder):
    """(frames, frames that were missed)"""
    plan = plan_of(seed, seconds)
    rate, count, options, _, is_killed = plan
    sleeper = Sleeper()
    sleeper.start()
    found, stats, growth = play(folder, *plan)
    noise = sleeper.share()
    hidden = judge_frames(found, count, options["late"])
    late = stats["late"]
    assert late["hide"] == hidden and late["drop"] == count - len(found), f"{late}"
    assert growth <= MOST_GROWTH_KILOBYTES, f"memory grows by {growth} KiB"
    most = count * (3 * noise + 0.001) + 2  # a frame is woken for three times: reader, worker, filter
    assert is_killed or late["missed"] <= most, f"{late['missed']} deadlines missed, {most:.1f} allowed"
    print(f"{seed}: {rate} fps, {options['deadline']}, {options['late']}: {count} frames,"
          f" {late}, max {stats['latency_ms']['max']} ms, noise {noise:.4f}, {growth} KiB", flush=True)
    return count, late["missed"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=int(time.strftime("%Y%m%d")))
    parser.add_argument("--minutes", type=float, default=10)
    arguments = parser.parse_args()
    if support.SANITIZED:
        print("SKIP: a sanitizer takes the time that frames have")
        return 77
    runs = max(4, int(arguments.minutes))
    faults = frames = missed = 0
    for number in range(runs):
        seed = f"{arguments.seed}/{number}"
        with tempfile.TemporaryDirectory(prefix="dnn-torch-live-") as name:
            try:
                count, late = run(seed, arguments.minutes * 60 / runs, pathlib.Path(name))
                frames, missed = frames + count, missed + late
            except AssertionError as error:
                faults += 1
                print(f"FAILED {seed}: {plan_of(seed, 0)}: {error}", flush=True)
    print(f"{runs} streams, {frames} frames, {missed} left more than 5 ms late, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
