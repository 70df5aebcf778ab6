# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where the tests of `dnn-torch farm` run."""
import pytest
import support

NEWEST_TRIED = 5  # as media.NEWEST_LIBAVFILTER has it


def pytest_collection_modifyitems(items):
    """docs/farm.md says with which FFmpeg it has been tried."""
    if support.ffmpeg_major() <= NEWEST_TRIED:
        return
    for item in items:
        item.add_marker(pytest.mark.skip(reason=f"farm is tried up to FFmpeg {NEWEST_TRIED}"))
