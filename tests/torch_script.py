# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs Python scripts in processes of their own that need not load PyTorch first.

A server loads it once and forks for each script.  The server runs nothing itself: PyTorch's
threads do not survive a fork.
"""
import functools
import multiprocessing
import os
import pathlib
import runpy
import sys

import support


@functools.cache
def context():
    forking = multiprocessing.get_context("forkserver")
    forking.set_forkserver_preload(["torch"])
    return forking


def run_in_child(script, arguments, outputs):
    for number, path in enumerate(outputs, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    sys.argv = [script, *arguments]
    sys.path[0] = str(pathlib.Path(script).parent)
    runpy.run_path(script, run_name="__main__")


def execute(script, arguments, folder, timeout):
    """As support.execute([sys.executable, script, *arguments]); the outputs pass through files."""
    outputs = [folder / "stdout.txt", folder / "stderr.txt"]
    words = [str(script), [str(word) for word in arguments]]
    process = context().Process(target=run_in_child, args=(*words, outputs))
    process.start()
    process.join(timeout)
    if process.exitcode is None:
        process.kill()
        raise AssertionError(f"no end after {timeout} s: {words}")
    stdout, stderr = (path.read_bytes() for path in outputs)
    return support.Result(words, process.exitcode, stdout, stderr.decode(errors="replace"))
