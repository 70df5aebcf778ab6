#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs pytest for meson: exits 77, which is a skip, where what the tests need is not installed."""
import importlib.util
import sys

NEEDED = {"pytest": "python3-pytest", "numpy": "python3-numpy", "torch": "python3-torch"}
missing = [package for module, package in NEEDED.items() if not importlib.util.find_spec(module)]
if missing:
    print(f"SKIP: {', '.join(missing)} not installed")
    sys.exit(77)
import pytest

sys.exit(pytest.main(sys.argv[1:]))
