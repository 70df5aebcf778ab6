# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What detection costs beside its model, against ffmpeg | python3, and with a second filter.

The model is the detector that comes with the project.  The limit is the rate of LibTorch alone on
pictures of the size that the model gets.
"""
import dataclasses
import importlib.util
import sys

from model_only import configuration_of, limit_of, rate_of
from rates import alternate, failure_of, measure_chain, measure_dnn, median_fps, median_ratio
from rates import spread, window_of
from report import Table
from settings import CORES, HERE, Net, Unavailable, graph_escaped, model_path, quick_net, raw_input

FRAMES = Net("shapes", 1280, 720, "yuv420p", 3, 1)
MULTIPLE = 32  # of the sides of the model's picture
LONGEST = 640


def of_multiple(extent):
    return -(-extent // MULTIPLE) * MULTIPLE


def picture_of(frames):
    """What the model gets of such frames: scaled to fit, with a narrow border."""
    scale = LONGEST / max(frames.width, frames.height)
    return dataclasses.replace(
        frames,
        width=of_multiple(round(frames.width * scale)),
        height=of_multiple(round(frames.height * scale)),
        pixel_format="rgb24",
    )


def detect_graph(settings, **options):
    words = [f"model={graph_escaped(model_path(settings, 'shapes'))}"]
    return "dnn_torch_detect=" + ":".join(words + [f"{key}={options[key]}" for key in options])


def classify_graph(settings, **options):
    words = [f"model={graph_escaped(model_path(settings, 'mobilenet'))}", "on=frame"]
    return "dnn_torch_classify=" + ":".join(words + [f"{key}={options[key]}" for key in options])


def source_of(settings, frames, pixel_format=None):
    return raw_input(settings, pixel_format or frames.pixel_format, frames.width, frames.height)


def measure_pipe(settings, frames):
    """What people write who have no filter; the script counts what it found."""
    reads = [settings.ffmpeg, "-nostdin", "-hide_banner", "-loglevel", "error"]
    reads += source_of(settings, frames) + ["-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    model = model_path(settings, "shapes")
    works = [sys.executable, HERE / "detect_pipe.py", model, frames.width, frames.height]
    return measure_chain([reads, works], window_of(settings))


def measure_graph(settings, frames, graph):
    return measure_dnn(settings, source_of(settings, frames), graph, window_of(settings))


def add(table, what, results, side, base):
    table.add(
        what=what, base=base, base_fps=median_fps(results[base]), fps=median_fps(results[side]),
        ratio=median_ratio(results[side], results[base]), spread=spread(results[side]),
        note=failure_of(results[base]) or failure_of(results[side]),
    )  # fmt: skip


def compare_alone(settings, frames, table):
    picture = picture_of(frames)
    limit = limit_of(settings, picture, "fp32")
    if limit is None:
        raise Unavailable("LibTorch alone does not run the model")
    configuration = configuration_of(limit)
    results = alternate(
        settings.rounds,
        {
            "model alone": lambda: rate_of(settings, picture, configuration, settings.seconds),
            "pipe": lambda: measure_pipe(settings, frames),
            "filter": lambda: measure_graph(settings, frames, detect_graph(settings)),
        },
    )
    add(table, "detect", results, "filter", "model alone")
    add(table, "detect", results, "filter", "pipe")
    table.remark(f"The model alone: {limit['words']}.")


def compare_two(settings, frames, table):
    def measure(first, second):
        graph = detect_graph(settings, **first) + "," + classify_graph(settings, **second)
        return measure_graph(settings, frames, graph)

    one = {"workers": 1}
    results = alternate(
        settings.rounds,
        {
            "defaults": lambda: measure({}, {}),
            "one worker each": lambda: measure(one, one),
            "one worker of all threads each": lambda: measure(
                {**one, "threads": CORES}, {**one, "threads": CORES}
            ),
        },
    )
    base = "one worker of all threads each"
    for side in ("defaults", "one worker each"):
        add(table, f"detect and classify, {side}", results, side, base)


def run(settings):
    if not importlib.util.find_spec("torch"):
        raise Unavailable("python3-torch is not installed")
    table = Table(
        "detect",
        "Detection in frames of 1280x720, and a classifier behind it",
        ["what", "base", "base_fps", "fps", "ratio", "spread", "note"],
    )
    frames = quick_net(FRAMES) if settings.quick else FRAMES
    compare_alone(settings, frames, table)
    compare_two(settings, frames, table)
    table.remark("The script of the pipe: benchmarks/detect_pipe.py, PyTorch at its defaults.")
    return table
