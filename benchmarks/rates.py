# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The rate of a running ffmpeg, seen from outside.

ffmpeg reads its input in a loop without end and says on a pipe, twenty times a
second, how many frames have come out.  The times at which that number was seen
to grow give the rate as the slope of a straight line; process start, loading,
tuning and the first frames are before the window, and nobody waits for the
tail.  No frame is written anywhere, and so nothing is paid for writing.
"""
import contextlib
import dataclasses
import glob
import os
import re
import selectors
import signal
import statistics
import subprocess
import tempfile
import time

from settings import CORES, progress

PROGRESS = ["-nostats", "-stats_period", "0.05", "-progress", "pipe:1"]
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclasses.dataclass
class Window:
    """When to count: after so much warm-up, and for so long."""

    seconds: float
    min_frames: int = 16
    warm_up_seconds: float = 1.5
    warm_up_frames: int = 2 * CORES + 2
    until_frame: int = 0  # instead of `seconds`
    limit_seconds: float = 600.0


def window_of(settings, **changes):
    if settings.quick:
        short = {"min_frames": 4, "warm_up_seconds": 0.2, "warm_up_frames": 4, "limit_seconds": 60}
        return Window(settings.seconds, **{**short, **changes})
    return Window(settings.seconds, **changes)


@dataclasses.dataclass
class Sample:
    seconds: float
    frames: int
    cpu_seconds: float
    resident_bytes: int


@dataclasses.dataclass
class Rate:
    """What came of a run: a rate, or the reason why there is none."""

    fps: float = 0.0
    cpu_seconds_per_frame: float = 0.0
    samples: list = dataclasses.field(default_factory=list)
    failure: str = ""
    resident_bytes: int = 0  # the most, where no samples say it

    def __str__(self):
        return self.failure or f"{self.fps:.3g} frames/s"


def slope(samples):
    """Frames per second by least squares: bursts of frames cancel out."""
    times = [sample.seconds for sample in samples]
    frames = [sample.frames for sample in samples]
    middle = statistics.fmean(times)
    spread = sum((t - middle) ** 2 for t in times)
    mean = statistics.fmean(frames)
    return sum((t - middle) * (f - mean) for t, f in zip(times, frames)) / spread


def family(pid):
    """A process and its children: a model may run in one of its own."""
    found = [pid]
    for parent in found:
        for path in glob.glob(f"/proc/{parent}/task/*/children"):
            with contextlib.suppress(OSError), open(path) as file:
                found += map(int, file.read().split())
    return found


def read_family(pid):
    states = [read_process(each) for each in family(pid)]
    return tuple(sum(values) for values in zip(*states))


def read_process(pid):
    """CPU time and resident memory; zeros where the process is gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS, int(fields[21]) * PAGE
    except (OSError, IndexError):
        return 0.0, 0


class Watch:
    """Follows a chain of processes, the last of which reports its progress on its stdout."""

    def __init__(self, processes, window):
        self.processes = processes
        self.window = window
        self.started = time.monotonic()
        self.samples = []
        self.rest = b""

    def run(self):
        """Returns when the window is full, the last process has ended or time is up."""
        stream = self.processes[-1].stdout
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            while time.monotonic() - self.started < self.window.limit_seconds:
                if not selector.select(timeout=1.0):
                    continue
                text = os.read(stream.fileno(), 65536)
                if not text:
                    return
                self.take(text, time.monotonic())
                if self.is_full():
                    return

    def take(self, text, now):
        *lines, self.rest = (self.rest + text).split(b"\n")
        if b"progress=end" in lines:
            return  # nothing is in flight any more
        counts = [int(line[6:]) for line in lines if line.startswith(b"frame=")]
        if not counts or counts[-1] <= (self.samples[-1].frames if self.samples else 0):
            return
        states = [read_family(process.pid) for process in self.processes]
        cpu, resident = (sum(values) for values in zip(*states))
        self.samples.append(Sample(now, counts[-1], cpu, resident))

    def counted(self):
        """The samples after the warm-up."""
        if not self.samples:
            return []
        first = self.samples[0]
        return [
            sample
            for sample in self.samples
            if sample.seconds >= first.seconds + self.window.warm_up_seconds
            and sample.frames >= first.frames + self.window.warm_up_frames
        ]

    def is_full(self):
        counted = self.counted()
        if len(counted) <= 3:
            return False
        if self.window.until_frame:
            return counted[-1].frames >= self.window.until_frame
        return (
            counted[-1].seconds - counted[0].seconds >= self.window.seconds
            and counted[-1].frames - counted[0].frames >= self.window.min_frames
        )

    def result(self):
        counted = self.counted()
        if len(counted) < 3:
            return Rate(failure="too few frames in the time given")
        frames = counted[-1].frames - counted[0].frames
        cpu = (counted[-1].cpu_seconds - counted[0].cpu_seconds) / frames
        return Rate(slope(counted), cpu, counted)


def start_chain(commands, environment, errors):
    """Each process reads what the one before it writes."""
    processes = []
    source = subprocess.DEVNULL
    for command in commands:
        process = subprocess.Popen(
            [str(word) for word in command], stdin=source, stdout=subprocess.PIPE, stderr=errors,
            env={**os.environ, **environment},
        )  # fmt: skip
        if processes:
            processes[-1].stdout.close()  # so that a reader's end is noticed by its writer
        processes.append(process)
        source = process.stdout
    return processes


def stop(processes):
    for process in processes:
        process.kill()
    for process in processes:
        process.wait()
    processes[-1].stdout.close()


def ended_by_itself(process, said, watch):
    """Why the last process is no more, or ''."""
    try:
        code = process.wait(timeout=0 if watch.is_full() else 1)
    except subprocess.TimeoutExpired:
        return ""
    if code < 0:
        frames = watch.samples[-1].frames if watch.samples else 0
        return f"ended by {signal.Signals(-code).name} after {frames} frames"
    # The first line is the cause and the others are what came of it.
    lines = [re.sub(r"^\[[^]]* @ \w+\] ", "", line) for line in said().splitlines()]
    return f"exit {code}: {next(filter(None, lines), 'no word')}"


def measure_chain(commands, window, environment=None):
    """The rate of the last of the commands, which reports its progress."""
    with tempfile.TemporaryFile() as errors:

        def said():
            errors.seek(0)
            return errors.read().decode(errors="replace")

        processes = start_chain(commands, environment or {}, errors)
        try:
            watch = Watch(processes, window)
            watch.run()
            failure = ended_by_itself(processes[-1], said, watch)
        finally:
            stop(processes)
    return Rate(failure=failure) if failure else watch.result()


def ffmpeg_words(ffmpeg, source, graph):
    """An ffmpeg that reports its progress and throws the frames away."""
    return [
        ffmpeg, "-nostdin", "-hide_banner", "-loglevel", "error", *PROGRESS, *source,
        "-vf", graph, "-f", "null", "-",
    ]  # fmt: skip


def measure_dnn(settings, source, graph, window, fake=False):
    """The rate of our filter in the system's ffmpeg."""
    command = settings.launched(*ffmpeg_words(settings.ffmpeg, source, graph))
    return measure_chain([command], window, settings.engine_environment(fake))


def alternate(rounds, sides):
    """Runs every side once a round, so that whatever else the machine does hits all of them.

    sides: name -> function without arguments that returns a Rate.
    Returns name -> list of Rates; a side that fails is not run again.
    """
    results = {name: [] for name in sides}
    for _ in range(rounds):
        for name, run in sides.items():
            if not (results[name] and results[name][-1].failure):
                results[name].append(run())
                progress(f"{name}: {results[name][-1]}")
    return results


def failure_of(rates):
    return next((rate.failure for rate in rates if rate.failure), "")


def median_fps(rates):
    """None where a run failed."""
    return None if failure_of(rates) else statistics.median(rate.fps for rate in rates)


def median_ratio(over, under):
    """Of each round, so that a slow minute does not count for one side alone."""
    if failure_of(over) or failure_of(under):
        return None
    return statistics.median(a.fps / b.fps for a, b in zip(over, under))


def median_cpu(rates):
    """CPU seconds of a frame: what is left to compare where others use the machine as well."""
    if failure_of(rates):
        return None
    return statistics.median(rate.cpu_seconds_per_frame for rate in rates)


def spread(rates):
    """Largest over smallest rate: how noisy the rounds were; None of a single round."""
    if len(rates) < 2 or failure_of(rates):
        return None
    values = [rate.fps for rate in rates]
    return max(values) / min(values)
