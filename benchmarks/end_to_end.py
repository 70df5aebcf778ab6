# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`ffmpeg -vf dnn_torch -f null -` at defaults, in turns with the limit of model_only."""
import math
import os

import numpy

from model_only import configuration_of, limit_of, rate_of
from rates import alternate, failure_of, measure_dnn, median_cpu, median_fps, median_ratio
from rates import spread, window_of
from report import Table
from settings import dnn_graph, model_file, net_input, run_quietly

COLUMNS = ["model", "precision", "fps", "limit_fps", "ratio", "spread", "cpu_s_per_frame", "note"]


def precision_options(precision):
    """None of fp32: that is the default, and what is measured are the defaults."""
    return {} if precision == "fp32" else {"precision": precision}


def measure_filter(settings, net, **options):
    graph = dnn_graph(model_file(settings, net), **options)
    return measure_dnn(settings, net_input(settings, net), graph, window_of(settings))


def compare(settings, net, precision):
    """One row: our filter and the limit, alternated."""
    limit = limit_of(settings, net, precision)
    if limit is None:
        return {"note": "LibTorch alone ran in no form"}
    configuration = configuration_of(limit)
    results = alternate(
        settings.rounds,
        {
            "limit": lambda: rate_of(settings, net, configuration, settings.seconds),
            "filter": lambda: measure_filter(settings, net, **precision_options(precision)),
        },
    )
    ours = results["filter"]
    return {
        "fps": median_fps(ours),
        "limit_fps": median_fps(results["limit"]),
        "ratio": median_ratio(ours, results["limit"]),
        "spread": spread(ours),
        "cpu_s_per_frame": median_cpu(ours),
        "note": failure_of(ours) or failure_of(results["limit"]),
    }


def output_frames(settings, net, precision, count=3):
    """What the filter makes of the first frames, as bytes."""
    graph = dnn_graph(model_file(settings, net), **precision_options(precision))
    command = settings.launched(
        settings.ffmpeg, "-nostdin", "-loglevel", "error", *net_input(settings, net, loop=False),
        "-frames:v", str(count), "-vf", graph, "-f", "rawvideo", "-pix_fmt", net.pixel_format, "-",
    )  # fmt: skip
    environment = {**os.environ, **settings.engine_environment()}
    output = run_quietly(command, env=environment, timeout=600)
    return numpy.frombuffer(output, numpy.uint8).astype(numpy.float64)


def psnr_db(settings, net, precision):
    """Of the filter's frames to those in fp32; chroma, where it only passes through, left out."""
    expected = output_frames(settings, net, "fp32")
    got = output_frames(settings, net, precision)
    if net.channels == 1:
        width, height = net.output_size
        expected, got = (
            frames.reshape(-1, width * height * 3 // 2)[:, : width * height]
            for frames in (expected, got)
        )
    error = numpy.mean((expected - got) ** 2)
    return 10 * math.log10(255**2 / error) if error else math.inf


def run(settings):
    table = Table("end-to-end", "End to end: ffmpeg at defaults against the limit", COLUMNS)
    for net in settings.nets:
        for precision in ("fp32", "bf16"):
            row = compare(settings, net, precision)
            table.add(model=net.name, precision=precision, **row)
            if precision != "fp32" and row.get("fps"):
                distance = psnr_db(settings, net, precision)
                table.remark(f"{net.name}: {precision} is {distance:.1f} dB PSNR from fp32.")
    table.remark("The limit is that of the same precision; ratios are medians over the rounds.")
    return table
