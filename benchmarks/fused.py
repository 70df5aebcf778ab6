# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fused programs in the filter, in turns with LibTorch's forms in the same filter, and with peers.

A peer runs the same net alone, in a process of its own and without a video (peer.py), or is
FFmpeg's own torch backend.  The row of one that cannot run here says why.
"""
import json
import sys

from end_to_end import measure_filter, precision_options
from memory import MIB
from model_only import splits_of_cores
from rates import Rate, alternate, failure_of, median_fps, median_ratio, spread
from report import Table, cpu_features
from settings import CORES, HERE, Failed, Unavailable, progress, run_quietly
from upstream import built_program, measure_upstream

LIBTORCH = ("inference", "frozen", "channels_last")
PEERS = {"ONNX Runtime": ("onnxruntime", ".onnx"), "AOTInductor": ("aotinductor", ".pt2")}
UPSTREAM = "FFmpeg's torch backend"
COLUMNS = [
    *("model", "precision", "side", "fps", "fused_to_it", "spread", "gflops", "of_peak", "mib"),
    "note",
]
LIMIT_SECONDS = 600  # compiling takes the most of it


def libtorch_sides(settings, net, precision):
    """LibTorch has no int8 of its own: there it computes in bf16, where the processor does."""
    beside = precision_beside("LibTorch", precision)
    precisions = {"fused": precision} | dict.fromkeys(LIBTORCH, beside)
    return {
        form: lambda f=form, p=each: measure_filter(
            settings, net, optimize=f, **precision_options(p)
        )
        for form, each in precisions.items()
    }


def run_peer(settings, net, kind, ending, workers, threads, seconds):
    """What is exported or compiled is kept, for as many threads; that is a process of its own."""
    path = settings.work / "peers" / f"{net.name}-{net.width}x{net.height}-{threads}{ending}"
    words = [kind, net.name, net.height, net.width, workers, threads, seconds, path]
    command = [sys.executable, HERE / "peer.py", *words]
    if not path.exists():
        run_quietly(command, timeout=LIMIT_SECONDS)
    return path, json.loads(run_quietly(command, timeout=LIMIT_SECONDS))


def measure_peer(settings, net, kind, ending, workers, threads):
    try:
        _, found = run_peer(settings, net, kind, ending, workers, threads, settings.seconds)
    except Failed as error:
        return Rate(failure=str(error).rsplit("peer: ")[-1])
    return Rate(fps=found["fps"], resident_bytes=round(found["mib"] * MIB))


def peer_sides(settings, net):
    sides = {
        f"{name}, {workers} x {threads}": lambda k=kind, w=workers, t=threads: measure_peer(
            settings, net, *k, w, t
        )
        for name, kind in PEERS.items()
        for workers, threads in splits_of_cores()
    }
    program = built_program(settings)
    if program:
        sides[UPSTREAM] = lambda: measure_upstream(settings, program, net, 0, True)
    else:
        reason = "not built: give --upstream-ffmpeg, or run upstream first with the same --work"
        sides[UPSTREAM] = lambda: Rate(failure=reason)
    return sides


def most_mib(results):
    sizes = [sample.resident_bytes / MIB for rate in results for sample in rate.samples]
    sizes += [rate.resident_bytes / MIB for rate in results if rate.resident_bytes]
    return max(sizes, default=None)


def best_of(results, names):
    return max(names, key=lambda name: median_fps(results[name]) or 0)


def shown_sides(results):
    """(words, rates) of what the table shows: of each kind the fastest."""
    yield "fused", results["fused"]
    best = best_of(results, LIBTORCH)
    yield f"LibTorch, {best}", results[best]
    for name in PEERS:
        splits = [side for side in results if side.startswith(f"{name}, ")]
        if splits:
            best = best_of(results, splits)
            yield name if failure_of(results[best]) else best, results[best]
    if UPSTREAM in results:
        yield UPSTREAM, results[UPSTREAM]


def peaks_of_core(settings):
    """GFLOP/s by precision, and bandwidths."""
    try:
        return json.loads(run_quietly([settings.program("peaks")]))
    except (Failed, Unavailable):
        return {}


def precision_beside(side, precision):
    """What LibTorch and its peers compute in: see libtorch_sides()."""
    if precision != "int8" or side == "fused":
        return precision
    return "bf16" if "avx512_bf16" in cpu_features() else "fp32"


def add_rows(table, net, precision, results, peaks):
    fused = results["fused"]
    for side, rates in shown_sides(results):
        fps = median_fps(rates)
        gflops = fps and 2e-9 * net.products * net.width * net.height * fps
        peak = peaks.get(precision_beside(side, precision))
        table.add(
            model=net.name, precision=precision, side=side, fps=fps,
            fused_to_it=None if rates is fused else median_ratio(fused, rates),
            spread=spread(rates), gflops=gflops,
            of_peak=gflops / peak / CORES if gflops and peak else None,
            mib=most_mib(rates), note=failure_of(rates),
        )  # fmt: skip


def run(settings):
    table = Table("fused", "Fused programs against LibTorch's forms and other runtimes", COLUMNS)
    has_bf16 = "avx512_bf16" in cpu_features()
    peaks = peaks_of_core(settings)
    for net in settings.nets:
        for precision in settings.precisions:
            if precision == "bf16" and not has_bf16:
                continue
            progress(f"{net.name} {precision}")
            sides = libtorch_sides(settings, net, precision)
            if precision == "fp32":
                sides |= peer_sides(settings, net)
            add_rows(table, net, precision, alternate(settings.rounds, sides), peaks)
    if not has_bf16:
        table.remark("Without the processor's bf16 units there are no fused programs in bf16.")
    known = [f"{name} {rate:.0f}" for name, rate in peaks.items() if rate]
    table.remark(f"A core's peaks, GFLOP/s and GB/s read (peaks): {', '.join(known)}." * bool(known))
    table.remark("GFLOP/s count all products; Winograd's tiles need a quarter of those of 3x3 layers.")
    table.remark("Beside int8 LibTorch computes in bf16, or in fp32 without such units.")
    table.remark("Of the others the fastest is shown: of the forms, and of workers x threads.")
    table.remark("ONNX Runtime and AOTInductor run the net alone: no frames are read or converted.")
    return table
