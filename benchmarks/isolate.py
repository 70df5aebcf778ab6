# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a process of its own for the model costs: isolate=1 against isolate=0.

The rates are compared round by round; the start is the time from ffmpeg's start to its end with one
frame, where nothing is tuned.
"""
import os
import statistics
import subprocess
import time

from rates import alternate, failure_of, measure_dnn, median_cpu, median_fps, median_ratio, window_of
from report import Table
from settings import Failed, dnn_graph, model_file, model_path, net_input, progress, raw_input

SIZES = {"1080p": (1920, 1080), "4K": (3840, 2160)}
WORKERS = (1, 2, 4)
STARTS = 7


def cases(settings):
    """(name, model, input, workers) of all that is measured."""
    nets = [net for net in settings.nets if net.name != "dncnn"]
    for net in nets:
        for workers in WORKERS:
            yield net.name, model_file(settings, net), net_input(settings, net), workers
    for name, (width, height) in SIZES.items():
        if settings.quick:
            width, height = width // 5, height // 5
        source = raw_input(settings, "rgb24", width, height)
        for workers in WORKERS:
            yield f"identity {name}", model_path(settings, "identity"), source, workers


def sides_of(settings, model, source, workers):
    window = window_of(settings)
    return {
        isolate: lambda i=isolate: measure_dnn(
            settings,
            source + ["-noautoscale"],
            dnn_graph(model, workers=workers, threads=1, isolate=i),
            window,
        )
        for isolate in (0, 1)
    }


def start_seconds(settings, model, source, isolate):
    command = settings.launched(
        settings.ffmpeg, "-nostdin", "-hide_banner", "-loglevel", "error", *source,
        "-frames:v", "1", "-vf", dnn_graph(model, isolate=isolate, tune=0), "-f", "null", "-",
    )  # fmt: skip
    environment = {**os.environ, **settings.engine_environment()}
    started = time.monotonic()
    done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, timeout=120)
    if done.returncode:
        raise Failed(done.stderr.decode(errors="replace")[-500:])
    return time.monotonic() - started


def starts(settings, model, source):
    """Medians of the seconds to the first frame: in ffmpeg's process, and in one of its own."""
    times = {0: [], 1: []}
    for _ in range(2 if settings.quick else STARTS):
        for isolate, found in times.items():
            found.append(start_seconds(settings, model, source, isolate))
    return [statistics.median(times[isolate]) for isolate in (0, 1)]


def cpu_ms(rates):
    seconds = median_cpu(rates)
    return None if seconds is None else 1000 * seconds


def run(settings):
    table = Table(
        "isolate",
        "A model in a process of its own (isolate=1) and in ffmpeg's (isolate=0), threads=1",
        ["case", "workers", "fps_in_ffmpeg", "fps_isolated", "rate_kept", "cpu_ms_in_ffmpeg",
         "cpu_ms_isolated", "start_s", "start_extra_ms", "note"],
    )  # fmt: skip
    known_starts = {}
    for name, model, source, workers in cases(settings):
        results = alternate(settings.rounds, sides_of(settings, model, source, workers))
        if name not in known_starts:
            known_starts[name] = starts(settings, model, source)
            progress(f"{name}: first frame after {known_starts[name]} s")
        inside, isolated = known_starts[name]
        table.add(
            case=name, workers=workers, fps_in_ffmpeg=median_fps(results[0]),
            fps_isolated=median_fps(results[1]), rate_kept=median_ratio(results[1], results[0]),
            cpu_ms_in_ffmpeg=cpu_ms(results[0]), cpu_ms_isolated=cpu_ms(results[1]), start_s=inside, start_extra_ms=1000 * (isolated - inside),
            note=failure_of(results[0]) or failure_of(results[1]),
        )  # fmt: skip
    table.remark("cpu is the time of all cores for a frame, of ffmpeg and the model's process.")
    table.remark("start is the time of an ffmpeg that makes one frame and tunes nothing.")
    return table
