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


def node_maker():
    import onnx

    return onnx.helper.make_node, onnx.helper.make_tensor_value_info, onnx.helper.make_graph


def inner(name, nodes, inputs, outputs):
    """The graph of a body or of a branch; inputs and outputs are (name, type, shape)."""
    _, value, graph = node_maker()
    return graph(nodes, name, [value(*each) for each in inputs], [value(*each) for each in outputs])


def looping():
    """A loop that may end early, with a branch in it, and one over rows."""
    node = node_maker()[0]
    branches = {f"{name}_branch": inner(name, [node(kind, ["v", number], [name])], [], [(name, 1, None)])
                for name, kind, number in (("then", "Mul", "two"), ("else", "Sub", "half"))}
    first = [node("ReduceMean", ["v"], ["m"], keepdims=0), node("Less", ["m", "two"], ["go_on"]),
             node("If", ["go_on"], ["w"], **branches), node("Identity", ["v"], ["kept"])]
    second = [node("Gather", ["x", "j"], ["row"], axis=2), node("Add", ["u", "row"], ["t"]),
              node("Identity", ["on"], ["stay"])]
    state = [("i", 7, []), ("go", 9, []), ("v", 1, None)]
    body = inner("body", first, state, [("go_on", 9, []), ("w", 1, None), ("kept", 1, None)])
    rows = inner("rows", second, [("j", 7, []), ("on", 9, []), ("u", 1, None)], [("stay", 9, []), ("t", 1, None)])
    nodes = [node("Loop", ["four", "yes", "x"], ["last", "all"], body=body),
             node("Shape", ["x"], ["s"]), node("Gather", ["s", "two_int"], ["h"]),
             node("ReduceMean", ["x"], ["zero"], axes=[2], keepdims=0),
             node("Loop", ["h", "yes", "zero"], ["sum"], body=rows), node("Unsqueeze", ["sum", "axes"], ["wide"]),
             node("ReduceMean", ["all"], ["mean"], axes=[0], keepdims=0), node("Add", ["mean", "wide"], ["both"]),
             node("Add", ["last", "both"], ["y"])]
    return nodes, {"four": 4, "yes": True, "two": 2.0, "half": 0.5, "two_int": 2, "axes": [2]}


def recurrent():
    """RNN, GRU and LSTM, there, back and both, over the rows of a picture."""
    node, numbers, size = node_maker()[0], {}, 3
    nodes = [node("Squeeze", ["x", "first"], ["steps"])]
    for kind, gates, direction in (("RNN", 1, "reverse"), ("GRU", 3, "bidirectional"), ("LSTM", 4, "forward")):
        ways = 2 if direction == "bidirectional" else 1
        numbers |= {f"{kind}_W": torch.rand(ways, gates * size, 4), f"{kind}_R": torch.rand(ways, gates * size, size),
                    f"{kind}_B": torch.rand(ways, 2 * gates * size)}
        inputs = ["steps", *(f"{kind}_{name}" for name in "WRB")]
        nodes += [node(kind, inputs, [f"{kind}_all", f"{kind}_last"], hidden_size=size, direction=direction),
                  node("ReduceMean", [f"{kind}_all"], [f"{kind}_mean"], axes=[1])]
    means = [f"{kind}_mean" for kind in ("RNN", "GRU", "LSTM")]
    return [*nodes, node("Concat", means, ["y"], axis=3)], numbers | {"first": [0]}


def placing():
    """What reads and writes at computed places."""
    node = node_maker()[0]
    nodes = [
        node("NonZero", ["x"], ["places"]), node("Transpose", ["places"], ["rows"], perm=[1, 0]),
        node("GatherND", ["x", "rows"], ["found"]), node("ScatterND", ["x", "rows", "found"], ["same"]),
        node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "least"], ["kept"]),
        node("Gather", ["kept", "last"], ["box"], axis=1), node("OneHot", ["box", "depth", "off_on"], ["hot"], axis=-1),
        node("ReduceMax", ["hot"], ["seen"], keepdims=0), node("Compress", ["same", "mask"], ["some"], axis=1),
        node("GatherElements", ["some", "at"], ["first"], axis=3),
        node("ScatterElements", ["some", "at", "first"], ["put"], axis=3),
        node("Mul", ["put", "seen"], ["y"])]
    numbers = {"boxes": torch.rand(1, 6, 4), "scores": torch.rand(1, 1, 6), "most": [3], "overlap": [0.5],
               "least": [0.1], "last": [2], "depth": 6, "off_on": [0.0, 1.0], "mask": [True, False, True],
               "at": [[[[0]], [[1]]]]}
    return nodes, numbers


def beside():
    """Its weights are in another file."""
    return [node_maker()[0]("Conv", ["x", "w"], ["y"])], {"w": torch.zeros(3, 3, 1, 1)}


def make_onnx_by_hand(folder):
    """What torch.onnx does not export alike in each version; needs python3-onnx."""
    import numpy
    import onnx
    import onnx.numpy_helper

    narrow = {numpy.dtype("float64"): numpy.float32}
    for make in (looping, recurrent, placing, beside):
        nodes, numbers = make()
        arrays = {name: numpy.asarray(each) for name, each in numbers.items()}
        tensors = [onnx.numpy_helper.from_array(each.astype(narrow.get(each.dtype, each.dtype)), name)
                   for name, each in arrays.items()]
        if make is beside:
            tensors[0].ClearField("raw_data")
            tensors[0].data_location = 1
            for key, value in {"location": "net.data", "offset": 4, "length": 36}.items():
                tensors[0].external_data.add(key=key, value=str(value))
        shape = [1, 5, 2, 4] if make is recurrent else ["n", 3, "h", "w"]
        value = onnx.helper.make_tensor_value_info
        graph = onnx.helper.make_graph(nodes, "net", [value("x", 1, shape)], [value("y", 1, None)], tensors)
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)])
        (folder / f"accepted-{make.__name__}-13.onnx").write_bytes(model.SerializeToString())


def make_onnx(folder):
    folder.mkdir(parents=True, exist_ok=True)
    places = {"x": {0: "n", 2: "h", 3: "w"}}
    plain = nn.Sequential(nn.Conv2d(3, 4, 3, 1, 1), nn.PReLU(4), nn.Conv2d(4, 12, 1), nn.PixelShuffle(2))
    for name, module in (("plain", plain), ("sizes", Sizes())):
        for version in (11, 16):
            torch.onnx.export(module.eval(), torch.rand(1, 3, 8, 12), str(folder / f"accepted-{name}-{version}.onnx"),
                              opset_version=version, input_names=["x"], output_names=["y"], dynamic_axes=places)
    make_onnx_by_hand(folder)


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
