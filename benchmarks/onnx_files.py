# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The same net as an ONNX file and as TorchScript in the filter, and in ONNX Runtime alone.

ONNX Runtime's loop (peer.py) reads and converts no frames.  Its start is that of a session and
the first run, in a process that has imported it; ours is from the start of ffmpeg to the first
byte of its first frame.
"""
import pathlib
import statistics
import tempfile

from end_to_end import measure_filter
from fused import PEERS, best_of, measure_peer, run_peer
from model_only import splits_of_cores
from rates import alternate, failure_of, measure_dnn, median_fps, median_ratio, window_of
from report import Table
from settings import CORES, Failed, dnn_graph, net_input, progress
from start import seconds_to_first_frame

PEER = "ONNX Runtime"
COLUMNS = [
    *("model", "fps", "runtime_fps", "to_runtime", "torchscript_fps", "to_torchscript"),
    *("cold_s", "warm_s", "runtime_s", "note"),
]


def first_run(settings, net):
    """The exported file, and the seconds of ONNX Runtime's start with it."""
    path, found = run_peer(settings, net, *PEERS[PEER], 1, CORES, 0)
    return path, found["first_run_s"]


def sides_of(settings, net, graph, peer):
    """The file in the filter with that graph, TorchScript there, and the peer's own loop."""
    ours = {
        "file": lambda: measure_dnn(
            settings, net_input(settings, net), graph, window_of(settings)
        ),
        "torchscript": lambda: measure_filter(settings, net),
    }
    return ours | {
        f"{workers} x {threads}": lambda w=workers, t=threads: measure_peer(
            settings, net, *PEERS[peer], w, t
        )
        for workers, threads in splits_of_cores()
    }


def starts(settings, net, path):
    rounds = []
    for _ in range(settings.rounds):
        with tempfile.TemporaryDirectory() as folder:
            cold, warm = (
                seconds_to_first_frame(
                    settings, net_input(settings, net, loop=False), dnn_graph(path),
                    pathlib.Path(folder),
                )
                for _ in range(2)
            )  # fmt: skip
        rounds.append((cold, warm, first_run(settings, net)[1]))
    return map(statistics.median, zip(*rounds))


def measure(settings, net):
    path, _ = first_run(settings, net)
    results = alternate(settings.rounds, sides_of(settings, net, dnn_graph(path), PEER))
    file, script = results["file"], results["torchscript"]
    runtime = results[best_of(results, [side for side in results if " x " in side])]
    cold, warm, runtime_s = starts(settings, net, path)
    return {
        "fps": median_fps(file), "runtime_fps": median_fps(runtime),
        "to_runtime": median_ratio(file, runtime), "torchscript_fps": median_fps(script),
        "to_torchscript": median_ratio(file, script),
        "cold_s": cold, "warm_s": warm, "runtime_s": runtime_s,
        "note": failure_of(file) or failure_of(script) or failure_of(runtime),
    }  # fmt: skip


def fill(table, settings, measure):
    """A row for each net, with what `measure` finds, or with why it finds nothing."""
    for net in settings.nets:
        progress(net.name)
        try:
            table.add(model=net.name, **measure(settings, net))
        except Failed as error:
            table.add(model=net.name, note=str(error).rsplit("peer: ")[-1])
    return table


def run(settings):
    table = Table("onnx", "ONNX files in the filter, and in ONNX Runtime alone", COLUMNS)
    table.remark("Of ONNX Runtime the fastest of workers x threads is shown.")
    return fill(table, settings, measure)
