# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a second worker gives, of one thread each; LibTorch alone beside it."""
from end_to_end import measure_filter
from model_only import configuration_of, limit_of, rate_of
from rates import alternate, failure_of, median_fps, median_ratio
from report import Table
from settings import CORES, Unavailable


def sides_of(settings, net):
    sides = {
        workers: lambda w=workers: measure_filter(settings, net, workers=w, threads=1)
        for workers in (1, 2)
    }
    limit = limit_of(settings, net, "fp32")
    if limit is not None:
        for workers in (1, 2):
            configuration = configuration_of(limit, workers=workers, threads=1)
            sides["alone", workers] = lambda c=configuration: rate_of(
                settings, net, c, settings.seconds
            )
    return sides


def run(settings):
    if CORES < 2:
        raise Unavailable("one core serves no second worker")
    table = Table(
        "workers",
        "One worker and two, threads=1",
        ["model", "fps_of_1", "fps_of_2", "gain", "gain_of_libtorch_alone", "note"],
    )
    for net in settings.nets:
        results = alternate(settings.rounds, sides_of(settings, net))
        alone = None
        if ("alone", 1) in results:
            alone = median_ratio(results["alone", 2], results["alone", 1])
        table.add(
            model=net.name, fps_of_1=median_fps(results[1]), fps_of_2=median_fps(results[2]),
            gain=median_ratio(results[2], results[1]), gain_of_libtorch_alone=alone,
            note=failure_of(results[1]) or failure_of(results[2]),
        )  # fmt: skip
    return table
