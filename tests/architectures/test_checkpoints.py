# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files of weights as they are saved and published: one picture of all, or one line."""
import collections
import json
import os
import pickle
import struct
import sys
import types
import zipfile

import numpy
import pytest
import support
import torch
from published import randomise
from checkpoint_files import ALL, picture, save_safetensors, through_the_filter
from torch import nn

CASE = ALL["compact-x2"]


def network():
    return randomise(CASE.make())


@pytest.fixture(scope="module")
def weights():
    return network().state_dict()


@pytest.fixture(scope="module")
def weights_file(weights, tmp_path_factory):
    path = tmp_path_factory.mktemp("wanted") / "net.safetensors"
    save_safetensors(weights, path)
    return path


@pytest.fixture(scope="module")
def wanted(weights_file, engine):
    return engine.run(weights_file, picture(CASE)).picture


def assert_same(path, wanted, engine, told=""):
    """The file gives that very picture; `told` is what the engine calls it."""
    answer = engine.run(path, picture(CASE))
    assert not answer.error
    assert (answer.picture == wanted).all()
    assert told in answer.format


def prefixed(weights, prefix):
    return collections.OrderedDict((prefix + name, tensor) for name, tensor in weights.items())


def other_weights(weights):
    return {name: tensor + 1 for name, tensor in weights.items()}


# ---- how a file is written --------------------------------------------------------------

FORMS = {
    "zip": {},
    "older": {"_use_new_zipfile_serialization": False},
    "zip-protocol3": {"pickle_protocol": 3},
    "zip-protocol4": {"pickle_protocol": 4},
    "zip-protocol5": {"pickle_protocol": 5},
    "older-protocol3": {"pickle_protocol": 3, "_use_new_zipfile_serialization": False},
    "older-protocol4": {"pickle_protocol": 4, "_use_new_zipfile_serialization": False},
    "older-protocol5": {"pickle_protocol": 5, "_use_new_zipfile_serialization": False},
}


@pytest.mark.parametrize("ending", ["pth", "pt", "ckpt", "bin"])
def test_endings(weights, weights_file, tmp_path, ending):
    """As a user has it."""
    path = tmp_path / f"net.{ending}"
    torch.save(weights, path)
    assert (
        through_the_filter(path, picture(CASE)) == through_the_filter(weights_file, picture(CASE))
    ).all()


@pytest.mark.parametrize("form", FORMS)
def test_forms(weights, wanted, engine, tmp_path, form):
    path = tmp_path / "net.pth"
    torch.save(weights, path, **FORMS[form])
    told = "PyTorch checkpoint" + (" of the older format" if "older" in form else "")
    assert_same(path, wanted, engine, told)


# ---- where the weights are --------------------------------------------------------------


class Oddity:
    """Only Python could make one."""

    def __init__(self):
        self.names = {"a": 1}


def training(weights):
    """What Lightning keeps, and more."""
    module = nn.Linear(2, 2)
    optimizer = torch.optim.Adam(module.parameters())
    module(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [1, 2])
    return {
        "epoch": 3,
        "global_step": numpy.float64(2.5),
        "best": numpy.array([1.5, 2.5]),
        "when": torch.tensor(7),
        "pytorch-lightning_version": "1.9.0",
        "callbacks": {"ModelCheckpoint": {"best": Oddity()}},
        "optimizer_states": [optimizer.state_dict()],
        "lr_schedulers": [schedule.state_dict()],
        "hyper_parameters": Oddity(),
        "state_dict": weights,
        "device": torch.device("cpu"),
        "type": torch.float16,
        "names": {"a", "b"},
        "size": torch.Size([3, 4]),
        "large": 1 << 90,
        "small": -(1 << 40),
        "bytes": b"abc",
        "complex": 1j,
        "slice": slice(1, 2),
    }


PLACES = {
    "params": (lambda w: {"params": w}, "params"),
    "params_ema": (lambda w: {"params": other_weights(w), "params_ema": w}, "params_ema"),
    "params-ema": (lambda w: {"params-ema": w}, "params-ema"),
    "state_dict": (lambda w: {"epoch": 3, "state_dict": w}, "state_dict"),
    "model_state_dict": (lambda w: {"model_state_dict": w}, "model_state_dict"),
    "model": (lambda w: {"model": w}, "model"),
    "net": (lambda w: {"net": w}, "net"),
    "generator": (lambda w: {"discriminator": prefixed(w, "d."), "generator": w}, "generator"),
    "g_ema": (lambda w: {"g": other_weights(w), "g_ema": w}, "g_ema"),
    "weights": (lambda w: {"weights": w}, "weights"),
    "twice": (lambda w: {"model": {"params_ema": w}}, "model.params_ema"),
    "unusual": (lambda w: {"my_own": w}, "my_own"),
    "module": (lambda w: prefixed(w, "module."), "names after module."),
    "net_g": (lambda w: prefixed(w, "net_g."), "names after net_g."),
    "netG": (lambda w: prefixed(w, "netG."), "names after netG."),
    "model-prefix": (lambda w: prefixed(w, "model."), "names after model."),
    "compiled": (lambda w: prefixed(w, "_orig_mod."), "names after _orig_mod."),
    "two-prefixes": (
        lambda w: prefixed(w, "module.model."),
        "names after module., names after model.",
    ),
    "params-module": (
        lambda w: {"params": prefixed(w, "module.")},
        "params, names after module.",
    ),
    "among-others": (
        lambda w: {
            "state_dict": prefixed(w, "generator.")
            | prefixed(other_weights(w), "discriminator.")
            | {"loss.weight": torch.ones(3)}
        },
        "state_dict, names after generator.",
    ),
    "training": (training, "state_dict"),
    "list": (lambda w: [w, 3, "words"], "0"),
    "tuple": (lambda w: (100, {"params": w}), "1.params"),
}


@pytest.mark.parametrize("name", PLACES)
def test_places(weights, wanted, engine, tmp_path, name):
    wrap, place = PLACES[name]
    path = tmp_path / "net.pth"
    torch.save(wrap(weights), path)
    assert_same(path, wanted, engine, ": " + place)


def test_several_models_in_a_file(weights, tmp_path):
    path = tmp_path / "net.pth"
    torch.save({str(i): dict(weights) for i in range(3)}, path)
    video = ("-f", "lavfi", "-i", "color=size=32x32:duration=0.04", "-vf")
    result = support.succeed(*video, support.dnn(path, tune=0), "-f", "null", "-")
    assert "holds 3 models; it is 0 that is run" in result.stderr


def test_inspect_tells_the_place(weights, tmp_path):
    path = tmp_path / "net.pth"
    torch.save({"params": prefixed(weights, "module.")}, path)
    assert support.inspect(path)["format"] == "PyTorch checkpoint: params, names after module."


@pytest.mark.parametrize("name", ["module", "net_g", "among-others"])
def test_prefixes_of_safetensors(weights, wanted, engine, tmp_path, name):
    path = tmp_path / "net.safetensors"
    tensors = PLACES[name][0](weights)
    save_safetensors(tensors.get("state_dict", tensors), path)
    assert_same(path, wanted, engine)


# ---- how tensors are kept ---------------------------------------------------------------


def shared(weights):
    """All in one storage."""
    whole = torch.cat([tensor.reshape(-1) for tensor in weights.values()])
    views, begin = collections.OrderedDict(), 0
    for name, tensor in weights.items():
        views[name] = whole[begin : begin + tensor.numel()].view(tensor.shape)
        begin += tensor.numel()
    return views


def strided(weights):
    """Last dimension first, and every second element."""

    def spread(tensor):
        room = torch.zeros(tensor.numel() * 2 + 3)
        view = room[3 : 3 + tensor.numel() * 2 : 2].view(tensor.shape[::-1])
        return view.permute(*reversed(range(tensor.dim()))).copy_(tensor)

    return {name: spread(tensor) for name, tensor in weights.items()}


def with_attributes(weights):
    odd = collections.OrderedDict(weights)
    odd._metadata = collections.OrderedDict({"": {"version": 1}, "body": {"version": 2}})
    return odd


def annotated(weights):
    marked = {name: nn.Parameter(tensor) for name, tensor in weights.items()}
    for tensor in marked.values():
        tensor.note = "mine"
    return marked


KEPT = {
    "parameters": lambda w: {name: nn.Parameter(tensor) for name, tensor in w.items()},
    "annotated": annotated,
    "requires_grad": lambda w: {name: tensor.clone().requires_grad_() for name, tensor in w.items()},
    "metadata": with_attributes,
    "shared": shared,
    "strided": strided,
    "double": lambda w: {name: tensor.double() for name, tensor in w.items()},
    "mapping": lambda w: dict(w),
    "with-none": lambda w: dict(w) | {"nothing": None, "count": 3, 7: "seven"},
}


@pytest.mark.parametrize("form", ["zip", "older"])
@pytest.mark.parametrize("name", KEPT)
def test_tensors(weights, wanted, engine, tmp_path, name, form):
    path = tmp_path / "net.pth"
    torch.save(KEPT[name](weights), path, **FORMS[form])
    assert_same(path, wanted, engine)


@pytest.mark.parametrize("form", ["zip", "older"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_rounded_weights(weights, engine, tmp_path, dtype, form):
    rounded = {name: tensor.to(dtype) for name, tensor in weights.items()}
    exact = tmp_path / "exact.safetensors"
    save_safetensors({name: tensor.float() for name, tensor in rounded.items()}, exact)
    path = tmp_path / "net.pth"
    torch.save(rounded, path, **FORMS[form])
    assert_same(path, engine.run(exact, picture(CASE)).picture, engine)


# ---- what is refused --------------------------------------------------------------------


class Runs:
    def __init__(self, function, *arguments):
        self.made = (function, arguments)

    def __reduce__(self):
        return self.made


def refused(engine, path, *phrases):
    """With one line."""
    error = engine.run(path, picture(CASE)).error
    assert error and error.isprintable()
    for phrase in phrases:
        assert phrase in error


def scripts(marker):
    """Each would leave a file behind."""
    write = f"open({str(marker)!r}, 'w').close()"
    return {
        "os.system": (Runs(os.system, f"touch {marker}"), ["posix.system", "not done"]),
        "eval": (Runs(eval, write), [".eval", "not done"]),
        "exec": (Runs(exec, write), [".exec", "not done"]),
        "popen": (Runs(os.popen, f"touch {marker}"), ["os.popen", "not done"]),
        "numpy": (Runs(numpy.load, str(marker)), ["numpy", "load", "not done"]),
    }


@pytest.mark.parametrize("name", scripts(""))
@pytest.mark.parametrize(
    "place,form", [("alone", "zip"), ("weight", "zip"), ("weight", "older"), ("dict", "zip")]
)
def test_nothing_is_run(weights, engine, tmp_path, name, place, form):
    marker = tmp_path / "marker"
    attack, words = scripts(marker)[name]
    whole = {
        "alone": attack,
        "weight": dict(weights) | {"body.0.weight": attack},
        "dict": {"params": {"a": attack}},
    }[place]
    path = tmp_path / "net.pth"
    torch.save(whole, path, **FORMS[form])
    refused(engine, path, *words)
    assert not marker.exists()


SAVE_WEIGHTS = "torch.save(model.state_dict()"
OTHERS = {
    "module": (
        lambda: nn.Sequential(nn.Conv2d(3, 3, 3)),
        ["whole module (torch.nn.modules.container.Sequential)", "not known here",
         "2 tensors (0.bias 3, 0.weight 3x3x3x3)", "torch.jit.trace(torch.load("],
    ),
    "module-in-dict": (
        lambda: {"epoch": 1, "model": nn.Conv2d(3, 3, 3)},
        ["whole module (torch.nn.modules.conv.Conv2d)", "not known here"],
    ),
    "module-without-weights": (lambda: nn.ReLU(), ["whole module", "without weights", SAVE_WEIGHTS]),
    "empty": (dict, ["without weights", SAVE_WEIGHTS]),
    "no-tensors": (lambda: {"epoch": 3}, ["without weights", SAVE_WEIGHTS]),
    "number": (lambda: 3, ["without weights"]),
    "tensor": (lambda: torch.ones(3), ["without names"]),
    "list": (lambda: [torch.ones(3)], ["without names"]),
    "numbered": (lambda: {0: torch.ones(3), 1: torch.ones(3)}, ["without names"]),
    "optimizer": (
        lambda: {"epoch": 3, "optimizer": torch.optim.SGD([torch.ones(1)], 0.1).state_dict()},
        ["state of a training"],
    ),
    "sparse": (lambda: {"body.0.weight": torch.eye(3).to_sparse()}, ["_rebuild_sparse_tensor"]),
    "quantised": (
        lambda: {"body.0.weight": torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)},
        ["_rebuild_qtensor"],
    ),
    "complex": (lambda: {"a": torch.ones(3, dtype=torch.complex64)}, ["ComplexFloat"]),
    "unknown": (lambda: {"a.weight": torch.ones(3, 2)}, ["not known here", "1 tensor (a.weight 3x2)"]),
    "unknown-deep": (
        lambda: {"when": torch.ones(1), "params": {"x.a": torch.ones(3), "x.b": torch.ones(2)}},
        ["not known here", "2 tensors (x.a 3, x.b 2)"],
    ),
    "missing": (
        lambda: {k: v for k, v in network().state_dict().items() if k != "body.4.weight"},
        ["lacks body.4.weight"],
    ),
    "not-a-number": (
        lambda: network().state_dict() | {"body.4.bias": torch.full((16,), float("nan"))},
        ["body.4.bias", "finite"],
    ),
    "whole-numbers": (
        lambda: network().state_dict() | {"body.4.bias": torch.zeros(16, dtype=torch.int64)},
        ["body.4.bias", "whole numbers"],
    ),
    "other-bias": (
        lambda: network().state_dict() | {"body.4.bias": torch.zeros(15)},
        ["body.4.bias does not have one number for each of the 16 channels"],
    ),
    "one-more": (
        lambda: network().state_dict() | {"mine.weight": torch.zeros(15)},
        ["Compact", "mine.weight"],
    ),
    "six-channels": (
        lambda: randomise(type(CASE.make())(channels=6)).state_dict(),
        ["is a Compact", "of 6 channels", "1, 3 or 4"],
    ),
    "bomb": (
        lambda: {str(i): torch.ones(1).expand(1 << 30) for i in range(64)},
        ["more memory than the file"],
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_others(engine, tmp_path, name):
    make, words = OTHERS[name]
    path = tmp_path / "net.pth"
    torch.save(make(), path)
    refused(engine, path, *words)


def picklable(module):
    """Python looks for the class of each module where it says that it is."""
    for each in module.modules():
        place = sys.modules.setdefault(type(each).__module__, types.ModuleType("made"))
        setattr(place, type(each).__name__, type(each))
    return module


@pytest.mark.parametrize("form", ["zip", "zip-protocol4"])
@pytest.mark.parametrize("place", [None, "model"])
def test_whole_modules_of_known_networks(wanted, engine, tmp_path, form, place):
    """torch.save(model): its weights are read, and its code is not needed."""
    path = tmp_path / "net.pth"
    module = nn.DataParallel(picklable(network())) if place else picklable(network())
    torch.save({place: module} if place else module, path, **FORMS[form])
    assert_same(path, wanted, engine)


class Nested(nn.Module):
    """Two uses of one module in each of many: a billion paths."""

    def __init__(self, depth):
        super().__init__()
        self.one = self.other = Nested(depth - 1) if depth else nn.Conv2d(1, 1, 1)


def test_modules_within_modules(engine, tmp_path):
    path = tmp_path / "net.pth"
    torch.save(Nested(30), path)
    refused(engine, path, "more nested modules")


@pytest.mark.parametrize("name", ["module", "unknown", "missing"])
def test_the_filter_says_why(tmp_path, name):
    """As a user sees it: one line that names the file."""
    make, words = OTHERS[name]
    path = tmp_path / "net.pth"
    torch.save(make(), path)
    video = ("-f", "lavfi", "-i", "color=size=32x32:duration=0.04", "-vf")
    result = support.ffmpeg(*video, support.dnn(path, tune=0, isolate=0), "-f", "null", "-")
    text = support.assert_fails_clearly(result, path.name)
    for phrase in words:
        assert phrase in text, text


# ---- pickles that torch.save() does not write -------------------------------------------


def with_pickle(path, program, weights=None):
    """A checkpoint whose pickle is that program."""
    torch.save(weights or {"a": torch.ones(3)}, path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, contents in members.items():
            archive.writestr(name, program if name.endswith("/data.pkl") else contents)


def tensor(offset, shape, strides, count=3, key="0"):
    def number(n):
        return b"\x8a\x08" + struct.pack("<q", n)

    def numbers(values):
        return b"(" + b"".join(map(number, values)) + b"t"

    return (
        b"ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\n"
        + b"X" + struct.pack("<I", len(key)) + key.encode() + b"X\x03\0\0\0cpu" + number(count) + b"tQ"
        + number(offset) + numbers(shape) + numbers(strides)
        + b"\x89ccollections\nOrderedDict\n)RtR"
    )  # fmt: skip


def named(value):
    return b"\x80\x02}X\x01\0\0\0a" + value + b"s."


DAMAGED = "damaged"
PROGRAMS = {
    "beyond": (named(tensor(1, [3], [1])), "reaches beyond"),
    "before": (named(tensor(-1, [3], [1])), "reaches beyond"),
    "stride": (named(tensor(0, [2, 2], [2, 1])), "reaches beyond"),
    "overflow": (named(tensor(0, [1 << 62, 1 << 62], [1 << 62, 4])), "reaches beyond"),
    "offset-overflow": (named(tensor((1 << 63) - 1, [3], [1])), "reaches beyond"),
    "negative-stride": (named(tensor(2, [3], [-1])), DAMAGED),
    "negative-size": (named(tensor(0, [-3], [1])), DAMAGED),
    "more-than-there-is": (named(tensor(0, [9], [1], 9)), DAMAGED),
    "count-overflow": (named(tensor(0, [9], [1], 1 << 62)), DAMAGED),
    "negative-count": (named(tensor(0, [1], [1], -1)), "form that torch.save"),
    "no-storage": (named(tensor(0, [3], [1], key="9")), DAMAGED),
    "many-dimensions": (named(tensor(0, [1] * 70, [1] * 70)), DAMAGED),
    "contains-itself": (b"\x80\x02}q\0X\x01\0\0\0ah\0s.", "without weights"),
    "nested": (b"\x80\x02" + b"(" * 100000 + b"l" * 100000 + b".", "without weights"),
    "nested-dicts": (
        b"\x80\x02" + b"}X\x05\0\0\0model" * 100000 + b"}" + b"s" * 100000 + b".",
        "without weights",
    ),
    "laughs": (
        b"\x80\x02]q\0" + b"".join(b"(h%ch%cl\x71%c" % (i, i, i + 1) for i in range(100)) + b"0" * 0
        + b".",
        DAMAGED,
    ),
    "laughing-dicts": (
        b"\x80\x02}q\0"
        + b"".join(
            b"}(X\x05\0\0\0modelh%cX\x03\0\0\0neth%cuq%c" % (i, i, i + 1) for i in range(100)
        )
        + b"h" + bytes([100]) + b"q\xff(" + b"h\xff1h\xff" + b".",
        DAMAGED,
    ),  # fmt: skip
    "no-stop": (b"\x80\x02}", DAMAGED),
    "empty": (b"", DAMAGED),
    "unknown-memo": (b"\x80\x02h\7.", DAMAGED),
    "below-the-stack": (b"\x80\x02R.", DAMAGED),
    "odd-items": (b"\x80\x02}(NNNu.", DAMAGED),
    "long-text": (b"\x80\x02X\xff\xff\xff\xff.", DAMAGED),
    "longer-text": (b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff.", DAMAGED),
    "long-number": (b"\x80\x02\x8b\xff\xff\xff\xff.", DAMAGED),
    "extension": (b"\x80\x02\x82\1.", DAMAGED),
    "protocol": (b"\x80\x09}.", DAMAGED),
    "memo": (b"\x80\x02N" + b"\x94" * (5 << 20) + b".", "too many values"),
    "marks": (b"\x80\x02" + b"(" * (5 << 20) + b".", "too many values"),
    "global-of-control-bytes": (named(b"ca\x1b[31m\nb\n)R"), "asks to run"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_foreign_pickles(engine, tmp_path, name):
    program, words = PROGRAMS[name]
    path = tmp_path / "net.pth"
    with_pickle(path, program)
    refused(engine, path, words)


HEADERS = {
    "overlap-and-gap": ({"a": [0, 16], "b": [0, 16]}, DAMAGED),
    "gap": ({"a": [0, 16], "b": [16, 28]}, DAMAGED),
    "metadata": ({"a": [0, 16], "b": [16, 32], "__metadata__": 5}, DAMAGED),
    "many": ({str(i): [0, 0] for i in range(200000)} | {"a": [0, 32]}, "too many for a model"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_foreign_safetensors(engine, tmp_path, name):
    """In no time."""
    places, words = HEADERS[name]
    header = {
        key: place if key == "__metadata__" else
        {"dtype": "F32", "shape": [(place[1] - place[0]) // 4], "data_offsets": place}
        for key, place in places.items()
    }
    text = json.dumps(header).encode()
    path = tmp_path / "net.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(32))
    refused(engine, path, words)


def test_too_deep(engine, tmp_path):
    """LibTorch's time grows with the square of what is built."""
    weight, bias = torch.ones(3, 3, 1, 1), torch.ones(3)
    names = {f"body.{2 * i}.weight": weight for i in range(4000)}
    path = tmp_path / "net.pth"
    torch.save(names | {name.replace("weight", "bias"): bias for name in names}, path)
    refused(engine, path, "more layers than anybody")


def test_oldest_format(engine, tmp_path):
    import tarfile

    path = tmp_path / "net.pth"
    with tarfile.open(path, "w") as archive:
        for name in ("sys_info", "pickle", "storages", "tensors"):
            archive.addfile(tarfile.TarInfo(name))
    refused(engine, path, "before PyTorch 0.1.10")


OTHER_FILES = {
    "page": (b"\n<!DOCTYPE html><html>log in</html>", "web page", "download the file itself"),
    "pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "git lfs pull"),
    "rar": (b"Rar!\x1a\x07\0", "RAR", "unpack"),
    "7z": (b"7z\xbc\xaf\x27\x1c", "7z", "unpack"),
    "gzip": (b"\x1f\x8b\x08", "gzip", "unpack"),
    "keras": (b"\x89HDF\r\n", "HDF5"),
    "gguf": (b"GGUF\3\0\0\0", "GGUF"),
    "ncnn": (b"7767517\n2 2\n", "NCNN"),
    "ncnn-weights": (b"Gk0\x01", "NCNN"),
    "tensorflow-lite": (b"\x1c\0\0\0TFL3", "TensorFlow"),
    "openvino": (b'<?xml version="1.0"?>\n<net name="net">', "OpenVINO"),
    "tensorrt": (b"ftrt", "TensorRT"),
    "words": (b"hello", "no TorchScript model and no checkpoint"),
}


@pytest.mark.parametrize("kind", OTHER_FILES)
def test_other_files(engine, tmp_path, kind):
    start, *phrases = OTHER_FILES[kind]
    path = tmp_path / "net.pth"
    path.write_bytes(start.ljust(600, b" "))
    refused(engine, path, *phrases)


def test_packed_model(weights, engine, tmp_path):
    import zipfile

    path = tmp_path / "net.pth"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("4x_net.pth", b"x" * 100)
    refused(engine, path, "zip archive with 4x_net.pth in it", "unpack")


@pytest.mark.parametrize("form", ["zip", "older"])
def test_cut_anywhere(weights, engine, tmp_path, form):
    path = tmp_path / "net.pth"
    torch.save(weights, path, **FORMS[form])
    whole = path.read_bytes()
    for size in (30, 100, 500, 2000, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        refused(engine, path)


def test_python_2(weights, wanted, engine, tmp_path):
    """Its texts were bytes, its dictionaries lists of pairs, and its memo began with 1."""
    path = tmp_path / "net.pth"
    program = b"\x80\x02ccollections\nOrderedDict\nq\1]q\2("
    torch.save(weights, path)
    for number, (name, each) in enumerate(weights.items()):
        value = tensor(0, each.shape, each.stride(), each.numel(), str(number))
        program += b"]q\3(U" + bytes([len(name)]) + name.encode() + value + b"e"
    with_pickle(path, program + b"e\x85q\4Rq\5.", weights)
    assert_same(path, wanted, engine)


def test_formats_by_name(engine, tmp_path):
    for name, start, word in (("net.pb", b"\n\x05", "TensorFlow"), ("net.onnx", b"\x08\x07:\x7f", "ONNX")):
        (tmp_path / name).write_bytes(start.ljust(600, b" "))
        refused(engine, tmp_path / name, word)


def test_pickle_of_python_is_no_checkpoint(engine, tmp_path):
    path = tmp_path / "net.pth"
    path.write_bytes(pickle.dumps({"epoch": 3}))
    refused(engine, path, "is a pickle of Python's own", "no checkpoint")


# ---- dnn-torch convert ------------------------------------------------------------------


def convert(*words):
    return support.execute([support.LAUNCHER, "convert", *words])


@pytest.mark.parametrize("isolate", ["0", "1"])
@pytest.mark.parametrize("form", ["zip", "older", "safetensors"])
def test_convert_to_torchscript(weights, wanted, engine, tmp_path, form, isolate):
    path, made = tmp_path / "net.pth", tmp_path / "made.pt"
    if form == "safetensors":
        save_safetensors(weights, path)
    else:
        torch.save({"params_ema": weights}, path, **FORMS[form])
    result = convert(path, made, f"--isolate={isolate}")
    assert result.returncode == 0 and not result.stderr, str(result)
    assert_same(made, wanted, engine, "TorchScript")
    with torch.no_grad():
        images = picture(CASE)
        assert torch.equal(torch.jit.load(str(made))(images), network()(images))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["made.pt", "net.pth"]


@pytest.mark.parametrize("kept", ["mapping", "strided", "shared", "double"])
def test_convert_to_safetensors(weights, wanted, engine, tmp_path, kept):
    path, made = tmp_path / "net.ckpt", tmp_path / "made.safetensors"
    torch.save({"state_dict": prefixed(KEPT[kept](weights), "net_g.")}, path)
    result = convert(path, made)
    assert result.returncode == 0 and not result.stderr, str(result)
    assert_same(made, wanted, engine)
    if kept != "double":
        exact = tmp_path / "exact.safetensors"
        save_safetensors(dict(sorted(weights.items())), exact)
        count = sum(tensor.numel() for tensor in weights.values()) * 4
        assert made.read_bytes()[-count:] == exact.read_bytes()[-count:]


def test_convert_an_unknown_architecture(tmp_path):
    path, made = tmp_path / "net.pth", tmp_path / "made.safetensors"
    torch.save({"params": {"x.half": torch.ones(3).half(), "x.whole": torch.arange(4)}}, path)
    assert convert(path, made).returncode == 0
    assert b'"x.half":{"data_offsets":[0,6],"dtype":"F16","shape":[3]}' in made.read_bytes()
    made = tmp_path / "made.pt"
    result = convert(path, made)
    assert result.returncode == 1 and "not known here" in result.stderr
    assert result.stderr.count("\n") == 1, result.stderr
    assert not made.exists() and len(list(tmp_path.iterdir())) == 2


def test_convert_tells_what_it_leaves_out(weights, tmp_path):
    path, made = tmp_path / "net.pth", tmp_path / "made.safetensors"
    torch.save({"params": other_weights(weights), "params_ema": weights}, path)
    result = convert(path, made)
    said = f"of the file's {2 * len(weights)} tensors {len(weights)} were written: params_ema"
    assert result.returncode == 0 and said in result.stderr, str(result)
    torch.save({"D": {"a": torch.ones(3)}, "G": {"a": torch.ones(3), "b": torch.ones(3)},
                "list": [torch.ones(3)], 5: torch.ones(3)}, path)
    result = convert(path, made, "--force")
    assert "of the file's 5 tensors 2 were written: G" in result.stderr, str(result)


def test_convert_copies_the_contract(weights, tmp_path):
    path, made = tmp_path / "net.pth", tmp_path / "made.pt"
    torch.save(weights, path)
    contract = tmp_path / "net.pth.json"
    contract.write_text('{"input": {"range": 255}}')
    result = convert(path, made)
    assert result.returncode == 0 and "contract" in result.stderr, str(result)
    assert (tmp_path / "made.pt.json").read_text() == contract.read_text()
    contract.unlink()
    assert "was there before" in convert(path, made, "--force").stderr


def test_convert_replaces_nothing_by_itself(weights, tmp_path):
    path, made, beside = (tmp_path / name for name in ("net.pth", "made.pt", "made.pt.json"))
    torch.save(weights, path)
    (tmp_path / "net.pth.json").write_text('{"input": {"range": 255}}')
    for existing in (made, beside):
        existing.write_text('{"author": "Me"}')
        result = convert(path, made)
        assert result.returncode == 1 and result.stderr.count("\n") == 1, str(result)
        assert f"'{existing}' cannot be written: File exists" in result.stderr
        assert "--force" in result.stderr and existing.read_text() == '{"author": "Me"}'
        assert len(list(tmp_path.iterdir())) == 3, list(tmp_path.iterdir())
        existing.unlink()
    made.write_text("old")
    beside.write_text("{}")
    assert convert(path, made, "--force").returncode == 0
    assert made.stat().st_size > 1000 and "255" in beside.read_text()


def test_convert_does_not_ask_for_the_same_contract(weights, tmp_path):
    path, made = tmp_path / "net.pth", tmp_path / "made.pt"
    torch.save(weights, path)
    for place in (path, made):
        place.with_name(place.name + ".json").write_text('{"input": {"range": 255}}')
    assert convert(path, made).returncode == 0


def test_convert_never_replaces_what_it_reads(weights, tmp_path):
    path = tmp_path / "net.pt"
    torch.save(weights, path)
    before = path.read_bytes()
    (tmp_path / "link.pt").symlink_to(path)
    for name in ("net.pt", "link.pt"):
        result = convert(path, tmp_path / name, "--force")
        assert result.returncode == 2 and "is the file to convert" in result.stderr, str(result)
    assert path.read_bytes() == before


def test_convert_keeps_what_the_name_tells(engine, tmp_path):
    """FSRCNN's weights are the same for all scales."""
    name, case = next(each for each in ALL.items() if each[1].told["architecture"] == "FSRCNN")
    path, made = tmp_path / case.file, tmp_path / "renamed.safetensors"
    save_safetensors(randomise(case.make()).state_dict(), path)
    assert convert(path, made).returncode == 0
    wanted, given = (engine.run(each, picture(case)) for each in (path, made))
    assert not given.error and (given.picture == wanted.picture).all()


def test_convert_follows_a_link(weights, tmp_path):
    path, made, link = tmp_path / "net.pth", tmp_path / "made.pt", tmp_path / "link.pt"
    torch.save(weights, path)
    link.symlink_to(made)
    assert convert(path, link).returncode == 0
    assert link.is_symlink() and made.stat().st_size > 1000
    folder = tmp_path / "folder.pt"
    folder.mkdir()
    assert "Is a directory" in convert(path, folder).stderr


def test_convert_that_is_killed_leaves_nothing(weights, tmp_path):
    path = tmp_path / "net.pth"
    torch.save(weights, path)
    result = support.execute(
        ["prlimit", "--fsize=4096", support.LAUNCHER, "convert", path, tmp_path / "made.pt",
         "--isolate=0"])
    assert result.returncode != 0
    assert [each.name for each in tmp_path.iterdir()] == ["net.pth"]


def test_convert_refuses(weights, tmp_path):
    path, script = tmp_path / "net.pth", tmp_path / "script.pt"
    torch.save(weights, path)
    torch.jit.script(nn.Identity()).save(str(script))
    for words, code, phrase in [
        ((path, tmp_path / "made.onnx"), 2, "neither with .pt"),
        ((path,), 2, "no file to write"),
        ((path, tmp_path / "nowhere" / "made.pt"), 1, "cannot be written"),
        ((tmp_path / "none.pth", tmp_path / "made.pt"), 1, "cannot be opened"),
        ((script, tmp_path / "made.pt"), 1, "TorchScript already"),
    ]:
        result = convert(*words)
        assert result.returncode == code and phrase in result.stderr, str(result)
        assert result.stderr.count("\n") == 1, result.stderr
    assert sorted(each.name for each in tmp_path.iterdir()) == ["net.pth", "script.pt"]
