# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Models that end, hang or spy on the process that runs them."""
import json
import os
import pathlib
import re
import shutil
import signal
import time

import pictures
import pytest
import support

WIDTH, HEIGHT = 32, 16
SIZE = WIDTH * HEIGHT * 3
DEADLY = 77
SHADES = [10, 20, 30, DEADLY, 50, 60, DEADLY, 80, 90, 100]


@pytest.fixture
def deadly(script):
    """A model that ends its process at the frames of that shade."""
    return lambda **more: script(die_run="segfault", die_at=DEADLY, **more)


def run(path, behind="null", **options):
    data = b"".join(bytes([shade]) * SIZE for shade in SHADES)
    graph = f"{support.fake(path, tune=0, **{'isolate': 1, **options})},{behind}"
    return support.ffmpeg(
        *pictures.raw_input("rgb24", WIDTH, HEIGHT),
        *("-vf", graph, "-f", "rawvideo", "-"),
        stdin=data,
        fake_engine=True,
    )


def shades_of(result, size=SIZE):
    return [result.stdout[at] for at in range(0, len(result.stdout), size)]


# ---- nothing else changes -----------------------------------------------------


@pytest.mark.parametrize("name", ["invert", "enlarge2", "espcn_rgb"])
def test_same_bytes(model, name):
    """In a process of its own a model makes what it makes in ffmpeg's."""

    def digests(isolate):
        return support.succeed(
            *("-f", "lavfi", "-i", "testsrc2=s=99x75:d=0.4,format=yuv420p"),
            *("-vf", support.dnn(model(name), isolate=isolate, tune=0), "-f", "framemd5", "-"),
        ).stdout

    assert digests(0) == digests(1) == digests("require")


def test_other_process(model):
    """By default LibTorch is not in ffmpeg's process, and ffmpeg's end is the other one's."""
    graph = support.dnn(model("identity"), tune=0)
    process = support.start(
        support.ffmpeg_command(
            *("-re", "-f", "lavfi", "-i", "testsrc2=s=64x64", "-vf", graph, "-f", "null", "-")
        )
    )
    try:
        child = wait_for(lambda: engine_host_of(process.pid))
        maps = pathlib.Path(f"/proc/{process.pid}/maps").read_text()
        assert "libtorch" not in maps and "engine-isolated" in maps
        assert os.getsid(child) != os.getsid(process.pid), "Ctrl-C would reach it"
    finally:
        process.kill()
        process.communicate()
    wait_for(lambda: not pathlib.Path(f"/proc/{child}").exists())


def test_libraries_that_nothing_uses_are_not_loaded(model):
    """Those that LibTorch is linked with in vain bring two hundred others in Debian 12."""
    folder = pathlib.Path(support.MODULES, "engine-torch-unused")
    empty = {each.name for each in folder.glob("*.so*")}
    if not empty:
        pytest.skip("this LibTorch uses all that it is linked with")
    process = support.start(support.ffmpeg_command(
        "-re", "-f", "lavfi", "-i", "testsrc2=s=64x64", "-vf", support.dnn(model("identity"), tune=0), "-f", "rawvideo", "-"))
    try:
        assert process.stdout.read(1), "no frame"
        names = pathlib.Path(f"/proc/{engine_host_of(process.pid)}/maps").read_text()
    finally:
        process.kill()
        process.communicate()
    loaded = {pathlib.Path(line.split()[-1]) for line in names.splitlines() if "/" in line}
    assert {path.parent for path in loaded if path.name in empty} <= {folder}
    assert not [path for path in loaded if "gdal" in path.name]


def engine_host_of(pid):
    """The number of the process that runs the model, or None."""
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in path.read_text().split():
            if pathlib.Path(f"/proc/{child}/comm").read_text().strip() == "engine-host":
                return int(child)
    return None


def wait_for(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, "it does not come"
        time.sleep(0.02)
    return value


def test_what_a_model_prints(script):
    """It does not come between the frames."""
    result = run(script(print="what_a_model_prints"))
    assert result.returncode == 0 and shades_of(result) == SHADES, result
    assert "what_a_model_prints" in result.stderr


# ---- a process that ends --------------------------------------------------------


def test_crash_is_an_error_with_its_frame(deadly, need, tmp_path):
    """What came before it leaves the filter; ffmpeg itself may then drop the latest frames."""
    need(filters=["metadata"])
    log = tmp_path / "log.txt"
    count = f"metadata=mode=add:key=seen:value=1,metadata=mode=print:file={log}:direct=1"
    result = run(deadly(), count, workers=1)
    support.assert_fails_clearly(result, r"frame at 0\.120 s", "signal 11")
    assert log.read_text().count("seen=1") == 3, result
    shades = shades_of(result)
    assert shades == SHADES[: len(shades)] and len(shades) <= 3, result


@pytest.mark.parametrize("options", [{"workers": 1}, {"workers": 2, "nireq": 6}, {"async": 0}])
def test_restart_loses_the_deadly_frames_alone(deadly, tmp_path, options):
    stats = tmp_path / "stats.json"
    result = run(deadly(), on_crash="restart=9", stats=stats, **options)
    assert result.returncode == 0 and shades_of(result) == SHADES, result
    # A model may print between the parts of which libavutil makes a line.
    passed = re.findall(r"(frame at \S+ s): .*passes without the model", result.stderr)
    assert sorted(passed) == ["frame at 0.120 s", "frame at 0.240 s"], result
    told = json.loads(stats.read_text())
    assert told["passed"] == 2 and told["retries"] >= 2, told
    assert re.search(r"tried again in a new process, 2 frames passed", result.stderr), result


def test_a_crash_after_the_frame_has_left_is_told(deadly, tmp_path):
    """The frame left at its deadline, before its process ended twice: opening a model takes longer."""
    stats = tmp_path / "stats.json"
    graph = support.fake(deadly(open_us=40_000), tune=0, isolate=1, on_crash="restart=9", deadline="30ms", stats=stats)
    for _ in range(3):
        result = support.ffmpeg(
            *("-f", "rawvideo", "-pixel_format", "rgb24", "-video_size", f"{WIDTH}x{HEIGHT}", "-framerate", "4", "-i", "-"),
            *("-vf", f"realtime,{graph}", "-f", "rawvideo", "-"),
            stdin=b"".join(bytes([shade]) * SIZE for shade in SHADES),
            fake_engine=True,
        )
        assert result.returncode == 0 and shades_of(result) == SHADES, result
        told = json.loads(stats.read_text())
        assert told["late"]["pass"] >= 2, told
        # On a busy machine a deadly frame may be so late that no model gets it.
        if told["passed"] >= 2 or told["late"]["pass"] == 2:
            break
    assert told["passed"] == 2, told
    assert len(re.findall("passes without the model", result.stderr)) == 2, result


@pytest.mark.skipif(support.PATCHED, reason="the modules are where the patched ffmpeg finds them")
@pytest.mark.parametrize("missing", ["engine-isolated.so", "engine-host"])
def test_a_missing_sandbox_is_told(missing, script, tmp_path):
    """An installation without a part of it, with another engine's folder."""
    for file in pathlib.Path(support.MODULES).iterdir():
        if file.is_file() and file.name not in (missing, "engine-torch.so"):
            shutil.copy2(file, tmp_path)
    for isolate, warnings in (("auto", 1), ("0", 0)):
        graph = support.fake(script(), tune=0, isolate=isolate)
        result = support.execute([tmp_path / "dnn-torch", "run", *support.ffmpeg_command(
            *pictures.raw_input("rgb24", WIDTH, HEIGHT), "-vf", graph, "-f", "rawvideo", "-")[2:]],
            stdin=bytes(SIZE), fake_engine=True)  # fmt: skip
        assert result.returncode == 0 and len(result.stdout) == SIZE, result
        told = [line for line in result.warnings if "without a sandbox" in line]
        assert len(set(told)) == warnings and all(missing in line for line in told), result
        result = support.execute([tmp_path / "dnn-torch", "inspect", f"--isolate={isolate}", "--engine=fake", script()],
                                 fake_engine=True)
        assert result.stderr.count("without a sandbox") == warnings, result


def test_frames_that_pass_are_scaled(deadly):
    result = run(deadly(scale=2), on_crash="restart=9")
    assert result.returncode == 0 and shades_of(result, 4 * SIZE) == SHADES, result


def test_restarts_are_used_up(deadly):
    result = run(deadly(), on_crash="restart=1", workers=1)
    assert result.returncode != 0 and len(result.errors) == 1, result
    shades = shades_of(result)
    assert shades == SHADES[: len(shades)], result


def test_killed_process(model):
    """Whoever kills it, in mid-stream: ffmpeg says so, and goes on if it may."""
    for on_crash in ("error", "restart"):
        graph = f"realtime,{support.dnn(model('identity'), tune=0, on_crash=on_crash)}"
        process = support.start(
            support.ffmpeg_command(
                *("-f", "lavfi", "-i", "testsrc2=s=64x64:r=20:d=3,format=rgb24", "-vf", graph),
                *("-f", "rawvideo", "-"),
            )
        )
        child = wait_for(lambda: engine_host_of(process.pid))
        process.stdout.read1(1)
        os.kill(child, signal.SIGKILL)
        result = support.finish(process)
        if on_crash == "error":
            support.assert_fails_clearly(result, r"frame at \S+ s", "signal 9")
        else:
            assert result.returncode == 0 and all("a new process has processed" in line for line in result.warnings), result
            assert len(result.stdout) == 60 * 64 * 64 * 3 - 1, result


def test_unknown_values(model):
    """What isolate and on_crash do not take is said before a frame is read."""
    for options, words in [
        ({"on_crash": "explode"}, "restart=N"),
        ({"on_crash": "restart=0"}, "restart=N"),
        ({"engine": "isolated"}, "isolate=1"),
    ]:
        graph = support.dnn(model("identity"), **options)
        source = ("-f", "lavfi", "-i", "testsrc2=s=64x64:d=0.1")
        result = support.ffmpeg(*source, "-vf", graph, "-f", "null", "-")
        support.assert_fails_clearly(result, words)
