#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the files that are changed to fuzz the engine: make_seeds.py OUTDIR [CHECKPOINTS [ONNX]]

OUTDIR gets models, the folder CHECKPOINTS files of weights, and ONNX such files.

Each is small, and has something that others do not: control flow, constants, classes,
containers of tensors, shared storages, views. They lie in the repository so that a seed
means the same wherever it is used; this is how they came to be.
"""
import json
import pathlib
import struct
import sys
import warnings
import zipfile
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
import torch.nn.functional as functional
from torch import Tensor, nn

warnings.filterwarnings("ignore")


class Convolutions(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.PReLU(4),
            nn.Conv2d(4, 12, 3, padding=1), nn.PixelShuffle(2))  # fmt: skip


class Branches(nn.Module):
    """Control flow, methods, attributes of all plain kinds, an assertion."""

    def __init__(self):
        super().__init__()
        self.passes = 2
        self.strength = 0.5
        self.kind = "soft"
        self.on = True
        self.steps = [1, 2]

    def step(self, x: Tensor, width: int) -> Tensor:
        return functional.avg_pool2d(x, 2 * width + 1, 1, width, count_include_pad=False)

    def forward(self, x: Tensor, strength: Optional[float] = None) -> Tensor:
        assert x.dim() == 4, "pictures"
        if strength is None:
            strength = self.strength
        soft = x
        i = 0
        while i < self.passes:
            soft = self.step(soft, self.steps[i % len(self.steps)])
            i += 1
        if self.kind == "soft" and self.on:
            return x + strength * (soft - x)
        return soft


class Containers(nn.Module):
    """Tensors in lists, dictionaries and tuples; two that share their storage."""

    def __init__(self):
        super().__init__()
        both = torch.linspace(0.5, 1.5, 8)
        self.register_buffer("first", both[:3].view(1, 3, 1, 1))
        self.register_buffer("second", both[2:8:2].view(1, 3, 1, 1))
        self.gains: List[Tensor] = [torch.tensor(0.5), torch.tensor([[[[0.25]]]])]
        self.named: Dict[str, Tensor] = {"red": torch.tensor([1.0, 0.0, 0.0]).view(1, 3, 1, 1)}
        self.pair: Tuple[Tensor, int] = (torch.ones(1), 3)
        self.maybe: Optional[Tensor] = None

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        image = x * self.first + self.second * self.gains[0] * self.gains[1]
        image = image * self.pair[0] + self.named["red"] * 0.125
        return image, image[:, :1]


class Parts(NamedTuple):
    light: Tensor
    rest: Tensor


class Classes(nn.Module):
    """A class of its own, a module within a module, constants of the graph."""

    def __init__(self):
        super().__init__()
        self.inner = nn.ModuleList([nn.Conv2d(1, 1, 1), nn.Conv2d(1, 1, 3, padding=1)])

    def split(self, x: Tensor) -> Parts:
        light = x.mean(1, keepdim=True)
        return Parts(light, x - light)

    def forward(self, x: Tensor) -> Tensor:
        parts = self.split(x)
        light = parts.light
        for layer in self.inner:
            light = torch.sigmoid(layer(light))
        return parts.rest + light


class Traced(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        ramp = torch.linspace(0, 1, 5)
        kernel = (ramp.view(1, 1, 5, 1) * ramp.view(1, 1, 1, 5)).expand(x.size(1), 1, 5, 5)
        return functional.conv2d(x, kernel / kernel[0].sum(), padding=2, groups=x.size(1))


class Counter(nn.Module):
    """Keeps something from run to run."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1, dtype=torch.int64))
        self.dimmer = nn.Parameter(torch.full((1, 3, 1, 1), 0.5, dtype=torch.float16))

    def forward(self, x: Tensor) -> Tensor:
        self.count += 1
        return x * self.dimmer.to(x.dtype) + self.count.to(x.dtype) / 256.0


def seeds():
    torch.manual_seed(7)
    yield "convolutions", torch.jit.trace(Convolutions().eval(), torch.rand(1, 3, 8, 8))
    yield "branches", torch.jit.script(Branches())
    yield "containers", torch.jit.script(Containers())
    yield "classes", torch.jit.script(Classes().eval())
    yield "constants", torch.jit.freeze(torch.jit.trace(Traced().eval(), torch.rand(1, 3, 8, 8)))
    yield "counter", torch.jit.script(Counter())


def weights():
    """Of the architecture Compact, the smallest that there is."""
    torch.manual_seed(7)
    names = ("body.0", "body.2")
    layers = nn.Conv2d(3, 2, 3), nn.Conv2d(2, 3, 3)
    tensors = {"body.1.weight": torch.ones(2)}
    for name, layer in zip(names, layers):
        tensors |= {f"{name}.weight": layer.weight, f"{name}.bias": layer.bias}
    return tensors


def make_checkpoints(folder):
    folder.mkdir(parents=True, exist_ok=True)
    older = {"_use_new_zipfile_serialization": False}
    plain = {name: tensor.detach() for name, tensor in weights().items()}
    torch.save(plain, folder / "accepted-plain.pth")
    torch.save({"params": plain, "params_ema": weights()}, folder / "accepted-ema.pth", pickle_protocol=4)
    torch.save(plain, folder / "accepted-older.pth", **older)
    training = {
        "epoch": 3,
        "state_dict": {f"generator.{name}": tensor.half() for name, tensor in plain.items()},
        "optimizer": torch.optim.Adam(list(weights().values())).state_dict(),
        "hyper_parameters": pathlib.PurePosixPath("a/b"),
    }
    torch.save(training, folder / "accepted-training.ckpt")
    torch.save(training, folder / "accepted-training-older.ckpt", pickle_protocol=4, **older)
    header, numbers = {}, b""
    for name, tensor in plain.items():
        data = tensor.numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape),
                        "data_offsets": [len(numbers), len(numbers) + len(data)]}  # fmt: skip
        numbers += data
    text = json.dumps(header).encode()
    contents = struct.pack("<Q", len(text)) + text + numbers
    (folder / "accepted-plain.safetensors").write_bytes(contents)


class Sizes(nn.Module):
    """Computes with sizes."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Conv2d(3, 4, 3, 2, 1), nn.BatchNorm2d(4), nn.ConvTranspose2d(4, 3, 2, 2)

    def forward(self, x):
        n, c, h, w = x.shape
        wide = nn.functional.pad(x, (0, (4 - w % 4) % 4, 0, (4 - h % 4) % 4), "reflect")
        made = self.last(nn.functional.leaky_relu(self.norm(self.first(wide)), 0.1))
        rows = made.flatten(2).transpose(1, 2).softmax(-1).transpose(1, 2).reshape(made.shape)
        return nn.functional.interpolate(rows[:, :, :h, :w], scale_factor=2, mode="bilinear")


def make_onnx(folder):
    folder.mkdir(parents=True, exist_ok=True)
    places = {"x": {0: "n", 2: "h", 3: "w"}}
    plain = nn.Sequential(nn.Conv2d(3, 4, 3, 1, 1), nn.PReLU(4), nn.Conv2d(4, 12, 1), nn.PixelShuffle(2))
    for name, module in (("plain", plain), ("sizes", Sizes())):
        for version in (11, 16):
            torch.onnx.export(module.eval(), torch.rand(1, 3, 8, 12), str(folder / f"accepted-{name}-{version}.onnx"),
                              opset_version=version, input_names=["x"], output_names=["y"], dynamic_axes=places)


# The others hold their code as it is, for it to be changed: nothing here inflates.
AS_PYTORCH_WRITES_IT = ("convolutions",)


def store_plainly(path):
    with zipfile.ZipFile(path) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, contents in members:
            inner = "archive/" + name.partition("/")[2]
            archive.writestr(zipfile.ZipInfo(inner, (1980, 1, 1, 0, 0, 0)), contents)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, module in seeds():
        path = folder / f"accepted-{name}.pt"
        module.save(str(path))
        if name not in AS_PYTORCH_WRITES_IT:
            store_plainly(path)
    if len(sys.argv) > 2:
        make_checkpoints(pathlib.Path(sys.argv[2]))
    if len(sys.argv) > 3:
        make_onnx(pathlib.Path(sys.argv[3]))


if __name__ == "__main__":
    main()
