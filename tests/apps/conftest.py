# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import steps
import support


OF_THE_SYSTEM = {"test_melt", "test_mpv", "test_pyav", "test_torch_programs"}


def pytest_collection_modifyitems(items):
    for item in items:
        if support.OWN_FFMPEG and item.module.__name__ in OF_THE_SYSTEM:
            item.add_marker(pytest.mark.skip(reason="these programs have the system's FFmpeg"))


@pytest.fixture
def clip(need, tmp_path):
    """A video of which each frame tells by its brightness which one it is."""
    need(encoders=["ffv1"])
    path = tmp_path / "clip.mkv"
    steps.write_clip(path)
    return path


@pytest.fixture
def slow_and_inverse(script):
    """A fake model whose frames are still under way when the next ones come."""
    return support.fake(script(gain=-1, offset=1, latency_us=20000))
