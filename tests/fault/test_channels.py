# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a model takes, where it does not take everything."""
import re

import pytest
import support

WRONG_CHANNELS = 12  # DNN_TORCH_WRONG_CHANNELS
TOO_SMALL = "Calculated padded input size per sample is too small"


def run(script, size="320x240", pixel_format="yuv420p"):
    source = f"testsrc=s={size}:r=25:d=0.04,format={pixel_format}"
    return support.ffmpeg(
        *("-f", "lavfi", "-i", source, "-vf", support.fake(script), "-f", "null", "-"),
        fake_engine=True,
        loglevel="verbose",
    )


def format_of(result):
    assert result.returncode == 0, str(result)
    (line,) = {line for line in result.filter_lines() if "becomes" in line}
    return line.split()[0]


def test_a_failure_about_channels_means_luma(script):
    result = run(script(fail_rgb="it has its reasons", fail_rgb_status=WRONG_CHANNELS))
    assert format_of(result) == "yuv420p"
    assert not result.warnings


def test_rgb_that_needs_larger_pictures_is_rgb(script):
    """It would run on one channel as well, by broadcasting."""
    result = run(script(fail_rgb=TOO_SMALL, rgb_from=128), pixel_format="gbrp")
    assert format_of(result) == "gbrp"  # yuv444p, if it were one of luma
    assert not result.warnings


def test_another_failure_is_told(script):
    result = run(script(fail_rgb="the disk is full"))  # whatever words it has
    assert format_of(result) == "yuv420p"
    # ffmpeg makes its graph twice from 7.0 on, and its threads' lines may mix.
    assert 1 <= len(result.warnings) <= 2, str(result)
    assert all(re.search("luma.*the disk is full", text) for text in result.warnings), str(result)


@pytest.mark.parametrize(
    "settings,channels",
    [({}, "RGB and luma"), ({"channels": 3}, "RGB"), ({"channels": 1}, "luma")],
    ids=["any", "rgb", "luma"],
)
def test_what_was_found_is_told(script, settings, channels):
    result = run(script(**settings))
    assert f"the model takes {channels}" in result.filter_lines("verbose"), str(result)
