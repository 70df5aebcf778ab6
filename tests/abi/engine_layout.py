#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares engine.h with the record of its ABI: engine_layout.py check|record CC...

The record holds every member's declaration, offset and size, and every
constant, for machines of 64 bits.  An engine that was built against the header
of yesterday must be refused by its number, and never be called with another
layout: so the number has to change with anything that is recorded.
"""
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
HEADER = HERE.parents[1] / "include" / "dnn_torch" / "engine.h"

RECORD = HERE / "engine_abi.txt"

WHAT_TO_DO = """\
include/dnn_torch/engine.h is not what tests/abi/engine_abi.txt records (< record, > header).
{advice}
Then write the record with
  python3 tests/abi/engine_layout.py record cc
and build all engines anew."""

SAME_NUMBER = """\
  Where ABI {abi} was released, or is in other people's hands: raise DNN_TORCH_ENGINE_ABI
  and say in NEWS that engines must be built anew.  Where it was not: keep the number."""

OTHER_NUMBER = """\
  The number has changed, as it must.  Say in NEWS that engines must be built anew."""


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)


def one_line(text):
    return " ".join(text.split())


def abi_number(header):
    return int(re.search(r"#define DNN_TORCH_ENGINE_ABI (\d+)u", header).group(1))


def bodies(header, kind):
    """The name and the body of each `typedef struct` or `typedef enum`."""
    pattern = rf"typedef {kind} (\w+) \{{(.*?)\}} \1;"
    return re.findall(pattern, without_comments(header), re.DOTALL)


def names_of(declaration):
    """`int a, b` declares a and b; a pointer to a function declares what stands in (*name)."""
    function = re.match(r"[^(]*\(\*(\w+)\)\s*\(", declaration)
    if function:
        return [function.group(1)]
    return re.findall(r"(\w+)(?:\[\w+\])?\s*(?:,|$)", declaration)


def members(body):
    for declaration in filter(None, map(one_line, body.split(";"))):
        for name in names_of(declaration):
            yield name, declaration


def constants(header):
    for _, body in bodies(header, "enum"):
        yield from (one_line(entry).split(" ")[0] for entry in body.split(",") if entry.strip())


def probe_source(header):
    """A program that prints the record."""
    lines = [f'printf("ABI {abi_number(header)}\\n");']
    for name in constants(header):
        lines.append(f'printf("{name} %d\\n", (int){name});')
    lines.append('printf("symbol %s\\n", DNN_TORCH_ENGINE_SYMBOL);')
    for struct, body in bodies(header, "struct"):
        lines.append(f'printf("{struct} %zu\\n", sizeof({struct}));')
        for name, declaration in members(body):
            place = f"offsetof({struct}, {name}), sizeof((({struct} *)0)->{name})"
            lines.append(f'printf("    {name} %zu %zu: {declaration}\\n", {place});')
    lines += [f'printf("{one_line(text)}\\n");' for text in function_types(header)]
    body = "\n    ".join(lines)
    return (
        "#include <stddef.h>\n#include <stdio.h>\n#include <engine.h>\n"
        f"int main(void)\n{{\n    {body}\n    return 0;\n}}\n"
    )


def function_types(header):
    return re.findall(r"typedef [^;{]*\([^;{]*\);", without_comments(header))


def record_of(header, compiler):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "engine.h").write_text(header)
        (folder / "probe.c").write_text(probe_source(header))
        program = folder / "probe"
        command = [*compiler, "-I", str(folder), str(folder / "probe.c"), "-o", str(program)]
        subprocess.run(command, check=True, timeout=60)
        return subprocess.run([program], check=True, timeout=60, stdout=subprocess.PIPE,
                              text=True).stdout  # fmt: skip


def differences(recorded, found):
    old, new = recorded.splitlines(), found.splitlines()
    return [f"< {line}" for line in old if line not in new] + [
        f"> {line}" for line in new if line not in old
    ]


def agrees(header, compiler):
    """Says what differs, and what to do about it."""
    recorded, found = RECORD.read_text(), record_of(header, compiler)
    if recorded == found:
        return True
    same_number = recorded.splitlines()[0] == found.splitlines()[0]
    advice = SAME_NUMBER if same_number else OTHER_NUMBER
    print("\n".join(differences(recorded, found)))
    print(WHAT_TO_DO.format(advice=advice.format(abi=abi_number(header))))
    return False


# Each is a change that an engine of yesterday would not survive.
CHANGES = {
    "a member at the end": (r"(list_devices\)\([^;]*\);)", r"\1\n    int (*another)(void);"),
    "a member in the middle": (r"(int64_t run_bytes;)", r"\1\n    int32_t another;"),
    "members that swap": (r"double run_seconds;([^\n]*)\n\s*int64_t run_bytes;",
                          r"int64_t run_bytes;\1\n    double run_seconds;"),
    "a member in what was padding": (r"(int32_t interleaved;)", r"\1\n    int32_t another;"),
    "another extent": (r"char text\[1024\]", "char text[1000]"),
    "another type of the same size": (r"int32_t interleaved;", "uint32_t interleaved;"),
    "another argument of a function": (r"\(\*session_warm\)\(", "(*session_warm)(int32_t n, "),
    "another constant": (r"DNN_TORCH_STOPPED = 9", "DNN_TORCH_STOPPED = 19"),
    "another symbol": (r'"dnn_torch_engine"', '"dnn_torch_engine2"'),
    "another type of the symbol": (r"uint32_t host_abi\)", "uint64_t host_abi)"),
}  # fmt: skip


def unnoticed(header, compiler):
    """Which of CHANGES the record would let pass, or no longer fits the header."""
    good = record_of(header, compiler)
    passed = []
    for name, (pattern, replacement) in CHANGES.items():
        changed, count = re.subn(pattern, replacement, header)
        if count == 0 or record_of(changed, compiler) == good:
            passed.append(name)
    return passed


def check(compiler):
    header = HEADER.read_text()
    if not agrees(header, compiler):
        return 1
    passed = unnoticed(header, compiler)
    print(f"{len(CHANGES)} changes of engine.h tried, {len(passed)} unnoticed: {passed}")
    return 1 if passed else 0


def record(compiler):
    RECORD.write_text(record_of(HEADER.read_text(), compiler))
    print(f"written: {RECORD}")
    return 0


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in ("check", "record"):
        print(__doc__, file=sys.stderr)
        return 2
    if platform.architecture()[0] != "64bit":
        print("SKIP: the record is for machines of 64 bits")
        return 77
    return {"check": check, "record": record}[arguments[0]](arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
