#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Benchmarks: each prints a table, and writes JSON where asked.  See docs/benchmarks.md.

Runs in Debian's Python, which has the PyTorch that belongs to the LibTorch measured.
"""
import argparse
import dataclasses
import importlib
import json
import os
import pathlib
import subprocess
import sys

import report
from settings import (
    NETS, PRECISIONS, REPOSITORY, USUAL_NETS, Failed, Settings, Unavailable, progress,
    quick_net,
)  # fmt: skip

# In the order in which `all` runs them; a module each.
BENCHMARKS = {
    "model-only": "model_only",
    "end-to-end": "end_to_end",
    "workers": "workers",
    "python": "python_pipe",
    "convert": "convert",
    "identity": "identity",
    "feeding": "feeding",
    "detect": "detect",
    "fused": "fused",
    "onnx": "onnx_files",
    "compiled": "compiled",
    "isolate": "isolate",
    "live": "live",
    "start": "start",
    "tiles": "tiles",
    "memory": "memory",
    "sessions": "sessions",
    "video": "video",
    "interpolate": "interpolate",
    "upstream": "upstream",
}


def default_build():
    return pathlib.Path(os.environ.get("DNN_TORCH_BUILD", REPOSITORY / "build"))


def known_names(names, kind, known):
    wanted = tuple(names.split(","))
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise argparse.ArgumentTypeError(f"no {kind} {unknown[0]!r}: there are {', '.join(known)}")
    return wanted


def named_nets(names):
    """Checked, and still as it was written: a chroot gets the same words."""
    known_names(names, "net", NETS)
    return names


def named_precisions(names):
    return known_names(names, "precision", PRECISIONS)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("benchmarks", nargs="+", choices=[*BENCHMARKS, "all"], metavar="BENCHMARK",
        help=", ".join([*BENCHMARKS, "all"]))
    add("--build", type=pathlib.Path, default=default_build(), help="build folder (build)")
    add("--work", type=pathlib.Path,
        help="where models, frames and limits are kept (in the build folder)")
    add("--models", type=named_nets, default=",".join(USUAL_NETS), metavar="NET,...",
        help=f"of {', '.join(NETS)} (%(default)s)")
    add("--precisions", type=named_precisions, default=PRECISIONS, metavar="NAME,...",
        help=f"that fused measures, of {', '.join(PRECISIONS)} (all that the processor has)")
    add("--rounds", type=int, help="alternated runs of each side (5)")
    add("--seconds", type=float, help="for which each run is counted (12)")
    add("--memory-frames", type=int, help="length of the memory benchmark (5000)")
    add("--quick", action="store_true",
        help="small pictures and short runs: shows that all works, and no figures")
    add("--strict", action="store_true", help="fail where a single run came to nothing")
    add("--json", type=pathlib.Path, help="file for the results")
    add("--keep-limits", action="store_true", help="take the limits that an earlier run found")
    add("--suite", help="run in a chroot of this Debian suite (needs root)")
    add("--upstream-ffmpeg", default=os.environ.get("UPSTREAM_FFMPEG", ""),
        help="an ffmpeg with its own torch backend (built if not given)")
    add("--no-build", action="store_true", help="measure what is built already")
    return parser.parse_args()


def make_settings(args):
    quick = args.quick
    work = args.work or args.build / "benchmarks" / ("quick" if quick else "work")
    nets = [NETS[name] for name in args.models.split(",")]
    settings = Settings(
        build=args.build.resolve(),
        work=work.resolve(),
        ffmpeg=os.environ.get("FFMPEG", "ffmpeg"),
        upstream_ffmpeg=args.upstream_ffmpeg,
        nets=tuple(map(quick_net, nets) if quick else nets),
        precisions=args.precisions,
        rounds=args.rounds or (1 if quick else 5),
        seconds=args.seconds or (0.5 if quick else 12.0),
        memory_frames=args.memory_frames or (200 if quick else 5000),
        quick=quick,
    )
    settings.work.mkdir(parents=True, exist_ok=True)
    if not args.keep_limits:
        (settings.work / "limits.json").unlink(missing_ok=True)
    return settings


def build_programs(folder):
    """Everything that is measured, in a build folder that may not exist yet."""
    if not (folder / "build.ninja").exists():
        subprocess.run(["meson", "setup", folder, REPOSITORY], stdout=sys.stderr, check=True)
    # `meson compile` looks for the target before it notices that meson.build has changed.
    ninja = ["ninja", "-C", folder, "benchmark-programs"]
    subprocess.run(ninja, stdout=sys.stderr, check=True)


def run_here(name, settings):
    """A table, also where the benchmark could not run."""
    module = importlib.import_module(BENCHMARKS[name])
    print(f"== {name}", file=sys.stderr, flush=True)
    try:
        return module.run(settings)
    except Unavailable as error:
        table = report.Table(name, f"{name}: not run", [])
        table.remark(str(error))
    except Failed as error:
        table = report.Table(name, f"{name}: failed", ["note"])
        table.add(note=str(error))
    return table


def words_without(words, *options):
    """A command line less some options and their values."""
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in options:
            skip = True
        elif not word.startswith(tuple(option + "=" for option in options)):
            kept.append(word)
    return kept


def run_in_suite(suite, words):
    """The same command line in a chroot: (machine, tables as dicts)."""
    suites = REPOSITORY / "scripts" / "suites.sh"
    subprocess.run([suites, "make", suite], stdout=sys.stderr, check=True)
    kept = "/var/cache/dnn-torch-benchmarks"
    subprocess.run(
        [suites, "run", suite, "benchmarks/run.py", "--build", f"{kept}/build",
         "--json", f"{kept}/results.json", *words],
        stdout=sys.stderr, check=True,
    )  # fmt: skip
    where = subprocess.run([suites, "path", suite], stdout=subprocess.PIPE, check=True)
    inside = pathlib.Path(where.stdout.decode().strip() + kept)
    return json.loads((inside / "results.json").read_text())


def upstream_elsewhere(args, settings):
    """Where this system's FFmpeg is older than the torch backend, sid has one that is not."""
    options = [f"--models={args.models}", f"--rounds={settings.rounds}"]
    options += [f"--seconds={settings.seconds}"] + ["--quick"] * args.quick
    return run_in_suite("sid", ["upstream", *options])


def has_backend(settings):
    """FFmpeg 7.1 was the first; its libavfilter is 10."""
    done = subprocess.run([settings.ffmpeg, "-version"], stdout=subprocess.PIPE)
    versions = [line.split() for line in done.stdout.decode().splitlines() if "libavfilter" in line]
    return bool(versions) and int(versions[0][1].rstrip(".")) >= 10


def run_all(args, settings, names):
    """Results one by one, as (machine, table), so that nothing is lost if one fails."""
    here = report.machine(settings)
    for name in names:
        too_old = name == "upstream" and not (settings.upstream_ffmpeg or has_backend(settings))
        if too_old and os.geteuid() == 0:
            results = upstream_elsewhere(args, settings)
            for result in results["results"]:
                yield result["machine"], report.Table(**result["table"])
        else:
            yield here, run_here(name, settings)


def write_json(path, results):
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"results": results}, indent=1) + "\n")


def exit_code(rows_of_tables, strict):
    """77, which says "skipped" to meson, where nothing could run here."""
    if not any(rows_of_tables):
        return 77
    notes = [row.get("note") for rows in rows_of_tables for row in rows]
    return 1 if strict and any(notes) else 0


def main():
    args = arguments()
    if args.suite:
        words = words_without(sys.argv[1:], "--suite", "--json", "--build", "--work")
        results = run_in_suite(args.suite, words)
        for result in results["results"]:
            print(report.as_markdown(report.Table(**result["table"])))
        write_json(args.json, results["results"])
        return 0
    if not args.no_build:
        build_programs(args.build)
    settings = make_settings(args)
    names = list(BENCHMARKS) if "all" in args.benchmarks else args.benchmarks
    results, last_machine = [], None
    for machine, table in run_all(args, settings, names):
        if machine != last_machine:
            print(report.machine_words(machine) + "\n")
            last_machine = machine
        print(report.as_markdown(table), flush=True)
        results.append({"machine": machine, "table": dataclasses.asdict(table)})
        write_json(args.json, results)
    return exit_code([result["table"]["rows"] for result in results], args.strict)


if __name__ == "__main__":
    sys.exit(main())
