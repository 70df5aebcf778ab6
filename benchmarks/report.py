# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Results: tables for people, JSON for programs, and the machine that they are from."""
import dataclasses
import os
import re
import subprocess

from settings import CORES


@dataclasses.dataclass
class Table:
    """Columns are named once; a row is a dict, of which a table shows what is a column."""

    benchmark: str
    title: str
    columns: list
    rows: list = dataclasses.field(default_factory=list)
    remarks: list = dataclasses.field(default_factory=list)

    def add(self, **row):
        self.rows.append(row)

    def remark(self, text):
        if text and text not in self.remarks:
            self.remarks.append(text)


def shown(value):
    if value is None:
        return "-"
    if isinstance(value, float):
        digits = 1 if abs(value) >= 100 else 2 if abs(value) >= 1 else 3
        return f"{value:.{digits}f}"
    return str(value)


def as_markdown(table):
    """A Markdown table, aligned so that it reads well in a terminal too."""
    cells = [[name.replace("_", " ") for name in table.columns]]
    cells += [[shown(row.get(name)) for name in table.columns] for row in table.rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(table.columns))]

    def line(row):
        return "| " + " | ".join(word.ljust(width) for word, width in zip(row, widths)) + " |"

    ruler = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    text = [f"### {table.title}"]
    if table.columns:
        text += ["", line(cells[0]), ruler, *map(line, cells[1:])]
    if table.remarks:
        text += [""] + [f"- {remark}" for remark in table.remarks]
    return "\n".join(text) + "\n"


def first_line_of(command):
    try:
        output = subprocess.check_output(command, stderr=subprocess.DEVNULL, timeout=20)
        return output.decode(errors="replace").splitlines()[0].strip()
    except (OSError, IndexError, subprocess.SubprocessError):
        return "unknown"


def field_of(path, pattern):
    try:
        with open(path) as file:
            found = re.search(pattern, file.read(), re.MULTILINE)
        return found.group(1).strip() if found else "unknown"
    except OSError:
        return "unknown"


def cpu_features():
    flags = field_of("/proc/cpuinfo", r"^flags\s*:(.*)$").split()
    known = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
    return [flag for flag in known if flag in flags]


def machine(settings):
    """In words, without names of hosts or people."""
    ffmpeg = first_line_of([settings.ffmpeg, "-version"])
    return {
        "cpu": field_of("/proc/cpuinfo", r"^model name\s*:(.*)$"),
        "cpu_features": cpu_features(),
        "cores": CORES,
        "memory_gib": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30),
        "system": field_of("/etc/os-release", r'^PRETTY_NAME="?([^"\n]*)'),
        "ffmpeg": re.sub(r" Copyright.*", "", ffmpeg),
        "libtorch": first_line_of(["dpkg-query", "-W", "-f", "${Version}", "libtorch-dev"]),
        "load_average_before": round(os.getloadavg()[0], 2),
    }


def machine_words(facts):
    features = ", ".join(facts["cpu_features"]) or "no vector extensions known here"
    return (
        f"{facts['cpu']}, {facts['cores']} cores ({features}), {facts['memory_gib']} GiB; "
        f"{facts['system']}; {facts['ffmpeg']}; LibTorch {facts['libtorch']}; "
        f"load average before the start {facts['load_average_before']}"
    )
