# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The published networks, files of their weights, and what the filter makes with these."""
import importlib.util
import json
import pathlib
import struct

import numpy
import support
import torch

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
    header, parts, end = {}, [], 0
    for name, tensor in tensors.items():
        parts.append(tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
        begin, end = end, end + len(parts[-1])
        header[name] = {
            "dtype": ELEMENTS[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [begin, end],
        }
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.writelines([struct.pack("<Q", len(text)), text, *parts])


def picture(case, seed=3):
    generator = torch.Generator().manual_seed(seed)
    width, height = case.size
    return torch.rand((1, case.channels * case.frames, height, width), generator=generator)


def place(case, frame, count):
    """Of a frame, maybe before the first or after the last one."""
    if case.border == "repeat":
        return min(max(frame, 0), count - 1)
    return abs(frame) if frame < count else 2 * (count - 1) - frame


def in_time(case, network, frames):
    """What the network makes of each frame, with its neighbours and what it remembers."""
    made, states, reach = [], None, case.frames // 2
    for i in range(len(frames)):
        window = [frames[place(case, i + each, len(frames))] for each in range(-reach, reach + 1)]
        given = torch.cat(window)[None]
        result, states = network.step(given, states) if case.has_states else (network(given), None)
        made.append(result[0])
    return torch.stack(made)


def in_and_out(case, network, count):
    """Frames, and what the filter with this network makes of them."""
    width, height = case.size
    frames = torch.rand((count, case.channels, height, width), generator=torch.Generator().manual_seed(4))
    with torch.no_grad():
        wanted = in_time(case, network, frames)
    if wanted.shape[1] < case.channels:  # the alpha; swscale would add one with an error of its own
        wanted = torch.cat((frames, wanted), 1)
        frames = torch.cat((frames, torch.ones_like(wanted[:, 3:])), 1)
    return frames, wanted


# Of floats: the pixel format, and the order of its planes.
FLOATS = {3: ("gbrpf32le", [1, 2, 0]), 1: ("grayf32le", [0]), 4: ("gbrapf32le", [1, 2, 0, 3])}


def through_the_filter(path, images, further="", name="dnn_torch", more=1):
    """Floats in, floats out: no rounding to bytes hides a difference.  The filter makes `more` frames
    of each.  Returns rows of samples, one for each channel of each frame."""
    count, channels, height, width = images.shape
    pixels, planes = FLOATS[channels]
    result = support.succeed(
        *("-f", "rawvideo", "-pixel_format", pixels, "-video_size", f"{width}x{height}", "-i", "-"),
        *("-vf", support.dnn(path, tune=0, isolate=0).replace("dnn_torch", name, 1) + further, "-f", "rawvideo", "-pix_fmt", pixels, "-"),
        stdin=images[:, planes].numpy().astype("<f4").tobytes(),
    )
    samples = numpy.frombuffer(result.stdout, "<f4").reshape(more * count, len(planes), -1)
    made = numpy.empty_like(samples)
    made[:, planes] = samples
    return made.reshape(len(made) * len(planes), -1)


def inspected(path):
    """Also of a model that needs an option."""
    return json.loads(support.execute([support.LAUNCHER, "inspect", "--json", path]).stdout)


def convert(path):
    made = path.with_suffix(".pt")
    result = support.execute([support.LAUNCHER, "convert", "--force", path, made])
    return result, torch.jit.load(made) if result.returncode == 0 else None


def expect_two_inputs_and_outputs(path):
    """Of a model that takes `picture` and `noise` and returns their product, `multiplied`, and the
    half of the picture, whose name "half.1" is none of Python's."""
    told = inspected(path)
    assert [each["name"] for each in told["inputs"]] == ["picture", "noise"]
    assert [each["name"] for each in told["outputs"]] == ["multiplied", "half_1"]
    pictures = torch.rand(2, 3, 20, 24)
    for output, factor in (("multiplied", 0.25), ("half_1", 0.5)):
        made = through_the_filter(path, pictures, f":inputs=noise=plane=0.25:output={output}").reshape(pictures.shape)
        assert numpy.abs(made - factor * pictures.numpy()).max() < 1e-6
