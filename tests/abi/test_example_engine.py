# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The engine of docs/engines.md, in ffmpeg."""
import ctypes
import os
import pathlib
import re
import subprocess

import numpy
import pictures
import pytest
import support

BUILT = pathlib.Path(os.environ.get("DNN_TORCH_EXAMPLES", support.BUILD / "examples"))
EXAMPLES = support.REPOSITORY / "examples"
ENGINE = BUILT / "engine-kernel.so"
HEADER = (support.REPOSITORY / "include" / "dnn_torch" / "engine.h").read_text()
WIDTH, HEIGHT, FRAMES = 38, 22, 5

sanitized = pytest.mark.skipif(support.SANITIZED, reason="the sanitizer's runtime must come first")


def run(model, pixel_format="rgb24", **options):
    source = pictures.make_frames(pixel_format, WIDTH, HEIGHT, FRAMES)
    return support.ffmpeg(
        *pictures.raw_input(pixel_format, WIDTH, HEIGHT),
        *("-vf", support.dnn(model, engine="kernel", **options), "-f", "rawvideo", "-"),
        stdin=pictures.raw(source, pixel_format),
        env={"DNN_TORCH_MODULE_PATH": str(BUILT)},
    )


def filtered(image, numbers):
    """In the engine's order of sums, for float32 knows no other exactness."""
    planes, height, width = image.shape
    wide = numpy.pad(pictures.to_unit(image), ((0, 0), (1, 1), (1, 1)), mode="edge")
    total = numpy.full(image.shape, numbers[9], numpy.float32)
    for i, weight in enumerate(numbers[:9]):
        y, x = divmod(i, 3)
        total += weight * wide[:, y : y + height, x : x + width]
    return total


def expected(model, pixel_format):
    numbers = numpy.array(model.read_text().split(), numpy.float32)
    frames = pictures.make_frames(pixel_format, WIDTH, HEIGHT, FRAMES)
    for frame in frames:
        frame.image = pictures.from_unit(filtered(frame.image, numbers), pixel_format)
    return pictures.raw(frames, pixel_format)


@sanitized
@pytest.mark.parametrize("pixel_format", ["rgb24", "gbrp", "gray", "yuv420p", "gbrpf32le"])
@pytest.mark.parametrize("model", ["blur", "invert"])
def test_frames(model, pixel_format):
    path = EXAMPLES / f"{model}.txt"
    result = run(path, pixel_format)
    assert result.returncode == 0, str(result)
    assert result.stdout == expected(path, pixel_format)


@sanitized
def test_rows_and_columns(tmp_path):
    """A kernel that no turning or mirroring leaves as it is."""
    path = tmp_path / "uneven.txt"
    path.write_text("0.25 0.125 0 0.0625 0 0 0 0 0.5 0.03125")
    result = run(path)
    assert result.returncode == 0, str(result)
    assert result.stdout == expected(path, "rgb24")


@sanitized
@pytest.mark.parametrize("options", [{"workers": 3, "nireq": 6}, {"batch_size": 2}], ids=str)
def test_runs_that_meet(options):
    path = EXAMPLES / "blur.txt"
    result = run(path, **options)
    assert result.returncode == 0, str(result)
    assert result.stdout == expected(path, "rgb24")


@sanitized
@pytest.mark.parametrize("text", ["", "1 2 3", "0 0 0 0 1 0 0 0 0 none", "1 " * 11, "\0" * 40])
def test_files_that_are_no_models(tmp_path, text):
    path = tmp_path / "model.txt"
    path.write_text(text)
    support.assert_fails_clearly(run(path), re.escape(str(path)), "ten numbers")


@sanitized
def test_a_file_that_is_not_there(tmp_path):
    support.assert_fails_clearly(run(tmp_path / "none.txt"), "none.txt", "cannot be opened")


@sanitized
@pytest.mark.parametrize(
    "options", [{"device": "cuda"}, {"precision": "bf16"}, {"optimize": "frozen"}], ids=str
)
def test_options_that_it_has_not(options):
    (name, value), = options.items()
    support.assert_fails_clearly(run(EXAMPLES / "blur.txt", **options), f"{name}={value}")


@sanitized
def test_it_serves_its_own_abi_alone():
    entry = ctypes.CDLL(str(ENGINE)).dnn_torch_engine
    entry.restype = ctypes.c_void_p
    abi = int(re.search(r"DNN_TORCH_ENGINE_ABI (\d+)u", HEADER).group(1))
    assert entry(ctypes.c_uint32(abi))
    assert not entry(ctypes.c_uint32(abi + 1))
    assert not entry(ctypes.c_uint32(abi - 1))


@sanitized
def test_it_exports_one_symbol():
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", ENGINE], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    assert re.findall(r" T (\w+)", listing) == ["dnn_torch_engine"]


def test_the_page_names_every_function():
    """docs/engines.md, of the table that an engine fills in."""
    table = re.search(r"typedef struct DnnTorchEngine \{(.*?)\} DnnTorchEngine;", HEADER, re.DOTALL)
    names = re.findall(r"\(\*(\w+)\)\(", table.group(1))
    page = (support.REPOSITORY / "docs" / "engines.md").read_text()
    assert len(names) > 10
    assert not [name for name in names if f"`{name}()`" not in page]
