# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import shutil

import forked
import pytest
import support


@pytest.fixture(autouse=True, scope="session")
def forks(tmp_path_factory):
    """`dnn-torch farm` runs ffmpeg in forks, where tests may."""
    if not forked.is_wanted() or support.PATCHED:
        return
    folder = tmp_path_factory.mktemp("forks")
    (folder / "ffmpeg").symlink_to(forked.CLIENT)
    (folder / "ffprobe").symlink_to(shutil.which(support.sibling("ffprobe")))
    broker = forked.Broker(shutil.which(support.FFMPEG), support.MODULES)
    os.environ.update(broker.variables, FFMPEG=str(folder / "ffmpeg"))
