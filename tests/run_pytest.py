#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs pytest for meson: exits 77, which is a skip, where what the tests need is not installed."""
import ctypes
import importlib.util
import os
import sys
import unittest.mock

import sound_torch

NEEDED = {"pytest": "python3-pytest", "numpy": "python3-numpy", "torch": "python3-torch"}

# mallopt()'s numbers, from <malloc.h>.
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4


def prepare_for_pytorch():
    """Networks are computed by it for comparison, in less than half of the time."""
    # Giving a tensor's pages back and getting new ones takes longer than computing it.
    libc = ctypes.CDLL(None)
    for parameter, value in ((M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, 2**31 - 1), (M_TOP_PAD, 64 << 20)):
        libc.mallopt(parameter, value)
    # OpenBLAS's threads wait for the next product in a loop.  What tests start does not inherit this.
    with unittest.mock.patch.dict(os.environ, OPENBLAS_NUM_THREADS="1"):
        import numpy  # noqa: F401


def main():
    missing = [package for name, package in NEEDED.items() if not importlib.util.find_spec(name)]
    if missing:
        print(f"SKIP: {', '.join(missing)} not installed")
        return 77
    sound_torch.make_sound()
    prepare_for_pytorch()
    import pytest

    status = pytest.main(sys.argv[1:])
    if status == pytest.ExitCode.NO_TESTS_COLLECTED and os.environ.get("DNN_TORCH_SHARES"):
        print("SKIP: none of these tests is in this share")
        return 77
    return status


# Processes that a test makes read this file too, see torch_script.py.
if __name__ == "__main__":
    sys.exit(main())
