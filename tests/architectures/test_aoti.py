# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""AOTInductor's packages: what models/export_model.py compiles, run with allow=compiled_code, and
what is refused before any of its code runs."""
import importlib.util
import json
import platform
import re
import shutil
import struct
import subprocess
import sys
import zipfile

import numpy
import pytest
import support
import torch
from checkpoint_files import FLOATS, convert, inspected

SCRIPT = support.REPOSITORY / "models" / "export_model.py"
can_compile = importlib.util.find_spec("torch._inductor") is not None and hasattr(
    torch._inductor, "aoti_compile_and_package") and shutil.which("g++")
compiles = pytest.mark.skipif(not can_compile, reason="this PyTorch compiles no AOTInductor packages (2.6 and later do)")
VERSION = re.match(r"\d+\.\d+\.\d+", torch.__version__)[0]

NETS = """
import torch
from torch import nn

class Doubles(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(2)
        self.wide, self.deep = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 12, 3, padding=1)

    def forward(self, x):
        x = torch.sigmoid(self.deep(torch.relu(self.wide(x))))
        return nn.functional.pixel_shuffle(x, 2)

class Branches(nn.Module):
    def forward(self, x):
        return x * 0.5 if x.shape[2] * x.shape[3] < 10000 else x * 0.25

class Wide(nn.Module):
    def forward(self, x):
        return x * 0.5 if x.shape[3] < 4 * x.shape[2] else x * 0.25

class OneWidth(nn.Module):
    def forward(self, x):
        return x * 0.5 if x.shape[3] != 320 else x

class Tied(nn.Module):
    def forward(self, x):
        return x + x.transpose(2, 3)

class Reflects(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = nn.Conv2d(3, 3, 7, padding=3, padding_mode="reflect")

    def forward(self, x):
        return self.wide(x)

class PadsToEight(nn.Module):
    def forward(self, x):
        height, width = x.shape[2:]
        down, right = (8 - height % 8) % 8, (8 - width % 8) % 8
        if down or right:
            x = nn.functional.pad(x, (0, right, 0, down), mode="reflect")
        x = nn.functional.pixel_shuffle(nn.functional.pixel_unshuffle(x, 8), 8)
        return x[:, :, :height, :width] * 0.5

class ByFour(nn.Module):
    def forward(self, x):
        small = nn.functional.pixel_unshuffle(x, 4).mean(1, keepdim=True)
        return {"dim": x * 0.5, "mask": nn.functional.interpolate(small, scale_factor=4.0)}
"""


def net_of(name, folder):
    path = folder / "nets.py"
    path.write_text(NETS)
    spec = importlib.util.spec_from_file_location("nets", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)().eval()


def exported(name, folder):
    (folder / "nets.py").write_text(NETS)
    path = folder / f"{name}.pt2"
    result = subprocess.run([sys.executable, SCRIPT, "--from", f"{folder}/nets.py:{name}", "--aoti", "--out", path],
                            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert result.returncode == 0, result
    assert "NOT THE SAME" not in result.stdout and "as in PyTorch" in result.stdout
    assert f"dnn_torch={path}:allow=compiled_code" in result.stdout
    return path


@pytest.fixture(scope="module")
def doubles(tmp_path_factory):
    return exported("Doubles", tmp_path_factory.mktemp("doubles"))


def pictures(width, height, count=2):
    return torch.rand(count, 3, height, width, generator=torch.Generator().manual_seed(width))


def through(path, images, **options):
    """Floats in and out, of the same size or of twice that."""
    pixels, planes = FLOATS[3]
    height, width = images.shape[2:]
    result = support.succeed(
        *("-f", "rawvideo", "-pixel_format", pixels, "-video_size", f"{width}x{height}", "-i", "-"),
        *("-vf", support.dnn(path, tune=0, allow="compiled_code", **options), "-f", "rawvideo", "-pix_fmt", pixels, "-"),
        stdin=images[:, planes].numpy().astype("<f4").tobytes())
    samples = numpy.frombuffer(result.stdout, "<f4")
    made = numpy.empty_like(samples.reshape(len(images), 3, -1))
    made[:, planes] = samples.reshape(len(images), 3, -1)
    return made, result.stderr


@compiles
@pytest.mark.parametrize("isolate", ["require", "0"])
@pytest.mark.parametrize("size", [(64, 48), (37, 23)])
def test_it_runs_as_in_pytorch(doubles, tmp_path, isolate, size):
    images = pictures(*size)
    made, _ = through(doubles, images, isolate=isolate)
    with torch.no_grad():
        wanted = net_of("Doubles", tmp_path)(images).numpy().reshape(2, 3, -1)
    assert numpy.abs(made - wanted).max() < 1e-5


@compiles
def test_several_models_in_one_process(doubles, tmp_path):
    """Each has a library of its own, although the dynamic linker knows them by their paths."""
    by_four = exported("ByFour", tmp_path)
    images = pictures(64, 48)
    pixels, planes = FLOATS[3]
    graph = ",".join(support.dnn(path, tune=0, isolate=0, allow="compiled_code", **more)
                     for path, more in ((by_four, {"output": "dim"}), (doubles, {}), (by_four, {"output": "dim"})))
    result = support.succeed(
        *("-f", "rawvideo", "-pixel_format", pixels, "-video_size", "64x48", "-i", "-"),
        *("-vf", graph, "-f", "rawvideo", "-pix_fmt", pixels, "-"),
        stdin=images[:, planes].numpy().astype("<f4").tobytes())
    samples = numpy.frombuffer(result.stdout, "<f4").reshape(2, 3, -1)
    with torch.no_grad():
        wanted = (net_of("Doubles", tmp_path)(images * 0.5) * 0.5).numpy()[:, planes].reshape(2, 3, -1)
    assert numpy.abs(samples - wanted).max() < 1e-5
    # Its sizes are multiples of 4, and its contract says so.
    assert inspected(by_four)["outputs"][0]["name"] == "dim"
    odd = pictures(37, 23)
    made, _ = through(by_four, odd, output="dim")
    assert numpy.abs(made - odd.numpy().reshape(2, 3, -1) * 0.5).max() < 1e-6


@compiles
@pytest.mark.parametrize("name, step, least", [
    ("Doubles", 1, 2), ("Reflects", 1, 16), ("ByFour", 4, 16), ("PadsToEight", 8, 16),
    ("Branches", None, None), ("Wide", None, None), ("OneWidth", None, None)])
def test_branches_by_size_are_found(name, step, least, tmp_path):
    """The code has the branches that the example took, and checks none of them."""
    spec = importlib.util.spec_from_file_location("export_model", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    program, *found = next(script.programs(net_of(name, tmp_path), torch.rand(1, 3, 48, 64)))
    assert program and found == [step, least]
    if name == "Doubles":  # height and width are one
        assert next(script.programs(net_of("Tied", tmp_path), torch.rand(1, 3, 48, 48)))[1:] == (None, None)


@compiles
def test_names_are_made_plain():
    spec = importlib.util.spec_from_file_location("export_model", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.plain_names(["a b", "a_b", "gr\u00f6\u00dfe", "class", "3"]) == ["a_b", "a_b_", "gr__e", "_class", "_3"]


@compiles
def test_inspect_runs_nothing_and_says_what_it_is(doubles):
    told = inspected(doubles)
    assert told["format"] == f"AOTInductor package for LibTorch {VERSION}"
    assert [each["name"] for each in told["inputs"]] == ["x"]
    assert told["refused"] == ["compiled_code"]


@compiles
@pytest.mark.parametrize("options, words", [
    ({}, "compiled code, which no check can read; write allow=compiled_code if you trust the file"),
    ({"allow": "relu"}, "write allow=compiled_code if you trust the file"),
    ({"allow": "compiled_code", "precision": "bf16"}, "that is as saved only (precision=auto)"),
    ({"allow": "compiled_code", "device": "cuda"}, "cuda"),
])
def test_what_is_not_done_is_said(doubles, options, words):
    result = support.ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48:duration=0.1", "-vf",
                         support.dnn(doubles, **options), "-f", "null", "-")
    assert result.returncode != 0 and words in result.stderr


def test_torchscript_is_not_made_of_it(tmp_path):
    result, network = convert(package(tmp_path / "net.pt2"))
    assert network is None and "is an AOTInductor package: compiled code for one kind of machine, which is not converted" in result.stderr


# ---- packages whose code is none -----------------------------------------------------------------

FACTS = {"libtorch": VERSION, "machine": platform.machine(), "instructions": [], "symbols": {"s0": [2, 64]},
         "inputs": [{"name": "x", "type": "float32", "shape": [1, 3, {"symbol": "s0", "times": 2}, 64]}],
         "outputs": ["out"]}


def package(path, facts=FACTS, code=b"\x7fELF", further=(), compression=zipfile.ZIP_STORED):
    text = facts if isinstance(facts, str) else json.dumps({"AOTI_DEVICE_KEY": "cpu", "dnn_torch": json.dumps(facts)})
    folder = "net/data/aotinductor/model/"
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, contents in [(folder + "c.so", code), (folder + "c_metadata.json", text), ("net/archive_format", "pt2"), *further]:
            archive.writestr(name, contents)
    return path


def refused(path, command="run"):
    """Of the filter, which may run compiled code; or of inspect."""
    result = (support.execute([support.LAUNCHER, "inspect", path]) if command == "inspect" else
              support.ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48:duration=0.1", "-vf",
                          support.dnn(path, allow="compiled_code"), "-f", "null", "-"))
    assert result.returncode not in (0, -11, 139)
    (line,) = [line for line in result.stderr.splitlines() if "AOTInductor" in line]
    return line


@pytest.mark.parametrize("change, words", [
    ({"libtorch": "9.9.9"}, f"for LibTorch 9.9.9; this is LibTorch {VERSION}: export it with PyTorch {VERSION}"),
    ({"machine": "vax"}, "is an AOTInductor package for vax; this machine is"),
    ({"instructions": ["avx2", "avx9"]}, "is an AOTInductor package for a processor with avx9, which this one lacks: export it on this machine"),
    ({}, "is an AOTInductor package that is damaged"),
])
def test_code_for_something_else_is_not_opened(tmp_path, change, words):
    path = package(tmp_path / "net.pt2", FACTS | change)
    line = refused(path)
    assert words in line or f"which LibTorch {VERSION} cannot run (2.6 and later can)" in line
    assert line.count("LibTorch 9.9.9") <= 1


NOT_SAID = "that does not say for which LibTorch and which processor its code was compiled; make it with models/export_model.py --aoti"
LITTLE = "that says too little about its code; make it with models/export_model.py --aoti"


@pytest.mark.parametrize("facts, words", [
    ("{}", NOT_SAID),
    ("[]", NOT_SAID),
    ('{"dnn_torch": 3}', LITTLE),
    ('{"dnn_torch": "{}"}', LITTLE),
    ('{"dnn_torch": "[["}', "that is damaged: what models/export_model.py says about it is no JSON"),
    ("{", "that is damaged: what AOTInductor says about it is no JSON"),
    (FACTS | {"inputs": []}, "with 0 inputs"),
    (FACTS | {"outputs": ["a", "a"]}, "with two outputs of one name"),
    (FACTS | {"outputs": ["a_", "a "]}, "with two outputs of one name"),
    (FACTS | {"outputs": ["a" * 61]}, "with a name of an input or output that is none"),
    (FACTS | {"inputs": [{"name": "x", "type": "string", "shape": [1]}]}, "with an input of a type that is not known here"),
    (FACTS | {"inputs": [{"name": "x", "type": "uint8", "shape": [1] * 9}]}, "with an input of more than 8 dimensions"),
    (FACTS | {"inputs": [{"name": "x", "type": "uint8", "shape": [-1]}]}, "with a size that is none"),
    (FACTS | {"inputs": [{"name": "x", "type": "uint8", "shape": [1e18]}]}, "with a size that is none"),
    (FACTS | {"inputs": [{"name": "x", "type": "uint8", "shape": [{"symbol": "y", "times": 1}]}]}, "with a size that is none"),
    (FACTS | {"inputs": [{"name": "x", "type": "uint8", "shape": [{"symbol": "s0", "times": 0}]}]}, "with a size that is none"),
    (FACTS | {"inputs": 5}, LITTLE),
    (FACTS | {"symbols": []}, "with a size that is none"),
    (FACTS | {"symbols": {"s0": [50, 3]}}, "with a size that is none"),
    (FACTS | {"symbols": {"s0": [2, 2**31]}}, "with a size that is none"),
    (FACTS | {"instructions": ["avx"] * 101}, "that names too many instructions"),
])
def test_what_the_package_says_is_checked(tmp_path, facts, words):
    for command in ("run", "inspect"):
        assert words in refused(package(tmp_path / "net.pt2", facts), command)


@pytest.mark.parametrize("further, words", [
    ([("net/data/aotinductor/other/d.so", b"\x7fELF")], "of several models"),
    ([("net/data/aotinductor/model/c.json", "{}")], "whose code calls operators by their names"),
    ([("net/data/weights/w", b"\0" * 8)], "whose weights are not in its code"),
])
def test_what_else_is_in_the_package(tmp_path, further, words):
    assert words in refused(package(tmp_path / "net.pt2", further=further))


def test_compressed_code(tmp_path):
    """Memory for it is made before anybody knows how large it is."""
    path = package(tmp_path / "net.pt2", code=b"\x7fELF" * 1000, compression=zipfile.ZIP_DEFLATED)
    assert "whose code is compressed" in refused(path)


@compiles
def test_a_limit_of_files(tmp_path):
    path = package(tmp_path / "net.pt2", code=b"\x7fELF" * 10000)
    command = support.ffmpeg_command("-f", "lavfi", "-i", "testsrc2=size=64x48:duration=0.1", "-vf",
                                     support.dnn(path, allow="compiled_code", isolate=1), "-f", "null", "-")
    result = subprocess.run(["bash", "-c", 'ulimit -f 8; exec "$@"', "bash", *command], text=True,
                            env=support.environment(), stderr=subprocess.PIPE, check=False)
    assert result.returncode != 0 and "raise what limits the size of files (ulimit -f)" in result.stderr, result.stderr


def test_a_damaged_package(tmp_path):
    path = package(tmp_path / "net.pt2", code=b"\x7fELF" * 100)
    path.write_bytes(path.read_bytes().replace(b"\x7fELF\x7fELF", b"\x7fELF\x7fELG", 1))
    assert "is an AOTInductor package that is damaged" in refused(path)


def end_of_segments(library):
    """Where that ends in the file which is mapped; symbols may follow."""
    (begin,), (size, count) = struct.unpack_from("<Q", library, 32), struct.unpack_from("<HH", library, 54)
    segments = [struct.unpack_from("<IIQQQQ", library, begin + i * size) for i in range(count)]
    return max(offset + in_file for kind, _, offset, _, _, in_file in segments if kind == 1)


@compiles
@pytest.mark.parametrize("left", [lambda end: end - 1, lambda end: end // 2, lambda _: 100, lambda _: 40],
                         ids=["a byte", "half", "segments", "head"])
def test_a_library_that_is_cut_short(doubles, tmp_path, left):
    """The archive is sound: its end and its checksums are those of what is left."""
    path = tmp_path / "net.pt2"
    with zipfile.ZipFile(doubles) as whole, zipfile.ZipFile(path, "w") as cut:
        for name in whole.namelist():
            contents = whole.read(name)
            cut.writestr(name, contents[:left(end_of_segments(contents))] if name.endswith(".so") else contents)
    assert "is an AOTInductor package that is damaged" in refused(path)


PROBE = r"""
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

__attribute__((constructor)) static void runs_when_it_is_opened(void)
{
    fprintf(stderr, "reads: %s\n", open("SECRET", O_RDONLY) < 0 ? strerror(errno) : "yes");
    fprintf(stderr, "writes: %s\n", open("/tmp/dnn-torch-was-here", O_WRONLY | O_CREAT, 0600) < 0 ? strerror(errno) : "yes");
    fprintf(stderr, "connects: %s\n", socket(AF_INET, SOCK_STREAM, 0) < 0 ? strerror(errno) : "yes");
    fprintf(stderr, "starts: %s\n", fork() < 0 ? strerror(errno) : "yes");
}
"""


@compiles
def test_the_first_thing_that_runs_is_in_the_cage(tmp_path):
    """A constructor of the library runs before anything of AOTInductor's does."""
    told = support.execute([support.LAUNCHER, "doctor"]).stdout.decode()
    closed = re.findall(r"^cage, (\w+): closes$", told, re.MULTILINE)
    if "seccomp" not in closed:
        pytest.skip("this system grants no seccomp")
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (tmp_path / "c.c").write_text(PROBE.replace("SECRET", str(secret)))
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", tmp_path / "c.so", tmp_path / "c.c"], check=True)
    path = package(tmp_path / "net.pt2", code=(tmp_path / "c.so").read_bytes())
    result = support.ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48:duration=0.1", "-vf",
                         support.dnn(path, allow="compiled_code", isolate=1), "-f", "null", "-")
    assert result.returncode != 0 and "whose code cannot be opened" in result.stderr
    for what in ("writes", "connects", "starts") + (("reads",) if "Landlock" in closed else ()):
        assert f"{what}: Operation not permitted" in result.stderr or f"{what}: Permission denied" in result.stderr, result.stderr
