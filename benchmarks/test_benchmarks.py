# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether the benchmarks measure what they say: on programs whose rate is known."""
import argparse
import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import fused
import model_only
import rates
import report
import run
import settings
import start

# Reports its progress as ffmpeg does: a slow start, then bursts at an even rate.
PRETENDER = """
    import os, signal, sys, time
    fps, burst, last = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    time.sleep(0.3)
    start = time.monotonic()
    for frame in range(burst, last + 1, burst):
        time.sleep(max(0, start + frame / fps - time.monotonic()))
        print(f"fps=1\\nframe={frame}\\nprogress=continue", flush=True)
    exec(sys.argv[4])
"""
SHORT = rates.Window(1.0, min_frames=4, warm_up_seconds=0.1, warm_up_frames=2, limit_seconds=20)


def pretend(fps, burst=1, last=10**6, end=""):
    return [sys.executable, "-c", textwrap.dedent(PRETENDER), str(fps), str(burst), str(last), end]


@pytest.mark.parametrize("burst", [1, 2, 5])
def test_rate_is_that_of_the_program(burst):
    rate = rates.measure_chain([pretend(50, burst)], SHORT)
    assert not rate.failure
    # Wide enough for a busy machine; the start alone would take off a quarter.
    assert rate.fps == pytest.approx(50, rel=0.1)


def test_half_the_rate_is_half_the_ratio():
    sides = {
        fps: lambda f=fps: rates.measure_chain([pretend(f)], SHORT) for fps in (40, 80)
    }
    results = rates.alternate(2, sides)
    assert rates.median_ratio(results[40], results[80]) == pytest.approx(0.5, rel=0.15)


def test_a_child_counts_as_its_parent_does():
    child = "import time; block = bytearray(64 << 20); print(1, flush=True); time.sleep(60)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE) as process:
        try:
            process.stdout.readline()  # the child has its memory
            alone, family = rates.read_process(process.pid), rates.read_family(process.pid)
        finally:
            for pid in rates.family(process.pid):
                os.kill(pid, signal.SIGKILL)
    assert family[1] >= alone[1] + (64 << 20)


def test_crash_is_told_with_its_frame():
    end = "os.kill(os.getpid(), signal.SIGSEGV)"
    rate = rates.measure_chain([pretend(100, last=7, end=end)], SHORT)
    assert rate.failure == "ended by SIGSEGV after 7 frames"
    assert rates.median_fps([rate]) is None


def test_failure_is_told_in_its_own_words():
    end = "sys.exit(sys.stderr.write('[dnn_torch @ 0x5f] no such model\\nSo it failed\\n') and 3)"
    rate = rates.measure_chain([pretend(100, last=2, end=end)], SHORT)
    assert rate.failure == "exit 3: no such model"


def test_last_frames_do_not_count():
    watch = rates.Watch([], SHORT)
    watch.take(b"frame=9\nprogress=end\n", 1.0)
    assert watch.samples == []


def test_fast_run_to_a_frame_is_still_seen_often_enough():
    window = dataclasses.replace(SHORT, until_frame=20)
    rate = rates.measure_chain([pretend(400, burst=10)], window)
    assert not rate.failure
    assert len(rate.samples) > 3 and rate.samples[-1].frames >= 20


def test_side_that_fails_is_not_run_again():
    calls = []

    def fail():
        calls.append(1)
        return rates.Rate(failure="broken")

    results = rates.alternate(3, {"broken": fail, "good": lambda: rates.Rate(fps=2.0)})
    assert len(calls) == 1 and len(results["good"]) == 3
    assert rates.median_ratio(results["good"], results["broken"]) is None


def test_cores_are_divided_without_rest(monkeypatch):
    monkeypatch.setattr(model_only, "CORES", 6)
    assert model_only.splits_of_cores() == [(6, 1), (3, 2), (2, 3), (1, 6)]


def test_search_varies_from_the_best(monkeypatch):
    def pretended(_settings, _net, configuration, _seconds):
        fps = model_only.FORMS.index(configuration.form) + configuration.threads
        return rates.Rate(fps=fps + 10 * (configuration.malloc == "huge"))

    monkeypatch.setattr(model_only, "rate_of", pretended)
    told = settings.Settings(build=pathlib.Path(), work=pathlib.Path(), seconds=1)
    best = model_only.Search(told, settings.NETS["espcn"], "fp32").look_around()[0]
    assert best.form == model_only.FORMS[-1]
    assert best.malloc == "huge" and best.threads == model_only.splits_of_cores()[-1][1]


def test_model_only_refuses_what_it_does_not_know():
    told = settings.Settings(build=run.default_build(), work=pathlib.Path())
    try:
        program = told.program("model_only")
    except settings.Unavailable as error:
        pytest.skip(str(error))
    for words in (["colour=red"], ["model=/nowhere.pt"]):
        done = subprocess.run([program, *words], stderr=subprocess.PIPE)
        assert done.returncode == 1 and done.stderr.startswith(b"model_only: ")


def test_of_peers_the_fastest_split_is_shown_and_a_reason_where_none_ran():
    def ran(fps):
        return [rates.Rate(fps=fps)]

    failed = [rates.Rate(failure="not installed")]
    results = {
        "fused": ran(10), "inference": ran(4), "frozen": ran(5), "channels_last": failed,
        "ONNX Runtime, 2 x 1": ran(8), "ONNX Runtime, 1 x 2": ran(9),
        "AOTInductor, 2 x 1": failed, "AOTInductor, 1 x 2": failed, fused.UPSTREAM: failed,
    }  # fmt: skip
    table = report.Table("fused", "", fused.COLUMNS)
    fused.add_rows(table, settings.NETS["espcn"], "fp32", results, {"fp32": 100.0})
    shown = [(row["side"], row["fused_to_it"], row["note"]) for row in table.rows]
    assert shown == [
        ("fused", None, ""), ("LibTorch, frozen", 2.0, ""),
        ("ONNX Runtime, 1 x 2", pytest.approx(10 / 9), ""),
        ("AOTInductor", None, "not installed"), (fused.UPSTREAM, None, "not installed"),
    ]  # fmt: skip
    first, last = table.rows[0], table.rows[-1]
    assert first["gflops"] == pytest.approx(122.98, abs=0.01)  # 12.3 for a frame
    assert first["of_peak"] == pytest.approx(1.2298 / settings.CORES, rel=1e-3)
    assert last["gflops"] is None and last["of_peak"] is None


@pytest.mark.parametrize("name", settings.NETS)
def test_products_are_those_of_the_net(name):
    torch = pytest.importorskip("torch")
    import make_models

    net, counted = make_models.build(name), []

    def count(layer, _taken, made):
        counted.append(layer.weight[0].numel() * made.numel())

    for layer in net.modules():
        if isinstance(layer, torch.nn.Conv2d):
            layer.register_forward_hook(count)
    width, height = 12, 8
    with torch.no_grad():
        made = net(torch.rand(1, settings.NETS[name].channels, height, width))
    assert sum(counted) == settings.NETS[name].products * width * height
    assert tuple(made.shape[2:]) == tuple(settings.NETS[name].scale * x for x in (height, width))
    assert 0.05 < made.mean() < 0.95 and made.std() > 0.01  # a picture, not black or noise


def test_a_net_is_named_or_refused():
    assert run.named_nets("rrdb,dncnn17") == "rrdb,dncnn17"
    with pytest.raises(argparse.ArgumentTypeError, match="no net 'rdb': there are espcn, "):
        run.named_nets("espcn,rdb")


def test_a_precision_is_named_or_refused():
    assert run.named_precisions("int8,fp32") == ("int8", "fp32")
    with pytest.raises(argparse.ArgumentTypeError, match="no precision 'fp17': there are fp32, "):
        run.named_precisions("fp32,fp17")


def test_peaks():
    told = settings.Settings(build=run.default_build(), work=pathlib.Path())
    found = fused.peaks_of_core(told)
    if not found:
        pytest.skip("the program peaks is not built")
    assert list(found) == ["fp32", "bf16", "int8", "l2", "memory"]
    assert found["l2"] > 0 and found["memory"] > 0
    if found["int8"]:
        assert found["int8"] > found["fp32"] / 2


def test_a_peer_says_in_one_line_why_it_cannot_run(tmp_path):
    told = settings.Settings(build=tmp_path, work=tmp_path, seconds=0.1)
    (tmp_path / "onnxruntime.py").write_text("raise ImportError")
    pytest.importorskip("torch")
    net = run.quick_net(settings.NETS["espcn"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(tmp_path))
        rate = fused.measure_peer(told, net, "onnxruntime", ".onnx", 1, 1)
    assert rate.failure == "python3-onnxruntime is not installed"


def test_first_frame_is_timed_until_it_comes(tmp_path, monkeypatch):
    """Of a program that makes its frame after 0.3 s and ends after 0.6 s."""
    code = "import time; time.sleep(0.3); print('x', flush=True); time.sleep(0.3)"
    told = settings.Settings(build=tmp_path, work=tmp_path)
    monkeypatch.setattr(
        settings.Settings, "launched", lambda *_: [sys.executable, "-c", code], raising=True
    )
    began = time.monotonic()
    seconds = start.seconds_to_first_frame(told, [], "null", tmp_path)
    assert 0.3 <= seconds <= time.monotonic() - began - 0.25
    code = "import sys; sys.exit('no such model')"
    with pytest.raises(settings.Failed, match="no such model"):
        start.seconds_to_first_frame(told, [], "null", tmp_path)


def test_table_shows_what_is_missing():
    table = report.Table("x", "Title", ["model", "fps"])
    table.add(model="espcn", fps=12.345)
    table.add(model="srvgg", fps=None)
    assert report.as_markdown(table).splitlines()[2:] == [
        "| model | fps   |",
        "|-------|-------|",
        "| espcn | 12.35 |",
        "| srvgg | -     |",
    ]


def test_options_of_the_outer_run_do_not_go_into_the_chroot():
    words = ["upstream", "--suite", "sid", "--rounds", "3", "--json=/x", "--quick"]
    assert run.words_without(words, "--suite", "--json") == ["upstream", "--rounds", "3", "--quick"]


# ---- the checks on a device -----------------------------------------------------


@pytest.fixture
def checks():
    pytest.importorskip("torch")
    import check_device

    return check_device


def test_a_check_that_fails_does_not_end_the_others(checks):
    def unsuitable():
        raise checks.Unsuitable("not here")

    def wrong():
        raise checks.Wrong("one | two")

    rows = checks.run_part(
        "memory", [("a", lambda: "fine"), ("b", wrong), ("c", lambda: 1 / 0), ("d", unsuitable)], 1
    )
    found = [(row["result"], row["what was seen"]) for row in rows]
    assert found == [
        ("passed", "fine"), ("failed", "one / two"),
        ("failed", "ZeroDivisionError: division by zero"), ("skipped", "not here"),
    ]


class Pretender:
    """Frames of the processor, and of a device that differs in so many samples by so much."""

    device = "cuda"

    def __init__(self, count, apart):
        self.apart = bytes(100 + (apart if i < count else 0) for i in range(10000))

    def frames(self, _model, _format, device, **_options):
        return bytes([100]) * 10000 if device == "cpu" else self.apart


@pytest.mark.parametrize("count, apart", [(0, 0), (10000, 1), (10, 50)])
def test_frames_agree(checks, count, apart):
    words = checks.check_agrees(Pretender(count, apart), "net", "fp32", "rgb24")
    assert f"worst {apart if count else 0:.2f}/255" in words


@pytest.mark.parametrize("count, apart", [(11, 2), (10000, -2)])
def test_frames_do_not_agree(checks, count, apart):
    with pytest.raises(checks.Wrong, match="within 1/255"):
        checks.check_agrees(Pretender(count, apart), "net", "fp32", "rgb24")
