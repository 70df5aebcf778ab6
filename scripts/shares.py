#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which tests .ci/run leaves to other days, and when those passed last.

  shares.py choose SUITE          prints today's shares, for DNN_TORCH_SHARES
  shares.py passed SUITE RECORD   writes into RECORD that today's shares have passed,
                                  or all with --all
  shares.py tell RECORD SUITE...  prints a remark for each suite: the shares that do
                                  not run today, and when each of them passed last

The shares change with the day (UTC), so that a day's runs agree and all of them have
their turn within as many days as `DAYS`.
"""
import argparse
import collections
import datetime
import os
import pathlib
import subprocess
import sys

DAYS = 12

# For each suite and each kind of tests: into how many shares it is divided, and which
# one runs on the first day.  A kind that is not named runs wholly; natively all do.
DIVISIONS = {
    "trixie": {"models": (12, 0), "golden": (4, 0), "fault": (4, 0), "farm": (4, 0), "apps": (2, 0)},
    "sid": {"models": (12, 6), "golden": (4, 2), "fault": (4, 2), "farm": (4, 2), "apps": (2, 1)},
}


def today():
    given = os.environ.get("DNN_TORCH_TODAY")
    return datetime.date.fromisoformat(given) if given \
        else datetime.datetime.now(datetime.timezone.utc).date()


def chosen(suite, day):
    """{kind: (number, count)}, numbers from 1."""
    turn = day.toordinal() % DAYS
    return {kind: ((first + turn) % count + 1, count)
            for kind, (count, first) in DIVISIONS[suite].items()}


def commit():
    shown = subprocess.run(["git", "rev-parse", "--short", "HEAD"], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return shown.stdout.strip() or "?"


def read(record):
    """{(suite, kind, number, count): "DATE COMMIT"}; a damaged line is as none."""
    found = {}
    try:
        lines = pathlib.Path(record).read_text(errors="replace").splitlines()
    except OSError:
        return found
    for line in lines:
        words = line.split()
        if len(words) == 5 and words[2].count("/") == 1:
            number, count = words[2].split("/")
            if number.isdigit() and count.isdigit():
                found[words[0], words[1], int(number), int(count)] = " ".join(words[3:])
    return found


def write_passed(suite, record, everything):
    found, now = read(record), f"{today()} {commit()}"
    for kind, (number, count) in chosen(suite, today()).items():
        for each in range(1, count + 1) if everything else [number]:
            found[suite, kind, each, count] = now
    path = pathlib.Path(record)
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    beside.write_text("".join(f"{suite} {kind} {number}/{count} {when}\n"
                              for (suite, kind, number, count), when in sorted(found.items())))
    beside.replace(path)


def left_out(suite, found):
    """"models 1 2 3/12 (never passed here)" for each kind and each time."""
    for kind, (number, count) in chosen(suite, today()).items():
        by_time = collections.defaultdict(list)
        for each in range(1, count + 1):
            if each != number:
                when = found.get((suite, kind, each, count))
                by_time["passed " + when if when else "never passed here"].append(str(each))
        for when, numbers in sorted(by_time.items()):
            yield f"{kind} {' '.join(numbers)}/{count} ({when})"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["choose", "passed", "tell"])
    parser.add_argument("words", nargs="+")
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    words = arguments.words
    if arguments.action == "choose":
        print(" ".join(f"{kind}={number}/{count}"
                       for kind, (number, count) in chosen(words[0], today()).items()))
    elif arguments.action == "passed":
        write_passed(words[0], words[1], arguments.all)
    else:
        found = read(words[0])
        for suite in words[1:]:
            print(f"{suite} did not run {', '.join(left_out(suite, found))}")


if __name__ == "__main__":
    sys.exit(main())
