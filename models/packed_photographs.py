#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Packs what the nets learn from, for a machine that has neither Debian's packages nor ffmpeg.

It writes a JPEG of each photograph, and of a frame of it that libx264 compressed at each
quality: for --data of the trainings. Photographs that are held out are not packed.
"""

import argparse
import pathlib

import numpy as np
from PIL import Image

import photographs
from degradations import HALVINGS
from train_upscale2x import FRAMES, QUALITIES, Pan

PHOTOGRAPH, FRAME = 99, 90
"""Qualities of JPEG."""


def write(picture, path, quality):
    Image.fromarray(picture.permute(1, 2, 0).numpy()).save(
        path, quality=quality, subsampling=0, optimize=True)


def pack_frames(picture, name, folder, rng):
    for crf in QUALITIES:
        taps, number = list(HALVINGS.values())[rng.integers(len(HALVINGS))], rng.integers(FRAMES)
        small = Pan.compressed(picture, taps, crf).small[number]
        write(small, folder / f"{name}.{number}.{crf}.jpg", FRAME)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    for part in ("photographs", "pairs"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    photographs.fetch(*photographs.PACKAGES)
    rng = np.random.default_rng(1)
    for each in photographs.PHOTOGRAPHS:
        if not each.held_out:
            picture = photographs.read(each.path)
            write(picture, folder / "photographs" / f"{each.name}.jpg", PHOTOGRAPH)
            pack_frames(picture, each.name, folder / "pairs", rng)


if __name__ == "__main__":
    main()
