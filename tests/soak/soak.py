#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Long runs with random options and random faults, each of which is judged frame by frame.

The same seed gives the same runs.  Prints a line for each run that is not as it
has to be, with the command that repeats it, and a summary at the end.  Exits with 1 if there
was any.
"""
import argparse
import collections
import dataclasses
import pathlib
import shutil
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import ffmpeg_run
import mpv_run
import plans
import support

# Of these runs one is in mpv, and one is also made with few frames to compare its memory.
MPV_EVERY, MEMORY_EVERY = 12, 8
FEW_FRAMES = 1000
# What a run of ten thousand frames may hold more than one of few.  The peaks of like runs differ
# by 4 MiB, of sixty thousand frames as well.  A leak of 1 KiB for each frame is 9 MiB; a frame
# with its buffers is more.
MOST_GROWTH_KILOBYTES = 8192


@dataclasses.dataclass
class Tally:
    runs: int = 0
    frames: int = 0
    hangs: int = 0
    lost: int = 0
    failures: int = 0
    seeks: int = 0
    peak_kilobytes: int = 0
    most_growth_kilobytes: int = 0
    compared: int = 0
    faults: collections.Counter = dataclasses.field(default_factory=collections.Counter)

    def summary(self):
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.faults.items()))
        return "\n".join(
            [
                f"{self.runs} runs, {self.frames} frames, {self.seeks} seeks in mpv",
                f"faults: {kinds or 'none'}",
                f"memory: {self.peak_kilobytes // 1024} MiB at most; {self.compared} long runs held"
                f" {self.most_growth_kilobytes} KiB more than short ones at most",
                f"{self.hangs} hangs, {self.lost} with lost or wrong frames,"
                f" {self.failures} with other faults",
            ]
        )


def compare_memory(plan, outcome, folder, tally):
    """A longer run may not hold more."""
    short = ffmpeg_run.run(dataclasses.replace(plan, count=FEW_FRAMES), folder)
    growth = outcome.kilobytes - short.kilobytes
    tally.most_growth_kilobytes = max(tally.most_growth_kilobytes, growth)
    assert growth <= MOST_GROWTH_KILOBYTES, f"{plan.count} frames hold {growth} KiB more than few"


def run_ffmpeg(seed, number, count, folder, tally):
    plan = plans.make_plan(f"{seed}/{number}", count)
    (folder / "plan.txt").write_text(repr(plan) + "\n")
    tally.faults.update(plan.faults)
    outcome = ffmpeg_run.run(plan, folder)
    tally.frames += outcome.handed_on
    tally.peak_kilobytes = max(tally.peak_kilobytes, outcome.kilobytes)
    if number % MEMORY_EVERY == 0 and not plan.faults:
        shorter = folder / "short"
        shorter.mkdir()
        compare_memory(plan, outcome, shorter, tally)
        tally.compared += 1


def run_once(arguments, number, folder, tally):
    if support.have("mpv") and number % MPV_EVERY == MPV_EVERY - 1:
        tally.frames += mpv_run.run(f"{arguments.seed}/{number}", folder, tally)
    else:
        run_ffmpeg(arguments.seed, number, arguments.frames, folder, tally)


def complain(arguments, number, folder, error):
    kept = pathlib.Path(arguments.keep, f"{arguments.seed}-{number}")
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(folder, kept, ignore=shutil.ignore_patterns("*.raw", "*.socket"))
    if not isinstance(error, AssertionError):
        traceback.print_exception(type(error), error, error.__traceback__)
    words = " ".join(str(error).split())[:400]
    print(
        f"FAILED run {number}: {words}; what it logged is in {kept}; again:"
        f" scripts/soak.sh --seed {arguments.seed} --run {number}"
        f" --frames {arguments.frames}",
        flush=True,
    )


def judge_run(arguments, number, tally):
    tally.runs += 1
    with tempfile.TemporaryDirectory(prefix="dnn-torch-soak-") as name:
        try:
            run_once(arguments, number, pathlib.Path(name), tally)
            return
        except ffmpeg_run.Hang as error:
            tally.hangs, found = tally.hangs + 1, error
        except ffmpeg_run.Lost as error:
            tally.lost, found = tally.lost + 1, error
        except Exception as error:
            tally.failures, found = tally.failures + 1, error
        complain(arguments, number, pathlib.Path(name), found)


def numbers_of(arguments):
    if arguments.run is not None:
        yield arguments.run
        return
    end = time.monotonic() + arguments.minutes * 60
    number = 0
    while time.monotonic() < end:
        yield number
        number += 1


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    today = int(time.strftime("%Y%m%d"))
    parser.add_argument("--seed", type=int, default=today, help="today's date, unless given")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--run", type=int, help="this one alone")
    parser.add_argument("--frames", type=int, default=10000, help="of a run")
    parser.add_argument("--keep", default=support.BUILD / "soak-found", help="for what failed")
    return parser.parse_args(words)


def main():
    arguments = parse(sys.argv[1:])
    if support.SANITIZED:
        print("SKIP: the sanitizer's runtime must come first")
        return 77
    tally = Tally()
    for number in numbers_of(arguments):
        judge_run(arguments, number, tally)
    print(f"seed {arguments.seed}: {tally.summary()}")
    return 1 if tally.hangs or tally.lost or tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
