# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""models/export_model.py: what it writes, says and refuses, and that the filter runs it."""
import importlib.util
import os
import re
import sys
import textwrap

import numpy
import pictures
import pytest
import support
import torch
import torch_script

# PyTorch runs models in this process too; see the script.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
SCRIPT = support.REPOSITORY / "models" / "export_model.py"

NETS = """
import math
import torch
from torch import nn
from torch.nn import functional

class Net(nn.Module):
    def __init__(self, scale=1, channels=3, offset=0.0):
        super().__init__()
        torch.manual_seed(scale)
        self.offset = offset
        self.wide = nn.Conv2d(channels, 8, 3, padding=1)
        self.deep = nn.Conv2d(8, channels * scale * scale, 3, padding=1)
        self.shuffle = nn.PixelShuffle(scale)

    def forward(self, x):
        return torch.sigmoid(self.shuffle(self.deep(torch.relu(self.wide(x))))) + self.offset

class PadsBySixteen(Net):
    def forward(self, x):
        height, width = x.shape[2], x.shape[3]
        down = math.ceil(height / 16) * 16 - height
        right = math.ceil(width / 16) * 16 - width
        x = functional.pad(x, [0, right, 0, down], mode="replicate")
        x = functional.avg_pool2d(x, 16)
        return x.repeat_interleave(16, 2).repeat_interleave(16, 3)[:, :, :height, :width]

class OneSize(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = nn.Parameter(torch.linspace(0, 1, 48 * 64).reshape(1, 1, 48, 64))

    def forward(self, x):
        return x * self.mask

class Wide(nn.Module):
    def forward(self, x):
        return x * 255

class Branches(nn.Module):
    def forward(self, x):
        return 1 - x if x.mean() > 10 else x

class Classifies(nn.Module):
    def forward(self, x):
        return x.mean((2, 3))

class CannotBeScripted(nn.Module):
    def forward(self, x):
        return eval("x * 0.5")

def make(**arguments):
    return Net(**arguments)

NUMBER = 3
"""


@pytest.fixture
def nets(tmp_path):
    path = tmp_path / "nets.py"
    path.write_text(NETS)
    return path


@pytest.fixture
def export(nets, tmp_path):
    """export("Net", "--script") runs the script; `out` is what it was to write."""

    def run(name, *options, out="net.pt"):
        arguments = ["--from", f"{nets}:{name}", "--out", tmp_path / out, *options]
        result = torch_script.execute(SCRIPT, arguments, tmp_path, timeout=120)
        result.out = tmp_path / out
        return result

    return run


def module_of(nets):
    spec = importlib.util.spec_from_file_location("nets", nets)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def succeeded(result):
    assert result.returncode == 0, str(result)
    assert result.out.exists()
    return result.stdout.decode()


def refused(result, *phrases):
    """One line, and no file."""
    assert result.returncode == 1, str(result)
    assert "Traceback" not in result.stderr
    assert not list(result.out.parent.glob(f"{result.out.name}*"))
    for phrase in phrases:
        assert re.search(phrase, result.stderr), f"no {phrase!r} in: {result}"


def largest_gap(model, path, width=50, height=30):
    x = torch.rand(1, 3, height, width)
    with torch.no_grad():
        return float((model(x) - torch.jit.load(str(path))(x)).abs().max())


@pytest.mark.parametrize("how", ["--trace", "--script"])
def test_a_net_of_any_size(export, nets, how):
    result = export("Net", how, "--argument", "scale=2")
    said = succeeded(result)
    assert "WARNING" not in result.stderr
    for size in ("64x48 -> 128x96", "48x64 -> 96x128", "75x53 -> 150x106"):
        assert f"{size}: as in PyTorch" in said
    assert largest_gap(module_of(nets).Net(scale=2).eval(), result.out) < 1e-5


@pytest.mark.parametrize("how", ["--trace", "--script"])
@pytest.mark.parametrize(
    "arguments,model,pixel_format",
    [
        (["--argument", "scale=2"], {"scale": 2}, "rgb24"),
        (["--channels", "1", "--argument", "channels=1"], {"channels": 1}, "gray"),
    ],
    ids=["rgb", "luma"],
)
def test_the_filter_runs_it(export, nets, how, arguments, model, pixel_format):
    """In a frame size that the script did not try."""
    path = export("Net", how, *arguments).out
    frame = pictures.make_frame(pixel_format, 50, 30, 1)
    result = support.succeed(
        *pictures.raw_input(pixel_format, 50, 30),
        *("-vf", support.dnn(path), "-f", "rawvideo", "-"),
        stdin=pictures.raw([frame], pixel_format),
    )
    with torch.no_grad():
        net = module_of(nets).Net(**model).eval()
        wanted = net(torch.from_numpy(pictures.to_unit(frame.image))[None])[0].numpy()
    got = numpy.frombuffer(result.stdout, numpy.uint8)
    wanted = pictures.Frame(pictures.from_unit(wanted, pixel_format))
    wanted = numpy.frombuffer(pictures.pack(wanted, pixel_format), numpy.uint8)
    # Another order of sums may round a few samples the other way.
    assert numpy.abs(got.astype(int) - wanted).max() <= 1


@pytest.mark.parametrize("how", ["--trace", "--script"])
def test_half(export, nets, how):
    """Half the bytes, for pictures of float32 all the same, and near the whole net."""
    whole = torch.jit.load(str(export("Net", how).out))
    result = export("Net", how, "--half", "bfloat16", out="half.pt")
    assert "within" in succeeded(result)
    half = torch.jit.load(str(result.out))
    assert {p.dtype for p in whole.parameters()} == {torch.float32}
    assert {p.dtype for p in half.parameters()} == {torch.bfloat16}
    x = torch.rand(1, 3, 30, 50)
    assert half(x).dtype == torch.float32
    assert 0 < float((half(x) - whole(x)).abs().max()) < 0.02


def can_run_float16():
    try:
        torch.nn.Conv2d(3, 3, 3).half()(torch.rand(1, 3, 8, 8).half())
    except RuntimeError:
        return False
    return True


def test_half_where_the_cpu_has_none(export):
    result = export("Net", "--half")
    if can_run_float16():
        assert {p.dtype for p in torch.jit.load(str(result.out)).parameters()} == {torch.float16}
    else:
        refused(result, "--half float16", "precision=")


def test_a_trace_that_fixes_a_size_is_told(export):
    traced = export("PadsBySixteen")
    assert "64x48 -> 64x48: as in PyTorch" in succeeded(traced)
    assert "75x53: NOT THE SAME" in succeeded(traced)
    assert re.search(r"WARNING: .*64x48.*--script", traced.stderr)
    scripted = export("PadsBySixteen", "--script")
    assert "NOT THE SAME" not in succeeded(scripted)
    assert "WARNING" not in scripted.stderr


def test_a_fixed_size_is_told(export):
    result = export("OneSize")
    assert succeeded(result).count("the model itself refuses") == 2
    assert re.search(r"WARNING: the model's size is fixed: it took 64x48", result.stderr)
    refused(export("OneSize", "--size", "80x60", out="net.pt.80x60"), "--size", "80x60")


def test_another_range_is_told(export):
    result = export("Wide")
    succeeded(result)
    assert "another range" in result.stderr


def test_a_trace_that_takes_the_other_branch(export, nets, tmp_path):
    """What depends on samples cannot show in the trial; what the page says of it has to hold."""
    assert "as in PyTorch" in succeeded(export("Branches"))
    written = torch.jit.load(str(tmp_path / "net.pt"))
    bright = torch.full((1, 3, 8, 8), 20.0)
    assert torch.equal(module_of(nets).Branches()(bright), 1 - bright)
    assert torch.equal(written(bright), bright)
    script = torch.jit.load(str(export("Branches", "--script").out))
    assert torch.equal(script(bright), 1 - bright)


@pytest.mark.parametrize("prefix", ["", "module."])
@pytest.mark.parametrize("key", [None, "params_ema", "mine"])
def test_weights(export, nets, tmp_path, prefix, key):
    net = module_of(nets).Net(scale=3)
    with torch.no_grad():
        net.wide.bias += 0.25
    weights = {prefix + name: value for name, value in net.state_dict().items()}
    torch.save({key: weights, "epoch": 5} if key else weights, tmp_path / "weights.pth")
    options = ["--weights", tmp_path / "weights.pth", "--argument", "scale=3"]
    options += ["--weights-key", key] if key == "mine" else []
    result = export("make", *options)
    succeeded(result)
    assert largest_gap(net.eval(), result.out) < 1e-5


def test_weights_of_another_net(export, nets, tmp_path):
    torch.save(module_of(nets).Net(scale=2).state_dict(), tmp_path / "weights.pth")
    refused(export("Net", "--weights", tmp_path / "weights.pth"), "weights.pth", "deep.weight")
    refused(export("Net", "--weights", tmp_path / "none.pth"), "none.pth")


@pytest.mark.parametrize(
    "name,options,phrases",
    [
        ("Nothing", [], ["Nothing"]),
        ("NUMBER", [], ["NUMBER", "Module"]),
        ("Classifies", [], [r"\[1, 3\]", "batch, channels, height, width"]),
        ("Net", ["--channels", "1"], ["64x48", "channels"]),
        ("CannotBeScripted", ["--script"], ["--script", "--trace may"]),
        ("make", ["--argument", "colour=1"], ["colour"]),
    ],
)
def test_what_is_refused(export, name, options, phrases):
    refused(export(name, *options), *phrases)


def test_an_older_file_outlives_a_refusal(export, tmp_path):
    (tmp_path / "net.pt").write_text("older")
    assert export("Classifies").returncode == 1
    assert (tmp_path / "net.pt").read_text() == "older"


def page_blocks():
    """The indented blocks of docs/models.md."""
    page = (support.REPOSITORY / "docs" / "models.md").read_text()
    blocks = re.findall(r"(?:^(?: {4}.*)?\n)+", page, re.MULTILINE)
    return [textwrap.dedent(block).strip("\n") for block in blocks if block.strip()]


def page_block(start):
    (found,) = [block for block in page_blocks() if block.startswith(start)]
    return found


@pytest.mark.parametrize("how", ["--trace", "--script"])
@pytest.mark.parametrize("scale", [1, 2])
def test_the_pages_padding(export, nets, how, scale):
    """A net that takes only what divides by 8 takes every size, of a trace as well."""
    inner = f"nn.Sequential(nn.AvgPool2d(8), nn.Upsample(scale_factor=8 * {scale}))"
    make = f"def any_size():\n    return AnySize({inner}, step=8, scale={scale})\n"
    nets.write_text(f"{NETS}\n{page_block('class AnySize')}\n\n{make}")
    result = export("any_size", how)
    assert f"75x53 -> {75 * scale}x{53 * scale}: as in PyTorch" in succeeded(result)
    assert "WARNING" not in result.stderr


def test_the_pages_denoiser(export, nets, tmp_path):
    """Batch normalisation with a past, weights from a checkpoint, a depth from the command line."""
    nets.write_text(page_block("import torch\nfrom torch import nn\n\nclass DnCNN"))
    net = module_of(nets).DnCNN(depth=6)
    net(torch.rand(2, 3, 20, 20))
    torch.save({"params": net.state_dict()}, tmp_path / "dncnn.pth")
    result = export("DnCNN", "--argument", "depth=6", "--weights", tmp_path / "dncnn.pth")
    assert "75x53 -> 75x53: as in PyTorch" in succeeded(result)
    assert "WARNING" not in result.stderr
    assert largest_gap(net.eval(), result.out) < 1e-5


RRDBNET = """
import torch
from torch import nn

class RRDBNet(nn.Module):
    def __init__(self, num_in_ch, num_out_ch, scale):
        super().__init__()
        assert scale == 2
        self.first = nn.Conv2d(4 * num_in_ch, 8, 3, padding=1)
        self.last = nn.Conv2d(8, 16 * num_out_ch, 3, padding=1)

    def forward(self, x):
        x = torch.pixel_unshuffle(x, 2)
        return torch.pixel_shuffle(self.last(torch.relu(self.first(x))), 4)
"""


def test_the_pages_enlarger(export, nets, tmp_path):
    """With a small net in the place of the package's."""
    package = tmp_path / "basicsr" / "archs"
    package.mkdir(parents=True)
    (package / "rrdbnet_arch.py").write_text(RRDBNET)
    spaces = {}
    exec(RRDBNET, spaces)
    weights = tmp_path / "RealESRGAN_x2plus.pth"
    torch.save({"params_ema": spaces["RRDBNet"](3, 3, 2).state_dict()}, weights)
    block = page_block("import torch\nfrom basicsr")
    nets.write_text(block.replace("def net", page_block("class AnySize") + "\n\ndef net"))
    result = export("net", "--argument", f"weights={weights}")
    assert "75x53 -> 150x106: as in PyTorch" in succeeded(result)
    assert "WARNING" not in result.stderr


def test_the_pages_way_by_hand(nets, tmp_path):
    """Line by line, with both ways to save."""
    torch.save(module_of(nets).Net(scale=2).state_dict(), tmp_path / "net.pth")
    block = page_block("model = Net()").replace("Net()", "Net(scale=2)")
    for way in ("script", "trace"):
        lines = [line for line in block.splitlines() if way in line or "jit" not in line]
        code = "import torch\nfrom nets import Net\n" + "\n".join(lines)
        result = support.execute([sys.executable, "-c", code], cwd=tmp_path, timeout=120)
        assert result.returncode == 0, str(result)
        x = torch.rand(1, 3, 30, 50)
        with torch.no_grad():
            assert torch.jit.load(str(tmp_path / "net.pt"))(x).shape == (1, 3, 60, 100)
        (tmp_path / "net.pt").unlink()


SIZES = """
import math
import torch
from torch import nn
from torch.nn import functional

class Sized(nn.Module):
    def forward(self, x):
        h, w = x.shape[2], x.shape[3]
        {body}
"""


@pytest.mark.parametrize(
    "body,keeps_any_size",
    [
        ("return x.view(1, 3, 48 * 64).view(1, 3, 48, 64)", False),
        ("return x.view(x.shape[0], 3, h * w).view(x.shape[0], 3, h, w)", True),
        ("return x[:, :, :math.ceil(h / 16)]", False),
        ("return x[:, :, :(h + 15) // 16]", True),
        ("return functional.interpolate(x, size=(96, 128))", False),
        ("return functional.interpolate(x, scale_factor=2)", True),
    ],
)
def test_the_pages_table_of_sizes(export, nets, body, keeps_any_size):
    """What the left column fixes in a trace, the right one keeps."""
    nets.write_text(SIZES.format(body=body))
    result = export("Sized")
    said = result.stdout.decode()
    any_size = "WARNING" not in result.stderr and "75x53 -> 128x96" not in said
    assert any_size == keeps_any_size, said + str(result)


def test_the_pages_output_is_what_the_script_says(export):
    """The lines that the page shows, where nothing depends on the machine."""
    said = succeeded(export("Net", "--argument", "scale=2"))
    for line in page_block("64x48 -> 128x96: as in PyTorch\n").splitlines():
        assert f"  {line}\n" in said
