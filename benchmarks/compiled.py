# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The same AOTInductor package in the filter, and in a loop of its own (peer.py).

The loop reads and converts no frames.  Beside them the same net as TorchScript in the filter.
"""
from end_to_end import measure_filter
from fused import PEERS, best_of, measure_peer, run_peer
from model_only import splits_of_cores
from rates import alternate, failure_of, measure_dnn, median_fps, median_ratio, window_of
from report import Table
from settings import Failed, dnn_graph, net_input, progress

PEER = PEERS["AOTInductor"]
COLUMNS = ["model", "fps", "loop_fps", "to_loop", "torchscript_fps", "to_torchscript", "note"]


def sides_of(settings, net):
    path, _ = run_peer(settings, net, *PEER, 1, 1, 0)
    graph = dnn_graph(path, allow="compiled_code")
    ours = {
        "package": lambda: measure_dnn(settings, net_input(settings, net), graph, window_of(settings)),
        "torchscript": lambda: measure_filter(settings, net),
    }
    return ours | {
        f"{workers} x {threads}": lambda w=workers, t=threads: measure_peer(settings, net, *PEER, w, t)
        for workers, threads in splits_of_cores()
    }


def measure(settings, net):
    results = alternate(settings.rounds, sides_of(settings, net))
    package, script = results["package"], results["torchscript"]
    loop = results[best_of(results, [side for side in results if " x " in side])]
    return {
        "fps": median_fps(package), "loop_fps": median_fps(loop), "to_loop": median_ratio(package, loop),
        "torchscript_fps": median_fps(script), "to_torchscript": median_ratio(package, script),
        "note": failure_of(package) or failure_of(script) or failure_of(loop),
    }  # fmt: skip


def run(settings):
    table = Table("compiled", "AOTInductor packages in the filter, and in a loop of their own", COLUMNS)
    for net in settings.nets:
        progress(net.name)
        try:
            table.add(model=net.name, **measure(settings, net))
        except Failed as error:
            table.add(model=net.name, note=str(error).rsplit("peer: ")[-1])
    table.remark("Of the loops the fastest of workers x threads is shown.")
    return table
