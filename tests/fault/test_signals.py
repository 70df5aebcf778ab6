# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The user stops ffmpeg in mid-run: it finishes the file and goes, whatever the model is doing."""
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

import pytest
import support

# From the signal to the end of the process.
SECONDS_TO_END = 30 if support.SANITIZED else 10

SOURCE = ("-f", "lavfi", "-i", "testsrc=s=64x48:r=25")


def begin(graph, path, *, plain=False, wait_for=2000, **options):
    """ffmpeg at the speed of real time, returned once the file has grown past the header."""
    words = (
        "-re",
        *SOURCE,
        "-vf",
        graph,
        "-c:v",
        "rawvideo",
        "-f",
        "nut",
        "-flush_packets",
        "1",
        path,
    )
    log = tempfile.TemporaryFile()
    process = support.start(
        support.ffmpeg_command(*words, plain=plain), stderr=log, start_new_session=True, **options
    )
    process.log = log
    deadline = time.monotonic() + support.TIME_LIMIT
    while not (path.exists() and path.stat().st_size > wait_for):
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            raise AssertionError(f"never began: {end_of(process)}")
        time.sleep(0.05)
    return process


def end_of(process, timeout=SECONDS_TO_END):
    """The result of a process that begin() started."""
    result = support.finish(process, timeout=timeout)
    process.log.seek(0)
    result.stderr = process.log.read().decode(errors="replace")
    return result


def interrupt(process, number=signal.SIGINT):
    started = time.monotonic()
    process.send_signal(number)
    result = end_of(process)
    result.seconds = time.monotonic() - started
    return result


def frames_in(path):
    result = support.succeed("-i", path, "-f", "framemd5", "-", plain=True, loglevel="warning")
    assert not re.search(r"\[error\]", result.stderr), str(result)
    return result.stdout.decode().count("\n0,")


WAYS_TO_RUN = [{"async": 0}, {"nireq": 8, "workers": 2}, {"batch_size": 4, "nireq": 2}]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("options", WAYS_TO_RUN, ids=str)
def test_ffmpeg_finishes_the_file(need, model, tmp_path, number, options):
    need(filters=["testsrc", "format"], demuxers=["lavfi"], muxers=["nut"])
    path, other = tmp_path / "ours.nut", tmp_path / "plain.nut"
    ours = interrupt(
        begin(f"format=rgb24,{support.dnn(model('invert'), **options)}", path, wait_for=30000),
        number,
    )
    plain = interrupt(begin("format=rgb24,negate", other, plain=True, wait_for=30000), number)
    assert ours.returncode == plain.returncode == 255, str(ours)
    assert frames_in(path) >= 3
    assert not ours.errors and "terminate called" not in ours.stderr, str(ours)


def test_model_that_is_slow(need, script, tmp_path):
    """The frames in flight are at most a moment's work."""
    need(filters=["testsrc", "format"], demuxers=["lavfi"], muxers=["nut"])
    path = tmp_path / "slow.nut"
    graph = f"format=rgb24,{support.fake(script(latency_us=400000), nireq=4)}"
    result = interrupt(begin(graph, path, fake_engine=True))
    assert result.returncode == 255, str(result)
    assert frames_in(path) >= 1


# Puts 200 into the first sample from the tenth frame on, for hang_at.
MARK = "format=rgb24,drawbox=x=0:y=0:w=1:h=1:color=0xc8c8c8:t=fill:enable='gte(n,9)'"


@pytest.mark.parametrize("options", WAYS_TO_RUN, ids=str)
def test_model_that_never_returns(need, script, options):
    """After the time that a run may take, the frame is given up and ffmpeg ends."""
    need(filters=["testsrc", "drawbox", "format"], demuxers=["lavfi"])
    graph = f"{MARK},{support.fake(script(hang_at=200), timeout=2, **options)}"
    result = support.ffmpeg(
        *SOURCE, "-vf", graph, "-f", "null", "-", fake_engine=True, timeout=SECONDS_TO_END * 2
    )
    support.assert_fails_clearly(result, r"\b2 s", "timeout")


@pytest.mark.parametrize("options", WAYS_TO_RUN, ids=str)
def test_user_insists(need, script, tmp_path, options):
    """ffmpeg cannot be asked inside a filter; with the fourth signal it ends, and so do we."""
    need(filters=["testsrc", "drawbox", "format"], demuxers=["lavfi"], muxers=["nut"])
    path = tmp_path / "stuck.nut"
    graph = f"{MARK},{support.fake(script(hang_at=200), **options)}"
    process = begin(graph, path, fake_engine=True, wait_for=20000)
    time.sleep(1)
    for _ in range(4):
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
    result = end_of(process)
    # 255 where nothing had hung yet, or where the engine could be stopped at the first signal.
    assert result.returncode in (123, 255), str(result)
    assert "terminate called" not in result.stderr, str(result)


@pytest.mark.parametrize("options", [{"nireq": 8}, {"nireq": 8, "workers": 2}], ids=str)
def test_frames_wanted_end_before_the_model_hangs(need, script, options):
    """What is in flight behind the last frame wanted may not keep ffmpeg from its end."""
    need(filters=["testsrc", "drawbox", "format"], demuxers=["lavfi"])
    graph = f"{MARK},{support.fake(script(hang_at=200), **options)}"
    # With one frame a request; the frames wanted are done before the tenth is asked for.
    result = support.ffmpeg(
        *SOURCE,
        "-vf",
        graph,
        "-frames:v",
        "1",
        "-f",
        "framemd5",
        "-",
        fake_engine=True,
        timeout=SECONDS_TO_END * 2,
    )
    assert result.returncode == 0, str(result)
    assert result.stdout.decode().count("\n0,") == 1


def children_of(session):
    """Processes that belong to a session."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(fields[3]) == session:
                found.append(entry.name)
    return found


def test_kill_leaves_nothing(need, model, tmp_path):
    """No temporary file, no shared memory, no process."""
    need(filters=["testsrc", "format"], demuxers=["lavfi"], muxers=["nut"])
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    with support.no_new_files("/dev/shm", temporary):
        graph = f"format=rgb24,{support.dnn(model('espcn_rgb'), nireq=8, workers=2)}"
        process = begin(graph, tmp_path / "killed.nut", env={"TMPDIR": str(temporary)})
        result = interrupt(process, signal.SIGKILL)
        assert result.returncode == -signal.SIGKILL
        time.sleep(0.2)
        assert children_of(process.pid) == []


def test_regular_end_leaves_nothing(need, model, tmp_path):
    need(filters=["testsrc", "format"], demuxers=["lavfi"])
    temporary, folder = tmp_path / "tmp", tmp_path / "cwd"
    temporary.mkdir()
    folder.mkdir()
    with support.no_new_files("/dev/shm", temporary, folder):
        graph = f"format=rgb24,{support.dnn(model('espcn_rgb'))}"
        support.succeed(
            *(*SOURCE, "-vf", graph, "-frames:v", "5", "-f", "null", "-"),
            env={"TMPDIR": str(temporary)},
            cwd=folder,
        )


def test_closed_pipe(need, model):
    """The reader of ffmpeg's output goes away."""
    need(filters=["testsrc", "format"], demuxers=["lavfi"])
    graph = f"format=rgb24,{support.dnn(model('invert'), nireq=8)}"
    process = support.start(support.ffmpeg_command(*SOURCE, "-vf", graph, "-f", "rawvideo", "-"))
    assert len(os.read(process.stdout.fileno(), 1000)) > 0
    process.stdout.close()
    process.stdout = None
    try:
        process.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError("did not end when its output was closed") from None
    finally:
        process.stderr.close()
    assert process.returncode != 0
