# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Slices of models: the same bytes as one run's, or a refusal."""
import re
import subprocess
import sys
from typing import Optional, Tuple

import numpy
import pytest
import torch

import forked
import support
from farms import (ROOT, clip, done, farm, frames_of, judge, make, plan, plan_of, refused,
                   some, whole_run)
import media  # farms adds its folder

# Forks of ffmpeg have LibTorch already, which a process of the model's own had to load.
HERE = ":isolate=0" if forked.is_wanted() else ""


def test_pictures(tmp_path):
    made = judge(clip(tmp_path, frames=16), tmp_path, 9,
                 chain=f"dnn_torch={ROOT}/models/upscale2x.pt,crop=100:80")
    values = plan_of(made)
    assert ":optimize=" in values["fixed_chain"] and ":threads=" in values["fixed_chain"]
    assert values["fixed_chain"].endswith(",crop=100:80")
    assert str(ROOT / "models/upscale2x.pt") in values["files"]


def test_a_ceiling_below_this_machine(tmp_path, monkeypatch):
    source, output = clip(tmp_path, frames=8), tmp_path / "o.mkv"
    chain = f"dnn_torch={ROOT}/models/upscale2x.pt:optimize=0:threads=1"
    made = plan(source, output, "--instructions", "plain", chain=chain, frames=5)
    assert plan_of(made)["machine"]["instructions"] == "plain"
    done("run", made)
    done("join", made)
    for name, value in media.CEILINGS["plain"].items():
        monkeypatch.setenv(name, value)
    whole = whole_run(source, tmp_path / "whole.mkv", plan_of(made), chain)
    assert frames_of(output) == frames_of(whole)
    line = refused("plan", source, "--vf", f"{chain}:precision=int8", "-o", tmp_path / "p.mkv",
                   "--instructions", "plain")
    assert "all the same instructions" in line


@pytest.mark.parametrize("here, wanted, is_enough", [
    ("avx512", "avx2", True), ("avx2", "avx2", True), ("plain", "avx2", False),
    ("avx2", "avx512", False), ("avx512, AVX512_CORE: A", "avx512", False), (None, "plain", False),
])
def test_machines_with_more_will_do(here, wanted, is_enough):
    assert media.is_enough("instructions", here, wanted) == is_enough
    assert not media.is_enough("oneDNN", "3.1", "3.0")


class Window(torch.nn.Module):
    """Five frames, each with a weight of its own."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x[:, :3] * 0.5 + x[:, 3:6] * 0.25 + x[:, 6:9] * 0.125 + x[:, 9:12] * 0.0625
                + x[:, 12:15] * 0.0625)


class Three(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[:, :3] * 0.5 + x[:, 3:6] * 0.375 + x[:, 6:9] * 0.125


class Remembers(torch.nn.Module):
    def forward(self, x: torch.Tensor, r: Optional[torch.Tensor] = None
                ) -> Tuple[torch.Tensor, torch.Tensor]:
        y = x if r is None else x * 0.5 + r * 0.5
        return y, y


def saved(module, path):
    torch.jit.script(module.eval()).save(str(path))
    return path


@pytest.mark.parametrize("length", [1, 3, 7])
def test_windows_reach_over_slices(length, tmp_path):
    model = saved(Window(), tmp_path / "five.pt")
    judge(clip(tmp_path, frames=6 if length == 1 else 16), tmp_path, length,
          chain=f"dnn_torch={model}:frames=-2..2{HERE}")


class Between(torch.nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        return a * (1 - t) + b * t


class Scatters(torch.nn.Module):
    """Draws random numbers."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 0.5 + 0.5 * torch.rand_like(x)


@pytest.mark.parametrize("options,length", [
    ("fps=60", 3), ("factor=2:cuts=off", 4), ("fps=source*2.5:batch_size=3", 4), ("fps=30000/1001", 1),
    ("fps=10", 5)])
def test_other_rates(options, length, tmp_path):
    """The times are those of one run: the grid begins with the first frame of all."""
    model = saved(Between(), tmp_path / "between.pt")
    frames = 4 if length == 1 else 10
    made = judge(clip(tmp_path, frames=frames), tmp_path, length, chain=f"dnn_torch_interpolate={model}:{options}{HERE}")
    assert plan_of(made)["rate"]


def test_another_rate_of_a_varying_one(tmp_path):
    source = make(tmp_path / "vfr.mkv", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=50", "-vf",
                  "select='not(mod(n,7))+not(mod(n,5))+lt(n,8)',setpts=PTS+0.13/TB", "-fps_mode", "vfr",
                  "-frames:v", 14, "-c:v", "libx264", "-g", 8, "-bf", 2, "-enc_time_base", "1/1000")
    model = saved(Between(), tmp_path / "between.pt")
    judge(source, tmp_path, 6, chain=f"hflip,dnn_torch_interpolate={model}:fps=60{HERE},vflip")


def test_cuts_where_slices_begin_and_elsewhere(tmp_path):
    graph = ("testsrc2=s=64x48:r=25:d=0.28,format=yuv420p[a];mandelbrot=s=64x48:r=25,trim=end_frame=5,"
             "format=yuv420p,settb=1/25[b];[a][b]concat,fps=25")
    source = make(tmp_path / "cut.mkv", "-f", "lavfi", "-i", graph, "-c:v", "ffv1")
    model = saved(Between(), tmp_path / "between.pt")
    for length in (4, 7):
        judge(source, tmp_path, length, chain=f"dnn_torch_interpolate={model}:fps=144{HERE}")


def test_random_numbers_behind_another_rate(tmp_path):
    chain = (f"dnn_torch_interpolate={saved(Between(), tmp_path / 'between.pt')}:fps=60{HERE},"
             f"dnn_torch={saved(Scatters(), tmp_path / 'scatters.pt')}:optimize=0:threads=1{HERE}")
    judge(clip(tmp_path, frames=10), tmp_path, 4, chain=chain)


@pytest.mark.parametrize("chain,phrase", [
    ("{}:duplicates=bridge", "leave duplicates= off"), ("{}:anchor=1", "leave anchor= off"),
    ("{},tmix", "tmix behind dnn_torch_interpolate"), ("tmix,{}", "look at frames around"),
    ("{},{}", "dnn_torch_interpolate behind dnn_torch_interpolate")])
def test_what_another_rate_refuses(chain, phrase, tmp_path):
    one = f"dnn_torch_interpolate={saved(Between(), tmp_path / 'between.pt')}:fps=60"
    line = refused("plan", clip(tmp_path), "--vf", chain.format(one, one), "-o", tmp_path / "o.mkv")
    assert phrase in line


def test_jumps_of_times_are_refused(tmp_path):
    """A slice would not know that they are jumps."""
    source = make(tmp_path / "jump.mkv", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25", "-vf",
                  "setpts='PTS+2*gte(N,8)/TB'", "-fps_mode", "vfr", "-frames:v", 12, "-c:v", "ffv1")
    chain = f"dnn_torch_interpolate={saved(Between(), tmp_path / 'between.pt')}:fps=30{HERE}"
    line = refused("plan", source, "--vf", chain, "-o", tmp_path / "o.mkv")
    assert "times jump at 2.320 s" in line and "jump=0" in line
    judge(source, tmp_path, 5, chain=f"{chain}:jump=0")


class Reverses(torch.nn.Module):
    """The order of a segment's frames."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.flip(1)


class Counts(torch.nn.Module):
    """Remembers in an attribute of its own."""

    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.last += 0.001
        return x * 0.5 + self.last


SCENES = (11, 4, 16, 3, 14)
CUTS = [11, 15, 31, 34]


def scenes(folder, name="scenes.mkv", counts=SCENES, *words):
    """Random pictures that drift, with cuts between."""
    rng, frames = numpy.random.default_rng(7), []
    for count in counts:
        picture = numpy.kron(rng.integers(0, 256, (9, 12, 3)), numpy.ones((8, 8, 1)))
        frames += [picture[i // 3:, i // 2:][:48, :64].astype(numpy.uint8) for i in range(count)]
    support.succeed("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "64x48", "-r", 25, "-i", "-", *words,
                    "-c:v", "libx264", "-g", 6, "-bf", 2, folder / name, plain=True,
                    stdin=b"".join(frame.tobytes() for frame in frames), loglevel="error")
    return folder / name


def borders(made):
    return [each[0] for each in plan_of(made)["slices"]]


def decoded(made):
    """How many frames more than its own each slice decodes."""
    return [each[6] - each[1] for each in plan_of(made)["slices"]]


@pytest.mark.parametrize("chain, extra", some([
    ("{m}:inputs=r=state=1", [0, 1, 1]),
    ("{m}:inputs=r=state=1,tmix=frames=3", [0, 11, 17]),
    ("{r}:length=4:layout=ntchw", [0, 1, 1]),
    ("scdet=t=10,{w}:frames=-1..1,{m}:inputs=r=state=1", [1, 5, 4]),
    ("{c}", [0, 1, 1]),
    ("yadif,{m}:inputs=r=state=1", [2, 5, 3]),
    ("{m}:inputs=r=state=1,{w}:frames=-1..1", [1, 12, 17]),
    ("split[a][b];[a]{m}:inputs=r=state=1[c];[b][c]hstack", [0, 1, 1]),
], 4))
def test_slices_are_cut_at_cuts(chain, extra, tmp_path):
    """There models forget, so that results are those of one run."""
    modules = {"m": Remembers(), "w": Three(), "c": Counts(), "r": Reverses()}
    dnn = {name: f"dnn_torch={saved(module, tmp_path / f'{name}.pt')}{HERE}" for name, module in modules.items()}
    made = judge(scenes(tmp_path), tmp_path, 12, chain=chain.format(**dnn))
    assert (borders(made), decoded(made)) == ([0, 11, 31], extra)


def test_a_warm_up_where_there_is_no_cut(tmp_path):
    """What remains is stated, and is gone after some frames."""
    source, output = scenes(tmp_path), tmp_path / "o.mkv"
    chain = f"dnn_torch={saved(Remembers(), tmp_path / 'm.pt')}:inputs=r=state=1{HERE}"
    planned = done("plan", source, "--vf", chain, "-o", output, "--slice-frames", 12, "--halo", 0.2, "--",
                   "-c:v", "ffv1")
    made = output.with_suffix(".farm")
    assert borders(made) == [0, 11, 23, 34, 46]
    found = re.search(r"2 slices begin with a warm-up of 0.2 s. Compared with one of 0.4 s, the first "
                      r"frame at (1.840|0.920) s has a PSNR of ([\d.]+) dB, frame \d ([\d.inf]+) dB",
                      planned.stderr)
    assert found and 35 < float(found[2]) < float(found[3]), planned.stderr
    done("run", made)
    done("join", made)
    whole = whole_run(source, tmp_path / "whole.mkv", plan_of(made), chain)
    pairs = zip(frames_of(output), frames_of(whole))
    others = [int(one.split(",")[2]) for one, other in pairs if one != other]
    assert 23 in others and set(others) <= {*range(23, 31), 46, 47}


@pytest.mark.parametrize("module, options, words", [
    (Remembers, "inputs=r=state=1:cuts=off", "there is no cut .*--halo SECONDS"),
    (Reverses, "length=4:layout=ntchw:cuts=off", "there is no cut .* into slices$"),
])
def test_what_has_no_cut_is_refused(module, options, words, tmp_path):
    chain = f"dnn_torch={saved(module(), tmp_path / 'm.pt')}:{options}{HERE}"
    line = refused("plan", scenes(tmp_path), "--vf", chain, "-o", tmp_path / "o.mkv", "--slice-frames", "12")
    assert re.search(words, line)


def test_jumps_of_times_of_windows_are_refused(tmp_path):
    """A slice learns the usual interval anew."""
    source = clip(tmp_path, "in.mkv", 40, "25", "-vf", "setpts='N+gte(N,20)*50'", "-enc_time_base", "1/25")
    chain = f"dnn_torch={saved(Three(), tmp_path / 'm.pt')}:frames=-1..1{HERE}"
    line = refused("plan", source, "--vf", chain, "-o", tmp_path / "o.mkv")
    assert "times jump at 2.800 s" in line and "jump=0" in line
    judge(source, tmp_path, 12, chain=chain + ":jump=0")


def test_a_short_frame_is_no_jump(tmp_path):
    """The filter does not take it for one, nor what comes after it, wherever slices begin."""
    source = clip(tmp_path, "in.mkv", 40, "25", "-vf", "settb=1/1000,setpts='N*40-39*eq(N,20)'", "-enc_time_base", "1/1000")
    judge(source, tmp_path, 7, chain=f"dnn_torch={saved(Three(), tmp_path / 'm.pt')}:frames=-1..1{HERE}")


def test_a_model_that_draws_random_numbers(model, tmp_path):
    """Frames have their own, also behind a halo."""
    made = judge(clip(tmp_path, frames=16), tmp_path, 7,
                 chain="tmix=frames=3," + support.dnn(model("noise"), isolate=0))
    decode_first = 8  # the place of that number in a slice
    assert [each[decode_first] for each in plan_of(made)["slices"]] == [0, 5, 12]


def test_a_model_that_changes(model, tmp_path):
    path = tmp_path / "a model.pt"
    path.write_bytes(model("invert").read_bytes())
    made = plan(clip(tmp_path), tmp_path / "o.mkv", chain="dnn_torch=a model.pt", frames=25,
                cwd=tmp_path)
    path.write_bytes(model("identity").read_bytes())
    line = refused("run", made, code=65)
    assert "a model.pt has changed since the plan was made" in line


@pytest.mark.parametrize("option, reason", [
    ("stats=s.json", "leave stats= off"), ("start_number=9", "each slice has its own"),
    ("watch=1", "leave watch= off"), ("device=auto", "name one"),
    ("calibration=first", "name a file")])
def test_an_option_that_slices_cannot_have(option, reason, model, tmp_path):
    line = refused("plan", clip(tmp_path), "--vf", f"dnn_torch={model('invert')}:{option}", "-o",
                   tmp_path / "o.mkv")
    assert reason in line


def test_records_of_detections(tmp_path):
    """Joined in order, with the frames' numbers and times, and without those of a halo."""
    drawn = subprocess.run([sys.executable, ROOT / "models/draw_clip.py", "shapes", "--size",
                            "160x120", "--frames", "16"], stdout=subprocess.PIPE, check=True)
    source = tmp_path / "in.mkv"
    support.succeed("-f", "ppm_pipe", "-framerate", 25, "-i", "-", "-c:v", "libx264", "-g", 5,
                    source, stdin=drawn.stdout, plain=True, loglevel="error")
    detect = f"dnn_torch_detect={ROOT}/models/shapes.pt{HERE}:destination"
    chain = f"{detect}={tmp_path}/all.jsonl,tmix=frames=3,{detect}={tmp_path}/some.csv:classes=0"
    output = tmp_path / "o.mkv"
    made = plan(source, output, chain=chain, frames=9, after=("-c:v", "ffv1"))
    names = [tmp_path / "all.jsonl", tmp_path / "some.csv"]
    assert not any(name.exists() for name in names)
    done("run", made)
    done("join", made)
    joined = [name.read_bytes() for name in names]
    assert all(text.count(b"\n") > 8 for text in joined)
    whole = whole_run(source, tmp_path / "whole.mkv", plan_of(made), chain)
    assert frames_of(output) == frames_of(whole)
    assert [name.read_bytes() for name in names] == joined


@pytest.mark.parametrize("name", ["-", "tcp\\\\://localhost\\\\:1", "a.json", "a.srt"])
def test_records_that_cannot_be_joined(name, tmp_path):
    line = refused("plan", clip(tmp_path, frames=9), "--vf",
                   f"dnn_torch_detect={ROOT}/models/shapes.pt:destination={name}", "-o",
                   tmp_path / "o.mkv")
    assert "JSON lines or CSV" in line


def test_tracks_are_told_of(tmp_path):
    result = farm("plan", clip(tmp_path, frames=9), "--vf",
                  f"dnn_torch_detect={ROOT}/models/shapes.pt:track=on", "-o", tmp_path / "o.mkv")
    assert "objects get their numbers anew in each slice" in result.stderr
