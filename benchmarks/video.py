# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Models that look at time: FastDVDnet's windows and RobustVideoMatting's states.

In turns: fused programs, LibTorch's forms in the same filter, and `ffmpeg | python3 | ffmpeg`.
"""
import dataclasses
import importlib.util
import json
import sys

from fused import LIBTORCH, best_of
from rates import PROGRESS, alternate, failure_of, measure_chain, measure_dnn, median_cpu
from rates import median_fps, median_ratio, spread, window_of
from report import Table
from settings import HERE, Net, Unavailable, dnn_graph, model_path, net_input, quick_net
from settings import run_quietly

NETS = (
    Net("fastdvdnet", 640, 360, "rgb24", 3, 1),
    Net("rvm", 1280, 720, "rgb24", 3, 1),
)
MADE = {"fastdvdnet": "rgb24", "rvm": "gray", "rife": "rgb24"}  # by the pipe, for which a matte is enough
OWN = "of one worker's time the model has"
COLUMNS = ["model", "side", "fps", "fused_to_it", "cpu_s_per_frame", "spread", "note"]


def weights(settings, net):
    return model_path(settings, f"{net.name}.pth")


def converted(settings, net):
    """TorchScript of the same weights, which is all that a program without the filter needs."""
    path = settings.work / f"{net.name}-converted.pt"
    program = settings.build / "plugin" / "dnn-torch"
    run_quietly([program, "convert", weights(settings, net), path, "--force"], timeout=300)
    return path


def measure(settings, net, **options):
    graph = dnn_graph(weights(settings, net), **options)
    return measure_dnn(settings, net_input(settings, net), graph, window_of(settings))


def measure_pipe(settings, net, model, **environment):
    quiet = [settings.ffmpeg, "-nostdin", "-hide_banner", "-loglevel", "error"]
    reads = quiet + net_input(settings, net) + ["-f", "rawvideo", "-"]
    works = [sys.executable, HERE / "pipe_video.py", net.name, model, net.width, net.height]
    writes = quiet[:1] + quiet[2:] + PROGRESS + [
        "-f", "rawvideo", "-pixel_format", MADE[net.name], "-video_size",
        f"{net.width}x{net.height}", "-framerate", "25", "-i", "pipe:0", "-f", "null", "-",
    ]  # fmt: skip
    return measure_chain([reads, works, writes], window_of(settings), environment)


def sides_of(settings, net):
    model = converted(settings, net)
    # States run on one worker, which would have all cores: then no program is fused.
    fused = {"optimize": "fused"} | ({"threads": 1} if net.name == "rvm" else {})
    sides = {"fused": lambda: measure(settings, net, **fused)}
    sides |= {form: lambda f=form: measure(settings, net, optimize=f) for form in LIBTORCH}
    if net.name == "fastdvdnet":
        sides["fused, batch_size=4"] = lambda: measure(settings, net, batch_size=4, **fused)
    else:
        sides["LibTorch, frozen, one thread"] = lambda: measure(
            settings, net, optimize="frozen", threads=1
        )
    sides["ffmpeg | python3 | ffmpeg"] = lambda: measure_pipe(settings, net, model)
    return sides


def share_of_model(settings, net):
    """Of the time of one worker that runs the frames in order: the rest is the filter's."""
    stats = settings.work / "video-stats.json"
    graph = dnn_graph(weights(settings, net), workers=1, threads=1, stats=stats)
    frames = 8 if settings.quick else 40
    run_quietly(
        settings.launched(
            settings.ffmpeg, "-nostdin", "-loglevel", "error", *net_input(settings, net),
            "-frames:v", frames, "-vf", graph, "-f", "null", "-",
        ),
        timeout=1200,
    )  # fmt: skip
    told = json.loads(stats.read_text())
    milliseconds = told["frame_ms"]
    passed = milliseconds["forward"] * told["fps"] / 1000
    worker = sum(milliseconds[part] for part in ("convert_in", "forward", "convert_out"))
    return passed, worker / milliseconds["forward"]


def add_rows(table, net, results):
    fused = results["fused"]
    best = best_of(results, LIBTORCH)
    shown = {"fused": "fused", best: f"LibTorch, {best}"}
    shown |= {side: side for side in results if side not in ("fused", *LIBTORCH)}
    for side, words in shown.items():
        rates = results[side]
        table.add(
            model=net.name, side=words, fps=median_fps(rates),
            fused_to_it=None if rates is fused else median_ratio(fused, rates),
            cpu_s_per_frame=median_cpu(rates), spread=spread(rates), note=failure_of(rates),
        )  # fmt: skip


def run(settings):
    if not importlib.util.find_spec("torch"):
        raise Unavailable("python3-torch is not installed")
    table = Table("video", "Models that look at time", COLUMNS)
    for net in NETS:
        sized = quick_net(net) if settings.quick else net
        add_rows(table, sized, alternate(settings.rounds, sides_of(settings, sized)))
        passed, worker = share_of_model(settings, sized)
        table.remark(
            f"{net.name}, one worker in order: {passed:.3f} of the time is the model's; a frame takes "
            f"its worker {worker:.3f} of the model's time."
        )
    table.remark("rvm, fused: one thread, as fused programs are; LibTorch's forms have all cores.")
    table.remark("The pipe: benchmarks/pipe_video.py, PyTorch at its defaults, the same weights.")
    return table
