# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checkpoints of each architecture make what the network makes in PyTorch."""
import json
import os
import pathlib
import re

import numpy
import pytest
import support
import torch
from checkpoint_files import ALL, inspect, picture, save_safetensors
from published import randomise


def prepare(name, folder):
    """Saves the network and what goes in and has to come out; returns the line for the program."""
    case = ALL[name]
    network = randomise(case.make())
    path = folder / name / case.file
    path.parent.mkdir()
    save_safetensors(network.state_dict() | case.extras(), path)
    images = picture(case)
    with torch.no_grad():
        wanted = network(images)[0].numpy()
    numpy.save(folder / f"{name}.npy", wanted)
    images.numpy().astype("<f4").tofile(folder / f"{name}.in")
    sizes = " ".join(str(size) for size in images.shape[1:])
    return f"{path} {sizes} {folder / name}.in {folder / name}.out\n"


def run_networks(jobs):
    engine = pathlib.Path(support.MODULES, "engine-torch.so")
    program = os.environ.get("DNN_TORCH_RUN_NETWORKS",
                             support.BUILD / "tests" / "architectures" / "run_networks")
    made = support.execute([program, engine], stdin=jobs.encode(), timeout=600)
    return made.stdout.decode().splitlines()


@pytest.fixture(scope="module")
def results(request, tmp_path_factory):
    """By name: what the engine says of all networks that are to be tested, in one process."""
    folder = tmp_path_factory.mktemp("networks")
    names = [item.callspec.params["name"] for item in request.session.items
             if "name" in getattr(getattr(item, "callspec", None), "params", {})]
    names = list(dict.fromkeys(name for name in names if name in ALL))
    jobs = "".join(prepare(name, folder) for name in names)
    lines = run_networks(jobs)
    assert len(lines) == len(names), f"{names[len(lines)]} ended the program"
    return {name: json.loads(line) | {"folder": folder} for name, line in zip(names, lines)}


@pytest.mark.parametrize("name", ALL)
def test_same_pictures_as_pytorch(name, results):
    result = results[name]
    assert "error" not in result, result["error"]
    wanted = numpy.load(result["folder"] / f"{name}.npy")
    assert result["shape"] == list(wanted.shape)
    made = numpy.fromfile(result["folder"] / f"{name}.out", "<f4").reshape(wanted.shape)
    largest = max(float(numpy.abs(wanted).max()), 1)
    assert numpy.abs(made - wanted).max() <= ALL[name].tolerance * largest
    assert float(wanted.std()) > 0.05, "too flat to show a fault"


@pytest.mark.parametrize("name", ALL)
def test_parameters_are_told(name, results):
    told = {key: str(value) for key, value in ALL[name].told.items()}
    assert results[name]["told"] == told


def test_in_the_filter(tmp_path):
    """As a user has it: bytes in, bytes out, and what `inspect` says of the file."""
    case = ALL["compact-x2"]
    network = randomise(case.make())
    path = tmp_path / "net.safetensors"
    save_safetensors(network.state_dict(), path)
    images = (picture(case) * 255).round()
    with torch.no_grad():
        wanted = (network(images / 255)[0] * 255).round().clamp(0, 255)
    width, height = case.size
    made = support.succeed(
        *("-f", "rawvideo", "-pixel_format", "rgb24", "-video_size", f"{width}x{height}"),
        *("-i", "-", "-vf", support.dnn(path, tune=0), "-f", "rawvideo", "-"),
        stdin=images[0].permute(1, 2, 0).numpy().astype("u1").tobytes(),
    ).stdout
    made = numpy.frombuffer(made, "u1").reshape(2 * height, 2 * width, 3).transpose(2, 0, 1)
    assert numpy.abs(made.astype(int) - wanted.numpy()).max() <= 1
    architecture = inspect(path)["architecture"]
    parameters = {"features": "16", "convolutions": "3", "activation": "prelu"}
    assert architecture == {"name": "Compact", "scale": 2, "parameters": parameters}


FIRST = {case.told["architecture"]: name for name, case in reversed(ALL.items())}


@pytest.mark.parametrize("network", sorted(FIRST))
def test_a_missing_weight_is_named(network, tmp_path):
    """Any of them: without it the picture would be another one."""
    case = ALL[FIRST[network]]
    whole = randomise(case.make()).state_dict()
    images = picture(case)
    images.numpy().astype("<f4").tofile(tmp_path / "in")
    sizes = " ".join(str(size) for size in images.shape[1:])
    # Tables that are computed anew, what evaluation does not use, and VDSR's last layer: nothing
    # tells that there was one more.
    spare = re.compile(r"attn_mask|relative_position_index|eval_conv|^residual_layer\.\d+\.conv\.")
    names = [name for name in whole
             if whole[name].is_floating_point() and not spare.search(name)]
    jobs = ""
    for number, name in enumerate(chosen := names[:: max(1, len(names) // 8)]):
        path = tmp_path / str(number) / case.file
        path.parent.mkdir()
        save_safetensors({key: whole[key] for key in whole if key != name} | case.extras(), path)
        jobs += f"{path} {sizes} {tmp_path}/in {tmp_path}/{number}.out\n"
    lines = run_networks(jobs)
    assert len(lines) == len(chosen)
    silent = [name for name, line in zip(chosen, lines) if "error" not in json.loads(line)]
    assert not silent


def documented():
    """{network: (what is read off, scales)} from the table in docs/models.md."""
    rows = {}
    text = (support.REPOSITORY / "docs" / "models.md").read_text()
    for line in text.partition("## In one command")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 3 and cells[2][:1].isdigit():
            scales = {int(scale) for scale in cells[2].split(",")}
            rows[cells[0]] = {word for word in cells[1].split(", ")}, scales
    return rows


def test_the_table_in_the_docs():
    """It says what is tested, and nothing else."""
    tested = {}
    for case in ALL.values():
        told, scales = tested.setdefault(case.told["architecture"], (set(), set()))
        told |= set(case.told) - {"architecture", "scale"}
        scales.add(int(case.told["scale"]))
    assert documented() == tested
