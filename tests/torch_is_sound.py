#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Exits with 1 where PyTorch computes convolutions wrongly, with oneDNN as it is.

Tests compare with PyTorch.  The engine avoids the fault that is known (see
plugin/engines/torch/machine/processor_quirks.h); PyTorch does with ONEDNN_MAX_CPU_ISA=SSE41."""
import ctypes
import sys


class Version(ctypes.Structure):
    _fields_ = [("major", ctypes.c_int), ("minor", ctypes.c_int)]


def onednn():
    for name in ("libdnnl.so.3.6", "libdnnl.so.3"):  # Debian's name, and that of others
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def may_be_wrong():
    library = onednn()
    if not library:
        return False
    library.dnnl_version.restype = ctypes.POINTER(Version)
    version = library.dnnl_version().contents
    return (version.major, version.minor) < (3, 12)


def is_right():
    import torch  # takes seconds

    torch.manual_seed(1)
    layer, x = torch.nn.Conv2d(24, 24, 3, padding=1), torch.rand(1, 24, 30, 30)
    with torch.no_grad():
        got, wanted = layer(x), layer.double()(x.double())
    return float((got - wanted).abs().max()) < 1e-4


if __name__ == "__main__":
    sys.exit(1 if may_be_wrong() and not is_right() else 0)
