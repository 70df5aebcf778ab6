# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Frames whose size changes in mid-stream, with results of a size that is wanted, and in tiles.

Each clip alone is the reference, and PyTorch is that of the clips.
"""
import numpy
import pictures
import pytest
import support
import torch
from torch import Tensor, nn
from torch.nn import functional

CLIPS = [((101, 75), 3), ((140, 112), 3), ((66, 130), 2), ((101, 75), 2)]
ONE_GRAPH = ("-reinit_filter", "0")


class Doubles(nn.Module):
    """Looks 4 pixels far, and takes multiples of `step` alone."""

    def __init__(self, step: int = 1):
        super().__init__()
        torch.manual_seed(7)
        self.first = nn.Conv2d(3, 8, 5, padding=2)
        self.last = nn.Conv2d(8, 12, 5, padding=2)
        self.step = step

    def forward(self, x: Tensor) -> Tensor:
        if x.size(2) % self.step != 0 or x.size(3) % self.step != 0:
            raise RuntimeError("a size that does not divide")
        y = torch.sigmoid(self.last(torch.relu(self.first(x))) * 4.0)
        return functional.pixel_shuffle(y, 2)


class Only(nn.Module):
    """Takes 64x64 alone; local."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(9)
        self.layer = nn.Conv2d(3, 3, 5, padding=2)

    def forward(self, x: Tensor) -> Tensor:
        if x.size(2) != 64 or x.size(3) != 64:
            raise RuntimeError("made for 64x64")
        return torch.sigmoid(self.layer(x) * 3.0)


MODELS = {"any": Doubles, "multiples": lambda: Doubles(8), "only": Only}


def save(folder, name):
    path = folder / "net.pt"
    torch.jit.script(MODELS[name]().eval()).save(str(path))
    return path


def frames_of(clips):
    """The frames of each clip; all differ."""
    made, number = [], 0
    for size, count in clips:
        made.append([pictures.make_frame("rgb24", *size, number + i) for i in range(count)])
        number += count
    return made


def run(graph, frames, *behind):
    texts = (b"P6\n%d %d\n255\n" % frame.size + pictures.pack(frame, "rgb24") for frame in frames)
    return support.ffmpeg(
        *("-f", "image2pipe", "-framerate", "25", "-c:v", "ppm", *ONE_GRAPH, "-i", "pipe:0"),
        *("-vf", graph, "-noautoscale", "-fps_mode", "passthrough", *behind, "-"),
        stdin=b"".join(texts),
    )


def made_of(graph, frames):
    result = run(graph, frames, "-f", "framemd5")
    assert result.returncode == 0 and not result.errors, str(result)
    return support.digests(result.stdout)


CASES = {
    "size": ("any", {"size": "120x90"}),
    "scale": ("any", {"scale": 1}),
    "tiles": ("any", {"tile": 64, "overlap": "auto"}),
    "tiles, size": ("any", {"tile": "80x64", "size": "64x64", "batch_size": 2}),
    "tiles, scale": ("multiples", {"tile": 72, "scale": 0.5, "workers": 2}),
    "padding": ("multiples", {}),
    "padding, scale": ("multiples", {"scale": 1.5}),
    "one size": ("only", {}),
    "one size, letterbox": ("only", {"fit": "letterbox", "size": "50x40"}),
}


@pytest.mark.parametrize("name,options", CASES.values(), ids=CASES.keys())
def test_each_clip_is_as_it_is_alone(need, tmp_path, name, options):
    need(demuxers=["image2pipe"], decoders=["ppm"])
    graph = support.dnn(save(tmp_path, name), tune=0, optimize=0, isolate=0, **options)
    clips = frames_of(CLIPS)
    wanted = [digest for frames in clips for digest in made_of(graph, frames)]
    assert len(wanted) == 10 and len(set(wanted)) == 10
    assert made_of(graph, sum(clips, [])) == wanted


def test_tiles_of_each_size_are_as_pytorch_has_them(need, tmp_path):
    need(demuxers=["image2pipe"], decoders=["ppm"])
    graph = support.dnn(save(tmp_path, "any"), tune=0, optimize=0, isolate=0, tile=72)
    clips = frames_of(CLIPS)
    result = run(graph, sum(clips, []), "-f", "rawvideo")
    assert result.returncode == 0, str(result)
    net, at = Doubles().eval(), 0
    for frame in sum(clips, []):
        width, height = (2 * side for side in frame.size)
        made = numpy.frombuffer(result.stdout, numpy.uint8, 3 * width * height, at)
        at += made.size
        with torch.no_grad():
            wanted = net(torch.from_numpy(pictures.to_unit(frame.image))[None])[0].numpy()
        wanted = numpy.rint(wanted.clip(0, 1) * 255).transpose(1, 2, 0)
        difference = abs(made.reshape(height, width, 3).astype(int) - wanted)
        assert difference.max() <= 1 and (difference > 0).mean() < 0.01
    assert at == len(result.stdout)


def test_the_size_that_is_wanted_stays(need, tmp_path):
    """The filters behind see no change."""
    need(demuxers=["image2pipe"], decoders=["ppm"])
    graph = support.dnn(save(tmp_path, "any"), tune=0, optimize=0, isolate=0, size="48x36")
    result = run(graph, sum(frames_of(CLIPS), []), "-f", "rawvideo")
    assert result.returncode == 0 and len(result.stdout) == 10 * 48 * 36 * 3, str(result)


@pytest.mark.parametrize("chain,warned", [
    ("[0:v]{}[a];[1:v]scale=64:48[b];[a]scale=64:48[c];[c][b]overlay[x]", True),
    ("[0:v]{}[a];color=size=64x48[b];[a]scale=64:48[c];[c][b]overlay=shortest=1[x]", False),
    ("[0:v]{}[x];[1:v]nullsink", False),
], ids=["joined", "joined with a source of the graph", "apart"])
def test_inputs_that_are_joined(need, tmp_path, chain, warned):
    """Frames that were in flight may meet none of the other input: that is said."""
    need(filters=["overlay", "color", "testsrc2"], demuxers=["image2pipe"], decoders=["ppm"])
    frames = sum(frames_of([((101, 75), 9), ((140, 112), 9), ((101, 75), 9)]), [])
    graph = support.dnn(save(tmp_path, "any"), tune=0, optimize=0, isolate=0, nireq=6, workers=2)
    result = support.ffmpeg(
        *("-f", "image2pipe", "-framerate", "25", "-c:v", "ppm", "-i", "pipe:0"),
        *("-f", "lavfi", "-i", "testsrc2=size=32x24"),
        *("-filter_complex", chain.format(graph), "-map", "[x]", "-frames:v", "27"),
        *("-fps_mode", "passthrough", "-noautoscale", "-f", "null", "-"),
        stdin=b"".join(b"P6\n%d %d\n255\n" % frame.size + pictures.pack(frame, "rgb24")
                       for frame in frames))
    assert result.returncode == 0, str(result)
    assert ("the graph joins several inputs" in result.stderr) == warned, str(result)
