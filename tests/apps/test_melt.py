# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""MLT (melt, and with it Kdenlive and Shotcut): lists all filters at its start, creates each one by
itself, sets its options one by one, and wants a frame back for each that it hands in."""
import pytest
import steps
import support


@pytest.fixture
def melt(program):
    path = program("melt")

    def run(*words):
        result = support.execute(support.launched(path, *map(str, words)), fake_engine=True)
        assert result.returncode == 0, str(result)
        return result

    return run


def filtered(melt, clip, tmp_path, options, real_time=-1):
    """The luma of each frame, and the result."""
    out = tmp_path / "out.mkv"
    words = [f"av.{name}={value}" for name, value in {"async": 0, **options}.items()]
    consumer = [f"avformat:{out}", "vcodec=ffv1", "pix_fmt=yuv420p", "an=1"]
    consumer += [f"real_time={real_time}"]
    result = melt(clip, "-silent", "-filter", "avfilter.dnn_torch", *words, "-consumer", *consumer)
    return steps.read_luma(out), result


def test_listing(melt):
    assert "avfilter.dnn_torch" in melt("-query", "filters").stdout.decode()
    shown = melt("-query", "filter=avfilter.dnn_torch").stdout.decode()
    assert "identifier: av.model" in shown and "PyTorch" in shown


@pytest.mark.parametrize("real_time", [-1, -3], ids=["one thread", "three threads"])
def test_frames(melt, model, clip, tmp_path, real_time):
    """With LibTorch."""
    found, result = filtered(melt, clip, tmp_path, {"model": model("invert")}, real_time)
    assert len(found) == steps.COUNT, str(result)
    for number, luma in enumerate(found):
        assert steps.is_close(luma, steps.inverse(number)), f"frame {number}: {found}"


def test_a_model_that_fails(melt, script, clip, tmp_path):
    """MLT takes the frame as it was before the filter."""
    fails = script(gain=-1, offset=1, fail_at_run=20)
    found, result = filtered(melt, clip, tmp_path, {"model": fails, "engine": "fake"})
    changed = sum(luma != steps.luma(number) for number, luma in enumerate(found))
    assert len(found) == steps.COUNT and 10 < changed <= 20, str(found)
    assert all(steps.is_close(found[number], steps.inverse(number)) for number in range(changed))
    assert result.stderr.count("the script says that this picture fails") == 1, str(result)
