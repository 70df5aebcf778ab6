# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The option `device` where there is no GPU: refused in words, and at once."""
import os
import re
import time

import pytest
import support

# Half a second where nobody else works, most of it LibTorch's libraries.
AT_ONCE_SECONDS = 3 * (2 if support.SANITIZED else 1)
# A probe that hangs is waited for so long.
PROBE_LIMIT = 10
SOURCE = ("-f", "lavfi", "-i", "color=s=64x48:r=25:d=0.2")


def has_usable(kind):
    devices = support.execute([support.LAUNCHER, "devices"]).stdout.decode()
    return re.search(rf"^{kind}:\d+ +yes", devices, re.MULTILINE) is not None


def run(model, device):
    start = time.monotonic()
    result = support.ffmpeg(*SOURCE, "-vf", support.dnn(model, device=device), "-f", "null", "-")
    return result, time.monotonic() - start


def limit():
    """Where others use the machine as well, all takes so much longer."""
    load = os.getloadavg()[0] / len(os.sched_getaffinity(0))
    return min(AT_ONCE_SECONDS * max(1, load), PROBE_LIMIT - 1)


def quickest(model, device):
    """Of a few runs, since any may be held up."""
    runs = [run(model, device) for _ in range(3)]
    return min(runs, key=lambda each: each[1])


@pytest.mark.parametrize("device", ["cuda", "xpu", "cuda:7", "xpu:0"])
def test_a_device_that_is_not_there_is_refused_at_once(models, device):
    if has_usable(device.split(":")[0]):
        pytest.skip("it is there")
    result, seconds = quickest(models / "identity.pt", device)
    line = support.assert_fails_clearly(result, f"^device={device} cannot be used: ", "; ")
    assert len(line) > len(f"device={device} cannot be used: ; ") + 20
    assert seconds < limit(), result


@pytest.mark.parametrize("device", ["nonsense", "cuda:x", "cuda:-1", "cpu:0", "auto:1", "mps"])
def test_a_word_that_is_no_device_is_refused_at_once(models, device):
    result, seconds = quickest(models / "identity.pt", device)
    support.assert_fails_clearly(result, f"'{device}' is no device", "give cpu, cuda")
    assert seconds < limit(), result


def test_auto_works_and_says_what_it_is(models):
    result, _ = run(models / "identity.pt", "auto")
    assert result.returncode == 0, result
    assert any(re.match(r"auto: (cpu|cuda:\d+|xpu:\d+)\b.*(usable)", line) for line in
               result.filter_lines("info")), result


def test_the_cpu_says_nothing_of_devices(models):
    result, _ = run(models / "identity.pt", "cpu")
    assert result.returncode == 0, result
    assert not [line for line in result.filter_lines() if "auto:" in line or "cuda" in line], result
