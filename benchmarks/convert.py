# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The conversions of a frame to planes of floats and back, without ffmpeg, against memcpy."""
import statistics

from identity import FORMATS, convert_times, size_of
from report import Table
from settings import Unavailable


def run(settings):
    settings.program("convert")
    width, height = size_of(settings)
    table = Table(
        "convert",
        f"Conversions of a {width}x{height} frame, one thread, milliseconds",
        ["format", "in_ms", "out_ms", "memcpy_floats_ms", "in_and_out_to_memcpy", "note"],
    )
    for pixel_format in FORMATS:
        rounds = [convert_times(settings, pixel_format) for _ in range(settings.rounds)]
        if None in rounds:
            table.add(format=pixel_format, note="not converted")
            continue

        def median(key):
            return statistics.median(times[key] for times in rounds) / 1000

        table.add(
            format=pixel_format, in_ms=median("read_us"), out_ms=median("write_us"),
            memcpy_floats_ms=median("memcpy_floats_us"),
            in_and_out_to_memcpy=statistics.median(
                (times["read_us"] + times["write_us"]) / times["memcpy_floats_us"]
                for times in rounds
            ),
            note="",
        )  # fmt: skip
    if not any("in_ms" in row for row in table.rows):
        raise Unavailable("convert converts no format at all")
    table.remark("memcpy copies the floats that the model gets of the frame, once.")
    return table
