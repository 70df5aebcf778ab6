# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""One signal ends inspect, bench, contract and convert at once: no half file stays, and no
process."""
import os
import pathlib
import signal
import subprocess
import time

import pytest
import support
import torch

pytestmark = pytest.mark.skipif(support.PATCHED, reason="the patched ffmpeg needs no launcher")

SECONDS = 4 if support.SANITIZED else 0.5
TRIES = 3  # other programs take time too: the quickest counts, and more is given where many run
NUMBERS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM],
                                  ids=["SIGINT", "SIGTERM"])  # fmt: skip

# Opens as a file system does that knows no O_TMPFILE.
NO_UNNAMED_FILES = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

static int refused(int flags)
{
    errno = EOPNOTSUPP;
    return (flags & O_TMPFILE) == O_TMPFILE;
}

#define WRAP(NAME)                                                             \
    int NAME(const char *path, int flags, ...)                                 \
    {                                                                          \
        va_list rest;                                                          \
        va_start(rest, flags);                                                 \
        const int mode = flags & O_CREAT ? va_arg(rest, int) : 0;              \
        va_end(rest);                                                          \
        int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, #NAME);         \
        return refused(flags) ? -1 : next(path, flags, mode);                  \
    }
WRAP(open)
WRAP(open64)
"""


def descendants_of(number):
    try:
        tasks = list(pathlib.Path(f"/proc/{number}/task").iterdir())
        words = [word for task in tasks for word in (task / "children").read_text().split()]
    except FileNotFoundError:
        return []
    return [each for word in words for each in (int(word), *descendants_of(int(word)))]


def is_there(number):
    """And no zombie, which waits for whoever takes the place of its parent."""
    try:
        return ") Z " not in pathlib.Path(f"/proc/{number}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def assert_all_end(numbers):
    deadline = time.monotonic() + 2
    while any(map(is_there, numbers)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not [number for number in numbers if is_there(number)]


def end(words, number, folder, wait, **options):
    """Starts a command of dnn-torch a few times, and sends the signal once `wait` returns true."""
    seconds = []
    for _ in range(TRIES):
        with support.no_new_files(folder):
            process = support.start([support.LAUNCHER, *words], **options)
            deadline = time.monotonic() + support.TIME_LIMIT
            while not wait(process.pid):
                assert process.poll() is None, str(support.finish(process))
                assert time.monotonic() < deadline, "it does not begin"
                time.sleep(0.02)
            others = descendants_of(process.pid)
            started = time.monotonic()
            process.send_signal(number)
            result = support.finish(process)
            seconds.append(time.monotonic() - started)
        assert result.returncode == -number, str(result)  # a shell says 128 + number
        assert result.stderr == "" and result.stdout == b"", str(result)
        assert_all_end(others)
        if seconds[-1] < SECONDS * max(1, os.getloadavg()[0] / os.cpu_count() / 2):
            return
    raise AssertionError(f"{min(seconds):.2f} s")


def runs_for(seconds):
    """True once the process has existed for so long."""
    begun = {}
    return lambda pid: time.monotonic() - begun.setdefault(pid, time.monotonic()) > seconds


COMMANDS = {"inspect": (), "contract": (), "bench": ("--svg", "bars.svg", "--json")}


@NUMBERS
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("settings", [{"latency_us": 20_000_000}, {"hang_open": 1}], ids=str)
def test_a_slow_model(script, tmp_path, command, settings, number):
    """Each of its runs takes 20 s."""
    words = (command, script(**settings), "--engine", "fake", *COMMANDS[command])
    end(words, number, tmp_path, runs_for(1), fake_engine=True, cwd=tmp_path)


@NUMBERS
@pytest.mark.parametrize("command", ["inspect", "bench"])
@pytest.mark.parametrize("isolate", [0, 1])
def test_a_model_that_computes(model, tmp_path, command, isolate, number):
    words = (command, model("never_returns_everywhere"), "--isolate", isolate, *COMMANDS[command])
    end(words, number, tmp_path, runs_for(2), cwd=tmp_path)


@NUMBERS
def test_rows_of_bench_are_kept(script, tmp_path, number):
    """An existing picture stays, the rows that are known are printed."""
    (tmp_path / "bars.svg").write_text("old")
    path = script(latency_us=1000)
    log = tmp_path / "log"
    with log.open("wb") as output:
        words = [support.LAUNCHER, "bench", path, "--engine", "fake", "--svg", "bars.svg"]
        process = support.start(words, fake_engine=True, cwd=tmp_path, stdout=output)
        deadline = time.monotonic() + support.TIME_LIMIT
        while b"fp32" not in log.read_bytes():
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.05)
        process.send_signal(number)
        result = support.finish(process)
    assert result.returncode == -number and result.stderr == "", str(result)
    assert (tmp_path / "bars.svg").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bars.svg", "log", path.name]


@NUMBERS
@pytest.mark.parametrize("unnamed", [True, False], ids=["unnamed", "named"])
@pytest.mark.parametrize("isolate", [0, 1])
def test_convert_onto_an_existing_file(tmp_path, isolate, unnamed, number):
    """The file is as it was, although a part of the new one has been written."""
    weights, made = tmp_path / "in.pth", tmp_path / "out.safetensors"
    torch.save({f"w{i}": torch.rand(1 << 20) for i in range(100)}, weights)
    made.write_text("old")
    environment = {}
    if not unnamed:
        library = tmp_path / "named.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library, "-ldl"],
                       input=NO_UNNAMED_FILES.encode(), check=True)  # fmt: skip
        environment["LD_PRELOAD"] = str(library)

    def has_written(pid):
        """More than a megabyte, into a file of which nobody knows yet."""
        for each in (pid, *descendants_of(pid)):
            for link in pathlib.Path(f"/proc/{each}/fd").iterdir():
                try:
                    target, size = os.readlink(link), link.stat().st_size
                except FileNotFoundError:
                    continue
                if target.startswith(f"{tmp_path}/") and "in.pth" not in target and size > 1 << 20:
                    assert ("out.safetensors." in target) != unnamed
                    return True
        return False

    words = ("convert", weights, made, "--force", "--isolate", isolate)
    end(words, number, tmp_path, has_written, env=environment)
    assert made.read_text() == "old"
