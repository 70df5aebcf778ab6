# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import shutil
import sys

import forked
import pytest
import support


@pytest.fixture(autouse=True, scope="session")
def python(tmp_path_factory):
    """`dnn-torch farm` runs in this Python: the first in the PATH may be a script that takes half a
    second to find one."""
    folder = tmp_path_factory.mktemp("python")
    (folder / "python3").symlink_to(sys.executable)
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"


@pytest.fixture(autouse=True, scope="session")
def forks(tmp_path_factory):
    """`dnn-torch farm` runs ffmpeg in forks, where tests may."""
    if not forked.is_wanted() or support.PATCHED:
        return
    folder = tmp_path_factory.mktemp("forks")
    programs = {"ffmpeg": shutil.which(support.FFMPEG), "ffprobe": shutil.which(support.sibling("ffprobe"))}
    for name in programs:
        (folder / name).symlink_to(forked.CLIENT)
    broker = forked.Broker(programs, support.MODULES)
    os.environ.update(broker.variables, FFMPEG=str(folder / "ffmpeg"))
