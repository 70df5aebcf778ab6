# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The same AOTInductor package in the filter, and in a loop of its own (peer.py).

The loop reads and converts no frames.  Beside them the same net as TorchScript in the filter.
"""
from fused import PEERS, best_of, run_peer
from onnx_files import fill, sides_of
from rates import alternate, failure_of, median_fps, median_ratio
from report import Table
from settings import dnn_graph

PEER = "AOTInductor"
COLUMNS = ["model", "fps", "loop_fps", "to_loop", "torchscript_fps", "to_torchscript", "note"]


def measure(settings, net):
    path, _ = run_peer(settings, net, *PEERS[PEER], 1, 1, 0)
    graph = dnn_graph(path, allow="compiled_code")
    results = alternate(settings.rounds, sides_of(settings, net, graph, PEER))
    package, script = results["file"], results["torchscript"]
    loop = results[best_of(results, [side for side in results if " x " in side])]
    return {
        "fps": median_fps(package), "loop_fps": median_fps(loop), "to_loop": median_ratio(package, loop),
        "torchscript_fps": median_fps(script), "to_torchscript": median_ratio(package, script),
        "note": failure_of(package) or failure_of(script) or failure_of(loop),
    }  # fmt: skip


def run(settings):
    table = Table("compiled", "AOTInductor packages in the filter, and in a loop of their own", COLUMNS)
    table.remark("Of the loops the fastest of workers x threads is shown.")
    return fill(table, settings, measure)
