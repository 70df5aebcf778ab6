# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Slices of models: the same bytes as one run's, or a refusal."""
import pytest

import support
from farms import ROOT, clip, judge, plan, plan_of, refused


def test_pictures(tmp_path):
    made = judge(clip(tmp_path), tmp_path, 25,
                 chain=f"dnn_torch={ROOT}/models/upscale2x.pt,crop=100:80")
    values = plan_of(made)
    assert ":optimize=" in values["fixed_chain"] and ":threads=" in values["fixed_chain"]
    assert values["fixed_chain"].endswith(",crop=100:80")
    assert str(ROOT / "models/upscale2x.pt") in values["files"]


def test_a_model_that_draws_random_numbers(model, tmp_path):
    line = refused("plan", clip(tmp_path), "--vf", support.dnn(model("noise"), isolate=0), "-o",
                   tmp_path / "o.mkv")
    assert "random" in line and "is another if the chain begins 3 frames earlier" in line


def test_a_model_that_changes(model, tmp_path):
    path = tmp_path / "a model.pt"
    path.write_bytes(model("invert").read_bytes())
    made = plan(clip(tmp_path), tmp_path / "o.mkv", chain="dnn_torch=a model.pt", frames=25,
                cwd=tmp_path)
    path.write_bytes(model("identity").read_bytes())
    line = refused("run", made, code=65)
    assert "a model.pt has changed since the plan was made" in line


@pytest.mark.parametrize("option, reason", [
    ("stats=s.json", "leave stats= off"), ("watch=1", "leave watch= off"),
    ("device=auto", "name one"), ("calibration=first", "name a file")])
def test_an_option_that_slices_cannot_have(option, reason, model, tmp_path):
    line = refused("plan", clip(tmp_path), "--vf", f"dnn_torch={model('invert')}:{option}", "-o",
                   tmp_path / "o.mkv")
    assert reason in line
