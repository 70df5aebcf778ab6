# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Models that take and return segments of frames, with numpy as the reference, bit for bit."""
import itertools
import json
import math
import re

import numpy
import pytest
import support
import test_time
import torch
from test_time import HEIGHT, SCENE, WIDTH, as_floats, assert_same, dnn, run
from torch import Tensor, nn

save_fixture = test_time.save_fixture
HALF = numpy.float32(0.5)


# ---- models -----------------------------------------------------------------


class Near(nn.Module):
    """Each frame with all others of the segment, the less the farther away, and what came before.

    `length` 0 takes any number of frames.
    """

    def __init__(self, layout: str = "ntchw", length: int = 0, scale: int = 1):
        super().__init__()
        self.layout, self.length, self.scale = layout, length, scale

    def forward(self, x: Tensor) -> Tensor:
        if self.layout == "nchw":
            n, c, h, w = x.shape
            x = x.view(n, c // 3, 3, h, w)
        elif self.layout == "ncthw":
            n, c, t, h, w = x.shape
            x = x.transpose(1, 2)
        elif self.layout == "tchw":
            t, c, h, w = x.shape
            x = x.unsqueeze(0)
        elif self.layout == "cthw":
            c, t, h, w = x.shape
            x = x.transpose(0, 1).unsqueeze(0)
        n, count, channels, rows, columns = x.shape
        if (self.length and count != self.length) or channels != 3:
            raise ValueError("another number of frames or channels")
        before = x[:, 0] * 0.0
        results = []
        for t in range(count):
            before = before * 0.5 + x[:, t] * 0.5
            y = before
            for i in range(count):
                y = y + x[:, i] * 0.5 ** abs(i - t)
            results.append(y)
        y = torch.stack(results, 1)
        if self.scale == 2:
            y = y.repeat_interleave(2, 3).repeat_interleave(2, 4)
        if self.layout == "nchw":
            return y.flatten(1, 2)
        if self.layout == "ncthw":
            return y.transpose(1, 2)
        if self.layout == "tchw":
            return y[0]
        if self.layout == "cthw":
            return y[0].transpose(0, 1)
        return y


class NotFour(nn.Module):
    """Takes segments of one frame and of all but one, which are tried, and none of four."""

    def __init__(self):
        super().__init__()
        self.near = Near()

    def forward(self, x: Tensor) -> Tensor:
        if x.size(1) == 4:
            raise ValueError("four")
        return self.near(x)


class FullAtFour(NotFour):
    """Has no memory for segments of four frames."""

    def forward(self, x: Tensor) -> Tensor:
        if x.size(1) == 4:
            raise RuntimeError("out of memory: tried to allocate 9 GiB")
        return self.near(x)


class AloneNotFour(nn.Module):
    """Halves each frame by itself, but not four at once."""

    def forward(self, x: Tensor) -> Tensor:
        assert x.size(1) != 4, "four"
        return x * 0.5


class Masked(nn.Module):
    """Takes another picture as a single one, or with each frame of the segment."""

    def __init__(self, is_single: bool):
        super().__init__()
        self.is_single = is_single

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        assert x.dim() == 5 and x.size(2) == 3, "another layout"
        assert (mask.dim() == 4) == self.is_single, "a mask of another shape"
        return x.cumsum(1) * 0.25 + mask * 0.5


class Asserts(nn.Module):
    """Says in words of its own which tensors it takes."""

    def __init__(self, count: int):
        super().__init__()
        self.count = count

    def forward(self, x: Tensor) -> Tensor:
        assert x.dim() > 4 and x.size(1) == self.count, f"{self.count} frames, please"
        return x[:, self.count // 2]


class Channels(nn.Module):
    """The first channels of a picture."""

    def __init__(self, count: int):
        super().__init__()
        self.count = count

    def forward(self, x: Tensor) -> Tensor:
        return x[:, :self.count] * 0.5


class First(nn.Module):
    """One frame of several."""

    def __init__(self, keeps_axis: bool):
        super().__init__()
        self.keeps_axis = keeps_axis

    def forward(self, x: Tensor) -> Tensor:
        n, t, c, h, w = x.shape
        if c != 3:
            raise ValueError("another number of channels")
        return x[:, :1] if self.keeps_axis else x[:, 0]


class Bare(nn.Module):
    """Checks no extent, so that it takes any layout."""

    def __init__(self, axis: int):
        super().__init__()
        self.axis = axis

    def forward(self, x: Tensor) -> Tensor:
        return x.cumsum(self.axis) * 0.5


class Both(nn.Module):
    """Looks along two dimensions, in other ways."""

    def forward(self, x: Tensor) -> Tensor:
        return x.cumsum(1) + x.flip(2)


class Convolutions(nn.Module):
    """Takes four dimensions as well, which are something else."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Conv3d(3, 3, 1, bias=False)
        self.layer.weight.data = torch.eye(3).view(3, 3, 1, 1, 1) * 0.5

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x.transpose(1, 2)).transpose(1, 2) + x.flip(1) * 0.5


class Noisy(nn.Module):
    """Has a further input."""

    def forward(self, x: Tensor, noise: Tensor) -> Tensor:
        n, t, c, h, w = x.shape
        return x * 0.5 + noise.view(n, 1, 1, h, w) * 0.5


class Keeps(nn.Module):
    """Adds the last frame of the segment before, which it keeps itself."""

    last: Tensor

    def __init__(self):
        super().__init__()
        self.last = torch.zeros(1)

    def forward(self, x: Tensor) -> Tensor:
        n, t, c, h, w = x.shape
        if c != 3:
            raise ValueError("another number of channels")
        y = x * 0.5 + x[:, :1] * 0.25 + self.last * 0.25
        self.last = x[:, -1:]
        return y


# ---- the reference ----------------------------------------------------------


def of_segment(frames):
    """What Near returns."""
    before, results = frames[0] * numpy.float32(0), []
    for t, frame in enumerate(frames):
        before = before * HALF + frame * HALF
        result = before
        for i, other in enumerate(frames):
            result = result + other * numpy.float32(0.5 ** abs(i - t))
        results.append(result)
    return results


def filled(frames, length, border):
    mode = {"reflect": "reflect", "repeat": "edge"}[border]
    return numpy.pad(frames, [(0, length - len(frames)), *[(0, 0)] * 3], mode)


def in_segments(frames, length, overlap=0, fill=None):
    """Each frame from the segment in which it is farthest from a seam, the earlier of two."""
    best = [(-1, None)] * len(frames)
    for begin in range(0, max(1, len(frames) - overlap), length - overlap):
        segment = frames[begin:begin + length]
        end = begin + len(segment)
        results = of_segment(filled(segment, length, fill) if fill else segment)
        for t in range(begin, end):
            distance = min(t - begin if begin else math.inf, end - 1 - t if end < len(frames) else math.inf)
            if distance > best[t][0]:
                best[t] = distance, results[t - begin]
    return numpy.array([result for _, result in best])


@pytest.fixture(name="frames", scope="module")
def frames_fixture():
    return test_time.scene(32, 1)


@pytest.fixture(name="floats", scope="module")
def floats_fixture(frames):
    return as_floats(frames)


# ---- which frames come together ---------------------------------------------


@pytest.mark.parametrize("length,overlap,count", [
    (1, 0, 3), (2, 0, 5), (3, 1, 1), (3, 1, 3), (3, 1, 4), (3, 1, 11), (4, 0, 4), (4, 0, 9), (5, 2, 2), (5, 2, 5),
    (5, 2, 6), (5, 2, 7), (5, 2, 8), (5, 2, 19), (7, 3, 18), (8, 3, 8), (15, 2, 32), (20, 9, 31), (20, 4, 12)])
def test_segments_are_those_of_numpy(save, frames, floats, length, overlap, count):
    result = run(frames[:count], dnn(save(Near()), length=length, time_overlap=overlap, cuts="off"))
    assert_same(result, in_segments(floats[:count], length, overlap))


@pytest.mark.parametrize("border", ["reflect", "repeat"])
@pytest.mark.parametrize("count", [1, 2, 6, 10, 13])
def test_a_model_of_one_length_gets_it(save, frames, floats, border, count):
    """What the last segment lacks is filled up, and what comes of that is dropped."""
    result = run(frames[:count], dnn(save(Near(length=6)), length=6, time_overlap=1, border=border, cuts="off"))
    assert_same(result, in_segments(floats[:count], 6, 1, border))


@pytest.mark.parametrize("layout,length,says", [
    *itertools.product(["ntchw", "ncthw", "tchw", "cthw", "nchw"], [0, 5], [False, True])])
def test_layouts(save, frames, floats, layout, length, says):
    options = {"layout": layout} if says else {}
    result = run(frames[:13], dnn(save(Near(layout, length)), length=5, time_overlap=2, cuts="off", **options))
    assert_same(result, in_segments(floats[:13], 5, 2, "reflect" if length else None))


@pytest.mark.parametrize("options", [
    {"workers": 1, "threads": 1}, {"workers": 4, "nireq": 9}, {"nireq": 1}, {"async": 0}, {"isolate": 1},
    {"multiple": 16}, {"optimize": 0}, {"batch_size": 4}])
def test_segments_do_not_depend_on_how_they_run(save, frames, floats, options):
    result = run(frames[:23], dnn(save(Near()), length=6, time_overlap=2, cuts="off", **options), loglevel="verbose")
    assert_same(result, in_segments(floats[:23], 6, 2))
    assert ("batch_size=4 is left out" in result.stderr) == ("batch_size" in options)


def test_a_module_that_keeps_frames_gets_segments_in_order(save, frames, floats):
    path = save(Keeps())
    result = run(frames[:11], dnn(path, length=4, workers=4, cuts="off"))
    last, expected = floats[0] * 0, []
    for begin in range(0, 11, 4):
        part = floats[begin:min(begin + 4, 11)]
        expected.append(part * HALF + floats[begin] * HALF * HALF + last * HALF * HALF)
        last = floats[min(begin + 3, 10)]
    assert_same(result, numpy.concatenate(expected))
    result = support.ffmpeg("-f", "lavfi", "-i", "testsrc=d=0.1", "-vf", dnn(path, length=4, time_overlap=1), "-f",
                            "null", "-")
    support.assert_fails_clearly(result, "leave time_overlap at 0")


def test_segments_may_be_enlarged(save, frames, floats):
    result = run(frames[:11], dnn(save(Near(scale=2)), length=4, time_overlap=1, cuts="off"))
    assert_same(result, in_segments(floats[:11], 4, 1).repeat(2, 2).repeat(2, 3))


def test_a_contract_says_the_segments(save, frames, floats):
    path = save(Near())
    path.with_name("net.pt.json").write_text(json.dumps({"input": {"length": 5, "time_overlap": 2}}))
    assert_same(run(frames[:12], dnn(path, cuts="off")), in_segments(floats[:12], 5, 2))


@pytest.mark.parametrize("axis", [0, 1])
def test_the_layout_is_that_in_which_frames_count_for_others(save, frames, floats, axis):
    found = test_time.planes_of(run(frames[:5], dnn(save(Bare(axis)), length=5)))
    assert numpy.allclose(found, floats[:5].cumsum(0) * HALF, atol=1e-6)


def test_five_dimensions_are_preferred(save, frames, floats):
    result = run(frames[:8], dnn(save(Convolutions()), length=4, cuts="off"))
    backwards = floats[[3, 2, 1, 0, 7, 6, 5, 4]]
    assert_same(result, floats[:8] * HALF + backwards * HALF)


def test_two_layouts_in_which_frames_count_are_ambiguous(save):
    graph = dnn(save(Both()), length=5)
    result = support.ffmpeg("-f", "lavfi", "-i", "testsrc=d=0.1", "-vf", graph, "-f", "null", "-")
    support.assert_fails_clearly(result, "as ntchw and as ncthw, with other results; say which: layout=ntchw")


def test_other_inputs_are_given_once(save, frames, floats):
    result = run(frames[:5], dnn(save(Noisy()), length=3, inputs="noise=plane:0.25"))
    assert_same(result, floats[:5] * HALF + numpy.float32(0.125))


def test_a_length_that_the_model_does_not_take_is_filled_up(save, frames, floats):
    result = run(frames[:13], dnn(save(NotFour()), length=9, cuts="off"))
    assert_same(result, in_segments(floats[:13], 9, fill="reflect"))
    assert result.stderr.count("does not take segments of 4 frames; they are filled up") == 1


def test_what_was_told_is_not_told_again_with_more(save, frames, floats):
    result = run(frames[:13], dnn(save(AloneNotFour()), length=9, cuts="off"))
    assert_same(result, floats[:13] * HALF)
    assert result.stderr.count("no frame of a segment has an effect on the others") == support.openings()
    assert result.stderr.count("does not take segments of 4 frames; they are filled up") == 1


def test_a_segment_for_which_memory_does_not_suffice_is_not_made_longer(save, frames):
    graph = dnn(save(FullAtFour()), length=9, cuts="off")
    result = support.ffmpeg("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}", "-i", "-", "-vf", graph,
                            "-f", "null", "-", stdin=b"".join(frame.tobytes() for frame in frames[:13]))
    support.assert_fails_clearly(result, "out of memory")


def test_each_frame_has_its_picture_of_another_input(save, frames, floats):
    """A segment of them, as the model gets one of frames."""
    graph = f"split[a][b];[b]hflip[b];[a][b]{dnn(save(Masked(False)), length=4, cuts='off', inputs='mask')}"
    expected = in_sums(floats[:10], 4) * HALF * HALF + floats[:10, ..., ::-1] * HALF
    assert numpy.allclose(test_time.planes_of(run(frames[:10], graph)), expected, atol=1e-6)


def in_sums(frames, length):
    return numpy.concatenate([frames[i:i + length].cumsum(0) for i in range(0, len(frames), length)])


def test_a_contract_is_undone_by_an_option(save, frames, floats):
    path = save(Channels(3))
    path.with_name("net.pt.json").write_text(json.dumps({"input": {"length": 5, "time_overlap": 2}}))
    result = run(frames[:7], dnn(path, length=0))
    assert_same(result, floats[:7] * HALF)
    assert "has an effect" not in result.stderr


# ---- where segments end -----------------------------------------------------


def test_cuts_end_segments(save):
    scenes = test_time.scene(SCENE, 1) + test_time.scene(SCENE, 22)
    floats = as_floats(scenes)
    result = run(scenes, dnn(save(Near()), length=5, time_overlap=2))
    assert_same(result, numpy.concatenate([in_segments(floats[:SCENE], 5, 2), in_segments(floats[SCENE:], 5, 2)]))


def test_gaps_end_segments(save, frames, floats):
    graph = dnn(save(Near()), length=5, time_overlap=2, cuts="off", enable="not(between(n,7,8))")
    expected = [in_segments(floats[:7], 5, 2), floats[7:9], in_segments(floats[9:20], 5, 2)]
    assert_same(run(frames[:20], graph), numpy.concatenate(expected))


def test_commands_end_segments(save, frames, floats):
    """A command comes before the frame of its time."""
    graph = f"sendcmd=c='0.24 dnn_torch reset',{dnn(save(Near()), length=5, time_overlap=2, cuts='off')}"
    expected = [in_segments(floats[:6], 5, 2), in_segments(floats[6:15], 5, 2)]
    assert_same(run(frames[:15], graph), numpy.concatenate(expected))


@pytest.mark.parametrize("module,command,options", [
    (Near(), "time_overlap 2", {"length": 7}), (Channels(1), "depth 0..9", {"as": "depth"}),
    (Channels(3), "classes 1", {"as": "index"})], ids=["time_overlap", "depth", "classes"])
def test_commands_may_need_what_options_say(save, frames, module, command, options):
    """What stands in the options is not said again in a command."""
    graph = f"sendcmd=c='0.04 dnn_torch {command}',{dnn(save(module), cuts='off', **options)}"
    result = support.ffmpeg("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}", "-i", "-", "-vf",
                            graph, "-f", "null", "-", stdin=b"".join(frame.tobytes() for frame in frames))
    assert result.returncode == 0 and " is for " not in result.stderr, str(result)


def test_results_are_mixed_with_their_frames(save, frames, floats):
    graph = dnn(save(Near()), length=5, time_overlap=2, cuts="off", strength=0.5)
    found = test_time.planes_of(run(frames[:12], graph))
    expected = in_segments(floats[:12], 5, 2) * HALF + floats[:12] * HALF
    assert numpy.allclose(found, expected, atol=1e-6)


def test_a_changed_size_ends_a_segment(save, frames):
    """Each size alone is the reference."""
    graph = dnn(save(Near()), length=4, time_overlap=1, cuts="off")

    def result(pictures):
        texts = (b"P6\n%d %d\n255\n" % (each.shape[1], HEIGHT) + each.tobytes() for each in pictures)
        return support.succeed(
            "-f", "image2pipe", "-framerate", "25", "-c:v", "ppm", "-reinit_filter", "0", "-i", "pipe:0", "-vf", graph,
            "-noautoscale", "-f", "rawvideo", "-", stdin=b"".join(texts)).stdout

    wide, narrow = frames[:7], [frame[:, :16].copy() for frame in frames[:6]]
    found = result(wide + narrow)
    assert found == result(wide) + result(narrow)
    assert len(found) == (7 * WIDTH + 6 * 16) * HEIGHT * 3


@pytest.mark.parametrize("limit,count", [(["-t", "0.32"], 8), (["-frames:v", "7"], 7)])
def test_a_stream_may_be_left_early(save, frames, floats, limit, count):
    result = run(frames, dnn(save(Near()), length=6, time_overlap=2, cuts="off"), *limit)
    assert_same(result, in_segments(floats, 6, 2)[:count])


def test_timestamps_stay(save, frames):
    graph = f"setpts='2*N*N',{dnn(save(Near()), length=5, time_overlap=2, jump=0)},showinfo"
    passthrough = ["-fps_mode" if support.ffmpeg_major() > 5 else "-vsync", "passthrough"]
    result = run(frames[:13], graph, *passthrough)
    times = [int(pts) for pts in re.findall(r"n: *\d+ pts: *(\d+)", result.stderr)]
    assert times == [2 * n * n for n in range(13)]


# ---- what is said -----------------------------------------------------------


@pytest.mark.parametrize("options,words", [
    ({"length": -1}, "length takes the number of frames"),
    ({"length": 0, "time_overlap": 2}, r"time_overlap=2 \(option\) is for segments"),
    ({"length": "many"}, "length takes the number of frames"),
    ({"time_overlap": 2}, r"time_overlap=2 \(option\) is for segments"),
    ({"length": 6, "time_overlap": 3}, r"half of length=6 \(option\) or more"),
    ({"length": 6, "frames": "-1..1"}, "contradict each other"),
    ({"length": 6, "inputs": "r=frame=-1"}, "contradict each other"),
    ({"length": 6, "inputs": "r=state=1"}, "contradict each other"),
    ({"length": 6, "tile": 16}, "do not run in tiles"),
    ({"length": 6, "fit": "tile"}, "do not run in tiles"),
    ({"length": 6, "as": "index"}, "not for maps of classes"),
    ({"length": 6, "layout": "nhwc"}, "a segment is ntchw"),
    ({"length": 6, "layout": "ntchw|tchw"}, "layout tchw"),
])
def test_mistakes_are_named(save, options, words):
    result = support.ffmpeg("-f", "lavfi", "-i", f"testsrc=s={WIDTH}x{HEIGHT}:d=0.2", "-vf",
                            dnn(save(Near()), **options), "-f", "null", "-")
    support.assert_fails_clearly(result, words)


@pytest.mark.parametrize("module,words", [
    (First(True), "returned 1 frame for a segment of 5 frames"),
    (First(False), r"one frame of several, with frames=FIRST\.\.LAST"),
    (Near(length=4), r"another number of frames.*it got a segment of 5 frames"),
])
def test_models_that_take_no_such_segments_are_refused(save, module, words):
    source = f"testsrc=s={WIDTH}x{HEIGHT}:d=0.1"
    graph = dnn(save(module), length=5)
    result = support.ffmpeg("-f", "lavfi", "-i", source, "-vf", graph, "-f", "null", "-")
    support.assert_fails_clearly(result, words)


def test_a_model_of_segments_is_told_which_option_it_needs(save):
    result = support.ffmpeg("-f", "lavfi", "-i", "testsrc=d=0.1", "-vf", dnn(save(Near())), "-f", "null", "-")
    support.assert_fails_clearly(result, "length=15")


@pytest.mark.parametrize("count", [3, 5, 7])
def test_so_is_one_that_refuses_pictures_in_its_own_words(save, count):
    graph = dnn(save(Asserts(count)))
    result = support.ffmpeg("-f", "lavfi", "-i", "testsrc=d=0.1", "-vf", graph, "-f", "null", "-")
    support.assert_fails_clearly(result, f"5 dimensions.*frames=-2..2 .*length=15.*{count} frames, please")


@pytest.mark.parametrize("times", [1, 2])
def test_a_model_of_pictures_is_told_in_segments(save, frames, floats, times):
    """Also when the trials are known from the run before."""
    path = save(Channels(3))
    for _ in range(times):
        result = run(frames[:7], dnn(path, length=5, cuts="off"))
        assert_same(result, floats[:7] * HALF)
        assert result.stderr.count("no frame of a segment has an effect on the others") == support.openings()


def test_a_single_picture_of_another_input_is_not_taken_for_many(save):
    graph = f"split[a][b];[a][b]{dnn(save(Masked(True)), length=4, inputs='mask')}"
    result = support.ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x48:d=0.1", "-vf", graph, "-f", "null", "-")
    support.assert_fails_clearly(result, "a mask of another shape; it got one for each frame of a segment")


def test_channels_that_may_be_a_segment_are_told(save):
    module = nn.Sequential(nn.Conv2d(15, 15, 3, 1, 1), nn.Sigmoid())
    result = support.ffmpeg("-f", "lavfi", "-i", "testsrc=d=0.1", "-vf", dnn(save(module)), "-f", "null", "-")
    support.assert_fails_clearly(result, "turns 15 channels into as many, .* say length=5")


def test_what_does_not_fit_is_refused_with_the_numbers(save):
    result = support.ffmpeg("-f", "lavfi", "-i", "color=s=1280x720:d=0.1", "-vf",
                            dnn(save(Near()), length=9, nireq=1024, workers=256), "-f", "null", "-")
    support.assert_fails_clearly(result, "at once on", "are free; lower nireq, workers or length")


def test_inspect_says_what_segments_cost(save):
    command = [support.LAUNCHER, "inspect", str(save(Near())), "--length=5", "--time_overlap=2"]
    result = support.execute(command)
    assert result.returncode == 0, result.stderr
    text = result.stdout.decode()
    assert "segments of 5 frames, of which 2 are in the next one, too; a result waits for up to 5 more frames" in text
    assert re.search(r"holds +\d+ frames, [\d.]+ [MG]iB, at 1920x1080", text), text
    assert "length=5" in re.search("^use .*", text, re.MULTILINE)[0]


def test_contract_writes_segments(save):
    result = support.execute([support.LAUNCHER, "contract", str(save(Near())), "--length=5"])
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["input"]["length"] == 5


def test_bench_counts_frames_of_segments(save):
    command = [support.LAUNCHER, "bench", str(save(Near())), "--length=5", "--time_overlap=2", "--size=64x48",
               "--seconds=2", "--json"]
    result = support.execute(command)
    assert result.returncode == 0, result.stderr
    assert all(each["fps"] > 0 for each in json.loads(result.stdout)["rows"])
