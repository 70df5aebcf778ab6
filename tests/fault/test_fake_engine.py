# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The filter around an engine that does what a script says."""
import time

import pictures
import pytest
import support

WIDTH, HEIGHT = 32, 24


def run(graph, frames=20, pixel_format="rgb24", output=("-f", "rawvideo", "-"), **options):
    return support.ffmpeg(
        *pictures.raw_input(pixel_format, WIDTH, HEIGHT),
        *("-vf", graph, *output),
        stdin=pictures.raw(pictures.make_frames(pixel_format, WIDTH, HEIGHT, frames), pixel_format),
        fake_engine=True,
        **options,
    )


def inverted(frames, pixel_format="rgb24"):
    source = pictures.make_frames(pixel_format, WIDTH, HEIGHT, frames)
    for frame in source:
        frame.image = 255 - frame.image
    return pictures.raw(source, pixel_format)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "options",
    [{"nireq": 8, "workers": 2}, {"nireq": 8, "workers": 8}, {"batch_size": 3, "workers": 4}],
    ids=str,
)
def test_order_is_kept(script, seed, options):
    """However long each takes."""
    model = script(gain=-1, offset=1, latency_random_us=20000, seed=seed)
    result = run(support.fake(model, threads=1, **options), 60)
    assert result.returncode == 0, str(result)
    assert result.stdout == inverted(60)


@pytest.mark.parametrize("frames", [0, 1, 2, 3, 7, 8, 9])
@pytest.mark.parametrize(
    "options",
    [{"async": 0}, {"nireq": 8}, {"batch_size": 4}, {"batch_size": 3, "nireq": 2}],
    ids=str,
)
def test_end_of_stream_drains(script, frames, options):
    """Clips shorter than, as long as and longer than what fits in flight."""
    model = script(gain=-1, offset=1, latency_random_us=10000)
    result = run(support.fake(model, **options), frames, output=("-f", "rawvideo", "-"))
    if frames:
        assert result.returncode == 0, str(result)
    assert result.stdout == inverted(frames)
    assert not result.errors


def test_requests_overlap(script):
    """Eight workers that sleep 50 ms each need less than half of what one needs."""
    seconds = []
    for workers in (1, 8):
        started = time.monotonic()
        model = script(latency_us=50000)
        result = run(support.fake(model, workers=workers, threads=1, nireq=16), 64)
        seconds.append(time.monotonic() - started)
        assert result.returncode == 0, str(result)
    assert seconds[0] >= 64 * 0.05
    assert seconds[1] < seconds[0] / 2, seconds


@pytest.mark.parametrize(
    "pixel_format,channels", [("gray", 1), ("yuv420p", 1), ("rgb24", 3), ("gbrp", 3)]
)
def test_channels_of_the_model(script, pixel_format, channels):
    result = run(support.fake(script(channels=channels, gain=-1, offset=1)), 3, pixel_format)
    assert result.returncode == 0, str(result)
    assert result.stdout == inverted(3, pixel_format)


@pytest.mark.parametrize(
    "settings,size",
    [
        ({"scale": 2}, (64, 48)),
        ({"scale": "1/2"}, (16, 12)),
        ({"shrink": 4}, (28, 20)),
        ({"shrink": 23}, (9, 1)),
    ],
)
def test_size_of_the_result(script, settings, size):
    result = run(support.fake(script(**settings)), 2)
    assert result.returncode == 0, str(result)
    assert len(pictures.unpack(result.stdout, "rgb24", *size)) == 2


@pytest.mark.parametrize(
    "settings,phrases",
    [
        ({"fail_open": "no such thing as this model"}, ["no such thing as this model"]),
        ({"fail_session_open": 1}, ["session|fail"]),
        ({"fail_session_open": 2}, ["session|fail"]),
        ({"channels": 5}, ["channel", "5"]),
        ({"output_channels": 2}, ["channel", "2"]),
        ({"shrink": 24}, ["32x24|size|extent|small"]),
    ],
    ids=str,
)
@pytest.mark.parametrize("options", [{"async": 0}, {"workers": 3, "nireq": 6}], ids=str)
def test_that_never_gets_going(script, settings, phrases, options):
    # Frames take their time: a worker that fails once all are done takes nothing away.
    result = run(support.fake(script(latency_us=50000, **settings), **options), 3)
    if settings == {"fail_session_open": 2} and result.returncode == 0:
        pytest.skip("this many workers open one session only")
    support.assert_fails_clearly(result, *phrases)


def test_model_that_is_no_script(tmp_path):
    support.assert_fails_clearly(run(support.fake(tmp_path / "absent.txt"), 1), "absent.txt")


def test_notice_is_shown(script):
    result = run(support.fake(script(notice="this model is for tests")), 2)
    assert result.returncode == 0, str(result)
    lines = [line for line in result.filter_lines() if "this model is for tests" in line]
    assert len(lines) == support.openings() and not result.errors


def test_nan_is_told_once(script):
    result = run(support.fake(script(nan_at=5), nireq=8, workers=2), 12)
    assert result.returncode == 0, str(result)
    assert len([line for line in result.warnings if "NaN" in line]) == 1, str(result)


def test_several_instances(script):
    """Each with a script, a pool and a size of its own."""
    left = support.fake(
        script(gain=-1, offset=1, latency_random_us=4000, seed=1), nireq=8, workers=2
    )
    right = support.fake(script(latency_random_us=9000, seed=2), nireq=3, batch_size=2)
    result = run(f"split[a][b];[a]{left}[x];[b]{right}[y];[x][y]hstack", 30)
    assert result.returncode == 0, str(result)
    got = pictures.unpack(result.stdout, "rgb24", WIDTH * 2, HEIGHT)
    source = pictures.make_frames("rgb24", WIDTH, HEIGHT, 30)
    assert len(got) == 30
    for frame, wanted in zip(got, source):
        assert (frame.image[:, :, :WIDTH] == 255 - wanted.image).all()
        assert (frame.image[:, :, WIDTH:] == wanted.image).all()


def test_tiles_say_which_frame_is_before_theirs(script, tmp_path):
    """`predecessor_distance` and `more` of each run of the clip, by which engines order its frames."""
    log = tmp_path / "log.txt"
    result = support.ffmpeg(
        *("-f", "lavfi", "-i", "testsrc2=s=320x240", "-frames:v", 3),
        *("-vf", support.fake(script(log=log), tile=128, overlap=8, workers=1), "-f", "null", "-"),
        fake_engine=True,
    )
    assert result.returncode == 0 and "6 tiles of" in result.stderr, str(result)
    runs = [tuple(map(int, line.split()[2:])) for line in log.read_text().splitlines()]
    for number in (1, 2):
        tiles = [run for run in runs if run[0] == number]
        assert tiles == [(number, 1, 1)] * 5 + [(number, 1, 0)]
