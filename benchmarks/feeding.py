# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a frame costs the filter's own thread, which feeds all workers.

It is the CPU time of ffmpeg's threads that are no workers, less that of `ffmpeg -vf null` on the
same frames. A model whose run takes R keeps R / cost workers busy; more of them would wait.
"""
import contextlib
import glob
import statistics
import subprocess

from rates import Watch, ffmpeg_words, start_chain, stop, window_of
from report import Table
from settings import dnn_graph, raw_input

FORMATS = ("rgb24", "yuv420p")
SIZES = ((320, 180), (1280, 720), (1920, 1080))
RUN_MS = 100  # of a model, for the last column
WORKER = "dnn_torch:"  # how the names of the workers' threads begin

# ffmpeg reads raw frames into memory of their own, which glibc takes from the system and gives
# back while several are in flight. Decoders keep theirs, and so these do.
KEEPS_MEMORY = {
    "MALLOC_MMAP_THRESHOLD_": str(1 << 32),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 32),
    "MALLOC_TOP_PAD_": str(1 << 26),
}


def feeding_seconds(pid):
    """CPU time of all threads but the workers."""
    nanoseconds = 0
    for path in glob.glob(f"/proc/{pid}/task/*"):
        with contextlib.suppress(OSError):
            with open(f"{path}/comm") as name, open(f"{path}/schedstat") as used:
                if not name.read().startswith(WORKER):
                    nanoseconds += int(used.read().split()[0])
    return nanoseconds / 1e9


class FeedingWatch(Watch):
    def __init__(self, processes, window):
        super().__init__(processes, window)
        self.seconds = {}  # at each count of frames

    def take(self, text, now):
        known = len(self.samples)
        super().take(text, now)
        if len(self.samples) > known:
            frames = self.samples[-1].frames
            self.seconds[frames] = feeding_seconds(self.processes[-1].pid)

    def cost(self):
        """Seconds a frame, or None."""
        counted = [sample.frames for sample in self.counted()]
        if len(counted) < 3:
            return None
        first, last = counted[0], counted[-1]
        return (self.seconds[last] - self.seconds[first]) / (last - first)


def cost_of(command, window, environment):
    processes = start_chain([command], {**KEEPS_MEMORY, **environment}, subprocess.DEVNULL)
    try:
        watch = FeedingWatch(processes, window)
        watch.run()
    finally:
        stop(processes)
    return watch.cost()


def differences(settings, pixel_format, size):
    """Of each round: seconds that the filter adds to a frame."""
    script = settings.work / "identity.txt"
    script.write_text("# whatever comes goes\n")
    source = raw_input(settings, pixel_format, *size)
    window = window_of(settings)
    dnn = dnn_graph(script, engine="fake", workers=2, threads=1)
    for _ in range(settings.rounds):
        without = cost_of(ffmpeg_words(settings.ffmpeg, source, "null"), window, {})
        with_filter = cost_of(
            settings.launched(*ffmpeg_words(settings.ffmpeg, source, dnn)),
            window, settings.engine_environment(fake=True),
        )  # fmt: skip
        if without is not None and with_filter is not None:
            yield with_filter - without


def run(settings):
    table = Table(
        "feeding",
        "What a frame costs the filter's own thread",
        ["format", "size", "us_a_frame", "least_us", "most_us", "workers_fed", "note"],
    )
    for pixel_format in FORMATS:
        for size in SIZES[:1] if settings.quick else SIZES:
            found = [1e6 * seconds for seconds in differences(settings, pixel_format, size)]
            middle = statistics.median(found) if found else None
            table.add(
                format=pixel_format, size="x".join(map(str, size)), us_a_frame=middle,
                least_us=min(found, default=None), most_us=max(found, default=None),
                workers_fed=RUN_MS * 1000 / middle if middle and middle > 0 else None,
                note="" if found else "too few frames in the time given",
            )  # fmt: skip
    table.remark(f"workers_fed: how many one filter keeps busy if a run takes {RUN_MS} ms.")
    return table
