# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Other channels out than in, alpha, depth and strength: what PyTorch and numpy make of them."""
import numpy
import pictures
import pytest
import support
import torch
from torch import Tensor, nn

WIDTH, HEIGHT = 71, 45


class Net(nn.Module):
    def __init__(self, channels_in: int, channels_out: int, gain: float = 1.0, offset: float = 0.0):
        super().__init__()
        torch.manual_seed(channels_in * 10 + channels_out)
        self.layer = nn.Conv2d(channels_in, channels_out, 3, padding=1)
        self.gain, self.offset = gain, offset

    def forward(self, x: Tensor) -> Tensor:
        return torch.sigmoid(self.layer(x) * 4) * self.gain + self.offset


class Spoils(nn.Module):
    """A row of NaN and two of infinities above a map of numbers between -30 and 70."""

    def forward(self, x: Tensor) -> Tensor:
        y = x[:, :1] * 100.0 - 30.0
        y[:, :, 0] = float("nan")
        y[:, :, 1] = float("inf")
        y[:, :, 2] = float("-inf")
        return y


class Flat(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x[:, :1] * 0.0 + 1e20


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    """Returns a network and where it is saved."""
    folder = tmp_path_factory.mktemp("nets")

    def make(*arguments, kind=Net):
        made = kind(*arguments).eval()
        path = folder / f"{kind.__name__}{'_'.join(map(str, arguments))}.pt"
        if not path.exists():
            torch.jit.script(made).save(str(path))
        return made, path

    return make


def graph_of(path, result_format, **options):
    graph = support.dnn(path, tune=0, **{"isolate": 0, **options})
    return f"{graph},format={result_format}"


def run(graph, pixel_format, frames, *more, **options):
    size = frames[0].size
    return support.ffmpeg(
        *pictures.raw_input(pixel_format, *size),
        *("-noauto_conversion_filters", "-vf", graph, *more, "-f", "rawvideo", "-"),
        stdin=pictures.raw(frames, pixel_format),
        **options,
    )


def succeed(graph, pixel_format, frames, result_format, *more, **options):
    result = run(graph, pixel_format, frames, *more, **options)
    assert result.returncode == 0, result
    return pictures.unpack(result.stdout, result_format, *frames[0].size)


def frames_of(pixel_format, count=3, width=WIDTH, height=HEIGHT):
    frames = pictures.make_frames(pixel_format, width, height, count, textured_chroma=True)
    for frame in frames:
        if frame.rest is not None:
            frame.rest = pictures.coded(
                pictures.picture(1, width, height, 50)[0], pixel_format, 7
            )
    return frames


def rgb_of_yuv(frame, white):
    """By BT.601 in the limited range; colours outside RGB's are kept."""
    scale = (white + 1) / 256
    y = (frame.image[0].astype(float) - 16 * scale) / (219 * scale)
    u, v = ((plane.astype(float) - 128 * scale) / (224 * scale) for plane in frame.chroma)
    rgb = numpy.stack([y + 1.402 * v, y - 0.344136 * u - 0.714136 * v, y + 1.772 * u])
    return rgb.astype(numpy.float32)


def seen(frame, pixel_format, channels):
    """What a model with so many channels sees."""
    white = pictures.FORMATS[pixel_format].white
    if channels >= 3 and pictures.has_chroma(pixel_format):
        return rgb_of_yuv(frame, white)
    planes = pictures.to_unit(frame.image, white)
    if channels == 4:
        alpha = pictures.to_unit(frame.rest, white)
        planes = numpy.concatenate([planes, alpha[None]])
    return planes


def computed(model, frame, pixel_format, channels):
    with torch.no_grad():
        return model(torch.from_numpy(seen(frame, pixel_format, channels))[None])[0].numpy()


def assert_close(got, wanted, pixel_format, codes=1):
    if pictures.is_float(pixel_format):
        return numpy.testing.assert_allclose(got, wanted, atol=2e-5)
    wanted = pictures.from_unit(wanted, pixel_format)
    difference = abs(got.astype(int) - wanted.astype(int))
    assert difference.max() <= codes, f"{difference.max()} codes"
    return None


# ---- channels -----------------------------------------------------------------

CASES = [
    (3, 1, "rgb24", "gray16le"),
    (3, 1, "yuv444p", "gray12le"),
    (1, 3, "gray16le", "gbrp16le"),
    (1, 4, "gray", "rgba"),
    (3, 4, "gbrap10le", "gbrap10le"),
    (4, 4, "argb", "argb"),
    (4, 1, "gbrap", "gray"),
    (4, 3, "rgba", "rgba"),
]


@pytest.mark.parametrize("taken,made,pixel_format,result_format", CASES)
def test_other_channels(net, taken, made, pixel_format, result_format):
    model, path = net(taken, made)
    frames = frames_of(pixel_format)
    codes = 1 if pictures.FORMATS[result_format].depth == 8 else 8
    results = succeed(graph_of(path, result_format, batch_size=2), pixel_format, frames,
                      result_format)
    assert len(results) == len(frames)
    for frame, result in zip(frames, results):
        wanted = computed(model, frame, pixel_format, taken)
        assert_close(result.image, wanted[:3], result_format, codes)
        if made == 4:
            assert_close(result.rest, wanted[3], result_format, codes)
        elif result.rest is not None:
            assert (result.rest == frame.rest).all(), "the alpha of the frame is lost"


@pytest.mark.parametrize("isolate", [0, 1])
def test_the_range_and_order_of_four_channels(net, isolate):
    """Alpha has the range, and stays the last one."""

    class Checks(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x[:, [2, 1, 0, 3]] * torch.tensor([1.0, 0.5, 1.0, 1.0]).reshape(1, 4, 1, 1)

    _, path = net(kind=Checks)
    frames = frames_of("rgba", 1)
    graph = graph_of(path, "rgba", range=255, order="bgr", isolate=isolate)
    result = succeed(graph, "rgba", frames, "rgba")[0]
    assert (result.rest == frames[0].rest).all()
    assert (result.image[::2] == frames[0].image[2::-2]).all()
    half = frames[0].image[1] * 0.5
    assert abs(result.image[1] - half).max() <= 0.5


@pytest.mark.parametrize("isolate", [0, 1])
def test_a_model_of_gray_without_any_option(net, isolate):
    """What the next filter takes is converted to, as between any two filters."""
    model, path = net(3, 1)
    frames = frames_of("rgb24", 1)
    size = frames[0].size
    result = support.succeed(
        *pictures.raw_input("rgb24", *size),
        *("-vf", f"{support.dnn(path, tune=0, isolate=isolate)},format=rgb24,format=gray"),
        *("-f", "rawvideo", "-"),
        stdin=pictures.raw(frames, "rgb24"),
    )
    got = pictures.unpack(result.stdout, "gray", *size)[0]
    assert_close(got.image, computed(model, frames[0], "rgb24", 3), "gray", 2)


@pytest.mark.parametrize("pixel_format,size", [("rgb24", (1, 1)), ("gbrp", (3, 2))])
def test_tiny_frames(net, pixel_format, size):
    model, path = net(3, 1)
    frames = pictures.make_frames(pixel_format, *size, 1)
    result = succeed(graph_of(path, "gray"), pixel_format, frames, "gray")[0]
    assert_close(result.image, computed(model, frames[0], pixel_format, 3), "gray")


@pytest.mark.parametrize(
    "taken,made,options,words",
    [
        (3, 5, {}, "turns 3 channels into 5; a picture has 1, 3 or 4"),
        (3, 2, {}, "turns 3 channels into 2; .* as=lab joins them .* as=index, as=colors"),
        (1, 2, {}, "turns 1 channel into 2; .* as=lab joins them"),
        (3, 3, {"as": "lab"}, "turns 3 channels into 3; as=lab needs two channels"),
        (3, 3, {"as": "alpha"}, "turns 3 channels into 3; as=alpha needs one channel"),
        (3, 4, {"as": "depth"}, "turns 3 channels into 4; as=depth needs one channel"),
        (3, 1, {"as": "mask"}, "as takes picture, gray, alpha, lab, depth, index or colors, not 'mask'"),
        (3, 1, {"depth": "0"}, "depth takes auto or LOW..HIGH"),
        (3, 1, {"depth": "1..1"}, "depth takes auto or LOW..HIGH"),
        (3, 1, {"depth": "0..nan"}, "depth takes auto or LOW..HIGH"),
        (3, 1, {"depth": "0..1e39"}, "depth takes auto or LOW..HIGH"),
        (3, 1, {"as": "alpha", "depth": "0..1"}, "depth is for as=depth"),
        (3, 1, {"strength": "0.5"}, "strength mixes"),
    ],
)
def test_what_cannot_be(net, taken, made, options, words):
    _, path = net(taken, made)
    result = run(support.dnn(path, tune=0, isolate=0, **options), "rgb24", frames_of("rgb24"))
    support.assert_fails_clearly(result, words)


class HalfMask(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.avg_pool2d(x[:, :1], 2)


@pytest.mark.parametrize("pixel_format", ["rgba", "gbrap16le", "gbrapf32le"])
def test_colours_stay_where_alpha_is_scaled(net, pixel_format):
    _, path = net(kind=HalfMask)
    frames = frames_of(pixel_format, width=64, height=48)
    graph = graph_of(path, pixel_format, **{"as": "alpha", "scale": 1})
    for frame, result in zip(frames, succeed(graph, pixel_format, frames, pixel_format)):
        assert (result.image == frame.image).all() and (result.rest != frame.rest).any()


class Unpacks(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, t, c, h, w = x.shape
        return x[:, t // 2]


@pytest.mark.parametrize("module", [Unpacks(), torch.nn.Conv3d(3, 3, 3, padding=1)],
                         ids=["unpacks", "convolves"])
def test_frames_along_an_axis_of_time(tmp_path, module):
    torch.jit.script(module).save(str(tmp_path / "time.pt"))
    result = run(support.dnn(tmp_path / "time.pt", tune=0, isolate=0), "rgb24", frames_of("rgb24"))
    support.assert_fails_clearly(result, "the model takes tensors of 5 dimensions", "frames=-2..2")


# ---- alpha --------------------------------------------------------------------


@pytest.mark.parametrize(
    "taken,pixel_format",
    [(3, "argb"), (3, "yuva444p"), (3, "yuva444p10le"), (1, "yuva420p")],
)
def test_a_mask_becomes_alpha(net, taken, pixel_format):
    """The colours stay to the bit; only alpha is the model's."""
    model, path = net(taken, 1)
    frames = frames_of(pixel_format)
    options = {"as": "alpha", "batch_size": 2}
    results = succeed(graph_of(path, pixel_format, **options), pixel_format, frames, pixel_format)
    for frame, result in zip(frames, results):
        assert (result.image == frame.image).all()
        assert all((a == b).all() for a, b in zip(frame.chroma, result.chroma))
        wanted = computed(model, frame, pixel_format, taken)[0]
        depth = pictures.FORMATS[pixel_format].depth
        assert_close(result.rest, wanted, pixel_format, max(1, (1 << depth) // 4096))


def test_alpha_for_a_video_without_any(net):
    """libavfilter adds alpha before the filter, without loss for RGB."""
    model, path = net(3, 1)
    frames = frames_of("rgb24", 2)
    size = frames[0].size
    graph = f"{support.dnn(path, tune=0, isolate=0, **{'as': 'alpha'})},format=rgba"
    result = support.succeed(
        *pictures.raw_input("rgb24", *size),
        *("-vf", graph, "-f", "rawvideo", "-"),
        stdin=pictures.raw(frames, "rgb24"),
    )
    for frame, got in zip(frames, pictures.unpack(result.stdout, "rgba", *size)):
        assert (got.image == frame.image).all()
        assert_close(got.rest, computed(model, frame, "rgb24", 3)[0], "rgba")


def test_alpha_needs_the_size_of_the_frame(tmp_path):
    class Halves(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x[:, :1, ::2, ::2]

    path = tmp_path / "halves.pt"
    torch.jit.script(Halves()).save(str(path))
    graph = support.dnn(path, tune=0, isolate=0, **{"as": "alpha"})
    support.assert_fails_clearly(run(graph, "rgba", frames_of("rgba")), "as=alpha needs a result")


# ---- depth --------------------------------------------------------------------


@pytest.mark.parametrize("pixel_format", ["gray", "grayf32le"])
@pytest.mark.parametrize("depth", ["auto", "50..0", None])
def test_depth(net, depth, pixel_format):
    """The smallest number is black and the largest is white, in each frame for itself."""
    model, path = net(3, 1, 37.0, 5.0)
    frames = frames_of("rgb24")
    options = {"depth": depth} if depth else {"as": "depth"}
    graph = graph_of(path, pixel_format, batch_size=2, **options)
    for frame, result in zip(frames, succeed(graph, "rgb24", frames, pixel_format)):
        numbers = computed(model, frame, "rgb24", 3).astype(float)
        low, high = numbers.min(), numbers.max()
        if depth not in ("auto", None):
            low, high = map(float, depth.split(".."))
        wanted = numpy.clip((numbers - low) / (high - low), 0, 1)
        assert_close(result.image, wanted, pixel_format, 1 if pixel_format == "gray" else 12)
        if depth in ("auto", None):
            assert result.image.min() == 0 and result.image.max() >= wanted.max() * 0.999


@pytest.mark.parametrize("pixel_format", ["gray16le", "grayf32le"])
@pytest.mark.parametrize("depth", ["auto", "-30..70"])
def test_depth_that_is_no_number(net, depth, pixel_format):
    """NaN is black and told of; what is infinite is black or white, and sets no limit."""
    _, path = net(kind=Spoils)
    frames = frames_of("rgb24", 1)
    frames[0].image[0, 10, 5:7] = [0, 255]
    graph = graph_of(path, pixel_format, depth=depth)
    result = run(graph, "rgb24", frames)
    assert result.returncode == 0 and "NaN" in result.stderr, result
    got = pictures.unpack(result.stdout, pixel_format, *frames[0].size)[0].image[0]
    white = pictures.FORMATS[pixel_format].white
    assert (got[0] == 0).all() and (got[1] == white).all() and (got[2] == 0).all()
    wanted = pictures.to_unit(frames[0].image[0])[3:]
    assert_close(got[3:], wanted, pixel_format)


@pytest.mark.parametrize("pixel_format", ["gray", "grayf32le"])
def test_depth_that_is_flat(net, pixel_format):
    _, path = net(kind=Flat)
    frames = frames_of("rgb24", 1)
    result = succeed(graph_of(path, pixel_format, depth="auto"), "rgb24", frames, pixel_format)
    assert (result[0].image == 0).all()


def test_a_file_says_that_it_is_depth(net, tmp_path):
    _, path = net(3, 1, 37.0, 5.0)
    own = tmp_path / "net.pt"
    own.symlink_to(path)
    (tmp_path / "net.pt.json").write_text('{"output": {"as": "depth", "depth": [0, 50]}}')
    frames = frames_of("rgb24", 1)
    by_option = run(graph_of(path, "gray", depth="0..50"), "rgb24", frames)
    by_file = run(graph_of(own, "gray"), "rgb24", frames, loglevel="verbose")
    assert by_file.stdout == by_option.stdout != b""
    assert "output.depth 0..50 (" in by_file.stderr and "output.as depth (" in by_file.stderr
    for text, words in {
        '{"output": {"as": "depht"}}': "as takes",
        '{"output": {"depth": [1]}}': "depth takes",
        '{"output": {"depth": [1, 1]}}': "depth takes",
        '{"output": {"as": "alpha", "depth": [0, 1]}}': "output.depth",
        '{"input": {"as": "alpha"}}': "input.as",
    }.items():
        (tmp_path / "net.pt.json").write_text(text)
        support.assert_fails_clearly(run(graph_of(own, "gray"), "rgb24", frames), words)


# ---- strength -----------------------------------------------------------------


@pytest.mark.parametrize("pixel_format", ["rgb0", "gbrp12le"])
@pytest.mark.parametrize("strength", [0, 0.25, 1])
def test_strength(net, strength, pixel_format):
    model, path = net(3, 3)
    frames = frames_of(pixel_format)
    graph = graph_of(path, pixel_format, strength=strength, batch_size=2)
    codes = 1 if pictures.FORMATS[pixel_format].depth == 8 else 4
    for frame, result in zip(frames, succeed(graph, pixel_format, frames, pixel_format)):
        source = seen(frame, pixel_format, 3)
        wanted = source + (computed(model, frame, pixel_format, 3) - source) * strength
        assert_close(result.image, wanted, pixel_format, 0 if strength == 0 else codes)
        assert frame.rest is None or (result.rest == frame.rest).all()
    if strength == 1:
        without = run(graph_of(path, pixel_format, batch_size=2), pixel_format, frames)
        assert run(graph, pixel_format, frames).stdout == without.stdout


@pytest.mark.parametrize("pixel_format", ["yuv420p", "p010le"])
def test_strength_on_luma(net, pixel_format):
    """Chroma stays the frame's own."""
    model, path = net(1, 1)
    frames = frames_of(pixel_format)
    graph = graph_of(path, pixel_format, strength=0.5)
    for frame, result in zip(frames, succeed(graph, pixel_format, frames, pixel_format)):
        source = seen(frame, pixel_format, 1)
        wanted = (source + computed(model, frame, pixel_format, 1)) / 2
        assert_close(result.image, wanted, pixel_format)
        assert all((a == b).all() for a, b in zip(frame.chroma, result.chroma))


def test_strength_of_alpha(net):
    model, path = net(3, 1)
    frames = frames_of("rgba", 1)
    graph = graph_of(path, "rgba", strength=0.5, **{"as": "alpha"})
    result = succeed(graph, "rgba", frames, "rgba")[0]
    source = pictures.to_unit(frames[0].rest)
    wanted = (source + computed(model, frames[0], "rgba", 3)[0]) / 2
    assert (result.image == frames[0].image).all()
    assert_close(result.rest, wanted, "rgba")


@pytest.mark.parametrize("pixel_format", ["yuv444p", "yuv420p"])
def test_no_strength_is_the_frame(model, pixel_format):
    """Bit for bit, also where colours go through R, G and B."""
    frames = frames_of(pixel_format)
    for options in ({}, {"order": "bgr"}):
        graph = graph_of(model("invert"), pixel_format, strength=0, **options)
        result = run(graph, pixel_format, frames)
        assert result.stdout == pictures.raw(frames, pixel_format), result


def test_strength_may_change(model):
    """From one frame on, and nothing is lost; one that makes no sense is told of."""
    frames = frames_of("rgb24", 1) * 12
    timed = ["0.11 dnn_torch strength 0.5", "0.2 dnn_torch strength 2", "0.31 dnn_torch strength 0"]
    graph = f"sendcmd=c='{';'.join(timed)}',{graph_of(model('invert'), 'rgb24')}"
    result = run(graph, "rgb24", frames)
    assert result.returncode == 0, result
    assert "strength takes a number from 0 to 1, not '2'" in result.stderr
    got = [frame.image.astype(int) for frame in pictures.unpack(result.stdout, "rgb24", WIDTH, HEIGHT)]
    source = frames[0].image.astype(int)
    assert len(got) == 12
    for number, image in enumerate(got):
        if number < 3:
            assert (image == 255 - source).all()
        elif number < 8:
            assert abs(image - 127.5).max() <= 1
        else:
            assert (image == source).all()


def test_strength_that_cannot_be_asked_for(net):
    """The filter goes on as before."""
    _, path = net(3, 1)
    frames = frames_of("rgb24", 1) * 6
    graph = f"sendcmd=c='0.1 dnn_torch strength 0.5',{graph_of(path, 'gray')}"
    result = run(graph, "rgb24", frames)
    assert result.returncode == 0 and "strength mixes" in result.stderr, result
    assert len(result.stdout) == 6 * WIDTH * HEIGHT


# ---- while frames pass ----------------------------------------------------------


@pytest.mark.parametrize(
    "taken,made,pixel_format,result_format",
    [
        (3, 1, "gbrp10le", "gray10le"),
        (3, 1, "yuv444p", "gray"),
        (1, 3, "gray16le", "gbrp16le"),
        (1, 4, "gray", "rgba"),
    ],
)
def test_frames_that_the_timeline_excludes(net, taken, made, pixel_format, result_format):
    """They become what ffmpeg's scale filter makes of them."""
    model, path = net(taken, made)
    frames = frames_of(pixel_format, 9)
    graph = support.dnn(path, tune=0, isolate=0, batch_size=4) + ":enable='between(n,3,5)'"
    results = succeed(f"{graph},format={result_format}", pixel_format, frames, result_format)
    scaled = succeed(f"scale=flags=bicubic+accurate_rnd,format={result_format}", pixel_format,
                     frames, result_format, plain=True)
    assert len(results) == 9
    for number, result in enumerate(results):
        if 3 <= number <= 5:
            wanted = computed(model, frames[number], pixel_format, taken)
            assert_close(result.image, wanted[:3], result_format, 8)
            continue
        white = pictures.FORMATS[result_format].white
        difference = abs(result.image.astype(int) - scaled[number].image.astype(int))
        assert difference.max() <= max(2, white // 100), f"frame {number}: {difference.max()}"
        if result.rest is not None:
            assert (result.rest == white).all()


def test_alpha_that_the_timeline_excludes(net):
    _, path = net(3, 1)
    frames = frames_of("rgba")
    graph = support.dnn(path, tune=0, isolate=0, **{"as": "alpha"}) + ":enable=0"
    assert run(graph, "rgba", frames).stdout == pictures.raw(frames, "rgba")


def test_models_of_other_channels_are_refused(net):
    """The filters behind are made for one format; the filter goes on."""
    model, gray = net(3, 1)
    _, rgb = net(3, 3)
    _, other = net(1, 3)
    frames = frames_of("rgb24", 1) * 50
    for path in (rgb, other):
        graph = f"sendcmd=c='0.2 dnn_torch model {path}',realtime,{graph_of(gray, 'gray')}"
        result = run(graph, "rgb24", frames, loglevel="verbose")
        assert result.returncode == 0 and "cannot change to" in result.stderr, result
        assert "and the frames" in result.stderr, result
        got = pictures.unpack(result.stdout, "gray", WIDTH, HEIGHT)
        assert len(got) == 50
        assert_close(got[-1].image, computed(model, frames[0], "rgb24", 3), "gray")


def test_another_model_of_the_same_channels(net):
    _, first = net(3, 1)
    second, path = net(3, 1, 0.5)
    frames = frames_of("rgb24", 1) * 60
    graph = f"sendcmd=c='0.2 dnn_torch model {path}',realtime,{graph_of(first, 'gray')}"
    got = succeed(graph, "rgb24", frames, "gray")
    assert len(got) == 60
    assert_close(got[-1].image, computed(second, frames[0], "rgb24", 3), "gray")


def test_a_size_that_changes(net):
    """The format of the results stays, and scale begins anew behind the filter."""
    model, path = net(3, 1)
    frames = frames_of("rgb24", 8)
    crop = "sendcmd=c='0.15 crop w 40',crop=w=71:h=45:x=0:y=0"
    graph = f"{crop},{graph_of(path, 'gray')},showinfo=checksum=0,scale=71:45:flags=neighbor"
    results = succeed(graph, "rgb24", frames, "gray")
    assert len(results) == 8
    wanted = computed(model, frames[0], "rgb24", 3)
    assert_close(results[0].image, wanted, "gray")
    cropped = pictures.Frame(frames[7].image[:, :, :40])
    places = ((numpy.arange(71) + 0.5) * 40 / 71).astype(int)
    wanted = computed(model, cropped, "rgb24", 3)[:, :, places]
    difference = results[7].image.astype(int) - pictures.from_unit(wanted, "gray").astype(int)
    assert numpy.median(abs(difference)) <= 1
