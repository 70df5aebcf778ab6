# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs that use PyTorch themselves beside the filter: one process, many questions."""
import sys

import pytest
import support

SCRIPT = """
import os
import sys
from fractions import Fraction

import av
import numpy
import torch
from torch import Tensor, nn

folder = sys.argv[1]


class Noisy(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return (x + 0.1 * torch.randn_like(x)).clamp(0.0, 1.0)


class Recursive(nn.Module):
    def __init__(self):
        super().__init__()
        self.before = torch.zeros(0)

    def forward(self, x: Tensor) -> Tensor:
        if self.before.numel() > 0:
            x = x * 0.5 + self.before * 0.5
        self.before = x
        return x


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 3, 1))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


def save(model):
    path = f"{folder}/{type(model).__name__}.pt"
    torch.jit.script(model.eval()).save(path)
    return path


pictures = numpy.random.default_rng(1).integers(0, 256, (12, 48, 64, 3), numpy.uint8)


def filtered(path, options="", frames=pictures):
    graph = av.filter.Graph()
    height, width = frames.shape[1:3]
    source = graph.add_buffer(width=width, height=height, format="rgb24", time_base=Fraction(1, 25))
    ours = graph.add("dnn_torch", f"model={path}:tune=0{options}")
    sink = graph.add("buffersink")
    source.link_to(ours)
    ours.link_to(sink)
    graph.configure()
    for number, image in enumerate(frames):
        frame = av.VideoFrame.from_ndarray(numpy.ascontiguousarray(image), format="rgb24")
        frame.pts = number
        source.push(frame)
    source.push(None)
    found = []
    while True:
        try:
            found.append(sink.pull().to_ndarray())
        except (av.error.EOFError, av.error.BlockingIOError):
            return graph, numpy.stack(found)


def resident_bytes():
    with open("/proc/self/statm") as about:
        return int(about.read().split()[1]) * os.sysconf("SC_PAGESIZE")
"""

RANDOM = """
path = save(Noisy())
torch.manual_seed(7)
before = torch.get_rng_state()
_, one = filtered(path, ":workers=1")
_, three = filtered(path, ":workers=3:threads=1")
assert torch.equal(torch.get_rng_state(), before), "the program's generator was disturbed"
assert (one == three).all()
assert one.shape == pictures.shape and (one != pictures).mean() > 0.5
noise = one.astype(int) - pictures
assert (noise[0] != noise[1]).mean() > 0.5, "two frames have the same noise"
"""

STATE = """
path = save(Recursive())
model = torch.jit.load(path)
wanted = []
for image in pictures:
    x = torch.from_numpy(image).permute(2, 0, 1)[None] / 255
    wanted.append((model(x)[0].permute(1, 2, 0) * 255).round().numpy().astype(numpy.uint8))
for options in ":cuts=off", ":cuts=off:workers=1":  # each picture is another scene
    _, got = filtered(path, options)
    assert (got == numpy.stack(wanted)).all(), options
"""

MEMORY = """
path = save(Layers())
graph, _ = filtered(path, frames=pictures[:, :32, :32])
before = resident_bytes()
mine = torch.ones(1 << 27)  # half a gigabyte
assert resident_bytes() > before + (1 << 28)
del mine
assert resident_bytes() < before + (1 << 26), "memory of the program's was kept"
"""

FORKS = """
path = save(Layers())
graph, wanted = filtered(path, ":workers=2:threads=1")
children = []
for _ in range(10):
    child = os.fork()
    if child == 0:
        import signal
        signal.alarm(60)
        _, got = filtered(path, ":workers=1:threads=1")
        os._exit(0 if (got == wanted).all() else 1)
    children.append(child)
assert [os.waitpid(child, 0)[1] for child in children] == [0] * len(children)
"""


@pytest.mark.parametrize(
    "question", [RANDOM, STATE, MEMORY, FORKS], ids=["random", "state", "memory", "forks"]
)
def test_torch(tmp_path, question):
    if support.execute([sys.executable, "-c", "import av, torch"]).returncode != 0:
        pytest.skip("python3-av or python3-torch is not installed")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + question)
    result = support.execute(support.launched(sys.executable, script, str(tmp_path)))
    assert result.returncode == 0, str(result)
