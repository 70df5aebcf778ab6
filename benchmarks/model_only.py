# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The limit: the best rate that LibTorch gives for a model on this machine, without a video.

The configurations are too many to try them all for long.  One thing is varied at
a time, coarsely, from the best found so far; the last few are then measured for
longer, in turns.
"""
import dataclasses
import json
import os

from rates import Rate, alternate, median_fps, spread
from report import Table
from settings import CORES, Failed, frames_file, model_file, progress, run_quietly

FORMS = ("saved", "saved_channels_last", "frozen", "channels_last", "inference")
PRECISIONS = ("fp32", "bf16")
FINALISTS = 3


@dataclasses.dataclass(frozen=True)
class Configuration:
    form: str = "saved"
    precision: str = "fp32"
    workers: int = CORES
    threads: int = 1
    malloc: str = "tuned"
    executor: str = "simple"

    def words(self):
        fields = dataclasses.asdict(self)
        if self.malloc == "huge":
            fields["malloc"] = "tuned"
        return [f"{key}={value}" for key, value in fields.items()]

    def environment(self):
        # What glibc asks the kernel to back with large pages cannot be set by mallopt().
        huge = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"} if self.malloc == "huge" else {}
        return {**os.environ, **huge}

    def __str__(self):
        return (
            f"{self.form}, {self.workers} x {self.threads} threads, "
            f"malloc {self.malloc}, {self.executor} executor"
        )


def picture_file(settings, net):
    pixel_format = "rgb24" if net.channels == 3 else "gray"
    return frames_file(settings, pixel_format, net.width, net.height)


def run_once(settings, net, configuration, seconds, compare=False):
    """What model_only prints, as a dict."""
    output = run_quietly(
        [
            settings.program("model_only"),
            f"model={model_file(settings, net)}",
            f"picture={picture_file(settings, net)}",
            f"channels={net.channels}", f"height={net.height}", f"width={net.width}",
            f"seconds={seconds}", f"compare={int(compare)}",
            *configuration.words(),
        ],
        env=configuration.environment(),
        timeout=600,
    )  # fmt: skip
    return json.loads(output)


def rate_of(settings, net, configuration, seconds):
    """A Rate, so that it can be alternated with an ffmpeg."""
    try:
        return Rate(fps=run_once(settings, net, configuration, seconds)["fps"])
    except Failed as error:
        return Rate(failure=str(error))


def splits_of_cores():
    """(workers, threads) that use every core and no core twice."""
    return [(CORES // threads, threads) for threads in range(1, CORES + 1) if CORES % threads == 0]


class Search:
    """Looks for the fastest configuration of one net in one precision."""

    def __init__(self, settings, net, precision):
        self.settings = settings
        self.net = net
        self.found = {}  # Configuration -> frames per second
        self.start = Configuration(precision=precision)

    def try_all(self, configurations):
        for configuration in configurations:
            if configuration in self.found:
                continue
            rate = rate_of(self.settings, self.net, configuration, self.settings.coarse_seconds)
            self.found[configuration] = rate.fps
            progress(f"{self.net.name} {configuration.precision} {configuration}: {rate.fps:.3g}")

    def best(self, count):
        ordered = sorted(self.found, key=self.found.get, reverse=True)
        return [configuration for configuration in ordered[:count] if self.found[configuration]]

    def look_around(self):
        self.try_all(dataclasses.replace(self.start, form=form) for form in FORMS)
        for configuration in self.best(2):
            self.try_all(
                dataclasses.replace(configuration, workers=workers, threads=threads)
                for workers, threads in splits_of_cores()
            )
        for field, values in (
            ("malloc", ("default", "huge")),
            ("executor", ("profiling",)),
        ):
            for configuration in self.best(1):
                self.try_all(
                    dataclasses.replace(configuration, **{field: value}) for value in values
                )
        return self.best(FINALISTS)


def find_limit(settings, net, precision):
    """The best configuration, measured for long and in turns with the next best."""
    finalists = Search(settings, net, precision).look_around()
    if not finalists:
        return None
    sides = {
        configuration: lambda c=configuration: rate_of(settings, net, c, settings.seconds)
        for configuration in finalists
    }
    results = alternate(settings.rounds, sides)
    best = max(results, key=lambda configuration: median_fps(results[configuration]) or 0)
    compared = run_once(settings, net, best, settings.coarse_seconds, compare=True)
    return {
        "configuration": dataclasses.asdict(best),
        "words": str(best),
        "fps": median_fps(results[best]),
        "spread": spread(results[best]),
        "psnr_db": compared["psnr_db"],
        "libtorch": compared["libtorch"],
    }


def limit_of(settings, net, precision):
    """find_limit(), or what an earlier benchmark of this run found."""
    store = settings.work / "limits.json"
    known = json.loads(store.read_text()) if store.exists() else {}
    key = f"{net.name} {net.width}x{net.height} {precision}"
    if key not in known:
        known[key] = find_limit(settings, net, precision)
        store.write_text(json.dumps(known, indent=1))
    return known[key]


def configuration_of(limit, **changes):
    return dataclasses.replace(Configuration(**limit["configuration"]), **changes)


def run(settings):
    table = Table(
        "model-only",
        "Model only: the best rate of LibTorch, and how it was reached",
        ["model", "precision", "fps", "spread", "psnr_db", "configuration"],
    )
    for net in settings.nets:
        for precision in PRECISIONS:
            limit = limit_of(settings, net, precision)
            if limit is None:
                table.add(model=net.name, precision=precision, configuration="none ran")
                continue
            exact = limit["psnr_db"] >= 100
            table.add(
                model=net.name, precision=precision, fps=limit["fps"], spread=limit["spread"],
                psnr_db=None if exact else limit["psnr_db"], configuration=limit["words"],
            )  # fmt: skip
    table.remark("PSNR to the model as it was saved, in fp32, on one frame; - is above 100 dB.")
    return table
