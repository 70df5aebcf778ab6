# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Frames between frames: RIFE 4.25, twice as many.

In turns, on one thread: the filter with the weights and with TorchScript made of them, and a loop
over pairs in PyTorch, `ffmpeg | python3 | ffmpeg`; then two workers of the filter.
"""
import importlib.util

from rates import alternate, failure_of, measure_dnn, median_cpu, median_fps, median_ratio
from rates import spread, window_of
from report import Table
from settings import Net, Unavailable, dnn_graph, net_input, quick_net
from video import converted, measure_pipe, weights

NET = Net("rife", 640, 360, "rgb24", 3, 1)
LOOP = "loop over pairs in PyTorch"
ONE = "weights, 1 worker"


def measure(settings, net, model, **options):
    graph = dnn_graph(model, factor=2, cuts="off", threads=1, **options)
    graph = graph.replace("dnn_torch", "dnn_torch_interpolate", 1)
    return measure_dnn(settings, net_input(settings, net), graph, window_of(settings))


def sides_of(settings, net):
    rife, script = weights(settings, net), converted(settings, net)
    return {
        ONE: lambda: measure(settings, net, rife, workers=1),
        LOOP: lambda: measure_pipe(settings, net, script, OMP_NUM_THREADS="1"),
        "TorchScript, 1 worker": lambda: measure(settings, net, script, workers=1),
        "weights, 1 worker, batch_size=4": lambda: measure(
            settings, net, rife, workers=1, batch_size=4
        ),
        "weights, 2 workers": lambda: measure(settings, net, rife, workers=2),
    }


def run(settings):
    if not importlib.util.find_spec("torch"):
        raise Unavailable("python3-torch is not installed")
    net = quick_net(NET) if settings.quick else NET
    columns = ["side", "fps", "to_the_loop", "to_one_worker", "cpu_s_per_frame", "spread", "note"]
    table = Table("interpolate", f"RIFE 4.25, {net.width}x{net.height}, factor=2", columns)
    results = alternate(settings.rounds, sides_of(settings, net))
    for side, rates in results.items():
        table.add(
            side=side, fps=median_fps(rates), to_the_loop=median_ratio(rates, results[LOOP]),
            to_one_worker=median_ratio(rates, results[ONE]), cpu_s_per_frame=median_cpu(rates),
            spread=spread(rates), note=failure_of(rates),
        )  # fmt: skip
    table.remark("The loop: benchmarks/pipe_video.py, TorchScript of the same weights.")
    return table
