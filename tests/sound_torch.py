# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests compare with PyTorch, which computes convolutions wrongly where a hypervisor hides the
processor's caches from oneDNN 3.7.  The engine avoids it by itself: see
plugin/engines/torch/machine/processor_quirks.h, whose conditions these are."""
import ctypes
import os
import pathlib


class Version(ctypes.Structure):
    _fields_ = [("major", ctypes.c_int), ("minor", ctypes.c_int)]


def onednn_version():
    for name in ("libdnnl.so.3.6", "libdnnl.so.3"):  # Debian's name, and that of others
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        library.dnnl_version.restype = ctypes.POINTER(Version)
        version = library.dnnl_version().contents
        return version.major, version.minor
    return None


def hides_caches():
    return not any(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"))


def make_sound():
    """Call it before PyTorch is imported.  Processes that the tests start inherit it."""
    version = onednn_version()
    if version and (3, 0) <= version < (3, 12) and hides_caches():
        os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "SSE41")
