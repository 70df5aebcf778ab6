# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""From the start of ffmpeg to its first frame, and what of it is loading.

A start is cold if the folder of the tuning cache is empty, and warm if an earlier start has had it;
files are in the page cache.  Loading is that of the engine alone (load_only.cpp), in a process of
its own each time, in turns with PyTorch reading the same file and making its tensors.
"""
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from report import Table
from settings import Failed, Unavailable, dnn_graph, model_path, progress, raw_input, run_quietly

# Model, frames: the last one computes 77 GFLOP for a frame of that size.
CASES = [("upscale2x.pt", (640, 360)), ("espcn.pt", (640, 360)), ("esrgan.pth", (64, 36))]
LIMIT_SECONDS = 120


def seconds_to_first_frame(settings, source, graph, cache):
    """Until the first byte of the first frame comes out."""
    command = settings.launched(
        settings.ffmpeg, "-nostdin", "-hide_banner", "-loglevel", "error", *source,
        "-frames:v", "1", "-vf", graph, "-f", "rawvideo", "-flush_packets", "1", "pipe:1",
    )  # fmt: skip
    environment = {**os.environ, **settings.engine_environment(), "DNN_TORCH_CACHE": str(cache)}
    with tempfile.TemporaryFile() as errors:
        started = time.monotonic()
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=errors
        ) as process:
            has_come = bool(process.stdout.read(1))
            seconds = time.monotonic() - started
            try:
                process.communicate(timeout=LIMIT_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise Failed("it does not end after its frame") from None
        errors.seek(0)
        if not has_come or process.returncode:
            raise Failed(errors.read().decode(errors="replace").strip()[-200:] or "no frame")
    return seconds


def starts(settings, model, source):
    """Seconds of one round: (ffmpeg alone, cold, warm)."""
    with tempfile.TemporaryDirectory() as folder:
        graph = dnn_graph(model)
        return [
            seconds_to_first_frame(settings, source, each, pathlib.Path(folder))
            for each in ("null", graph, graph)
        ]


def load_seconds(settings, model):
    environment = {**os.environ, **settings.engine_environment()}
    output = run_quietly([settings.program("load_only"), model], env=environment, timeout=300)
    return json.loads(output)["seconds"][0]


def read_seconds(model):
    output = run_quietly([sys.executable, __file__, model], timeout=300)
    return json.loads(output)["seconds"]


def measure(settings, name, size):
    model = model_path(settings, name)
    source = raw_input(settings, "rgb24", *size, loop=False)
    rounds = []
    for _ in range(settings.rounds):
        read, load = read_seconds(model), load_seconds(settings, model)
        rounds.append((*starts(settings, model, source), load, read, load / read))
        progress(f"{name}: {', '.join(f'{number:.3f}' for number in rounds[-1])}")
    alone, cold, warm, load, read, ratio = map(statistics.median, zip(*rounds))
    return {
        "ffmpeg_alone_s": alone, "cold_s": cold, "warm_s": warm, "load_ms": 1000 * load,
        "read_ms": 1000 * read, "load_to_read": ratio,
        "mb": os.path.getsize(model) / 1e6,
    }  # fmt: skip


def run(settings):
    if not importlib.util.find_spec("torch"):
        raise Unavailable("python3-torch is not installed")
    table = Table(
        "start",
        "From the start of ffmpeg to the first frame, and loading alone",
        ["model", "mb", "frames", "ffmpeg_alone_s", "cold_s", "warm_s", "load_ms", "read_ms",
         "load_to_read", "note"],
    )  # fmt: skip
    for name, size in CASES:
        row = {"model": name, "frames": "x".join(map(str, size)), "note": ""}
        try:
            row.update(measure(settings, name, size))
        except Failed as error:
            row["note"] = str(error)
        table.add(**row)
    table.remark("ffmpeg alone has the filter null. A cold start tunes, for 3 s at most.")
    table.remark("read is torch.jit.load() or torch.load() in Python, after the import of torch.")
    return table


def read_with_pytorch(path):
    import torch

    started = time.monotonic()
    # Kept until the time is taken: what they are freed in does not count.
    kept = torch.load(path) if path.endswith(".pth") else torch.jit.load(path)
    seconds = time.monotonic() - started
    assert kept is not None
    return seconds


if __name__ == "__main__":
    print(json.dumps({"seconds": read_with_pytorch(sys.argv[1])}))
