# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""FFmpeg's own dnn_processing with its torch backend: same LibTorch, same model, same frames.

As it is, FFmpeg 9.0 joins threads that were never started, which current glibc
answers with a segmentation fault, before the first frame.  So it is run twice: as
it is, and with that one call kept from the C library (never_started.c), which is
what it would be without the fault.
"""
from end_to_end import measure_filter
from rates import alternate, failure_of, ffmpeg_words, measure_chain, median_cpu, median_fps
from rates import median_ratio, spread, window_of
from report import Table, first_line_of
from settings import REPOSITORY, Failed, Unavailable, graph_escaped, model_file, net_input
from settings import progress, run_quietly

RUNS = {
    "sync, as it is": (0, False),
    "async, as it is": (1, False),
    "sync, fault kept away": (0, True),
    "async, fault kept away": (1, True),
}
OURS = {"dnn_torch, defaults": {}, "dnn_torch, bf16": {"precision": "bf16"}}


def folder_of_build(settings):
    return settings.work / "upstream-ffmpeg"


def built_program(settings):
    """An ffmpeg with the backend that is there already; '' where none is."""
    built = folder_of_build(settings) / "bin" / "ffmpeg"
    return settings.upstream_ffmpeg or (str(built) if built.exists() else "")


def upstream_program(settings):
    """An ffmpeg with the backend: the one that was named, or one that is built now."""
    if settings.upstream_ffmpeg:
        return settings.upstream_ffmpeg
    folder = folder_of_build(settings)
    progress("building FFmpeg with its torch backend, where that is not done yet")
    try:
        run_quietly([REPOSITORY / "scripts/build-upstream-ffmpeg.sh", "-", folder], timeout=3600)
    except Failed as error:
        raise Unavailable(f"{error}; try --suite sid") from None
    return str(folder / "bin" / "ffmpeg")


def measure_upstream(settings, program, net, is_async, keep_away):
    graph = (
        f"dnn_processing=dnn_backend=torch:async={is_async}"
        f":model={graph_escaped(model_file(settings, net))}"
    )
    environment = {"LD_PRELOAD": settings.program("libnever_started.so")} if keep_away else {}
    command = ffmpeg_words(program, net_input(settings, net), graph)
    return measure_chain([command], window_of(settings), environment)


def sides_of(settings, program, net):
    sides = {
        name: lambda a=is_async, k=keep_away: measure_upstream(settings, program, net, a, k)
        for name, (is_async, keep_away) in RUNS.items()
    }
    for name, options in OURS.items():
        sides[name] = lambda o=options: measure_filter(settings, net, **o)
    return sides


def add_rows(table, net, results):
    ran = [name for name in RUNS if not failure_of(results[name])]
    best = max(ran, key=lambda name: median_fps(results[name]), default=None)
    for name, rates in results.items():
        ratio = median_ratio(rates, results[best]) if best else None
        table.add(
            model=net.name, side=name, fps=median_fps(rates), to_best_upstream=ratio,
            cpu_s_per_frame=median_cpu(rates), spread=spread(rates), note=failure_of(rates),
        )  # fmt: skip


def run(settings):
    program = upstream_program(settings)
    version = first_line_of([program, "-version"]).split(" Copyright")[0]
    table = Table(
        "upstream",
        f"FFmpeg's own torch backend ({version})",
        ["model", "side", "fps", "to_best_upstream", "cpu_s_per_frame", "spread", "note"],
    )
    for net in settings.nets:
        add_rows(table, net, alternate(settings.rounds, sides_of(settings, program, net)))
    table.remark(
        "It compiles against LibTorch 2.14 only where its configure is made to ask for C++20 "
        "(scripts/build-upstream-ffmpeg.sh)."
    )
    table.remark("Its torch backend takes three channels only, so that no luma model runs in it.")
    return table
