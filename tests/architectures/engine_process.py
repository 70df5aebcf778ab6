# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The engine in one process for many files: LibTorch takes a second to begin."""
import dataclasses
import json
import os
import pathlib
import select
import subprocess
import tempfile

import numpy
import support

PROGRAM = os.environ.get("DNN_TORCH_RUN_NETWORKS",
                         support.BUILD / "tests" / "architectures" / "run_networks")
PATIENCE = 300  # seconds for one file


@dataclasses.dataclass(frozen=True)
class Answer:
    error: str = ""
    format: str = ""
    form: str = ""
    notice: str = ""
    told: dict = dataclasses.field(default_factory=dict)  # architecture, scale and parameters
    picture: numpy.ndarray = None
    contract: str = ""  # of the architecture


class EngineProcess:
    """run_networks, from the first file on; begun anew after a file that ended it."""

    def __init__(self):
        self.process = None
        self.folder = tempfile.TemporaryDirectory()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self.folder.cleanup()

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def run(self, path, images, optimize="-"):
        """What the engine makes of the picture with that file, or its error."""
        given, made = (pathlib.Path(self.folder.name, name) for name in ("in", "out"))
        images.numpy().astype("<f4").tofile(given)
        answer = json.loads(self.ask(path, *images.shape[1:], given, made, optimize))
        shape = answer.pop("shape", None)
        picture = shape and numpy.fromfile(made, "<f4").reshape(shape)
        return Answer(**answer, picture=picture)

    def ask(self, *job):
        if not self.process:
            engine = pathlib.Path(support.MODULES, "engine-torch.so")
            self.process = subprocess.Popen([PROGRAM, engine], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE)
        self.process.stdin.write((" ".join(map(str, job)) + "\n").encode())
        self.process.stdin.flush()
        in_time = select.select([self.process.stdout], [], [], PATIENCE)[0]
        line = self.process.stdout.readline() if in_time else b""
        if not line.endswith(b"\n"):
            self.stop()
            raise AssertionError(f"{job[0]} " + ("ended the program" if in_time else "hangs"))
        return line
