# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the libraries that LibTorch is linked with and whose symbols nothing uses.

Debian 12's LibTorch brings OpenCV's, FFmpeg's and through them two hundred others (GDAL, MPI), which
take as long to load as LibTorch itself.

usage: unused_libraries.py LIBRARY
"""
import pathlib
import re
import subprocess
import sys


def output_of(*command):
    # `ldd -u` fails where it has found some.
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False).stdout


def needed_by(path):
    return re.findall(r"\(NEEDED\).*\[(.+)\]", output_of("readelf", "-d", path))


def unused_by(library):
    """Returns sonames.  What another library needs as well is used."""
    unused = {pathlib.Path(line.strip()).name
              for line in output_of("ldd", "-u", "-r", library).splitlines() if line.startswith("\t")}
    paths = dict(re.findall(r"^\t(\S+) => (\S+)", output_of("ldd", library), re.MULTILINE))
    loaded, waiting = set(), set(needed_by(library)) - unused
    while waiting:
        name = waiting.pop()
        loaded.add(name)
        needed = set(needed_by(paths[name])) if name in paths else set()
        waiting |= needed - loaded
        unused -= needed
    return sorted(unused)


print("\n".join(unused_by(sys.argv[1])))
