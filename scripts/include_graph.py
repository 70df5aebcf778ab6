#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds the includes of all sources against the table of folders in CONTRIBUTING.md.

usage: include_graph.py [--dot]

Each include must be allowed by the table, and folders must not include one another in a
circle. Prints what is wrong, one line each, and fails if there is anything. With --dot it prints
the table as a graph instead:

    scripts/include_graph.py --dot | dot -Tsvg >docs/folders.svg
"""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
CHECKED = ("include", "plugin", "examples", "subprojects")
SUFFIXES = (".c", ".cpp", ".h")
# Where the compiler looks for a header, beside the folder of the file that includes it.
SEARCHED = ("plugin", "include", "subprojects/lavfi-abi/include", "subprojects/lavfi-abi/check")

# How the headers of the libraries that the table names begin.
LIBRARIES = {
    "Highway": ("hwy/",),
    "Level Zero": ("level_zero/",),
    "LibTorch": ("ATen/", "c10/", "caffe2/", "torch/"),
    "OpenMP": ("omp.h",),
    "fmt": ("fmt/",),
    "libavcodec": ("libavcodec/",),
    "libavfilter": ("libavfilter/",),
    "libavformat": ("libavformat/",),
    "libavutil": ("libavutil/",),
    "libseccomp": ("seccomp.h",),
    "libsodium": ("sodium.h",),
    "libswscale": ("libswscale/",),
    "nlohmann-json": ("nlohmann/",),
    "oneDNN": ("dnnl.hpp",),
    "xxHash": ("xxhash.h",),
    "zlib": ("zlib.h",),
}
# The C library's, Linux's and the compiler's, which all may include.
SYSTEM = re.compile(
    r"(sys|linux)/\w+\.h|[a-z_]+|(assert|cpuid|ctype|dirent|dlfcn|elf|errno|fcntl|float|getopt|glob|"
    r"immintrin|inttypes|langinfo|limits|link|locale|malloc|math|poll|pthread|pwd|sched|semaphore|"
    r"setjmp|signal|spawn|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|string|strings|"
    r"termios|time|ucontext|unistd|wchar)\.h"
)
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)


def short(folder):
    """A folder as the table's last column names it."""
    return re.sub(r"^(plugin|subprojects)/", "", folder).replace("include/dnn_torch", "include")


def read_table(text):
    """Rows of the table: a folder or file, and what it may include."""
    rows = {}
    for line in text.splitlines():
        match = re.fullmatch(r"\| `([^`]+)` \|.*\|([^|]*)\|", line)
        if match:
            rows[match[1]] = set(re.findall(r"`([^`]+)`", match[2]))
    return rows


def row_of(path, rows):
    """The row with the longest name that the path is or lies in."""
    fitting = [row for row in rows if path == row or path.startswith(row + "/")]
    return max(fitting, key=len, default=None)


def read_includes(root):
    """(file, header) of all sources, as written."""
    for top in CHECKED:
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SUFFIXES:
                for header in INCLUDE.findall(path.read_text()):
                    yield path.relative_to(root), header


def resolve(root, path, header):
    """The file of the project that is meant, or None."""
    for folder in (path.parent, *map(pathlib.Path, SEARCHED)):
        path = pathlib.Path(os.path.normpath(folder / header))
        if (root / path).is_file():
            return path
    return None


def library_of(header):
    for name, beginnings in LIBRARIES.items():
        if header.startswith(beginnings):
            return name
    return None


def disallowed(root, rows):
    """What the table does not allow, a line each."""
    for path, header in read_includes(root):
        row = row_of(str(path), rows)
        if row is None:
            yield f"{path}: CONTRIBUTING.md has no row for its folder"
            continue
        target = resolve(root, path, header)
        if target is not None:
            wanted_row = row_of(str(target), rows)
            wanted = None if wanted_row == row else short(wanted_row or str(target.parent))
        elif (wanted := library_of(header)) is None and not SYSTEM.fullmatch(header):
            yield f"{path}: include_graph.py does not know whose header <{header}> is"
            continue
        if wanted and wanted not in rows[row]:
            yield f"{path}: `{row}` may not include `{wanted}` (<{header}>)"


def node_of(root, path):
    """A file's folder. A source without a header, above folders that it joins, is its own node."""
    folder = root / path.parent
    joins = any(child.is_dir() for child in folder.iterdir())
    if joins and path.suffix == ".cpp" and not (root / path).with_suffix(".h").exists():
        return str(path)
    return str(path.parent)


def folder_graph(root):
    """Which folders of plugin/ include which."""
    graph = {}
    for path, header in read_includes(root):
        if path.parts[0] != "plugin":
            continue
        node = node_of(root, path)
        target = resolve(root, path, header)
        if target is not None and node_of(root, target) != node:
            graph.setdefault(node, set()).add(node_of(root, target))
    return graph


def find_circle(graph):
    """The folders of one circle, the first one twice, or an empty list."""
    done = set()

    def walk(node, trail):
        if node in trail:
            return trail[trail.index(node):] + [node]
        if node in done:
            return []
        for target in sorted(graph.get(node, ())):
            circle = walk(target, trail + [node])
            if circle:
                return circle
        done.add(node)
        return []

    for start in sorted(graph):
        circle = walk(start, [])
        if circle:
            return circle
    return []


def complaints(root):
    rows = read_table((root / "CONTRIBUTING.md").read_text())
    found = list(disallowed(root, rows))
    names = set(map(short, rows)) | set(LIBRARIES)
    for row, allowed in rows.items():
        found += [f"{row}: the table names `{name}`, which nothing is" for name in allowed - names]
    circle = find_circle(folder_graph(root))
    return found + ([f"a circle: {' -> '.join(circle)}"] if circle else [])


def reduced(graph):
    """The graph without edges that a longer way makes superfluous."""
    def reaches(start, goal, without):
        return any(
            target == goal or reaches(target, goal, None)
            for target in graph.get(start, ()) if (start, target) != without
        )

    return {
        node: {target for target in targets if not reaches(node, target, (node, target))}
        for node, targets in graph.items()
    }


def table_graph(root):
    """Who may include whom among the folders, shortest names, without what follows anyway."""
    rows = read_table((root / "CONTRIBUTING.md").read_text())
    names = {short(row) for row in rows}
    return reduced({short(row): allowed & names for row, allowed in rows.items() if allowed})


def dot(root):
    lines = ["digraph folders {", '  node [shape=box, fontname="sans-serif", fontsize=11];']
    for node, targets in sorted(table_graph(root).items()):
        lines += [f'  "{node}" -> "{target}";' for target in sorted(targets)]
    return "\n".join(lines + ["}"])


def main(arguments):
    if arguments == ["--dot"]:
        print(dot(ROOT))
        return 0
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    found = complaints(ROOT)
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
