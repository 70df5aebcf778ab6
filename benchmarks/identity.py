# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the filter itself costs a 1080p frame, with a model that does nothing.

`cost` is CPU time of ffmpeg with the filter less that of `ffmpeg -vf null` on the
same frames; on several cores the wall time would hide most of it.
"""
import json
import os
import statistics
import subprocess

from rates import alternate, failure_of, ffmpeg_words, measure_chain, measure_dnn
from rates import median_cpu, window_of
from report import Table
from settings import Failed, dnn_graph, model_path, raw_input, run_quietly

FORMATS = ("rgb24", "bgr24", "rgb0", "gbrp", "gray", "yuv420p", "yuv444p", "rgb48le", "gbrp10le",
           "gray16le", "yuv420p10le", "gbrpf32le", "grayf32le")  # fmt: skip


def models(settings):
    """The scripted engine's model and LibTorch's."""
    script = settings.work / "identity.txt"
    script.write_text("# whatever comes goes\n")
    return script, model_path(settings, "identity")


def size_of(settings):
    return (384, 216) if settings.quick else (1920, 1080)


def sides_of(settings, pixel_format):
    width, height = size_of(settings)
    source = raw_input(settings, pixel_format, width, height)
    script, module = models(settings)
    window = window_of(settings)
    graphs = {"fake": dnn_graph(script, engine="fake"), "identity": dnn_graph(module)}
    plain = ffmpeg_words(settings.ffmpeg, source, "null")
    sides = {"null": lambda: measure_chain([plain], window)}
    for name, graph in graphs.items():
        sides[name] = lambda n=name, g=graph: measure_dnn(
            settings, source + ["-noautoscale"], g, window, fake=n == "fake"
        )
    return sides


def is_taken(settings, pixel_format):
    """Whether the filter takes the format, or ffmpeg has to convert on the way."""
    width, height = size_of(settings)
    graph = dnn_graph(models(settings)[0], engine="fake")
    command = settings.launched(
        settings.ffmpeg, "-nostdin", "-hide_banner", "-loglevel", "verbose",
        *raw_input(settings, pixel_format, width, height, loop=False),
        "-frames:v", "1", "-vf", graph, "-f", "null", "-",
    )  # fmt: skip
    environment = {**os.environ, **settings.engine_environment(fake=True)}
    done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, timeout=60)
    return done.returncode == 0 and b"auto-inserting filter" not in done.stderr


def convert_times(settings, pixel_format):
    """Microseconds of the conversions and copies alone, or None."""
    width, height = size_of(settings)
    try:
        return json.loads(
            run_quietly([settings.program("convert"), pixel_format, str(width), str(height)])
        )
    except Failed:
        return None


def cpu_ms(rates):
    seconds = median_cpu(rates)
    return None if seconds is None else 1000 * seconds


def wall_ms(rates):
    return None if failure_of(rates) else statistics.median(1000 / rate.fps for rate in rates)


def add_row(table, settings, pixel_format, results):
    base = cpu_ms(results["null"])
    fake, identity = cpu_ms(results["fake"]), cpu_ms(results["identity"])
    copies = convert_times(settings, pixel_format)
    copy = copies["memcpy_frame_us"] / 1000 if copies else None
    cost = fake - base if fake is not None and base is not None else None
    table.add(
        format=pixel_format, null_ms=wall_ms(results["null"]), fake_ms=wall_ms(results["fake"]),
        identity_ms=wall_ms(results["identity"]), fake_cost_ms=cost,
        identity_cost_ms=identity - base if identity is not None and base is not None else None,
        memcpy_ms=copy, fake_cost_to_memcpy=cost / copy if cost is not None and copy else None,
        note=failure_of(results["fake"]) or failure_of(results["identity"]),
    )  # fmt: skip


def run(settings):
    width, height = size_of(settings)
    table = Table(
        "identity",
        f"A frame of {width}x{height} through the filter, with a model that does nothing",
        ["format", "null_ms", "fake_ms", "identity_ms", "fake_cost_ms", "identity_cost_ms",
         "memcpy_ms", "fake_cost_to_memcpy", "note"],
    )  # fmt: skip
    for pixel_format in FORMATS[:2] if settings.quick else FORMATS:
        if is_taken(settings, pixel_format):
            results = alternate(settings.rounds, sides_of(settings, pixel_format))
            add_row(table, settings, pixel_format, results)
        else:
            table.add(format=pixel_format, note="not taken by the filter")
    table.remark("null, fake and identity are wall time; cost is CPU time above that of -vf null.")
    table.remark("memcpy is one copy of the frame, from and to memory that is not in the caches.")
    return table
