# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/i-have.md: each error that it quotes is the one that such a file gets."""
import json
import pickle
import re
import sys
import types
import zipfile

import pytest
import support
import torch
from torch import nn

PAGE = (support.REPOSITORY / "docs" / "i-have.md").read_text()


def pickled(value):
    def write(path):
        torch.save(value() if callable(value) else value, path)

    return write


def module_of(package):
    """A module whose class Python would look for in that package."""
    def make():
        for depth in range(1, package.count(".") + 2):
            sys.modules.setdefault(".".join(package.split(".")[:depth]), types.ModuleType("x"))
        made = type("DetectionModel", (nn.Module,), {"__module__": package})
        sys.modules[package].DetectionModel = made
        model = made()
        model.layer = nn.Conv2d(3, 3, 3)
        return {"epoch": -1, "model": model.half(), "ema": None}

    return make


def bytes_of(start, name="net.bin"):
    def write(path):
        path.write_bytes(start.ljust(600, b" "))

    write.file_name = name
    return write


def zip_of(*names):
    def write(path):
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, b"x" * 100)

    return write


def of_newer_pytorch(path):
    torch.jit.script(nn.Identity()).save(str(path))
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, contents in members.items():
            archive.writestr(name, b"999\n" if name.endswith("version") else contents)


def message(*fields):
    """In the wire format of Protocol Buffers."""
    return b"".join(bytes([number << 3 | 2, len(value)]) + value for number, value in fields)


def onnx(*graph):
    def write(path):
        ends = (11, message((1, b"x"))), (12, message((1, b"y")))
        path.write_bytes(b"\x08\x07" + message((7, message(*graph, *ends))))

    write.file_name = "net.onnx"
    return write


def exported(target, *results):
    """A program of one operator."""
    node = {"target": target, "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}}],
            "outputs": [{"as_tensor": {"name": "y"}}]}
    signature = {"input_specs": [{"user_input": {"arg": {"as_tensor": {"name": "x"}}}}], "output_specs": results}
    program = {"graph_module": {"graph": {"nodes": [node], "tensor_values": {}}, "signature": signature,
                                "module_call_graph": []}}

    def write(path):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("net/archive_format", "pt2")
            archive.writestr("net/models/model.json", json.dumps(program))
            for kind in ("weights", "constants"):
                archive.writestr(f"net/data/{kind}/model_{kind}_config.json", '{"config": {}}')

    return write


def tensor_in(place):
    return 5, b"\x10\x01\x70\x01" + message((8, b"w"), (13, message((1, b"location"), (2, place))))


# What each row of the page's table is about, by how its first cell begins.
FILES = {
    "is a checkpoint of an arch": pickled({"a.weight": torch.ones(3)}),
    "is a whole module (...) of": pickled(lambda: nn.Sequential(nn.Conv2d(3, 3, 3))),
    "is a whole module (ultralytics": pickled(module_of("ultralytics.nn.tasks")),
    "is a whole module (models.yolo": pickled(module_of("models.yolo")),
    "is a torch.export program with": exported("torch.ops.higher_order.cond"),
    "is a torch.export program that": exported("torch.ops.aten.relu.default", {
        "buffer_mutation": {"arg": {"name": "y"}, "buffer_name": "count"}}),
    "is an AOTInductor": zip_of("net/archive_format", "net/data/aotinductor/model/code.so"),
    "is an ONNX": onnx((1, message((1, b"x"), (2, b"y"), (4, b"Scan")))),
    "has a tensor": onnx(tensor_in(b"../w.data")),
    "is in several files": onnx(tensor_in(b"w.data"), (1, message((1, b"x"), (2, b"y"), (4, b"Relu")))),
    "is a TensorFlow": bytes_of(b"\n\x05", "net.pb"),
    "is a Keras": zip_of("config.json", "model.weights.h5"),
    "is an HDF5": bytes_of(b"\x89HDF\r\n"),
    "is an NCNN": bytes_of(b"7767517\n2 2\n"),
    "is the weights of an NCNN": bytes_of(b"Gk0\x01"),
    "is an OpenVINO": bytes_of(b'<?xml version="1.0"?>\n<net name="net">'),
    "is a TensorRT": bytes_of(b"ftrt"),
    "is a GGUF": bytes_of(b"GGUF\3\0\0\0"),
    "is a pickle": lambda path: path.write_bytes(pickle.dumps({"G": [1, 2]}, 4)),
    "asks to run": pickled({"a": torch.eye(3).to_sparse()}),
    "is a checkpoint without": pickled({"epoch": 3}),
    "is a zip archive with": zip_of("net.pth"),
    "is a directory": lambda path: path.mkdir(),
    "is a web page": bytes_of(b"<!DOCTYPE html><html>log in</html>"),
    "is a pointer": bytes_of(b"version https://git-lfs.github.com/spec/v1\n"),
    "was saved by": of_newer_pytorch,
    "is no TorchScript": bytes_of(b"hello"),
}


def quoted():
    return re.findall(r"^\| `(.*?)` \|", PAGE, re.MULTILINE)


def row_of(start):
    (row,) = [cell for cell in quoted() if cell.startswith(start)]
    return row


def test_every_row_has_a_file():
    assert len(FILES) >= 20
    for cell in quoted():
        assert [start for start in FILES if cell.startswith(start)], cell


def error_of(path):
    result = support.execute([support.LAUNCHER, "inspect", path])
    assert result.returncode == 1 and result.stderr.count("\n") == 1, result
    return result.stderr


@pytest.mark.parametrize("start", FILES)
def test_error_is_the_quoted_one(tmp_path, start):
    path = tmp_path / getattr(FILES[start], "file_name", "net.pt")
    FILES[start](path)
    wanted = ".*".join(re.escape(piece.strip()) for piece in row_of(start).split("..."))
    assert re.search(wanted, error_of(path)), f"{row_of(start)}\n{error_of(path)}"


def test_the_advice_of_a_whole_module_makes_a_file_that_runs(tmp_path, monkeypatch):
    """As the error has it, with the file's name."""
    path = tmp_path / "whole.pt"
    torch.save(nn.Sequential(nn.Conv2d(3, 3, 3, padding=1)), path)
    advice = error_of(path).split("where that code is: ")[1].strip()
    if "weights_only" not in torch.load.__code__.co_varnames:
        advice = advice.replace(", weights_only=False", "")
    monkeypatch.chdir(tmp_path)
    exec(advice.replace("FILE", str(path)), {"torch": torch})  # noqa: S102
    support.succeed("-f", "lavfi", "-i", "testsrc2=size=32x24:duration=0.1",
                    "-vf", support.dnn(tmp_path / "model.pt", tune=0), "-f", "null", "-")


def test_links_within_the_page():
    headings = {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-")
                for heading in re.findall(r"^## (.*)$", PAGE, re.MULTILINE)}
    for target in re.findall(r"\]\(#([^)]*)\)", PAGE):
        assert target in headings, f"{target}: {headings}"
