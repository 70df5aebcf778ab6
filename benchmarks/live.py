# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What deadline= costs, how many frames it has in time, and what goal=latency gains.

The statistics of the filter tell the latencies, from a frame's arrival to its departure.
"""
import json
import os
import statistics
import subprocess
import time

from report import Table
from settings import Failed, dnn_graph, model_path, progress, raw_input

# Of a model that alone makes 36 frames in a second.
MODEL_US = round(1e6 / 36)
COST = {"no deadline": {}, "every=1": {"every": 1}, "deadline=10": {"deadline": 10}}
ON_TIME = [{"deadline": d, "workers": w} for d in ("33ms", "40ms", "60ms") for w in (1, 2)]
LATENCY = {"throughput": {}, "latency": {"goal": "latency"}}
LATENCY_MODELS = {"small": "stylise.pt", "middle": "compact2x.pth"}


def play(settings, size, model, count, options, rate=None, fake=False):
    """One ffmpeg; as from a camera if there is a rate.  Returns what the statistics tell, and the
    milliseconds of a frame."""
    stats = settings.work / "live.json"
    source = raw_input(settings, "rgb24", *size)
    source[source.index("-framerate") + 1] = str(rate or 25)
    graph = dnn_graph(model, stats=stats, isolate=0, **options, **({"engine": "fake"} if fake else {}))
    command = settings.launched(
        settings.ffmpeg, "-nostdin", "-loglevel", "error", *(["-re"] if rate else []), *source,
        "-noautoscale", "-frames:v", str(count), "-vf", graph, "-f", "null", "-",
    )  # fmt: skip
    environment = {**os.environ, **settings.engine_environment(fake), "DNN_TORCH_CACHE": ""}
    started = time.monotonic()
    process = subprocess.Popen(command, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise Failed(f"exit {process.returncode} of {' '.join(command)}")
    return {
        **json.loads(stats.read_text()),
        "wall_ms": 1000 * (time.monotonic() - started) / count,
        "cpu_ms": 1000 * (used.ru_utime + used.ru_stime) / count,
    }


def alternated(settings, sides, run):
    """Name -> what each run of that side told.  Each round begins with another side."""
    results = {name: [] for name in sides}
    for number in range(settings.rounds):
        names = list(sides)
        for name in names[number % len(names):] + names[: number % len(names)]:
            results[name].append(run(sides[name]))
            progress(f"{name}: {results[name][-1]['latency_ms']}")
    return results


def add_latency(table, results, choose=statistics.median, **row):
    latencies = {key: choose(each["latency_ms"][key] for each in results)
                 for key in ("p50", "p95", "p99")}
    table.add(**row, **latencies, cpu_ms=choose(each["cpu_ms"] for each in results),
              wall_ms=choose(each["wall_ms"] for each in results))


def add_costs(table, settings, script):
    """With async=0 all sides make frames one by one, as fast as they are read.  What else the
    machine does only adds to that, so the least of all rounds counts."""
    size, count = (64, 48), round(settings.seconds * 1000)
    results = alternated(settings, COST, lambda options: play(
        settings, size, script, count, {"async": 0, "workers": 1, "threads": 1, **options}, fake=True))
    for name, of_name in results.items():
        add_latency(table, of_name, choose=min, case="cost of a frame", options=name)


def add_on_time(table, settings, script):
    count = round(settings.seconds * 30)
    for options in ON_TIME:
        results = [play(settings, (640, 360), script, count, {"threads": 1, **options}, rate=30, fake=True)
                   for _ in range(settings.rounds)]
        missing = statistics.median(
            sum(each["late"][late] for late in ("pass", "last", "drop", "hide")) + each["late"]["missed"]
            for each in results)
        words = ":".join(f"{key}={value}" for key, value in options.items())
        add_latency(table, results, case="36 fps model at 30", options=words,
                    on_time_percent=100 * (1 - missing / count))


def add_goals(table, settings):
    size, seconds = ((96, 54) if settings.quick else (320, 180)), settings.seconds
    for name, model in LATENCY_MODELS.items():
        for rate in (10, 25):
            results = alternated(settings, LATENCY, lambda options: play(
                settings, size, model_path(settings, model), round(seconds * rate), options, rate=rate))
            for goal, of_goal in results.items():
                add_latency(table, of_goal, case=f"{name} model at {rate} fps", options=f"goal={goal}")


def run(settings):
    table = Table(
        "live", "Frames with a deadline, and the least latency; milliseconds",
        ["case", "options", "on_time_percent", "p50", "p95", "p99", "cpu_ms", "wall_ms"])
    costs, slow = settings.work / "costs.txt", settings.work / "slow.txt"
    costs.write_text("gain -1\noffset 1\n")
    slow.write_text(f"gain -1\noffset 1\nlatency_us {MODEL_US}\n")
    add_costs(table, settings, costs)
    add_on_time(table, settings, slow)
    add_goals(table, settings)
    table.remark("p50, p95 and p99 are from a frame's arrival to its departure, medians of the rounds; of"
                 " the costs all is the least of the rounds.")
    table.remark(f"The 36 fps model is the fake engine, which takes {MODEL_US / 1000:.1f} ms and no"
                 " processor; that of the costs takes no time, and its frames have 64x48.")
    table.remark(f"small and middle are {' and '.join(LATENCY_MODELS.values())},"
                 " of 320x180 pixels.")
    return table
