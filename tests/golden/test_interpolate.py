# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""dnn_torch_interpolate: frames between frames, with numpy and fractions as the reference.

The models' arithmetic is exact, so results are equal bit for bit.
"""
import re
import sys
from fractions import Fraction

import numpy
import pytest
import support
import test_time
import torch
from test_time import HEIGHT, WIDTH, as_floats, assert_same, planes_of, run, scene
from torch import Tensor, nn

# ---- models -----------------------------------------------------------------


def mixed(a, b, t):
    return a * (1 - t) + b * t


class Arguments(nn.Module):
    """Two frames and a plane."""

    def forward(self, a: Tensor, b: Tensor, t: Tensor) -> Tensor:
        if t.shape != a[:, :1].shape:
            raise ValueError("no plane")
        return a * (1 - t) + b * t


class Number(nn.Module):
    def forward(self, img0: Tensor, img1: Tensor, timestep: float) -> Tensor:
        return img0 * (1 - timestep) + img1 * timestep


class Film(nn.Module):
    """As FILM is exported: the time is one number, which has no place in a plane."""

    def forward(self, x0: Tensor, x1: Tensor, batch_dt: Tensor) -> Tensor:
        if batch_dt.numel() != 1:
            raise ValueError("not one number")
        return x0 * (1 - batch_dt) + x1 * batch_dt


class Joined(nn.Module):
    """One argument with all."""

    def forward(self, x: Tensor) -> Tensor:
        a, b, t = x[:, :3], x[:, 3:6], x[:, 6:7]
        return a * (1 - t) + b * t


class JoinedFrames(nn.Module):
    """One argument with the frames, another one with the time."""

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        return x[:, :3] * (1 - t) + x[:, 3:6] * t


class OnAxis(nn.Module):
    """Frames with a dimension of their own, and a default time that nobody wants."""

    def forward(self, x: Tensor, t: float = 0.5) -> Tensor:
        if x.dim() != 5 or x.shape[1] != 2:
            raise ValueError("no two frames")
        return x[:, 0] * (1 - t) + x[:, 1] * t


class Middle(nn.Module):
    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return a * 0.5 + b * 0.5


class JoinedMiddle(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.shape[1] != 6:
            raise ValueError("no two frames")
        return x[:, :3] * 0.5 + x[:, 3:] * 0.5


class SlicedMiddle(nn.Module):
    """Would take a plane of time as well, and make nothing of it."""

    def forward(self, x: Tensor) -> Tensor:
        return x[:, :3] * 0.5 + x[:, 3:6] * 0.5


class Viewed(nn.Module):
    """A plane would be a batch of as many times as it has samples."""

    def forward(self, x0: Tensor, x1: Tensor, batch_dt: Tensor) -> Tensor:
        t = batch_dt.reshape(-1, 1, 1, 1)
        return x0 * (1 - t) + x1 * t


class Backward(nn.Module):
    def forward(self, img1: Tensor, img0: Tensor, t: Tensor) -> Tensor:
        return img0 * (1 - t) + img1 * t


class Timeless(nn.Module):
    def forward(self, a: Tensor, b: Tensor, t: Tensor) -> Tensor:
        return a * 0.5 + b * 0.5


class Twice(nn.Module):
    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return nn.functional.interpolate(a + b, scale_factor=2.0)


class Single(nn.Module):
    def forward(self, a: Tensor) -> Tensor:
        if a.shape[1] != 3:
            raise ValueError("no frame")
        return a


class TimeFirst(nn.Module):
    def forward(self, t: Tensor, img0: Tensor, img1: Tensor) -> Tensor:
        return img0 * (1 - t) + img1 * t


class TimeBeforeJoined(nn.Module):
    def forward(self, timestep: Tensor, x: Tensor) -> Tensor:
        return x[:, :3] * (1 - timestep) + x[:, 3:6] * timestep


class Unnamed(nn.Module):
    """Trials tell which argument is the time."""

    def forward(self, alpha: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return x * (1 - alpha) + y * alpha


class UnnamedBetween(nn.Module):
    def forward(self, x: Tensor, alpha: Tensor, y: Tensor) -> Tensor:
        return x * (1 - alpha) + y * alpha


class WithScale(nn.Module):
    """As RIFE in 8 planes; the last one is a factor."""

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[1] != 8:
            raise ValueError("not 8 planes")
        t = x[:, 6:7] * x[:, 7:8]
        return x[:, :3] * (1 - t) + x[:, 3:6] * t


class WithGrids(nn.Module):
    """As RIFE in 11 planes: frames, time, where each pixel is, and how far two pixels are from each other.

    It takes the pixel to the right, which is one step on."""

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[1] != 11:
            raise ValueError("not 11 planes")
        t, grid, step = x[:, 6:7], x[:, 7:9], x[:, 9:10]
        across = torch.clamp(grid[:, :1] + step, max=1.0)
        places = torch.cat([across, grid[:, 1:]], 1).permute(0, 2, 3, 1)
        mixed_frames = x[:, :3] * (1 - t) + x[:, 3:6] * t
        return nn.functional.grid_sample(mixed_frames, places, "nearest", "border", True)


ANY_TIME = [Arguments, Number, Film, Viewed, Joined, JoinedFrames, OnAxis, TimeFirst, TimeBeforeJoined, Unnamed,
            UnnamedBetween, WithScale]


@pytest.fixture(name="save")
def save_fixture(tmp_path):
    def save(module):
        path = tmp_path / "net.pt"
        torch.jit.script(module.eval()).save(str(path))
        return path
    return save


@pytest.fixture(name="frames", scope="module")
def frames_fixture():
    return scene(7, 1)


def filter_of(path, **options):
    return support.dnn(path, **{"tune": 0, **options}).replace("dnn_torch", "dnn_torch_interpolate", 1)


# ---- a reference --------------------------------------------------------------


def rounded(number):
    return int(number + Fraction(1, 2)) if number >= 0 else -int(-number + Fraction(1, 2))


def times_between(count, rate_in, rate_out):
    """For each frame that goes out: the frame that it begins with, and how far it is from there."""
    end = rounded(count / rate_in * rate_out)
    return [divmod(min(Fraction(n) / rate_out * rate_in, Fraction(count - 1)), 1) for n in range(end)]


def expected(frames, rate_in, rate_out, cut=None, mix=mixed):
    results = []
    for first, t in times_between(len(frames), rate_in, rate_out):
        if t == 0:
            results.append(frames[first])
        elif first + 1 == cut:
            results.append(frames[first + (t >= Fraction(1, 2))])
        else:
            results.append(mix(frames[first], frames[first + 1], numpy.float32(float(t))))
    return numpy.array(results)


def halved(a, b, t):
    """What a model of the middle makes of 64ths."""
    place, frames = int(t * 64), {0: a, 64: b}

    def made(at):
        step = at & -at
        if at not in frames:
            frames[at] = made(at - step) * numpy.float32(0.5) + made(at + step) * numpy.float32(0.5)
        return frames[at]

    return made(place)


# ---- what goes out --------------------------------------------------------------


@pytest.mark.parametrize("module", ANY_TIME, ids=lambda each: each.__name__)
def test_all_kinds_of_models_are_found(save, frames, module):
    result = run(frames, filter_of(save(module()), fps=60))
    assert_same(result, expected(as_floats(frames), 25, Fraction(60)))


@pytest.mark.parametrize("options", [{}, {"tile": 16, "overlap": 2}, {"multiple": 16}, {"batch_size": 3}], ids=str)
def test_a_model_may_get_grids(save, frames, options):
    """Tiles have grids of their own; padding is a part of the picture."""
    result = run(frames, filter_of(save(WithGrids()), fps=50, **options))
    wanted = expected(as_floats(frames), 25, Fraction(50))
    moved = numpy.concatenate([wanted[..., 1:], wanted[..., -1:]], -1)
    for n in range(1, len(wanted) - 1, 2):  # every other frame is one that came in
        wanted[n] = moved[n]
    found = planes_of(result, WIDTH, HEIGHT)
    assert numpy.array_equal(found[..., :-1], wanted[..., :-1])


@pytest.mark.parametrize("options,rate", [
    ({}, 50), ({"fps": 25}, 25), ({"fps": "source"}, 25), ({"fps": "source*3"}, 75),
    ({"factor": 2.5}, Fraction(125, 2)),
    ({"fps": "30000/1001"}, Fraction(30000, 1001)), ({"fps": "ntsc"}, Fraction(30000, 1001)), ({"fps": 144}, 144),
    ({"fps": 10}, 10), ({"factor": 0.5}, Fraction(25, 2)), ({"fps": 24}, 24)], ids=str)
def test_any_rate(save, frames, options, rate):
    result = run(frames, filter_of(save(Arguments()), **options), "-fps_mode", "passthrough")
    assert_same(result, expected(as_floats(frames), 25, Fraction(rate)))


@pytest.mark.parametrize("options", [
    {"workers": 1, "threads": 1}, {"workers": 4, "nireq": 9}, {"batch_size": 3}, {"batch_size": 16}, {"async": 0},
    {"isolate": 0}, {"isolate": 1}, {"tile": 16}, {"multiple": 16}, {"optimize": 0}], ids=str)
@pytest.mark.parametrize("module", [Arguments, Number, Middle], ids=lambda each: each.__name__)
def test_results_do_not_depend_on_how_they_are_made(save, frames, module, options):
    result = run(frames, filter_of(save(module()), fps=100, **options))
    mix = halved if module is Middle else mixed
    assert_same(result, expected(as_floats(frames), 25, Fraction(100), mix=mix))


def test_a_model_may_know_the_middle_alone(save, frames):
    for module in (Middle, JoinedMiddle, SlicedMiddle):
        result = run(frames, filter_of(save(module()), fps=200))
        assert_same(result, expected(as_floats(frames), 25, Fraction(200), mix=halved))
        assert "nearest eighth" not in result.stderr


def test_other_times_are_the_nearest_eighths_then(save, frames):
    def nearest(a, b, t):
        return halved(a, b, int(t * 8 + 0.5) / 8)
    result = run(frames, filter_of(save(Middle()), fps=60))
    assert_same(result, expected(as_floats(frames), 25, Fraction(60), mix=nearest))
    assert result.stderr.count("nearest eighth") == 1


def test_between_scenes_stands_the_nearer_frame(save):
    frames = scene(4, 1) + scene(4, 22)
    floats = as_floats(frames)
    path = save(Arguments())
    assert_same(run(frames, filter_of(path, fps=150)), expected(floats, 25, Fraction(150), cut=4))
    assert_same(run(frames, filter_of(path, fps=150, cuts="off")), expected(floats, 25, Fraction(150)))


@pytest.mark.parametrize("pixel_format", [
    "rgb24", "gbrp10", "gbrp16", "yuv444p", "yuv444p10", "yuva444p", "rgba", "bgra", "gbrap12", "gbrapf32le", "rgba64",
    "yuv420p", "nv12", "p010", "yuv422p10", "yuva420p"])
def test_frames_that_come_in_go_out_as_they_are(save, frames, pixel_format):
    path = save(Arguments())
    before = run(frames, f"format={pixel_format}", pixel_format=pixel_format)
    after = run(frames, f"format={pixel_format},{filter_of(path)},select=not(mod(n\\,2)),setpts=N/25/TB", "-r", "25",
                pixel_format=pixel_format)
    assert before.stdout == after.stdout


@pytest.mark.parametrize("pixel_format,samples", [("rgba", "u1"), ("gbrap16le", "<u2"), ("gbrapf32le", "<f4"),
                                                  ("yuva444p", "u1")])
def test_alpha_is_between_too(save, frames, pixel_format, samples):
    """Its samples are mixed, while the model sees the colours."""
    graph = (f"format=gbrapf32le,geq=r='p(X,Y)':g='p(X,Y)':b='p(X,Y)':a='mod(N*31+X*5,256)/256',"
             f"format={pixel_format}")
    if pixel_format == "rgba":
        graph = "format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='mod(N*31+X*5,256)'"

    def alpha(*more):
        numbers = numpy.frombuffer(run(frames, ",".join((graph,) + more), pixel_format=pixel_format).stdout, samples)
        if pixel_format == "rgba":
            return numbers.reshape(-1, HEIGHT, WIDTH, 4)[..., 3].astype(float)
        return numbers.reshape(-1, 4, HEIGHT, WIDTH)[:, 3].astype(float)

    a = alpha()
    wanted = expected(a, 25, Fraction(100), mix=lambda x, y, t: x * (1 - float(t)) + y * float(t))
    if samples != "<f4":
        wanted = numpy.floor(wanted + 0.5)
    assert len(numpy.unique(a)) > 10
    assert numpy.allclose(alpha(filter_of(save(Arguments()), fps=100)), wanted, rtol=1e-6)


def test_frames_without_the_model_repeat(save, frames):
    """enable: the frame stands until the next one comes."""
    graph = filter_of(save(Arguments()), fps=100) + ":enable='lt(t,0.1)'"
    floats = as_floats(frames)
    wanted = expected(floats, 25, Fraction(100))
    for n, (first, _) in enumerate(times_between(len(frames), 25, Fraction(100))):
        if first >= 3:
            wanted[n] = floats[first]
    assert_same(run(frames, graph), wanted)


def test_a_variable_rate_becomes_constant(save, frames):
    graph = f"setpts='if(eq(N,3),3.5,if(gt(N,3),N+2,N))/25/TB',{filter_of(save(Arguments()), fps=50, jump=0)}"
    places = [Fraction(place) for place in ("0", "1", "2", "7/2", "6", "7", "8")]
    floats, wanted = as_floats(frames), []
    for n in range(18):
        time = min(Fraction(n, 2), places[-1])
        first = max(i for i, place in enumerate(places) if place <= time)
        t = 0 if time == places[first] else (time - places[first]) / (places[first + 1] - places[first])
        wanted.append(floats[first] if t == 0 else mixed(floats[first], floats[first + 1], numpy.float32(float(t))))
    # The time base of the raw frames has whole multiples of 1/25 alone.
    assert_same(run(frames, f"settb=1/1000,{graph}"), numpy.array(wanted))


def test_nothing_moves_towards_a_frame_that_is_never_shown(save, frames):
    """Of frames at one time `fps` shows the last one, and a frame that goes back at the time of the one before."""
    times = [0, 2, 2, 4, 6, 5, 8]
    pts = "+".join(f"{time}*eq(N,{n})" for n, time in enumerate(times))
    result = run(frames, f"setpts='{pts}',{filter_of(save(Arguments()), fps=25, jump=0, cuts='off')}",
                 "-fps_mode", "passthrough")
    floats = as_floats(frames)
    shown = [floats[n] for n in (0, 2, 3, 5, 6)]
    wanted = [shown[n // 2] if n % 2 == 0 else mixed(shown[n // 2], shown[n // 2 + 1], numpy.float32(0.5))
              for n in range(8)]
    assert_same(result, numpy.array(wanted))
    each_second = run(frames, f"setpts='{pts}',{filter_of(save(Arguments()), fps='25/2', jump=0, cuts='off')}",
                      "-fps_mode", "passthrough")
    assert each_second.stdout == run(frames, f"setpts='{pts}',fps=25/2", "-fps_mode", "passthrough").stdout


@pytest.mark.parametrize("time", [4, 3], ids=["same time", "back"])
def test_a_frame_of_another_size_may_take_the_place_of_one(save, time):
    """Then nothing moves towards the one whose place it takes."""
    frames = scene(2, 1) + [frame[:16, :20] for frame in scene(2, 22)]
    shown = []
    for graph in ("fps=25", filter_of(save(Arguments()), fps=25, jump=0, cuts="off")):
        shown.append(support.succeed(
            *("-f", "image2pipe", "-framerate", 25, "-c:v", "ppm", "-reinit_filter", 0, "-i", "-", "-vf"),
            *(f"setpts='4*eq(N,1)+{time}*eq(N,2)+8*eq(N,3)',{graph}", "-noautoscale", "-fps_mode", "passthrough"),
            *("-f", "rawvideo", "-"), stdin=b"".join(
                b"P6\n%d %d\n255\n" % frame.shape[1::-1] + frame.tobytes() for frame in frames)).stdout)
    same = 4 * frames[0].size + frames[2].size  # what comes then moves towards the last one
    assert shown[0][:same] == shown[1][:same] and len(shown[0]) == len(shown[1])


@pytest.mark.parametrize("module", [Arguments, Middle], ids=lambda each: each.__name__)
def test_a_long_step_does_not_fill_the_memory(save, module):
    """All its frames were 276 MB.  A third frame: before FFmpeg 6.0, the last step must be whole."""
    path = save(module())

    def peak(seconds):
        graph = (f"testsrc=s=640x480:r=25,format=rgb24,trim=end_frame=3,setpts='if(N,{seconds}*25+N-1,0)',"
                 f"{filter_of(path, fps=30, jump=0, cuts='off', workers=2, threads=1)}")
        result = support.succeed("-benchmark", "-f", "lavfi", "-i", graph, "-f", "null", "-", loglevel="info")
        assert int(re.findall(r"frame= *(\d+)", result.stderr)[-1]) == seconds * 30 + 2
        return int(re.search(r"maxrss=(\d+)", result.stderr)[1])

    assert peak(10) - peak(1) < 80_000


@pytest.mark.parametrize("noise", [0, 5])
def test_duplicates_may_be_bridged(save, noise):
    """Pictures on twos, with a cut, and a still one."""
    drawn = scene(4, 1) + scene(2, 22)
    places, frames = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5, 5], []
    rng = numpy.random.default_rng(7)
    for place in places:
        grain = rng.integers(-noise, noise + 1, drawn[0].shape)
        # Small movements are movements.
        picture = numpy.roll(drawn[place], 2 * place, 1)
        frames.append(numpy.clip(picture + grain, 0, 255).astype(numpy.uint8))
    floats = as_floats(frames)
    steps = {0: 2, 2: 4, 4: 6, 6: 7, 7: 8, 8: 10}  # the next frame that counts; 8 begins the other scene
    wanted = []
    for n in range(2 * len(frames)):
        first = max(i for i in list(steps) + list(range(10, 17)) if 2 * i <= n)
        after = steps.get(first, min(first + 1, 16))
        t = 0 if after == first else (n / 2 - first) / (after - first)
        if (first, after) == (7, 8):
            wanted.append(floats[8 if t >= 0.5 else 7])
        else:
            wanted.append(floats[first] if t == 0 else mixed(floats[first], floats[after], numpy.float32(t)))
    assert_same(run(frames, filter_of(save(Arguments()), duplicates="bridge")), numpy.array(wanted))
    assert_same(run(frames, filter_of(save(Arguments()))), expected(floats, 25, Fraction(50), cut=8))


# ---- times ----------------------------------------------------------------------

SOURCE = "testsrc=s=32x24:r=25:d=1,format=rgb24"
CHAINS = {
    "twice": ("null", 50),
    "24": ("null", 24),
    "60": ("null", 60),
    "half": ("null", "25/2"),
    "ntsc": ("null", "30000/1001"),
    "1": ("null", 1),
    "120": ("null", 120),
    "144": ("null", 144),
    "same": ("null", 25),
    "odd": ("null", "7/3"),
    "one frame": ("trim=end_frame=1", 50),
    "two frames": ("trim=end_frame=2", 60),
    "none": ("trim=end_frame=0", 50),
    "slower": ("setpts=2*PTS", 50),
    "faster": ("setpts=PTS/3", 60),
    "later": ("setpts=PTS+10.3/TB", 50),
    "before zero": ("setpts=PTS-0.33/TB", 50),
    "uneven": ("setpts=N*N", 50),
    "uneven fine": ("settb=1/90000,setpts=N*N*700", 30),
    "fine": ("settb=1/90000", 60),
    "coarse": ("settb=1/5", 50),
    "milliseconds": ("settb=1/1000", 24),
    "offset": ("settb=1/1000,setpts=PTS+13", 60),
    "offset by half": ("settb=1/1000,setpts=PTS+10", 50),
    "thinned": ("select=not(mod(n\\,5))", 25),
    "some": ("select=not(mod(n*n\\,3))", 60),
    "first alone": ("select=eq(n\\,0)", 50),
    "from 10": ("fps=10", 60),
    "from 30": ("fps=30", 24),
    "from ntsc": ("fps=30000/1001", 60),
    "from a time": ("fps=25:start_time=0.5", 50),
    "padded": ("tpad=stop_mode=clone:stop_duration=0.5", 50),
    "padded before": ("tpad=start=3", 60),
    "cut out": ("trim=start=0.2:end=0.6", 50),
    "rebased": ("trim=start_frame=5,setpts=PTS-STARTPTS", 60),
    "looped": ("loop=loop=2:size=5", 50),
    "reversed": ("reverse", 60),
    "telecined": ("telecine", 60),
    "decimated": ("fps=50,mpdecimate", 60),
    "blended": ("framerate=fps=40", 60),
    "fields": ("separatefields,scale=32:24,setsar=1", 60),
    "joined": ("null[a];testsrc=s=32x24:r=10:d=1,format=rgb24[b];[a][b]concat", 50),
    "back": ("setpts='if(eq(mod(N,7),6),PTS-5,PTS)'", 60),
    "same times": ("setpts='floor(N/2)*2'", 50),
    "no times": ("setpts='if(eq(mod(N,5),3),NAN,PTS)'", 60),
}
BEHIND = {"": "", "tpad": ",tpad=stop_mode=clone:stop_duration=0.3", "fps": ",fps=90",
          "concat": "[x];testsrc=s=32x24:r=50:d=0.2,format=rgb24[y];[x][y]concat"}


def timings(folder, texts):
    """Timestamps and durations of the frames that each chain makes: all of them in one ffmpeg."""
    arguments = []
    for number, text in enumerate(texts):
        arguments += ["-filter_complex", f"{SOURCE},{text}[o{number}]"]
    for number in range(len(texts)):
        arguments += ["-map", f"[o{number}]", "-fps_mode", "passthrough"]
        arguments += ["-enc_time_base", "1:1000000", "-f", "framecrc", folder / f"{number}"]
    support.succeed(*arguments)
    return [[line.split(",")[:4] for line in (folder / f"{number}").read_text().splitlines() if line[0] != "#"]
            for number in range(len(texts))]


@pytest.mark.parametrize("behind", BEHIND)
def test_as_many_frames_at_the_same_times_as_fps(save, tmp_path, behind):
    path = save(Arguments())
    made = []
    for name in ("fps", "ours"):
        (tmp_path / name).mkdir()
        texts = []
        for chain, rate in CHAINS.values():
            here = f"fps={rate}" if name == "fps" else filter_of(path, fps=rate, cuts="off", workers=1, isolate=0)
            texts.append(f"{chain},{here}{BEHIND[behind]}")
        made.append(timings(tmp_path / name, texts))
    assert len(CHAINS) >= 40
    assert [name for name, wanted, got in zip(CHAINS, *made) if wanted != got] == []
    assert sum(len(lines) for lines in made[0]) > 1000


def test_the_rate_of_the_output_is_known_behind(save):
    graph = f"testsrc=s=32x24:r=25:d=0.2,format=rgb24,{filter_of(save(Arguments()), fps='60000/1001')}"
    result = support.succeed("-f", "lavfi", "-i", graph, "-c:v", "ffv1", "-f", "nut", "-", loglevel="info")
    assert re.search(r"Output.*59.94 fps", result.stderr, re.DOTALL)
    assert len(re.findall("pts_time", support.succeed(
        "-f", "lavfi", "-i", graph + ",showinfo", "-f", "null", "-", loglevel="info").stderr)) == 12


# ---- what is refused ---------------------------------------------------------------


@pytest.mark.parametrize("options,phrases", [
    ({"fps": 0}, ["fps takes", "not '0'"]), ({"fps": "fast"}, ["fps takes", "not 'fast'"]),
    ({"fps": "source*0"}, ["fps takes", r"source\*0"]), ({"factor": -1}, ["factor takes", "not '-1'"]),
    ({"anchor": "1.5"}, ["anchor takes", "not '1.5'"]), ({"anchor": "1/0"}, ["anchor takes"]),
    ({"anchor": "1/26"}, ["anchor is no time of a frame"]),
    ({"fps": 50, "factor": 2}, ["contradict"]), ({"fps": 1000000}, ["more than 1000 frames a second"]),
    ({"factor": 1000}, ["factor=1000", "more than 1000"])], ids=str)
def test_rates_that_make_no_sense(save, options, phrases):
    graph = filter_of(save(Arguments()), **options)
    result = support.ffmpeg("-f", "lavfi", "-i", SOURCE, "-vf", graph, "-f", "null", "-")
    support.assert_fails_clearly(result, *phrases)


@pytest.mark.parametrize("options", [{}, {"fps": "source*2"}, {"factor": 3}], ids=str)
def test_a_multiple_of_an_unknown_rate(save, options):
    path = save(Arguments())
    graph = f"{SOURCE}[a];testsrc=s=32x24:r=10:d=1,format=rgb24[b];[a][b]concat,"
    result = support.ffmpeg("-f", "lavfi", "-i", graph + filter_of(path, **options), "-f", "null", "-")
    support.assert_fails_clearly(result, "frame rate is not known", "give fps=")
    support.succeed("-f", "lavfi", "-i", graph + filter_of(path, fps=50), "-f", "null", "-")


class Sum(nn.Module):
    """Makes nothing from which it could be told which argument is the time."""

    def forward(self, x: Tensor, y: Tensor, z: Tensor) -> Tensor:
        return (x + y + z) / 3


class Infinite(nn.Module):
    def forward(self, a: Tensor, b: Tensor, t: Tensor) -> Tensor:
        return a * t / 0 - b / 0


@pytest.mark.parametrize("module,phrases", [
    (Sum, ["do not tell which one gets the time", "inputs=NAME=frame=1"]), (Infinite, ["NaN"]),
    (Twice, ["makes 64x48 of 32x24"]), (Backward, ["the second frame for the first one", "inputs=NAME=frame=1"]),
    (Timeless, ["the same frame at all times", "inputs=t=0.5"]), (Single, ["makes no frame between two others"]),
    (test_time.Fades, ["makes no frame between two others"])], ids=lambda each: getattr(each, "__name__", ""))
def test_models_that_make_no_frames_between_others(save, module, phrases):
    result = support.ffmpeg("-f", "lavfi", "-i", SOURCE, "-vf", filter_of(save(module())), "-f", "null", "-")
    support.assert_fails_clearly(result, *phrases)


def test_a_contract_may_say_how_it_takes_them(save, frames):
    path = save(Arguments())
    path.with_name("net.pt.json").write_text('{"task": "interpolate", "inputs": {"b": {"frame": 1}, "t": "between"}}')
    assert_same(run(frames, filter_of(path, fps=60)), expected(as_floats(frames), 25, Fraction(60)))
    result = support.ffmpeg("-f", "lavfi", "-i", SOURCE, "-vf", support.dnn(path), "-f", "null", "-")
    support.assert_fails_clearly(result, "dnn_torch_interpolate")


def test_options_may_say_how_it_takes_them(save, frames):
    wanted = expected(as_floats(frames), 25, Fraction(60))
    assert_same(run(frames, filter_of(save(Arguments()), fps=60, inputs="b=frame=1|t=between")), wanted)
    assert_same(run(frames, filter_of(save(Number()), fps=60, inputs="img1=frame=1|timestep=between")), wanted)
    assert_same(run(frames, filter_of(save(Arguments()), fps=60, input="b", inputs="a=frame=1|t=between")),
                expected(as_floats(frames), 25, Fraction(60), mix=lambda a, b, t: mixed(b, a, t)))


def test_a_time_that_is_a_number_stays_one(save, frames):
    for module in (Arguments, Timeless):
        result = run(frames, filter_of(save(module()), fps=50, inputs="t=0.5"))
        assert_same(result, expected(as_floats(frames), 25, Fraction(50), mix=halved))


def test_random_numbers_are_those_of_the_frames(save, frames):
    class Random(nn.Module):
        def forward(self, a: Tensor, b: Tensor, t: Tensor) -> Tensor:
            return a * (1 - t) + b * t + 0.1 * torch.rand_like(a)

    path = save(Random())
    first, other, *same = (run(frames, filter_of(path, fps=120, **options)).stdout for options in (
        {}, {"start_number": 5}, {"workers": 1}, {"batch_size": 3}, {"batch_size": 16}))
    assert other != first
    assert same == [first] * 3


def test_a_part_is_that_of_the_whole(save, frames):
    """For 60 of 25, whose grid begins anew with each fifth frame alone."""
    path = save(Arguments())
    whole = run(frames, filter_of(path, fps=60, cuts="off"), "-fps_mode", "passthrough")
    part = run(frames, f"trim=start_frame=2,{filter_of(path, fps=60, cuts='off', anchor='0')}",
               "-fps_mode", "passthrough")
    size = WIDTH * HEIGHT * 3 * 4
    assert part.stdout == whole.stdout[5 * size:]  # 5 of 60 are before frame 2 of 25


@pytest.fixture(name="rife", scope="module")
def rife_fixture(tmp_path_factory):
    """Weights as RIFE 4.6 has them."""
    sys.path.insert(0, str(support.TESTS / "architectures"))
    from networks import rife

    torch.manual_seed(1)
    path = tmp_path_factory.mktemp("rife") / "rife46.pth"
    torch.save(rife.CASES["4.6"].make().state_dict(), path)
    return path


@pytest.mark.parametrize("scale", ["0", "-1", "nan", "1000", "half"])
def test_scales_that_make_no_sense(rife, scale):
    graph = filter_of(rife, inputs=f"scale={scale}")
    result = support.ffmpeg("-f", "lavfi", "-i", SOURCE, "-vf", graph, "-f", "null", "-")
    support.assert_fails_clearly(result, f"inputs=scale={scale}: the scale is a number from 0.25 to 4")


def test_interlaced_frames_are_told_of(save):
    graph = f"{SOURCE},setfield=tff,{filter_of(save(Arguments()))}"
    result = support.succeed("-f", "lavfi", "-i", graph, "-f", "null", "-", loglevel="info")
    assert result.stderr.count("frames are interlaced") == 1
