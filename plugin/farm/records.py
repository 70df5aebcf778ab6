# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records of detections (destination=): each slice writes its own, and joining puts them one after
the other, with the frames' numbers in the source."""
import os
import re

import media
import plan as plans
from plan import Again, Refused

ENDINGS = {".csv": "csv", ".json": "coco", ".srt": "srt"}
# Where the number of the frame stands.
NUMBER = {"jsonl": re.compile(rb'^(\{"frame":)(\d+)(.*)', re.DOTALL),
          "csv": re.compile(rb"^()(\d+)(,.*)", re.DOTALL)}


def find(filters, folder):
    """[number of the filter, absolute name, format] of each destination."""
    found = []
    for i, each in enumerate(filters):
        name = each.options.get("destination") if each.is_ours else None
        if not name:
            continue
        kind = each.options.get("format", "auto")
        if kind == "auto":
            kind = ENDINGS.get(os.path.splitext(name)[1], "jsonl")
        if name == "-" or "://" in name or kind not in NUMBER:
            raise Refused(f"--vf: {each.name}: records are joined as JSON lines or CSV, in a file; "
                          "write destination=NAME.jsonl or NAME.csv")
        found.append([i, os.path.join(folder, name), kind])
    return found


def path_of(part, number):
    """Beside a part, and a part itself."""
    return part.with_name(f"{part.stem}.records{number}.part")


def options(plan, part):
    """Destinations beside the part, as options by the number of their filter."""
    return {number: {"destination": path_of(part, number), "format": kind}
            for number, _, kind in plan.records}


def final(plan, number, which):
    return plan.path(number, f"records{which}")


def store(plan, number, part, ahead):
    """Gives a slice's records their numbers, without those of the halo; returns checksums.  The
    filter counted `ahead` frames before the slice's first."""
    piece, sums = plan.slices[number], {}
    for which, _, kind in plan.records:
        own, path = path_of(part, which), final(plan, number, which)
        lines = []
        for line in own.read_bytes().splitlines(keepends=True):
            match = NUMBER[kind].match(line)
            frame = int(match.group(2)) - ahead if match else None
            if match and 0 <= frame < piece.count:
                lines.append(match.group(1) + b"%d" % (frame + piece.first) + match.group(3))
            elif not match and number == 0:
                lines.append(line)  # the head of a table
        plans.write_whole(path, b"".join(lines))
        sums[str(which)] = media.sha256(path)
    return sums


def check(plan, number, record):
    for which, _, _ in plan.records:
        try:
            same = media.sha256(final(plan, number, which)) == record["records"][str(which)]
        except (OSError, KeyError):
            same = False
        if not same:
            plan.path(number, "json").unlink(missing_ok=True)
            raise Again(f"the records of slice {number} were damaged on disk: dnn-torch farm run "
                        f"{plan.where}")


def join(plan):
    for which, path, _ in plan.records:
        parts = [final(plan, number, which).read_bytes() for number in range(len(plan.slices))]
        plans.write_whole(plans.pathlib.Path(path), b"".join(parts))


def remove(plan, part):
    for which, _, _ in plan.records:
        path_of(part, which).unlink(missing_ok=True)
