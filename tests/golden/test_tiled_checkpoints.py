# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Published networks in tiles give the bytes of the whole, or say that they cannot."""
import pathlib
import sys

import numpy
import pictures
import pytest
import support

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "architectures"))
from checkpoint_files import ALL, save_safetensors
from published import randomise

WIDTH, HEIGHT = 213, 157
LOCAL = ["compact-x2", "compact-x4", "span-x2", "edsr-authors-x2", "esrgan-new-x2",
         "denoisers-dncnn-colour", "classics-vdsr-colour", "mosr-x4"]  # fmt: skip
GLOBAL = ["rcan-authors-x2", "hat-small", "swinir-light-x3"]


def run(path, tile, **options):
    source = pictures.make_frames("rgb24", WIDTH, HEIGHT, 1)
    graph = support.dnn(path, tile=tile, tune=0, optimize=0, isolate=0, **options)
    return support.succeed(
        *pictures.raw_input("rgb24", WIDTH, HEIGHT),
        *("-vf", graph, "-f", "rawvideo", "-"),
        stdin=pictures.raw(source, "rgb24"),
    )


def checkpoint(name, folder):
    case = ALL[name]
    path = folder / case.file
    save_safetensors(randomise(case.make()).state_dict() | case.extras(), path)
    return path


@pytest.mark.parametrize("name", LOCAL)
def test_local_networks(tmp_path, name):
    path = checkpoint(name, tmp_path)
    # ESRGAN looks 68 pixels far here.
    tiled, whole = run(path, 150 if "esrgan" in name else 120), run(path, 0)
    assert not tiled.warnings_but_range and " tiles of " in tiled.stderr, tiled
    assert tiled.stdout == whole.stdout


@pytest.mark.parametrize("name", GLOBAL)
def test_networks_that_look_everywhere(tmp_path, name):
    path = checkpoint(name, tmp_path)
    tiled, whole = run(path, 120), run(path, 0)
    (warning,) = tiled.warnings_but_range
    assert "blended" in warning, tiled
    pixels = [numpy.frombuffer(each.stdout, numpy.uint8).astype(int) for each in (tiled, whole)]
    assert len(pixels[0]) == len(pixels[1])
