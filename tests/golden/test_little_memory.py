# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Limits of a model's addresses (ulimit -v): the right pictures, or one line about memory, soon."""
import pathlib
import shutil

import pytest
import support
import torch
from torch import nn

LEAST, MOST = 100, 4000  # MiB; OpenBLAS's buffers have 128, so that one of the limits falls short of one


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
    """Its models' processes alone are limited: ffmpeg would fail first, or wait for its own threads."""
    folder = tmp_path_factory.mktemp("limited")
    for path in (support.LAUNCHER, *pathlib.Path(support.MODULES).glob("*.so")):
        shutil.copy(path, folder)
    host = folder / "engine-host"
    host.write_text(f'#!/bin/sh\nulimit -v $DNN_TORCH_ADDRESSES\nexec {support.MODULES}/engine-host "$@"\n')
    host.chmod(0o755)
    return folder / "dnn-torch"


def run(launcher, model, most, **options):
    graph = support.dnn(model, tune=0, isolate=1, timeout=20, workers=2, threads=1, **options)
    source = "testsrc2=size=50x38:rate=25:duration=0.4,format=gbrp"
    words = support.ffmpeg_command("-f", "lavfi", "-i", source, "-vf", graph, "-f", "framemd5", "-", plain=True)
    return support.execute([launcher, "run", *words], env={"DNN_TORCH_ADDRESSES": most})


@pytest.mark.skipif("support.SANITIZED", reason="sanitizers reserve terabytes of addresses")
@pytest.mark.parametrize("step,options", [(50, {}), (100, {"on_crash": "restart"})], ids=["ends", "restarts"])
def test_limited_addresses(multiplies, launcher, step, options):
    wanted = run(launcher, multiplies, "unlimited")
    assert wanted.returncode == 0, str(wanted)
    refused = []
    for limit in range(LEAST, MOST, step):
        result = run(launcher, multiplies, str(limit << 10), **options)
        if result.returncode == 0:
            assert result.stdout == wanted.stdout, f"{limit} MiB: {result}"
            break
        refused.append(support.assert_fails_clearly(result, "memory|ulimit -v|bad_alloc|has not come back within"))
    assert result.returncode == 0, str(result)
    # LibTorch 2.6 was seen to wait at one limit (800 MiB) in one run of many.
    assert sum("has not come back" in line for line in refused) <= 1, refused
    # Else the limits begin too high to show anything.
    assert len(refused) > 1
