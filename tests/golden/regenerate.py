#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes references/*.framemd5 anew, from numpy alone: neither ffmpeg nor the filter has a say."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import cases


def main():
    folder = HERE / "references"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.framemd5"):
        old.unlink()
    for model, pixel_format in cases.cases():
        name = cases.reference_name(model, pixel_format)
        (folder / name).write_text(cases.reference(model, pixel_format))


if __name__ == "__main__":
    main()
