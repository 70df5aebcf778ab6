# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What each further worker takes of memory: its session, and the frame that it works on.

The resident memory of one process with several workers, less that with one worker, by the
workers more.  What there is once (libraries, weights, frames in flight) is in both.
"""
import statistics

from end_to_end import measure_filter
from fused import LIBTORCH
from memory import MIB
from rates import alternate, failure_of
from report import Table

FORMS = ("fused", *LIBTORCH)
MORE = 3  # workers, beside the first one
IN_FLIGHT = 1 + MORE


def resident_mib(rates):
    """The median over the second half of each run, when all sessions have run."""
    later = [rate.samples[len(rate.samples) // 2 :] for rate in rates]
    sizes = [sample.resident_bytes / MIB for samples in later for sample in samples]
    return statistics.median(sizes) if sizes else None


def sides_of(settings, net):
    return {
        (form, workers): lambda f=form, w=workers: measure_filter(
            settings, net, optimize=f, workers=w, threads=1, nireq=IN_FLIGHT, isolate=0
        )
        for form in FORMS
        for workers in (1, 1 + MORE)
    }


def mib_of_session(results, form):
    one, several = (resident_mib(results[form, workers]) for workers in (1, 1 + MORE))
    return (several - one) / MORE if one and several else None


def run(settings):
    table = Table(
        "sessions",
        "Memory of each further worker",
        ["model", "form", "mib_of_session", "mib_with_one", "note"],
    )
    for net in settings.nets:
        results = alternate(settings.rounds, sides_of(settings, net))
        for form in FORMS:
            table.add(
                model=net.name, form=form, mib_of_session=mib_of_session(results, form),
                mib_with_one=resident_mib(results[form, 1]),
                note=failure_of(results[form, 1]) or failure_of(results[form, 1 + MORE]),
            )  # fmt: skip
    return table
