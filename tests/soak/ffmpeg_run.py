# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""One run of ffmpeg by a plan, and whether all of it was as it has to be."""
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import clips
import numpy
import plans
import support

# A run that takes longer hangs: none takes more than a few seconds on an idle machine.
DEADLINE_SECONDS = 180


@dataclasses.dataclass
class Outcome:
    result: support.Result
    handed_on: int  # frames that left the filters
    made: bytes  # those of them that ffmpeg wrote
    kilobytes: int  # peak memory
    signalled: bool  # the fault from outside was in time


class Hang(AssertionError):
    """Nothing in the end ends it."""


class Lost(AssertionError):
    """Frames are missing, wrong or in another order."""


# ---- running --------------------------------------------------------------------


def graph_of(plan, folder):
    script = folder / "model.txt"
    write_script(plan, plan.model, script)
    first = support.fake(script, **plan.options)
    chain = [first + (f":enable='{plan.enable}'" if plan.enable else "")]
    if plan.second is not None:
        other = folder / "second.txt"
        other.write_text("gain -1\noffset 1\n")
        chain.append(support.fake(other, **plan.second))
    seen = folder / "seen.txt"
    return ",".join(
        [*chain, "metadata=mode=add:key=seen:value=1", f"metadata=mode=print:file={seen}:direct=1"]
    )


def write_script(plan, model, path):
    """In one step: who looks at the file meanwhile sees all of it or nothing."""
    lines = {**plan.script, **model.script()}
    if not model.inverts:
        lines.update(gain=1, offset=0)
    written = path.with_suffix(".new")
    written.write_text("".join(f"{key} {value}\n" for key, value in lines.items()))
    written.replace(path)


def command_of(plan, folder):
    size = f"{clips.WIDTH}x{clips.HEIGHT}"
    return support.ffmpeg_command(
        *("-noauto_conversion_filters", "-f", "rawvideo", "-pixel_format", plan.pixel_format),
        *("-video_size", size, "-framerate", str(clips.RATE), "-i", folder / "in.raw"),
        *("-vf", graph_of(plan, folder), "-fps_mode", "passthrough", "-f", "rawvideo"),
        folder / "out.raw",
    )


def children_of(pid):
    children = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children += map(int, task.read_text().split())
        except OSError:
            pass  # the thread has ended
    return children


def engine_hosts(pid):
    def name(child):
        try:
            return pathlib.Path(f"/proc/{child}/comm").read_text().strip()
        except OSError:
            return ""

    return [child for child in children_of(pid) if name(child) == "engine-host"]


class Process:
    """ffmpeg with a deadline, and with what it used when it has ended."""

    def __init__(self, command, folder):
        self.log = folder / "log.txt"
        with self.log.open("w") as log:
            self.process = support.start(
                command, fake_engine=True, stdout=log, stderr=log, cwd=folder
            )
        self.deadline = time.monotonic() + DEADLINE_SECONDS
        self.peak_kilobytes = 0

    def has_ended(self):
        return self.process.poll() is not None

    def look_at_memory(self):
        """getrusage() would tell of the process that it was forked from, too."""
        try:
            status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            return
        if found := re.search(r"VmHWM:\s+(\d+) kB", status):
            self.peak_kilobytes = max(self.peak_kilobytes, int(found.group(1)))

    def wait(self, until=lambda: False):
        """To its end, or until something is so."""
        while not self.has_ended() and not until():
            self.look_at_memory()
            if time.monotonic() > self.deadline:
                self.process.kill()
                self.process.wait()
                raise Hang(f"no end after {DEADLINE_SECONDS} s")
            time.sleep(0.01)


def disturb(plan, process, folder):
    """What comes from outside while frames pass; whether it was in time."""
    seen = folder / "seen.txt"
    process.wait(lambda: seen.exists() and seen.stat().st_size > 0)
    start = time.monotonic()
    process.wait(lambda: time.monotonic() - start > plan.after_seconds)
    if plans.OTHER_FILE in plan.faults:
        write_script(plan, other_model(plan), folder / "model.txt")
        return not process.has_ended()
    number = signal.SIGKILL if plans.KILLED in plan.faults else signal.SIGSTOP
    hosts = [] if process.has_ended() else engine_hosts(process.process.pid)
    for host in hosts:
        os.kill(host, number)
    return bool(hosts)


def other_model(plan):
    return dataclasses.replace(plan.model, inverts=not plan.model.inverts)


def run(plan, folder):
    clip = clips.Clip(plan.pixel_format, plan.count, abs(hash_of(plan.seed)), plan.marked)
    clip.write(folder / "in.raw")
    command = command_of(plan, folder)
    process = Process(command, folder)
    signalled = False
    if plan.after_seconds:
        signalled = disturb(plan, process, folder)
    process.wait()
    text = (folder / "log.txt").read_text(errors="replace")
    seen, out = folder / "seen.txt", folder / "out.raw"
    outcome = Outcome(
        result=support.Result(list(map(str, command)), process.process.returncode, b"", text),
        handed_on=seen.read_text().count("seen=1") if seen.exists() else 0,
        made=out.read_bytes() if out.exists() else b"",
        kilobytes=process.peak_kilobytes,
        signalled=signalled,
    )
    judge(plan, clip, outcome, folder)
    return outcome


def hash_of(text):
    """The same in every process."""
    return int.from_bytes(text.encode(), "big") % (1 << 61)


# ---- judging --------------------------------------------------------------------


def judge(plan, clip, outcome, folder):
    result = outcome.result
    for trace in ("terminate called", "what():", "Sanitizer", "double free", "corrupted"):
        assert trace not in result.stderr, f"'{trace}' in the log"
    failure = plan.first_failure()
    # What does not answer is no crash: the time limit ends the run.
    crashed = outcome.signalled and (
        plans.STOPPED in plan.faults or (plans.KILLED in plan.faults and not plan.restarts)
    )
    if plans.NO_BEGINNING in plan.faults:
        expect_failure(outcome, "no model")
        expect_frames(plan, clip, outcome, 0, 0)
    elif failure is not None:
        first_in_run = failure - plan.options.get("batch_size", 1) + 1
        expect_failure(outcome, plans.ENDING_FAULTS[plan.faults[0]][1])
        if plan.options.get("batch_size", 1) == 1:
            expect_time(outcome, failure / clips.RATE)
        expect_frames(plan, clip, outcome, first_in_run, failure)
    elif crashed:
        expect_failure(outcome, "")
        expect_frames(plan, clip, outcome, 0, plan.count)
    elif plans.DISK_FULL in plan.faults:
        expect_failure(outcome, "No space left")
        expect_frames(plan, clip, outcome, plan.count, plan.count)
    else:
        expect_success(plan, outcome)
        expect_frames(plan, clip, outcome, plan.count, plan.count)
        expect_statistics(plan, folder)


def expect_success(plan, outcome):
    result = outcome.result
    assert result.returncode == 0, f"exit code {result.returncode}"
    assert not result.errors, f"errors: {result.errors}"
    warned = " ".join(result.warnings)
    if plans.NAN in plan.faults and any(map(plan.is_enabled, plan.marked)):
        assert warned.count("NaN") == 1, "NaN was not told once"


def expect_failure(outcome, words):
    result = outcome.result
    assert result.returncode > 0, f"exit code {result.returncode}, a failure expected"
    assert len(result.errors) == 1, f"not one line: {result.errors}"
    assert re.search(words, result.errors[0], re.IGNORECASE), f"no '{words}': {result.errors[0]}"


def expect_time(outcome, seconds):
    line = outcome.result.errors[0]
    assert f"{seconds:.3f} s" in line, f"the time {seconds:.3f} s is not told: {line}"


def forgets_what_was_before(outcome):
    """ffmpeg 5.1, for a failure that waits until the frames before it are through the end of the
    stream."""
    at_the_end = "Error marking filters as finished" in outcome.result.stderr
    return at_the_end and support.ffmpeg_major() < 6


def told_as_lost(outcome):
    """ffmpeg asks a filter behind one that fails for nothing more."""
    lines = " ".join(outcome.result.filter_lines("info"))
    return sum(map(int, re.findall(r"ended with up to (\d+) frames? in flight", lines)))


def expect_frames(plan, clip, outcome, least, most):
    """What left the filters, and what of it was written: ffmpeg itself drops the latest frames
    when it ends with an error."""
    if forgets_what_was_before(outcome):
        least = 0
    if plan.second is not None and outcome.result.returncode:
        least -= told_as_lost(outcome)
    if not least <= outcome.handed_on <= most:
        raise Lost(f"{outcome.handed_on} frames came out and not {least} to {most}")
    written = expect_content(plan, clip, outcome.made)
    if written > outcome.handed_on:
        raise Lost(f"{written} frames are written and {outcome.handed_on} came out")
    if outcome.result.returncode == 0 and written != outcome.handed_on:
        raise Lost(f"{written} frames are written of {outcome.handed_on}")


def result_of(plan, clip, model):
    """The frames that a model makes, with those that the filter leaves out."""
    image = model.apply(clip.image, clip.layout)
    if plans.NAN in plan.faults:
        image[[number for number in plan.marked if plan.is_enabled(number)]] = 0
    if plan.enable:
        enabled = numpy.array([plan.is_enabled(number) for number in range(plan.count)])
        image[~enabled] = clip.image[~enabled]
    if plan.second is not None:
        image = clips.Model(inverts=True).apply(image, clip.layout)
    return clip.with_image(image)


def expect_content(plan, clip, made):
    """Every frame in its place; how many there are."""
    wanted = result_of(plan, clip, plan.model)
    size = wanted.shape[1]
    count = len(made) // size
    found = numpy.frombuffer(made[: count * size], numpy.uint8).reshape(count, size)
    right = (found == wanted[:count]).all(axis=1)
    if plans.OTHER_FILE in plan.faults and not right.all():
        switch = int(right.argmin())
        right[switch:] = (
            found[switch:] == result_of(plan, clip, other_model(plan))[switch:count]
        ).all(axis=1)
    if not right.all():
        first = int(right.argmin())
        places = (wanted == found[first]).all(axis=1).nonzero()[0]
        what = f"frame {places[0]}" if len(places) else "no frame of the clip"
        raise Lost(f"{what} stands at the place of frame {first}")
    return count


def expect_statistics(plan, folder):
    if plan.options.get("stats") == plans.STATISTICS:
        told = json.loads((folder / plans.STATISTICS).read_text())
        assert told["frames"] == plan.count, f"the statistics tell of {told['frames']} frames"
