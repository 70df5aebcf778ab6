# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Limits of addresses (ulimit -v): the right pictures, or one line about memory, soon."""
import pathlib
import shutil

import pytest
import support
import torch
from torch import nn

MOST = 4000  # MiB; OpenBLAS's buffers have 128, so that one of the limits falls short of one
STEPS = pytest.mark.parametrize("step,options", [(50, {}), (100, {"on_crash": "restart"})], ids=["ends", "restarts"])

pytestmark = pytest.mark.skipif("support.SANITIZED", reason="sanitizers reserve terabytes of addresses")


@pytest.fixture(scope="module")
def multiplies(tmp_path_factory):
    """A network whose layers LibTorch leaves to BLAS."""
    torch.manual_seed(1)
    path = tmp_path_factory.mktemp("nets") / "multiplies.pt"
    net = nn.Sequential(nn.Conv2d(3, 40, 5, padding=2), nn.ReLU(), nn.Conv2d(40, 3, 3, padding=1), nn.Sigmoid())
    torch.jit.save(torch.jit.trace(net.eval(), torch.rand(1, 3, 38, 50)), str(path))
    return path


@pytest.fixture(scope="module")
def launcher(tmp_path_factory):
    """Its models' processes alone are limited."""
    folder = tmp_path_factory.mktemp("limited")
    for path in (support.LAUNCHER, *pathlib.Path(support.MODULES).glob("*.so")):
        shutil.copy(path, folder)
    host = folder / "engine-host"
    host.write_text(f'#!/bin/sh\nulimit -v $DNN_TORCH_ADDRESSES\nexec {support.MODULES}/engine-host "$@"\n')
    host.chmod(0o755)
    return folder / "dnn-torch"


def command(graph, plain):
    source = "testsrc2=size=50x38:rate=25:duration=0.4,format=gbrp"
    return support.ffmpeg_command("-f", "lavfi", "-i", source, "-vf", graph, "-f", "framemd5", "-", plain=plain)


def graph_of(model, options):
    return support.dnn(model, tune=0, isolate=1, timeout=20, workers=2, threads=1, **options)


def refusals(run, least, step):
    """The lines of errors with limits from the least on, until the pictures are made.  run() returns None where
    ffmpeg fails by itself."""
    wanted = run("unlimited")
    assert wanted.returncode == 0, str(wanted)
    refused = []
    for limit in range(least, MOST, step):
        result = run(limit << 10)
        if not result:
            continue
        if result.returncode == 0:
            assert result.stdout == wanted.stdout, f"{limit} MiB: {result}"
            break
        refused.append(support.assert_fails_clearly(result, "memory|ulimit -v|has not come back within"))
    assert result.returncode == 0, str(result)
    # LibTorch 2.6 was seen to wait at one limit (800 MiB) in one run of many.
    assert sum("has not come back" in line for line in refused) <= 1, refused
    return refused


@STEPS
def test_limited_model(multiplies, launcher, step, options):
    words = [launcher, "run", *command(graph_of(multiplies, options), plain=True)]
    refused = refusals(lambda most: support.execute(words, env={"DNN_TORCH_ADDRESSES": str(most)}), 100, step)
    # Else the limits begin too high to show anything.
    assert len(refused) > 1


@STEPS
def test_limited_ffmpeg(multiplies, step, options):
    """Its own libraries may need more than the model's process: then nothing is refused."""
    def within(most, graph, *before):
        return support.execute(["bash", "-c", f'ulimit -v {most}; exec "$@"', "bash", *before, *command(graph, plain=False)])

    def run(most):
        # Without memory it may wait for its threads without an end: 7.1 does below 500 MiB, also without our filters.
        if within(most, "null", "timeout", "-k", "1", "5").returncode:
            return None
        result = within(most, graph_of(multiplies, options))
        # The filter has not begun, or FFmpeg 7.1's encoder gets no threads once the filter has its own.
        fails = not result.filter_lines() or "ff_frame_thread_encoder_init failed" in result.stderr
        return None if result.returncode and fails else result

    refusals(run, 300, step)
