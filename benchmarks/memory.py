# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Resident memory over a long run."""
import statistics

from rates import measure_dnn, window_of
from report import Table
from settings import dnn_graph, model_file, net_input

MIB = 2**20


def resident_mib(samples, frame, width):
    """The mean over `width` frames to each side, or of the nearest moments in a short run.

    A moment's value depends on where in a run each worker is, and lies near one of
    a few levels: a median jumps from one to the next.
    """
    near = [sample for sample in samples if abs(sample.frames - frame) <= width]
    near = near or sorted(samples, key=lambda sample: abs(sample.frames - frame))[:9]
    return statistics.fmean(sample.resident_bytes / MIB for sample in near) if near else None


def run(settings):
    last = settings.memory_frames
    first = last // 10
    table = Table(
        "memory",
        f"Resident memory from frame {first} to frame {last}",
        ["model", "mib_at_first", "mib_at_last", "largest_mib", "change_percent", "note"],
    )
    net = settings.nets[0]
    window = window_of(settings, until_frame=last, limit_seconds=3600)
    graph = dnn_graph(model_file(settings, net))
    rate = measure_dnn(settings, net_input(settings, net), graph, window)
    samples = [sample for sample in rate.samples if sample.frames >= first // 2]
    early, late = (resident_mib(samples, frame, first // 2) for frame in (first, last))
    table.add(
        model=net.name, mib_at_first=early, mib_at_last=late,
        largest_mib=max((sample.resident_bytes / MIB for sample in samples), default=None),
        change_percent=(late / early - 1) * 100 if early and late else None,
        note=rate.failure,
    )  # fmt: skip
    return table
