#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the model files that engine_torch_test opens: make_engine_models.py OUTDIR

Each does one thing that the engine must get right or must refuse in words.
"""
import json
import os
import pathlib
import pickle
import struct
import sys
import warnings
import zipfile
from typing import Dict, List, Optional, Tuple

# oneDNN dies of AMX that a hypervisor promises and has not.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
import hostile_models
import state_models
import tensor_models
import torch
import torch.nn.functional as functional
import trait_models
from torch import Tensor, nn

warnings.filterwarnings("ignore")

# ---- what forward() may return ----------------------------------------------


class Identity(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x


class Double(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 2.0


class Flatten(nn.Module):
    """Whatever the strides of its input were, they are gone."""

    def forward(self, x: Tensor) -> Tensor:
        return (x * 1.0).contiguous()


class Transposed(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return (x * 1.0).transpose(2, 3)


class ChannelsLast(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return (x * 1.0).contiguous(memory_format=torch.channels_last)


class Expanded(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return (x[:, :, :1, :1] * 1.0).expand_as(x)


class Cropped(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return (x * 1.0)[:, :, 1:, ::2]


class DictOne(nn.Module):
    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        return {"image": x * 2.0}


class DictTwo(nn.Module):
    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        return {"image": x * 2.0, "mask": x * 3.0}


class DictNone(nn.Module):
    def forward(self, x: Tensor) -> Dict[str, int]:
        return {"size": x.size(0)}


class TupleTwo(nn.Module):
    def forward(self, x: Tensor) -> Tuple[int, Tensor, Tensor]:
        return 7, x * 2.0, x * 3.0


class ListTwo(nn.Module):
    def forward(self, x: Tensor) -> List[Tensor]:
        return [x * 2.0, x * 3.0]


class ListEmpty(nn.Module):
    def forward(self, x: Tensor) -> List[Tensor]:
        empty: List[Tensor] = []
        return empty


class Text(nn.Module):
    def forward(self, x: Tensor) -> str:
        return "no picture"


class Nothing(nn.Module):
    def forward(self, x: Tensor) -> None:
        return None


class Rank3(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x[0]


class MoreBatch(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, x[:1]])


class Empty(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x[:, :, :0]


class As(nn.Module):
    def __init__(self, dtype: torch.dtype):
        super().__init__()
        self.dtype = dtype

    def forward(self, x: Tensor) -> Tensor:
        return (x * 2.0).to(self.dtype)


class Sparse(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.to_sparse()


class Quantized(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.quantize_per_tensor(x, 0.01, 0, torch.qint8)


class Mkldnn(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return (x * 2.0).to_mkldnn()


class Undefined(nn.Module):
    def forward(self, x: Tensor) -> Optional[Tensor]:
        return None


# ---- what forward() may do ----------------------------------------------------


class Raises(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.size(0) > 0:
            raise ValueError("this model never works")
        return x


class RaisesInside(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Raises()

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x)


class Asserts(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        assert x.size(1) == 7, "needs seven channels"
        return x


class Mismatch(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, functional.interpolate(x, scale_factor=2.0)], 1)


class TooBig(nn.Module):
    """More than the address space holds."""

    def forward(self, x: Tensor) -> Tensor:
        return x + torch.ones([1 << 46]).sum()


class TwoAtMost(nn.Module):
    """Asks for more than the address space holds where it gets three pictures or more."""

    def forward(self, x: Tensor) -> Tensor:
        if x.size(0) > 2:
            x = x + torch.ones([1 << 46]).sum()
        return x * 0.5


class Cuda(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.to("cuda:0")


class WritesInput(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.mul_(2.0)


class WritesInputView(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        x[:, :, 0].fill_(0.5)
        return x * 2.0


class KeepsInput(nn.Module):
    """Mixes each picture with the one before."""

    def __init__(self):
        super().__init__()
        self.before = torch.zeros(1)

    def forward(self, x: Tensor) -> Tensor:
        mixed = x + self.before
        self.before = x
        return mixed


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        self.count.add_(1.0)
        return x * 0.0 + self.count


class ReturnsState(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(1, 1, 2, 2))

    def forward(self, x: Tensor) -> Tensor:
        self.state.add_(1.0)
        return self.state


class Appends(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen: List[Tensor] = [torch.zeros(1)]

    def forward(self, x: Tensor) -> Tensor:
        self.seen.append(x)
        return x * 0.0 + float(len(self.seen))


class Prints(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        print("a word from the model")
        return x * 1.0


class Forks(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        future = torch.jit.fork(double, x)
        return torch.jit.wait(future) + x


def double(x: Tensor) -> Tensor:
    return x * 2.0


# ---- what forward() may take --------------------------------------------------


class TwoInputs(nn.Module):
    def forward(self, x: Tensor, sigma: Tensor) -> Tensor:
        return x * sigma


class NoInput(nn.Module):
    def forward(self) -> Tensor:
        return torch.zeros(1, 3, 8, 8)


class ListInput(nn.Module):
    def forward(self, x: List[Tensor]) -> Tensor:
        return x[0]


class DefaultArgument(nn.Module):
    def forward(self, x: Tensor, strength: float = 2.0) -> Tensor:
        return x * strength


class SecondInput(nn.Module):
    def forward(self, mask: Optional[Tensor] = None, image: Optional[Tensor] = None) -> Tensor:
        if image is None:
            raise RuntimeError("no image")
        assert mask is None
        return image * 2.0


class NoForward(nn.Module):
    @torch.jit.export
    def run(self, x: Tensor) -> Tensor:
        return x


# ---- what no model may do -----------------------------------------------------


class WritesFile(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        torch.save(x, "written-by-the-model")
        return x


class ReadsFile(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + torch.from_file("/etc/passwd", False, 1, dtype=torch.uint8).sum()


class WritesInside(nn.Module):
    """In a method that forward() does not call, of a part of a part."""

    class Part(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x

        @torch.jit.export
        def never_called(self, x: Tensor) -> Tensor:
            if x.size(0) > 99:
                torch.save(x, "written-by-the-model")
            return x

    def __init__(self):
        super().__init__()
        self.parts = nn.Sequential(nn.Sequential(WritesInside.Part()))

    def forward(self, x: Tensor) -> Tensor:
        return self.parts(x)


def write(x: Tensor) -> Tensor:
    torch.save(x, "written-by-the-model")
    return x


class ForksWriter(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.jit.wait(torch.jit.fork(write, x))


class WritesWhileLoading(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.ones(1)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight

    @torch.jit.export
    def __getstate__(self):
        return (self.weight, self.training)

    @torch.jit.export
    def __setstate__(self, state: Tuple[Tensor, bool]):
        self.weight = state[0]
        self.training = state[1]
        torch.save(state[0], "written-by-the-model")


class HarmlessWhileLoading(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.ones(1)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight

    @torch.jit.export
    def __getstate__(self):
        return (self.weight, self.training)

    @torch.jit.export
    def __setstate__(self, state: Tuple[Tensor, bool]):
        self.weight = state[0] * 2.0
        self.training = state[1]


# ---- nets ---------------------------------------------------------------------


class Net(nn.Module):
    def __init__(self, activation: nn.Module, width: int = 5):
        super().__init__()
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.activation = activation
        self.last = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.activation(self.first(x)))


class SqueezeExcite(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 5, 3, padding=1)
        self.gate = nn.Conv2d(5, 5, 1)
        self.last = nn.Conv2d(5, 3, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(x)
        return self.last(y * torch.sigmoid(self.gate(functional.adaptive_avg_pool2d(y, 1)))) + x


class Upscaler(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.normal = nn.BatchNorm2d(8)
        self.normal.running_mean.uniform_()
        self.last = nn.Conv2d(8, 12, 3, padding=1)
        self.shuffle = nn.PixelShuffle(2)

    def forward(self, x: Tensor) -> Tensor:
        y = torch.relu(self.normal(self.first(x)))
        wide = functional.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False)
        return self.shuffle(self.last(y)) + wide


class Decoder(nn.Module):
    """LibTorch 1.13 has no transposed convolution in bfloat16."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.last = nn.ConvTranspose2d(16, 3, 4, stride=2, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(torch.relu(self.first(x)))


class InTraining(nn.Module):
    """Scripted and saved without eval()."""

    def __init__(self):
        super().__init__()
        self.normal = nn.BatchNorm2d(3)
        self.drop = nn.Dropout(0.5)

    def forward(self, x: Tensor) -> Tensor:
        return self.drop(self.normal(x))


class Memory(nn.Module):
    """Few operations, much memory: planes of 32 channels."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 32, 3, padding=1)
        self.last = nn.Conv2d(32, 3, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(torch.relu(self.first(x)))


class Deep(nn.Module):
    """Many operations: what a shorter number format is for."""

    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3, 64, 3, padding=1), nn.ReLU()]
        for _ in range(3):
            layers += [nn.Conv2d(64, 64, 3, padding=1), nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.Conv2d(64, 3, 3, padding=1))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class FloatConstant(nn.Module):
    """Holds its input at float32, whatever the weights are."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        scale = torch.full([1, 3, 1, 1], 0.5, dtype=torch.float32)
        return self.conv(x * scale)


class Halves(nn.Module):
    """Takes only sides that are multiples of eight."""

    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(3, 8, 8, stride=8)
        self.up = nn.ConvTranspose2d(8, 3, 8, stride=8)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.up(torch.relu(self.down(x)))


class ManyTimes(nn.Module):
    """Takes long with any picture."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(2000):
            x = torch.tanh(self.conv(x))
        return x


def can_be_scripted(part: nn.Module) -> bool:
    try:
        return bool(torch.jit.script(part.eval()))
    except RuntimeError:
        return False  # in this version


class Catalogue(nn.Module):
    """Scripted, it brings the code of torch.nn with it, and what that may come to."""

    def __init__(self):
        super().__init__()
        parts = [nn.Conv1d(4, 4, 3), nn.Conv2d(4, 4, 3, padding_mode="circular"), nn.Conv3d(4, 4, 3)]
        parts += [nn.ConvTranspose2d(4, 4, 3), nn.ConvTranspose3d(4, 4, 3), nn.BatchNorm2d(4)]
        parts += [nn.InstanceNorm2d(4, affine=True, track_running_stats=True), nn.LayerNorm(4)]
        parts += [nn.GroupNorm(2, 4), nn.LocalResponseNorm(2), nn.LSTM(4, 4, 2), nn.GRU(4, 4)]
        parts += [nn.RNN(4, 4), nn.Transformer(8, 2, 1, 1, 8), nn.Embedding(4, 4)]
        parts += [nn.Upsample(scale_factor=2), nn.PixelShuffle(2), nn.PixelUnshuffle(2)]
        parts += [nn.Fold((4, 4), 2), nn.Unfold(2), nn.MaxPool2d(2), nn.AvgPool2d(2), nn.LPPool2d(2, 2)]
        parts += [nn.AdaptiveAvgPool2d(1), nn.AdaptiveMaxPool2d(1), nn.ReflectionPad2d(1), nn.ReplicationPad3d(1)]
        parts += [nn.CosineSimilarity(), nn.PairwiseDistance(), nn.Bilinear(4, 4, 4), nn.Unflatten(1, (2, 2))]
        parts += [nn.ChannelShuffle(2), nn.Dropout2d(), nn.AlphaDropout(), nn.Softmax2d(), nn.LogSoftmax(1)]
        parts += [nn.Hardshrink(), nn.Tanhshrink(), nn.Threshold(1.0, 1.0), nn.GLU(), nn.RReLU(), nn.PReLU()]
        parts += [nn.CELU(), nn.SELU(), nn.Mish(), nn.Softsign(), nn.Softplus(), nn.LogSigmoid()]
        parts += [nn.CrossEntropyLoss(), nn.SmoothL1Loss(), nn.BCEWithLogitsLoss(), nn.KLDivLoss()]
        self.parts = nn.ModuleList([part for part in parts if can_be_scripted(part)])

    def forward(self, x: Tensor) -> Tensor:
        return x


class FixedSize(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.size(2) != 9:
            raise RuntimeError("made for nine rows alone")
        return x * 2.0


def scripted():
    torch.manual_seed(1)
    nets = {
        "relu": nn.ReLU(),
        "relu6": nn.ReLU6(),
        "hardswish": nn.Hardswish(),
        "hardsigmoid": nn.Hardsigmoid(),
        "leaky": nn.LeakyReLU(0.1),
        "prelu": nn.PReLU(),
        "silu": nn.SiLU(),
        "tanh": nn.Tanh(),
    }
    models = {f"net_{name}": Net(activation).eval() for name, activation in nets.items()}
    models["net_wide"] = Net(nn.ReLU(), 17).eval()
    models["net_squeeze"] = SqueezeExcite().eval()
    models["net_upscaler"] = Upscaler().eval()
    models["net_decoder"] = Decoder().eval()
    models["net_memory"] = Memory().eval()
    models["net_deep"] = Deep().eval()
    models["net_halves"] = Halves().eval()
    models["many_times"] = ManyTimes().eval()
    models["float_constant"] = FloatConstant().eval()
    models["in_training"] = InTraining()
    models["catalogue"] = Catalogue().eval()
    for name, dtype in {
        "half": torch.half,
        "bfloat16": torch.bfloat16,
        "double": torch.double,
        "int64": torch.int64,
        "uint8": torch.uint8,
        "bool": torch.bool,
        "complex": torch.complex64,
    }.items():
        models[f"as_{name}"] = As(dtype)
    for model in (
        [Identity, Double, Flatten, Transposed, ChannelsLast, Expanded, Cropped]
        + [DictOne, DictTwo, DictNone, TupleTwo, ListTwo, ListEmpty, Text, Nothing, Undefined]
        + [Rank3, MoreBatch, Empty, Sparse, Quantized, Mkldnn]
        + [Raises, RaisesInside, Asserts, Mismatch, TooBig, TwoAtMost, Cuda]
        + [WritesInput, WritesInputView, KeepsInput, Counts, ReturnsState, Appends, Prints, Forks]
        + [TwoInputs, NoInput, ListInput, DefaultArgument, SecondInput, NoForward, FixedSize]
        + [WritesFile, ReadsFile, WritesInside, ForksWriter]
        + [WritesWhileLoading, HarmlessWhileLoading]
    ):
        words = "".join("_" + c.lower() if c.isupper() else c for c in model.__name__)
        models[words[1:]] = model()
    return models


# ---- files --------------------------------------------------------------------


def rewrite(source: pathlib.Path, target: pathlib.Path, change):
    """Copies an archive member by member through change(name, bytes)."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))


def replace_in_code(old: bytes, new: bytes):
    def change(name, data):
        return data.replace(old, new) if name.endswith(".py") else data

    return change


def zip_of(target: pathlib.Path, *names: str):
    with zipfile.ZipFile(target, "w") as archive:
        for name in names:
            archive.writestr(name, b"content")


def make_changed_archives(folder: pathlib.Path):
    net, loader = folder / "net_relu.pt", folder / "writes_while_loading.pt"

    def newer(name, data):
        return b"99\n" if name.endswith("/version") and "/.data" not in name else data

    rewrite(net, folder / "file_newer.pt", newer)
    rewrite(net, folder / "file_unknown_op.pt", replace_in_code(b"torch.conv2d(", b"torch.nosuch("))
    rewrite(net, folder / "file_bad_code.pt", replace_in_code(b"return", b"retur n"))
    for name, code in {
        "joined": b'getattr(torch, "sa" \'ve\')(',
        "escaped": b'getattr(torch, "\\x73ave")(',
        "spaced": b"torch . save (",
        "commented": b'getattr(torch, "from" # "\n"_file")(',
    }.items():
        rewrite(loader, folder / f"loading_{name}.pt", replace_in_code(b"torch.save(", code))


def make_other_files(folder: pathlib.Path):
    net = Upscaler()
    torch.save(net.state_dict(), folder / "file_state_dict.pt")
    torch.save(net, folder / "file_pickled_module.pt")
    torch.save(net.state_dict(), folder / "file_old_checkpoint.pt", _use_new_zipfile_serialization=False)
    whole = (folder / "net_relu.pt").read_bytes()
    (folder / "file_truncated.pt").write_bytes(whole[: len(whole) // 2])
    (folder / "file_without_end.pt").write_bytes(whole[:-1])
    (folder / "file_empty.pt").write_bytes(b"")
    (folder / "file_text.pt").write_text("This is a letter and no model.\n")
    (folder / "file_png.pt").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (folder / "file_pickle.pt").write_bytes(pickle.dumps({"epoch": 3}))
    header = json.dumps({"weight": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    (folder / "file_safetensors.pt").write_bytes(struct.pack("<Q", len(header)) + header + bytes(4))
    zip_of(folder / "file_zip.pt", "letter.txt")
    zip_of(folder / "file_exported.pt", "model/archive_format", "model/models/model.json")


def main(folder: pathlib.Path):
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in scripted().items():
        torch.jit.script(model).save(str(folder / f"{name}.pt"))
    example = torch.rand(1, 3, 16, 16)
    torch.jit.trace(Upscaler().eval(), example).save(str(folder / "net_traced.pt"))
    torch.jit.freeze(torch.jit.script(Upscaler().eval())).save(str(folder / "net_frozen.pt"))
    half = Net(nn.ReLU()).eval().bfloat16()
    half.forward = lambda x: half.last(half.activation(half.first(x.bfloat16()))).float()
    torch.jit.trace(half, example).save(str(folder / "net_bfloat16.pt"))
    trait_models.make(folder)
    state_models.make(folder)
    tensor_models.make(folder)
    make_changed_archives(folder)
    make_other_files(folder)
    hostile_models.write_all(folder / "hostile")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
