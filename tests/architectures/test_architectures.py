# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checkpoints of each architecture make what the network makes in PyTorch."""
import importlib.util
import json
import pathlib
import struct

import numpy
import pytest
import support
import torch
from published import randomise

FOLDER = pathlib.Path(__file__).parent / "networks"
ELEMENTS = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64"}


def cases_in(path):
    spec = importlib.util.spec_from_file_location(f"networks_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CASES


ALL = {
    f"{path.stem}-{name}": case
    for path in sorted(FOLDER.glob("*.py"))
    for name, case in cases_in(path).items()
}


def save_safetensors(tensors, path):
    header, numbers = {}, b""
    for name, tensor in tensors.items():
        data = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        header[name] = {
            "dtype": ELEMENTS[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [len(numbers), len(numbers) + len(data)],
        }
        numbers += data
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + numbers)


def picture(case, seed=3):
    generator = torch.Generator().manual_seed(seed)
    width, height = case.size
    return torch.rand((1, case.channels, height, width), generator=generator)


def through_the_filter(path, images):
    """Floats in, floats out: no rounding to bytes hides a difference."""
    channels, height, width = images.shape[1:]
    pixels, planes = ("gbrpf32le", (1, 2, 0)) if channels == 3 else ("grayf32le", (0,))
    data = images[0][list(planes)].numpy().astype("<f4").tobytes()
    result = support.succeed(
        *("-f", "rawvideo", "-pixel_format", pixels, "-video_size", f"{width}x{height}", "-i", "-"),
        *("-vf", support.dnn(path, tune=0, isolate=0), "-f", "rawvideo", "-pix_fmt", pixels, "-"),
        stdin=data,
    )
    samples = numpy.frombuffer(result.stdout, "<f4").reshape(len(planes), -1)
    made = numpy.empty_like(samples)
    made[list(planes)] = samples
    return made


def inspect(path):
    result = support.execute([support.LAUNCHER, "inspect", "--json", path])
    assert result.returncode == 0, str(result)
    return json.loads(result.stdout)


@pytest.mark.parametrize("name", ALL)
def test_same_pictures_as_pytorch(name, tmp_path):
    case = ALL[name]
    network = randomise(case.make())
    path = tmp_path / "net.safetensors"
    save_safetensors(network.state_dict() | case.extras(), path)
    images = picture(case)
    with torch.no_grad():
        wanted = network(images)
    made = through_the_filter(path, images)
    flat = wanted[0].reshape(wanted.shape[1], -1).numpy()
    assert made.shape == flat.shape
    largest = float(numpy.abs(flat).max())
    assert numpy.abs(made - flat).max() <= case.tolerance * max(largest, 1)
    assert float(flat.std()) > 0.05, "too flat to show a fault"


@pytest.mark.parametrize("name", ALL)
def test_inspect_tells_the_parameters(name, tmp_path):
    case = ALL[name]
    path = tmp_path / "net.safetensors"
    save_safetensors(case.make().state_dict() | case.extras(), path)
    architecture = inspect(path)["architecture"]
    told = {"architecture": architecture["name"], "scale": architecture["scale"]}
    told |= architecture["parameters"]
    assert {key: str(value) for key, value in told.items()} == {
        key: str(value) for key, value in case.told.items()
    }
