# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the soak test has to notice, it notices: outcomes that no ffmpeg made."""
import dataclasses
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import clips
import ffmpeg_run
import mpv_run
import plans
import support

COUNT, FAILING = 50, 20


def plan_with(**changes):
    model = clips.Model(inverts=True, scale="2")
    plan = plans.Plan("test", COUNT, "rgb24", model, options={}, script={})
    return dataclasses.replace(plan, **changes)


def logged(level, text):
    return f"[Parsed_dnn_torch_0 @ 0x55] [{level}] {text}\n"


THROWS = "frame at 0.800 s: the script says that this picture fails"


def failing_plan(**options):
    return plan_with(faults=["throws"], marked=[FAILING], options=options)


class Case:
    def __init__(self, plan, frames, returncode=0, log="", handed_on=None):
        self.plan = plan
        self.clip = clips.Clip(plan.pixel_format, plan.count, 1, plan.marked)
        wanted = ffmpeg_run.result_of(plan, self.clip, plan.model)
        made = b"".join(wanted[number].tobytes() for number in frames)
        result = support.Result([], returncode, b"", log)
        handed_on = len(frames) if handed_on is None else handed_on
        self.outcome = ffmpeg_run.Outcome(result, handed_on, made, 0, False)

    def judge(self):
        ffmpeg_run.judge(self.plan, self.clip, self.outcome, pathlib.Path("/nonexistent"))


GOOD = {
    "all": lambda: Case(plan_with(), range(COUNT)),
    "none, of no model": lambda: Case(
        plan_with(faults=[plans.NO_BEGINNING]), [], 1, logged("error", "is no model")
    ),
    "all, and the statistics fail": lambda: Case(
        plan_with(faults=[plans.DISK_FULL]), range(COUNT), 1, logged("error", "No space left")
    ),
    "until it fails": lambda: Case(failing_plan(), range(FAILING), 1, logged("error", THROWS)),
    "ffmpeg dropped some": lambda: Case(
        failing_plan(), range(FAILING - 3), 1, logged("error", THROWS), FAILING
    ),
    "of a batch": lambda: Case(
        failing_plan(batch_size=4), range(FAILING - 3), 1, logged("error", THROWS)
    ),
}

LOST = {
    "the last": lambda: Case(plan_with(), range(COUNT - 1)),
    "one in the middle": lambda: Case(plan_with(), [*range(7), *range(8, COUNT)]),
    "two have changed places": lambda: Case(plan_with(), [1, 0, *range(2, COUNT)]),
    "one comes twice": lambda: Case(plan_with(), [0, 0, *range(1, COUNT - 1)]),
    "one more": lambda: Case(plan_with(), [*range(COUNT)], handed_on=COUNT + 1),
    "before the one that fails": lambda: Case(
        failing_plan(), range(FAILING - 1), 1, logged("error", THROWS)
    ),
    "the one that fails came out": lambda: Case(
        failing_plan(), range(FAILING + 1), 1, logged("error", THROWS)
    ),
    "more than a batch": lambda: Case(
        failing_plan(batch_size=4), range(FAILING - 4), 1, logged("error", THROWS)
    ),
}

WRONG = {
    "exit code": lambda: Case(plan_with(), range(COUNT), 1),
    "an error though all is well": lambda: Case(
        plan_with(), range(COUNT), 0, logged("error", THROWS)
    ),
    "no failure": lambda: Case(failing_plan(), range(FAILING), 0, logged("error", THROWS)),
    "a signal": lambda: Case(failing_plan(), range(FAILING), -11, logged("error", THROWS)),
    "nothing is told": lambda: Case(failing_plan(), range(FAILING), 1),
    "told twice": lambda: Case(failing_plan(), range(FAILING), 1, 2 * logged("error", THROWS)),
    "other words": lambda: Case(failing_plan(), range(FAILING), 1, logged("error", "0.800: no")),
    "another time": lambda: Case(
        failing_plan(), range(FAILING), 1, logged("error", THROWS.replace("0.800", "0.840"))
    ),
    "a full disk is not told": lambda: Case(plan_with(faults=[plans.DISK_FULL]), range(COUNT)),
    "NaN is not told": lambda: Case(plan_with(faults=[plans.NAN], marked=[3]), range(COUNT)),
}


@pytest.mark.parametrize("case", GOOD.values(), ids=GOOD.keys())
def test_what_is_right_passes(case):
    case().judge()


@pytest.mark.parametrize("case", LOST.values(), ids=LOST.keys())
def test_lost_frames_are_noticed(case):
    with pytest.raises(ffmpeg_run.Lost):
        case().judge()


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_noticed(case):
    with pytest.raises(AssertionError):
        case().judge()


def changed_at(number):
    """A run whose model's file was replaced, and the wrong order of the two models."""
    plan = plan_with(faults=[plans.OTHER_FILE])
    case = Case(plan, range(COUNT))
    first, second = (
        ffmpeg_run.result_of(plan, case.clip, model)
        for model in (plan.model, ffmpeg_run.other_model(plan))
    )
    right, wrong = first.copy(), first.copy()
    right[number:] = second[number:]
    wrong[number] = second[number]
    return case, right.tobytes(), wrong.tobytes()


def test_a_model_changes_once():
    case, right, wrong = changed_at(10)
    case.outcome.made = right
    case.judge()
    case.outcome.made = wrong
    with pytest.raises(ffmpeg_run.Lost):
        case.judge()


def test_what_mpv_shows():
    clip = clips.Clip("yuv420p", mpv_run.COUNT, 1)
    frames = clip.with_image(clip.image)
    sums = [mpv_run.zlib.adler32(frame.tobytes(), 0) for frame in frames]
    whole = [(number, sums[number]) for number in range(mpv_run.COUNT)]
    mpv_run.judge([whole[5:9], whole[-3:]], frames)
    for segments in (
        [whole[5:9], whole[-3:-1]],  # not the last one
        [whole[5:7] + whole[8:9], whole[-3:]],  # a gap
        [[(5, sums[6])], whole[-3:]],  # another picture
    ):
        with pytest.raises(ffmpeg_run.Lost):
            mpv_run.judge(segments, frames)


def test_the_same_seed_gives_the_same_runs():
    first, again = ([plans.make_plan(f"7/{number}", 100) for number in range(400)] for _ in "12")
    assert first == again and len(set(map(repr, first))) == 400
    faults = {fault for plan in first for fault in plan.faults}
    assert faults >= {*plans.ENDING_FAULTS, plans.NAN, plans.DISK_FULL, plans.OTHER_FILE}
