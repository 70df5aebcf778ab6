#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs pytest for meson: exits 77, which is a skip, where what the tests need is not installed."""
import importlib.util
import os
import sys

import sound_torch

NEEDED = {"pytest": "python3-pytest", "numpy": "python3-numpy", "torch": "python3-torch"}


def main():
    missing = [package for name, package in NEEDED.items() if not importlib.util.find_spec(name)]
    if missing:
        print(f"SKIP: {', '.join(missing)} not installed")
        return 77
    sound_torch.make_sound()
    import pytest

    status = pytest.main(sys.argv[1:])
    if status == pytest.ExitCode.NO_TESTS_COLLECTED and os.environ.get("DNN_TORCH_SHARES"):
        print("SKIP: none of these tests is in this share")
        return 77
    return status


# Processes that a test makes read this file too, see torch_script.py.
if __name__ == "__main__":
    sys.exit(main())
