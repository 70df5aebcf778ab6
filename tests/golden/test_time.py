# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Models that look at time: windows of frames and states, with numpy as the reference.

The models' arithmetic is exact, so results are equal bit for bit.
"""
import itertools
import json
import re
from typing import Optional, Tuple

import numpy
import pytest
import support
import torch
from torch import Tensor, nn

WIDTH, HEIGHT = 24, 18
SCENE = 9
"""Frames in a scene."""


# ---- models -----------------------------------------------------------------


class Weigh(nn.Module):
    """Sum of the window's frames, each times another power of two, so that each place shows."""

    def __init__(self, count: int, channels: int = 3):
        super().__init__()
        self.count, self.channels = count, channels

    def forward(self, x: Tensor) -> Tensor:
        y = x[:, 0:self.channels] * 0.0
        for i in range(self.count):
            y = y + x[:, i * self.channels:(i + 1) * self.channels] * 0.5 ** (i + 1)
        return y


class OnAxis(nn.Module):
    """The same for frames along an axis of their own."""

    def __init__(self, count: int, layout: str):
        super().__init__()
        self.count, self.layout = count, layout

    def forward(self, x: Tensor) -> Tensor:
        if self.layout == "ncthw":
            x = x.transpose(1, 2)
        if self.layout == "tchw":
            x = x.unsqueeze(0)
        if self.layout == "cthw":
            x = x.transpose(0, 1).unsqueeze(0)
        _, frames, channels, _, _ = x.shape
        if frames != self.count or channels != 3:
            raise ValueError("another number of frames")
        y = x[:, 0] * 0.0
        for i in range(self.count):
            y = y + x[:, i] * 0.5 ** (i + 1)
        return y if self.layout[0] == "n" else y[0]


class Arguments(nn.Module):
    """The frame before and the one two later, as arguments of their own."""

    def forward(self, x: Tensor, before: Tensor, later: Tensor) -> Tensor:
        return x * 0.5 + before * 0.25 + later * 0.125


class Fades(nn.Module):
    """Half of the frame and half of the last result."""

    def forward(self, x: Tensor, r: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
        y = x if r is None else x * 0.5 + r * 0.5
        return y, y


class Difference(nn.Module):
    """What a frame adds to the last result; zeros come first."""

    def forward(self, x: Tensor, previous: Tensor) -> Tensor:
        return (x - previous) * 0.5 + 0.5


class Twice(nn.Module):
    """Doubles the size, and gets its last result: a state of another size."""

    def forward(self, x: Tensor, r: Tensor) -> Tensor:
        return nn.functional.interpolate(x, scale_factor=2.0) * 0.5 + r * 0.5


class Both(nn.Module):
    """Looks at three frames and hands the one in the middle on."""

    def forward(self, x: Tensor, r: Tensor) -> Tuple[Tensor, Tensor]:
        now = x[:, 3:6]
        return now * 0.5 + torch.cat([r, now], 1)[:, :3] * 0.25 + x[:, :3] * 0.125, now


class Numbered(nn.Module):
    """Adds a number of the frame, which it takes in one form alone."""

    def __init__(self, form: str):
        super().__init__()
        self.form = form

    def forward(self, x: Tensor, n: Tensor) -> Tensor:
        if self.form == "plane":
            assert n.dim() == 4 and n.size(2) == x.size(2), "no plane"
        elif self.form == "vector":
            assert n.dim() == 1 and n.size(0) == x.size(0), "no vector"
            n = n.view(-1, 1, 1, 1)
        else:
            assert n.dim() == 0, "no scalar"
        return x * 0.5 + n * 0.125


class Real(nn.Module):
    """The same with a number that is no tensor."""

    def forward(self, x: Tensor, n: float) -> Tensor:
        return x * 0.5 + n * 0.125


class Whole(nn.Module):
    """The same with a whole number, and a word that is none."""

    def forward(self, x: Tensor, n: int, mode: str = "") -> Tensor:
        assert mode == "time", "another word"
        return x * 0.5 + n * 0.125


class Sums(nn.Module):
    """Five frames, the last result and the number."""

    def forward(self, x: Tensor, r: Tensor, n: Tensor) -> Tensor:
        return x[:, 6:9] * 0.5 + r * 0.25 + n * 0.125


class OfSegment(nn.Module):
    """Frames of a segment, with the number of its first."""

    def forward(self, x: Tensor, n: Tensor) -> Tensor:
        assert x.dim() == 5 and x.size(2) == 3, "no segment"
        return x * 0.5 + x[:, :1] * 0.25 + n * 0.125


class ChannelsLast(nn.Module):
    """Its state has the layout of its pictures."""

    def forward(self, x: Tensor, r: Tensor) -> Tuple[Tensor, Tensor]:
        both = torch.cat([x, r], 3)
        return both[..., :3] * 0.5 + both[..., 3:6] * 0.5, x


@pytest.fixture(name="save")
def save_fixture(tmp_path):
    def save(module, name="net.pt"):
        torch.jit.script(module.eval()).save(str(tmp_path / name))
        return tmp_path / name
    return save


# ---- frames -----------------------------------------------------------------


def scene(count, seed):
    """Frames of one picture that drifts, so that nothing but its edges is a cut."""
    rng = numpy.random.default_rng(seed)
    coarse = rng.integers(0, 256, (5, 6, 3))
    picture = numpy.kron(coarse, numpy.ones((8, 8, 1))).astype(numpy.uint8)
    noise = rng.integers(0, 3, (count, HEIGHT, WIDTH, 3), dtype=numpy.uint8)
    return [numpy.clip(picture[i // 3:i // 3 + HEIGHT, i // 2:i // 2 + WIDTH].astype(int) + noise[i], 0, 255)
            .astype(numpy.uint8) for i in range(count)]


@pytest.fixture(name="one_scene", scope="module")
def one_scene_fixture():
    return scene(SCENE, 1)


@pytest.fixture(name="scenes", scope="module")
def scenes_fixture():
    """Two of them, with a cut at SCENE."""
    return scene(SCENE, 1) + scene(SCENE, 22)


def run(frames, graph, *more, pixel_format="gbrpf32le", rate="25", loglevel="info"):
    """Results as floats [frame, channel, row, column], without rounding to 8 bits."""
    height, width = frames[0].shape[:2]
    result = support.succeed(
        "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", rate, "-i", "-",
        "-vf", f"format=gbrpf32le,{graph}", *more, "-f", "rawvideo", "-pix_fmt", pixel_format, "-",
        stdin=b"".join(frame.tobytes() for frame in frames), loglevel=loglevel)
    return result


def planes_of(result, width=WIDTH, height=HEIGHT):
    """The planes of gbrpf32le are G, B, R."""
    return numpy.frombuffer(result.stdout, "<f4").reshape(-1, 3, height, width)[:, [2, 0, 1]]


def as_floats(frames):
    """What format=gbrpf32le makes of the frames, asked of ffmpeg itself."""
    height, width = frames[0].shape[:2]
    return planes_of(run(frames, "null"), width, height)


def window_of(i, count, first, last, border):
    """Numbers of the frames that frame i gets."""
    places = []
    for place in range(i + first, i + last + 1):
        if border == "reflect":
            # No further than the window reaches.
            place = -place if place < 0 else 2 * (count - 1) - place if place >= count else place
        lowest, highest = max(0, i + first), min(count - 1, i + last)
        places.append(min(max(place, lowest), highest))
    return places


def weighed(frames, first, last, border="reflect"):
    """What Weigh and OnAxis return."""
    results = []
    for i in range(len(frames)):
        total = frames[i] * numpy.float32(0)
        for j, place in enumerate(window_of(i, len(frames), first, last, border)):
            total = total + frames[place] * numpy.float32(0.5 ** (j + 1))
        results.append(total)
    return numpy.array(results)


def by_scene(compute, frames):
    """Scenes have nothing to do with each other."""
    return numpy.concatenate([compute(frames[i:i + SCENE]) for i in range(0, len(frames), SCENE)])


def dnn(path, **options):
    return support.dnn(path, **{"tune": 0, **options})


def assert_same(result, expected):
    found = planes_of(result, expected.shape[3], expected.shape[2])
    assert found.shape == expected.shape
    assert numpy.array_equal(found, expected), numpy.abs(found - expected).max((1, 2, 3))


# ---- windows ----------------------------------------------------------------


@pytest.mark.parametrize("border", ["reflect", "repeat"])
@pytest.mark.parametrize("first,last", [(-2, 2), (-1, 0), (0, 1), (-3, 1)])
def test_windows_are_those_of_numpy(save, one_scene, first, last, border):
    path = save(Weigh(last - first + 1))
    result = run(one_scene, dnn(path, frames=f"{first}..{last}", border=border))
    assert_same(result, weighed(as_floats(one_scene), first, last, border))


@pytest.mark.parametrize("options", [
    {"workers": 1, "threads": 1}, {"workers": 4, "nireq": 9}, {"batch_size": 4}, {"async": 0}, {"isolate": 1},
    {"tile": 16}, {"multiple": 16}])
def test_windows_do_not_depend_on_how_they_run(save, scenes, options):
    result = run(scenes, dnn(save(Weigh(5)), frames="-2..2", **options))
    assert_same(result, by_scene(lambda frames: weighed(frames, -2, 2), as_floats(scenes)))


@pytest.mark.parametrize("layout", ["ntchw", "ncthw", "tchw", "cthw"])
@pytest.mark.parametrize("says", [False, True], ids=["found", "said"])
def test_frames_may_have_an_axis(save, one_scene, layout, says):
    path = save(OnAxis(5, layout))
    options = {"layout": layout} if says else {}
    result = run(one_scene, dnn(path, frames="-2..2", **options))
    assert_same(result, weighed(as_floats(one_scene), -2, 2))


@pytest.mark.parametrize("layout", ["ntchw", "ncthw"])
def test_as_many_frames_as_channels_are_ambiguous(save, one_scene, layout):
    path = save(OnAxis(3, layout))
    source = "-f", "lavfi", "-i", "testsrc=d=0.1"
    result = support.ffmpeg(*source, "-vf", dnn(path, frames="-1..1"), "-f", "null", "-")
    support.assert_fails_clearly(result, "5 dimensions", "layout=ntchw, ncthw")
    result = run(one_scene, dnn(path, frames="-1..1", layout=layout))
    assert_same(result, weighed(as_floats(one_scene), -1, 1))


def test_frames_may_be_arguments(save, one_scene):
    frames = as_floats(one_scene)
    result = run(one_scene, dnn(save(Arguments()), inputs="before=frame=-1|later=frame=2"))
    expected = []
    for i in range(len(frames)):
        before, _, _, later = window_of(i, len(frames), -1, 2, "reflect")
        expected.append(frames[i] * numpy.float32(0.5) + frames[before] * numpy.float32(0.25)
                        + frames[later] * numpy.float32(0.125))
    assert_same(result, numpy.array(expected))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_window_may_be_longer_than_the_stream(save, one_scene, count):
    frames = one_scene[:count]
    result = run(frames, dnn(save(Weigh(5)), frames="-2..2"))
    assert_same(result, weighed(as_floats(frames), -2, 2))


def test_yuv_is_converted_once_for_all_windows(save, one_scene):
    """Its chroma takes a way of its own."""
    path = save(Weigh(3))
    alone = dnn(path, frames="-1..1", workers=1)
    many = dnn(path, frames="-1..1", workers=4, nireq=8)
    one, other = (run(one_scene, f"format=yuv420p,{graph}", pixel_format="yuv420p") for graph in (alone, many))
    assert one.stdout == other.stdout
    assert len(one.stdout) == len(one_scene) * WIDTH * HEIGHT * 3 // 2


def test_luma_has_windows_too(save, one_scene):
    path = save(Weigh(3, 1))
    grey = run(one_scene, "format=grayf32le", pixel_format="grayf32le").stdout
    frames = numpy.frombuffer(grey, "<f4").reshape(-1, 1, HEIGHT, WIDTH)
    result = run(one_scene, f"format=grayf32le,{dnn(path, frames='-1..1')}", pixel_format="grayf32le")
    found = numpy.frombuffer(result.stdout, "<f4").reshape(frames.shape)
    assert numpy.array_equal(found, weighed(frames, -1, 1))


def test_a_contract_says_the_window(save, one_scene):
    path = save(Weigh(5))
    path.with_name("net.pt.json").write_text(json.dumps({"input": {"frames": [-2, 2], "border": "repeat"}}))
    assert_same(run(one_scene, dnn(path)), weighed(as_floats(one_scene), -2, 2, "repeat"))


def test_timestamps_stay(save, one_scene):
    graph = f"setpts='2*N*N',{dnn(save(Weigh(5)), frames='-2..2', jump=0)},showinfo"
    result = run(one_scene, graph, "-fps_mode", "passthrough") if support.ffmpeg_major() > 5 else \
        run(one_scene, graph, "-vsync", "passthrough")
    times = [int(pts) for pts in re.findall(r"n: *\d+ pts: *(\d+)", result.stderr)]
    assert times == [2 * n * n for n in range(len(one_scene))]


# ---- states -----------------------------------------------------------------


def fades(frames):
    last, results = None, []
    for frame in frames:
        last = frame if last is None else frame * numpy.float32(0.5) + last * numpy.float32(0.5)
        results.append(last)
    return numpy.array(results)


@pytest.mark.parametrize("options", [
    {}, {"workers": 4, "nireq": 9}, {"batch_size": 4}, {"async": 0}, {"isolate": 1}, {"optimize": 0},
    {"multiple": 16}])
def test_states_are_those_of_numpy(save, scenes, options):
    result = run(scenes, dnn(save(Fades()), inputs="r=state=1", **options))
    assert_same(result, by_scene(fades, as_floats(scenes)))


def test_states_may_begin_with_zeros(save, one_scene):
    frames = as_floats(one_scene)
    result = run(one_scene, dnn(save(Difference()), inputs="previous=state=0"))
    last, expected = frames[0] * 0, []
    for frame in frames:
        last = (frame - last) * numpy.float32(0.5) + numpy.float32(0.5)
        expected.append(last)
    assert_same(result, numpy.array(expected))


def test_states_may_be_larger_than_frames(save, one_scene):
    frames = as_floats(one_scene)
    result = run(one_scene, dnn(save(Twice()), inputs="r=state=0"))
    last, expected = 0, []
    for frame in frames:
        last = frame.repeat(2, 1).repeat(2, 2) * numpy.float32(0.5) + last * numpy.float32(0.5)
        expected.append(last)
    assert_same(result, numpy.array(expected))


@pytest.mark.parametrize("first", ["zeros", "frame"])
def test_a_window_may_come_with_a_state(save, one_scene, first):
    frames = as_floats(one_scene)
    result = run(one_scene, dnn(save(Both()), frames="-1..1", inputs=f"r=state=1/{first}", output=0))
    last, expected = frames[0] * (first == "frame"), []
    for i, frame in enumerate(frames):
        before = frames[window_of(i, len(frames), -1, 1, "reflect")[0]]
        expected.append(frame * numpy.float32(0.5) + last * numpy.float32(0.25) + before * numpy.float32(0.125))
        last = frame
    assert_same(result, numpy.array(expected, numpy.float32))


def test_a_state_has_the_layout_of_the_frames(save, one_scene):
    frames = as_floats(one_scene)
    result = run(one_scene, dnn(save(ChannelsLast()), layout="nhwc", inputs="r=state=1", output=0))
    before = numpy.concatenate([frames[:1] * 0, frames[:-1]])
    assert_same(result, frames * numpy.float32(0.5) + before * numpy.float32(0.5))


def test_a_reset_before_the_first_frame_changes_nothing(save, one_scene):
    graph = f"sendcmd=c='0 dnn_torch reset',{dnn(save(Fades()), inputs='r=state=1')}"
    assert_same(run(one_scene, graph), fades(as_floats(one_scene)))


def test_states_begin_anew_by_command(save, one_scene):
    commands = "sendcmd=c='0.16 dnn_torch reset'"
    result = run(one_scene, f"{commands},{dnn(save(Fades()), inputs='r=state=1')}")
    frames = as_floats(one_scene)
    assert_same(result, numpy.concatenate([fades(frames[:4]), fades(frames[4:])]))


@pytest.mark.parametrize("gaps", [0, 1])
def test_states_begin_anew_after_gaps(save, one_scene, gaps):
    graph = dnn(save(Fades()), inputs="r=state=1", gaps=gaps, enable="not(between(n,3,5))")
    frames = as_floats(one_scene)
    expected = numpy.concatenate([fades(frames[:3]), frames[3:6], fades(frames[6:])])
    if not gaps:
        expected[6:] = fades(numpy.concatenate([frames[:3], frames[6:]]))[3:]
    assert_same(run(one_scene, graph), expected)


@pytest.mark.parametrize("jump,anew", [(10, True), (0, False)])
def test_states_begin_anew_where_time_jumps(save, one_scene, jump, anew):
    graph = f"setpts='N+gte(N,5)*500',{dnn(save(Fades()), inputs='r=state=1', jump=jump)}"
    passthrough = ["-fps_mode" if support.ffmpeg_major() > 5 else "-vsync", "passthrough"]
    frames = as_floats(one_scene)
    expected = numpy.concatenate([fades(frames[:5]), fades(frames[5:])]) if anew else fades(frames)
    assert_same(run(one_scene, graph, *passthrough), expected)


def test_states_survive_a_change_of_strength_and_not_of_the_model(save, one_scene):
    path = save(Fades())
    other = save(Fades(), "other.pt")
    commands = f"sendcmd=c='0.12 dnn_torch model {other}'"
    graph = f"{commands},{dnn(path, inputs='r=state=1', isolate=0)}"
    frames = as_floats(one_scene)
    found = planes_of(run(one_scene, graph))
    starts = [i for i in range(len(frames)) if numpy.array_equal(found[i], frames[i])]
    assert starts[0] == 0 and len(starts) <= 2
    bounds = [*starts, len(frames)]
    for begin, end in itertools.pairwise(bounds):
        assert numpy.array_equal(found[begin:end], fades(frames[begin:end]))


# ---- numbers of frames ------------------------------------------------------


def seconds_in(count):
    return numpy.array([i * (1 / 25) for i in range(count)], numpy.float32)


def with_numbers(frames, numbers):
    numbers = numpy.asarray(numbers, numpy.float32).reshape(-1, 1, 1, 1)
    return frames * numpy.float32(0.5) + numbers * numpy.float32(0.125)


@pytest.mark.parametrize("what", ["number", "time"])
@pytest.mark.parametrize("form,says", [
    ("plane", ""), ("vector", ""), ("scalar", ""), ("plane", "plane="), ("vector", "vector="), ("scalar", "scalar:")])
def test_a_frame_gives_its_number(save, scenes, what, form, says):
    result = run(scenes, dnn(save(Numbered(form)), inputs=f"n={says}{what}"))
    numbers = seconds_in(len(scenes)) if what == "time" else range(len(scenes))
    assert_same(result, with_numbers(as_floats(scenes), numbers))


@pytest.mark.parametrize("module", [Numbered("plane"), Numbered("vector"), Numbered("scalar"), Real()],
                         ids=["plane", "vector", "scalar", "real"])
@pytest.mark.parametrize("options", [
    {"workers": 4, "nireq": 9}, {"batch_size": 4}, {"batch_size": 5, "workers": 2, "isolate": 1}, {"async": 0},
    {"tile": 16}, {"tile": 16, "batch_size": 4}, {"multiple": 16, "optimize": 0}], ids=str)
def test_numbers_do_not_depend_on_how_frames_run(save, scenes, module, options):
    result = run(scenes, dnn(save(module), inputs="n=number", **options))
    assert_same(result, with_numbers(as_floats(scenes), range(len(scenes))))


@pytest.mark.parametrize("batch", [1, 4])
def test_a_number_may_be_whole_and_a_word_is_none(save, scenes, batch):
    result = run(scenes, dnn(save(Whole()), inputs="n=number|mode=time", batch_size=batch))
    assert_same(result, with_numbers(as_floats(scenes), range(len(scenes))))


def test_numbers_come_with_windows_and_states(save, scenes):
    """They go on over a cut."""
    result = run(scenes, dnn(save(Sums()), frames="-2..2", inputs="r=state=0|n=number"))
    expected, last = [], None
    for i, frame in enumerate(as_floats(scenes)):
        last = frame * 0 if i % SCENE == 0 else last
        last = frame * numpy.float32(0.5) + last * numpy.float32(0.25) + numpy.float32(i * 0.125)
        expected.append(last)
    assert_same(result, numpy.array(expected))


def test_a_segment_has_the_number_of_its_first_frame(save, scenes):
    result = run(scenes, dnn(save(OfSegment()), length=4, inputs="n=number", cuts="off"))
    frames = as_floats(scenes)
    first = numpy.arange(len(frames)) // 4 * 4
    assert_same(result, frames * numpy.float32(0.5) + frames[first] * numpy.float32(0.25)
                + (first * numpy.float32(0.125)).astype(numpy.float32).reshape(-1, 1, 1, 1))


def test_a_contract_says_the_numbers(save, one_scene):
    path = save(Numbered("plane"))
    path.with_name("net.pt.json").write_text(json.dumps({"inputs": {"n": "plane=time"}}))
    assert_same(run(one_scene, dnn(path)), with_numbers(as_floats(one_scene), seconds_in(SCENE)))


def test_numbers_follow_timestamps_and_not_places(save, one_scene):
    """What trim leaves out is not counted, and has passed all the same."""
    for what, numbers in ("time", seconds_in(SCENE)[4:]), ("number", range(SCENE - 4)):
        result = run(one_scene, f"trim=start_frame=4,{dnn(save(Real()), inputs=f'n={what}')}")
        assert_same(result, with_numbers(as_floats(one_scene)[4:], numbers))


@pytest.mark.parametrize("module,value,words", [
    (Whole(), "time", "takes a whole number there"),
    (Numbered("plane"), "picture=number", "a picture has 1, 3 or 4 channels"),
    (Numbered("plane"), "numbers", "a number, plane=NUMBER"),
])
def test_what_is_no_number_of_a_frame_is_refused(save, module, value, words):
    graph = dnn(save(module), inputs=f"n={value}")
    result = support.ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x48:d=0.1", "-vf", graph, "-f", "null", "-")
    support.assert_fails_clearly(result, words)


def test_a_frame_without_a_time_is_an_error(save):
    graph = f"setpts=NAN,{dnn(save(Real()), inputs='n=time')}"
    result = support.ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x48:d=0.1", "-vf", graph, "-f", "null", "-")
    support.assert_fails_clearly(result, "inputs=n=time: frame 0 has no time; number counts frames instead")


# ---- cuts -------------------------------------------------------------------


@pytest.mark.parametrize("cuts", ["auto", "off"])
def test_cuts_end_windows_and_states(save, scenes, cuts):
    frames = as_floats(scenes)
    windows = run(scenes, dnn(save(Weigh(5)), frames="-2..2", cuts=cuts))
    states = run(scenes, dnn(save(Fades(), "other.pt"), inputs="r=state=1", cuts=cuts))
    if cuts == "auto":
        assert_same(windows, by_scene(lambda each: weighed(each, -2, 2), frames))
        assert_same(states, by_scene(fades, frames))
    else:
        assert_same(windows, weighed(frames, -2, 2))
        assert_same(states, fades(frames))


def test_scdet_decides_where_it_is_there(save, one_scene):
    """It finds cuts everywhere with a threshold of 0."""
    graph = f"scdet=t=0,{dnn(save(Fades()), inputs='r=state=1')}"
    result = run(one_scene, f"format=yuv444p,{graph}", loglevel="verbose")
    assert len(re.findall("starts anew at .*: a cut", result.stderr)) >= 2


class Changes(nn.Module):
    """Its state is of another type after the first frame."""

    def forward(self, x: Tensor, r: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
        return x, x if r is None else x.to(torch.int32)


@pytest.mark.parametrize("in_contract", [False, True])
def test_a_state_of_an_output_that_is_not_there_is_refused(save, in_contract):
    path = save(Fades())
    if in_contract:
        path.with_name("net.pt.json").write_text(json.dumps({"inputs": {"r": "state=9"}}))
    graph = dnn(path) if in_contract else dnn(path, inputs="r=state=9")
    result = support.ffmpeg("-f", "lavfi", "-i", "testsrc=d=0.1", "-vf", graph, "-f", "null", "-")
    support.assert_fails_clearly(result, "r=state=9: the model returned no such tensor; it returned 0, 1")


def test_a_state_that_changes_its_type_is_refused(save):
    result = support.ffmpeg("-f", "lavfi", "-i", "testsrc=d=0.1", "-vf", dnn(save(Changes()), inputs="r=state=1"), "-f",
                            "null", "-")
    support.assert_fails_clearly(result, "state r changes its type from float32 to int32 between two frames")


# ---- what is said -----------------------------------------------------------


@pytest.mark.parametrize("options,words", [
    ({"frames": "2..4"}, "frames takes FIRST..LAST around the current frame"),
    ({"frames": "-20..20"}, "at most 32 frames"),
    ({"frames": "-1.5..2"}, "frames takes FIRST..LAST"),
    ({"frames": "some"}, "frames takes FIRST..LAST"),
    ({"border": "wrap", "frames": "-2..2"}, "border takes reflect or repeat"),
    ({"frames": "-1..1"}, "15 channels"),
    ({"cuts": "0"}, "cuts takes auto, off or a number"),
    ({"inputs": "before=frame=0"}, "a frame is a distance from the current one"),
    ({"inputs": "before=frame=99"}, "a frame is a distance from the current one"),
    ({"inputs": "r=state=1"}, "no such input"),
])
def test_mistakes_are_named(save, one_scene, options, words):
    result = support.ffmpeg("-f", "lavfi", "-i", f"testsrc=s={WIDTH}x{HEIGHT}:d=0.2", "-vf",
                            dnn(save(Weigh(5)), **options), "-f", "null", "-")
    support.assert_fails_clearly(result, words)


def test_a_model_of_five_frames_is_told_which_option_it_needs(save):
    result = support.ffmpeg("-f", "lavfi", "-i", "testsrc=d=0.1", "-vf", dnn(save(Weigh(5))), "-f", "null", "-")
    support.assert_fails_clearly(result, "5 frames", "frames=-2..2")
    result = support.ffmpeg("-f", "lavfi", "-i", "testsrc=d=0.1", "-vf", dnn(save(OnAxis(5, "ntchw"))), "-f", "null",
                            "-")
    support.assert_fails_clearly(result, "5 dimensions", "frames=-2..2")


def test_inspect_says_what_a_window_costs(save):
    path = save(Weigh(5))
    command = [support.LAUNCHER, "inspect", str(path), "--frames=-2..2"]
    result = support.execute(command)
    assert result.returncode == 0, result.stderr
    text = result.stdout.decode()
    assert "each frame with 2 frames before it and 2 frames after it; a result waits for 2 more frames" in text
    assert "frames=-2..2" in re.search("^use .*", text, re.MULTILINE)[0]
    command = [support.LAUNCHER, "inspect", str(save(Fades())), "--inputs=r=state=1"]
    text = support.execute(command).stdout.decode()
    assert "r is what came out before, so frames run in order" in text


def test_bench_measures_a_model_with_a_state_with_one_worker(save):
    command = [support.LAUNCHER, "bench", str(save(Fades())), "--inputs=r=state=1", "--size=64x48", "--seconds=2",
               "--json"]
    result = support.execute(command)
    assert result.returncode == 0, result.stderr
    measured = json.loads(result.stdout)
    workers = {each["workers"] for each in measured["rows"]}
    assert workers == {1}
