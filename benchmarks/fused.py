# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fused programs in the filter, in turns with each of LibTorch's forms in the same filter."""
from end_to_end import measure_filter, precision_options
from memory import MIB
from rates import alternate, failure_of, median_fps, median_ratio, spread
from report import Table, cpu_features
from settings import progress

LIBTORCH = ("inference", "frozen", "channels_last")
COLUMNS = ["model", "precision", "fps", "best_of_libtorch", "fps_of_it", "ratio", "spread",
           "mib", "mib_of_it", "note"]  # fmt: skip


def sides_of(settings, net, precision):
    options = precision_options(precision)
    return {
        form: lambda f=form: measure_filter(settings, net, optimize=f, **options)
        for form in ("fused", *LIBTORCH)
    }


def most_mib(results):
    sizes = [sample.resident_bytes / MIB for rate in results for sample in rate.samples]
    return max(sizes, default=None)


def run(settings):
    table = Table("fused", "Fused programs against LibTorch's forms, in the filter", COLUMNS)
    has_bf16 = "avx512_bf16" in cpu_features()
    precisions = ("fp32", "bf16") if has_bf16 else ("fp32",)
    for net in settings.nets:
        for precision in precisions:
            progress(f"{net.name} {precision}")
            results = alternate(settings.rounds, sides_of(settings, net, precision))
            best = max(LIBTORCH, key=lambda form: median_fps(results[form]) or 0)
            fused = results["fused"]
            table.add(
                model=net.name, precision=precision, fps=median_fps(fused), best_of_libtorch=best,
                fps_of_it=median_fps(results[best]), ratio=median_ratio(fused, results[best]),
                spread=spread(fused), mib=most_mib(fused), mib_of_it=most_mib(results[best]),
                note=failure_of(fused) or failure_of(results[best]),
            )  # fmt: skip
    if not has_bf16:
        table.remark("Without the processor's bf16 units there are no fused programs in bf16.")
    return table
