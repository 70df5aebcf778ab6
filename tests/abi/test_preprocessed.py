# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How much the compiler reads for what scripts/demo.sh builds: most of its time goes there."""
import concurrent.futures
import json
import os
import re
import shlex
import subprocess

import pytest
import support

# Lines of C and C++ with all headers, in Debian 12 (LibTorch 1.13).  If a change makes them fewer
# or knowingly more, write the new number, which the failure names.
LINES = 3_230_000
MARGIN = 0.1


# Where the headers are that a build compiles beforehand.
PRECOMPILED = [f"-I{support.REPOSITORY}/plugin/{folder}" for folder in ("base", "engines/torch")]


def is_debian_12():
    with open("/etc/os-release", encoding="utf-8") as file:
        return 'VERSION_ID="12"' in file.read()


def preprocessed(command):
    """The command that prints the text alone."""
    words = shlex.split(command["command"])
    if words[0].endswith("ccache"):
        del words[0]
    for option in ("-o", "-MQ", "-MF"):
        if option in words:
            at = words.index(option)
            del words[at:at + 2]
    kept = [word for word in words if word not in ("-MD", "-c", "-fpch-preprocess")]
    return kept + PRECOMPILED + ["-E", "-P"]


def lines_of(command):
    text = subprocess.run(preprocessed(command), cwd=command["directory"], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return text.count(b"\n")


@pytest.mark.skipif(not is_debian_12(), reason="headers of other releases have other lengths")
def test_headers_stay_as_short(tmp_path):
    subprocess.run(["meson", "setup", str(tmp_path), "-Djoined=true", "-Dtests=disabled",
                    "-Dtorch=enabled", "-Ddebug=false"],
                   cwd=support.REPOSITORY, check=True, stdout=subprocess.DEVNULL)
    steps = subprocess.run(["ninja", "-C", str(tmp_path), "-n", "demo-programs"], check=True,
                           stdout=subprocess.PIPE, text=True).stdout
    built = set(re.findall(r"Compiling C(?:\+\+)? object (\S+)", steps))
    commands = [command for command in json.loads((tmp_path / "compile_commands.json").read_text())
                if command["output"] in built]
    assert len(commands) == len(built) > 40
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        lines = sum(threads.map(lines_of, commands))
    assert abs(lines / LINES - 1) < MARGIN, \
        f"{lines} lines are read for {len(commands)} objects, and were {LINES}"
