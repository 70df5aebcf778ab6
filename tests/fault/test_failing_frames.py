# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A frame fails in mid-run: those before it are delivered, in order, and it is told once."""
import dataclasses
import re

import pictures
import pytest
import support

WIDTH, HEIGHT, FRAMES = 32, 24, 60
FRAME_BYTES = WIDTH * HEIGHT * 3

WAYS_TO_RUN = {
    "synchronous": {"async": 0},
    "one worker": {"workers": 1, "nireq": 1},
    "eight in flight": {"nireq": 8},
    "eight in flight, two workers": {"nireq": 8, "workers": 2},
    "more in flight than frames": {"nireq": 100, "workers": 4},
}


@dataclasses.dataclass
class Outcome:
    result: support.Result
    handed_on: int
    written: list


@pytest.fixture
def run(need, tmp_path):
    """Runs a graph on FRAMES frames; says how many left it, and which of them reached the file."""
    need(filters=["metadata"])

    def run_once(graph, **options):
        path, log = tmp_path / "out.raw", tmp_path / "log.txt"
        count = f"metadata=mode=add:key=seen:value=1,metadata=mode=print:file={log}:direct=1"
        frames = pictures.make_frames("rgb24", WIDTH, HEIGHT, FRAMES)
        result = support.ffmpeg(
            *pictures.raw_input("rgb24", WIDTH, HEIGHT),
            *("-vf", f"{graph},{count}", "-fps_mode", "passthrough", "-f", "rawvideo", path),
            stdin=pictures.raw(frames, "rgb24"),
            **options,
        )
        handed_on = log.read_text().count("seen=1") if log.exists() else 0
        data = path.read_bytes() if path.exists() else b""
        written = pictures.unpack(
            data[: len(data) - len(data) % FRAME_BYTES], "rgb24", WIDTH, HEIGHT
        )
        return Outcome(result, handed_on, written)

    return run_once


def assert_delivered_until(outcome, failing):
    """Every frame before `failing` (counted from 1) left the filter, inverted, and no other.

    When a filter fails, ffmpeg itself may drop frames on their way to the file,
    but only the latest ones.
    """
    assert_handed_on(outcome, failing - 1)
    assert_inverted(outcome.written)
    assert len(outcome.written) <= failing - 1


def assert_handed_on(outcome, count):
    """ffmpeg 5.1 forgets a failure that waits until the frames before it are through the end of the
    stream; there the failure comes first and takes with it what the same moment brought."""
    at_the_end = "Error marking filters as finished" in outcome.result.stderr
    if at_the_end and support.ffmpeg_major() < 6:
        assert outcome.handed_on <= count, f"{outcome.handed_on} of {count}: {outcome.result}"
    else:
        assert outcome.handed_on == count, f"{outcome.handed_on} of {count}: {outcome.result}"


def assert_inverted(written):
    """The first frames of the source, in order, without a gap."""
    for number, frame in enumerate(written, 1):
        source = pictures.make_frame("rgb24", WIDTH, HEIGHT, number)
        assert (frame.image == 255 - source.image).all()


@pytest.mark.parametrize("options", WAYS_TO_RUN.values(), ids=WAYS_TO_RUN.keys())
@pytest.mark.parametrize("failing", [1, 50])
def test_model_throws(run, model, failing, options):
    outcome = run(support.dnn(model(f"throws_at_{failing}"), **options))
    text = support.assert_fails_clearly(outcome.result, "the model met its unlucky number")
    assert_delivered_until(outcome, failing)
    # The time of the frame, at 25 a second.
    seconds = (failing - 1) / 25
    assert re.search(rf"\b{seconds:g}", text), f"the frame's time {seconds:g} is not told: {text}"


FAULTS = {
    "fail_at": ["the scripted fault"],
    "out_of_memory_at": ["memory"],
    "wrong_batch_at": ["batch|pictures", "1", "2"],
    "wrong_size_at": [f"{WIDTH}x{HEIGHT}"],
    "wrong_element_at": ["type|element|float"],
}


@pytest.mark.parametrize("options", WAYS_TO_RUN.values(), ids=WAYS_TO_RUN.keys())
@pytest.mark.parametrize("failing", [1, 20, FRAMES])
def test_scripted_failure(run, script, failing, options):
    slow = {"latency_random_us": 3000, "seed": failing}
    model = script(gain=-1, offset=1, fail_at=failing, fail_text="the scripted fault", **slow)
    outcome = run(support.fake(model, **options), fake_engine=True)
    support.assert_fails_clearly(outcome.result, "the scripted fault")
    assert_delivered_until(outcome, failing)


@pytest.mark.parametrize("fault,phrases", FAULTS.items(), ids=FAULTS.keys())
@pytest.mark.parametrize(
    "options", [{"async": 0}, {"nireq": 8, "workers": 2}], ids=["synchronous", "in flight"]
)
def test_each_fault(run, script, fault, phrases, options):
    model = script(gain=-1, offset=1, fail_text="the scripted fault", **{fault: 20})
    outcome = run(support.fake(model, **options), fake_engine=True)
    support.assert_fails_clearly(outcome.result, *phrases)
    assert_delivered_until(outcome, 20)


def test_first_of_several_failures_is_told(run, script):
    """The first in the order of the frames, whichever worker was quicker."""
    model = script(
        gain=-1, offset=1, fail_at=20, wrong_size_at=21, out_of_memory_at=22, latency_random_us=5000
    )
    outcome = run(support.fake(model, nireq=16, workers=4), fake_engine=True)
    support.assert_fails_clearly(outcome.result)
    assert_delivered_until(outcome, 20)


@pytest.mark.parametrize("failing", [5, 6, 7, 8])
def test_failure_inside_a_batch(run, script, failing):
    """The batches before it are delivered; of its own batch, no frame is known to be good."""
    model = script(gain=-1, offset=1, fail_at=failing)
    outcome = run(support.fake(model, batch_size=4, nireq=4), fake_engine=True)
    support.assert_fails_clearly(outcome.result)
    assert_handed_on(outcome, (failing - 1) // 4 * 4)
    assert_inverted(outcome.written)


def test_failure_beside_a_healthy_instance(model):
    """One of two filters of a graph fails; ffmpeg ends, and one filter has told why."""
    healthy, failing = support.dnn(model("invert"), nireq=8), support.dnn(
        model("throws_at_50"), nireq=8
    )
    graph = f"split[a][b];[a]{healthy}[x];[b]{failing}[y];[x][y]hstack"
    frames = pictures.make_frames("rgb24", WIDTH, HEIGHT, FRAMES)
    result = support.ffmpeg(
        *pictures.raw_input("rgb24", WIDTH, HEIGHT),
        *("-vf", graph, "-f", "null", "-"),
        stdin=pictures.raw(frames, "rgb24"),
    )
    support.assert_fails_clearly(result, "the model met its unlucky number")


@pytest.mark.parametrize("options", WAYS_TO_RUN.values(), ids=WAYS_TO_RUN.keys())
def test_failure_behind_the_last_frame_wanted(run, script, options):
    """What nobody asked for may still have been met, but what was asked for is there."""
    model = script(gain=-1, offset=1, fail_at=30)
    outcome = run(f"{support.fake(model, **options)},trim=end_frame=5", fake_engine=True)
    if outcome.result.returncode == 0:
        assert not outcome.result.errors
        assert len(outcome.written) == 5
    else:
        support.assert_fails_clearly(outcome.result)
    assert_handed_on(outcome, 5)
    assert_inverted(outcome.written)
