# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`ffmpeg | python3 | ffmpeg` on raw pipes, as is done without a filter, in turns with ours."""
import importlib.util
import sys

from end_to_end import measure_filter
from rates import PROGRESS, alternate, failure_of, measure_chain, median_fps, median_ratio
from rates import window_of
from report import Table
from settings import HERE, Unavailable, model_file, net_input


def chain(settings, net):
    width, height = net.output_size
    quiet = [settings.ffmpeg, "-nostdin", "-hide_banner", "-loglevel", "error"]
    reads = quiet + net_input(settings, net) + ["-f", "rawvideo", "-"]
    works = [
        sys.executable, HERE / "pipe_filter.py", model_file(settings, net), net.pixel_format,
        net.width, net.height,
    ]  # fmt: skip
    writes = quiet[:1] + quiet[2:] + PROGRESS + [
        "-f", "rawvideo", "-pixel_format", net.pixel_format, "-video_size", f"{width}x{height}",
        "-framerate", "25", "-i", "pipe:0", "-f", "null", "-",
    ]  # fmt: skip
    return [reads, works, writes]


def run(settings):
    if not importlib.util.find_spec("torch"):
        raise Unavailable("python3-torch is not installed")
    table = Table(
        "python",
        "The filter against ffmpeg | python3 | ffmpeg",
        ["model", "pipe_fps", "filter_fps", "ratio", "note"],
    )
    for net in settings.nets:
        results = alternate(
            settings.rounds,
            {
                "pipe": lambda: measure_chain(chain(settings, net), window_of(settings)),
                "filter": lambda: measure_filter(settings, net),
            },
        )
        table.add(
            model=net.name, pipe_fps=median_fps(results["pipe"]),
            filter_fps=median_fps(results["filter"]),
            ratio=median_ratio(results["filter"], results["pipe"]),
            note=failure_of(results["pipe"]) or failure_of(results["filter"]),
        )  # fmt: skip
    table.remark("The script in the middle: benchmarks/pipe_filter.py, PyTorch at its defaults.")
    return table
