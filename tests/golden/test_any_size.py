# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Frames of any size: padded, cut into tiles, scaled; and results of the size that is wanted."""
import json
import re

import numpy
import pictures
import pytest
import support
import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH, HEIGHT = 101, 75


# ---- models -----------------------------------------------------------------


class Unet(nn.Module):
    """Takes multiples of 8 alone."""

    def __init__(self, scale: int = 1):
        super().__init__()
        torch.manual_seed(3)
        self.scale = scale
        self.down = nn.ModuleList(nn.Conv2d(c, 8, 3, padding=1) for c in (3, 8, 8))
        self.up = nn.ModuleList(nn.Conv2d(16, 8, 3, padding=1) for _ in range(3))
        self.last = nn.Conv2d(8, 3 * scale * scale, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        kept = []
        y = x
        for layer in self.down:
            y = torch.relu(layer(y))
            kept.append(y)
            y = functional.max_pool2d(y, 2)
        for layer in self.up:
            y = functional.interpolate(y, scale_factor=2.0, mode="nearest")
            y = torch.relu(layer(torch.cat([y, kept.pop()], 1)))
        return torch.sigmoid(functional.pixel_shuffle(self.last(y), self.scale) * 3)


class Chain(nn.Module):
    """Takes any size; looks 2 * layers + 1 far.  The scale is 1, 2 or 4, or -2 for a half."""

    def __init__(self, scale: int, layers: int = 3):
        super().__init__()
        torch.manual_seed(5)
        self.scale = scale
        stride = 2 if scale < 0 else 1
        self.first = nn.Conv2d(3, 12, 3, padding=1, stride=stride)
        self.layers = nn.ModuleList(nn.Conv2d(12, 12, 5, padding=2) for _ in range(layers))
        self.last = nn.Conv2d(12, 3 * max(scale, 1) ** 2, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(x)
        for layer in self.layers:
            y = y + functional.leaky_relu(layer(y), 0.2)
        y = self.last(y)
        if self.scale > 1:
            y = functional.pixel_shuffle(y, self.scale)
        return torch.sigmoid(y * 3)


class Only(nn.Module):
    def __init__(self, net: nn.Module, width: int, height: int):
        super().__init__()
        self.net, self.width, self.height = net, width, height

    def forward(self, x: Tensor) -> Tensor:
        if x.size(2) != self.height or x.size(3) != self.width:
            raise RuntimeError("made for one size alone")
        return self.net(x)


class Red(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x[:, :1]


class Global(nn.Module):
    """The mean of the picture counts."""

    def forward(self, x: Tensor) -> Tensor:
        return x + 0.5 - x.mean([2, 3], True)


class Bytes(nn.Module):
    """Wants one type and multiples of 16, and says so in words without numbers."""

    def __init__(self, type_first: bool):
        super().__init__()
        self.type_first = type_first

    def forward(self, x: Tensor) -> Tensor:
        if self.type_first and x.dtype != torch.uint8:
            raise ValueError("give me bytes")
        if x.shape[-1] % 16 != 0 or x.shape[-2] % 16 != 0:
            raise ValueError("an odd size")
        if x.dtype != torch.uint8:
            raise ValueError("give me bytes")
        return 255 - x


class SaysTheSame(nn.Module):
    """Of a type and of a size that it does not take."""

    def __init__(self, wants_halves: bool):
        super().__init__()
        self.wants_halves = wants_halves

    def forward(self, x: Tensor) -> Tensor:
        wanted = torch.float16 if self.wants_halves else torch.uint8
        if x.dtype != wanted or x.shape[-2] < 128 or x.shape[-1] < 128:
            raise ValueError("bad input")
        return 1 - x if self.wants_halves else 255 - x


class Limited(nn.Module):
    """Asks for more memory than there is for pictures of more than `most` pixels."""

    def __init__(self, net: nn.Module, most: int):
        super().__init__()
        self.net, self.most = net, most

    def forward(self, x: Tensor) -> Tensor:
        if x.size(2) * x.size(3) > self.most:
            x = x + torch.ones([1 << 46]).sum()
        return self.net(x)


class LimitedFrom5(nn.Module):
    """The same, once a picture with the first sample 5 comes."""

    def __init__(self, net: nn.Module, most: int):
        super().__init__()
        self.net, self.most = net, most

    def forward(self, x: Tensor) -> Tensor:
        number = int(torch.round(x[0, 0, 0, 0] * 255.0).item())
        if x.size(2) * x.size(3) > self.most and number == 5:
            x = x + torch.ones([1 << 46]).sum()
        return self.net(x)


def save(folder, net, name="net.pt", tiling=None):
    path = folder / name
    torch.jit.script(net.eval()).save(str(path))
    if tiling:
        (folder / f"{name}.json").write_text(json.dumps({"tiling": tiling}))
    return path


# ---- runs -------------------------------------------------------------------


def run(graph, pixel_format="rgb24", size=(WIDTH, HEIGHT), frames=2, **options):
    source = pictures.make_frames(pixel_format, *size, frames)
    result = support.ffmpeg(
        *pictures.raw_input(pixel_format, *size),
        *("-noauto_conversion_filters", "-vf", graph, "-f", "rawvideo", "-"),
        stdin=pictures.raw(source, pixel_format),
        **options,
    )
    return source, result


def made_by(graph, *arguments, **options):
    source, result = run(graph, *arguments, **options)
    assert result.returncode == 0, str(result)
    return source, result


def dnn(path, **options):
    return support.dnn(path, tune=0, optimize=0, **{"isolate": 0, **options})


def by_torch(net, image, pad=(0, 0), mode="reflect"):
    """What comes out of a frame that is padded to the right and below, cut to its own part."""
    x = torch.from_numpy(pictures.to_unit(image))[None]
    with torch.no_grad():
        padded = functional.pad(x, [0, pad[0], 0, pad[1]], mode=mode) if any(pad) else x
        y = net(padded)
        scale = y.shape[3] / padded.shape[3]
        width, height = (int(numpy.ceil(side * scale)) for side in (x.shape[3], x.shape[2]))
    return y[0, :, :height, :width].numpy()


def assert_close(made, wanted, tolerance=1):
    """Torch may sum up in another order, which now and then rounds to the other side."""
    wanted = pictures.from_unit(wanted, "rgb24").astype(int)
    assert made.shape == wanted.shape
    difference = abs(made.astype(int) - wanted)
    assert difference.max() <= tolerance and (difference > 0).mean() < 0.01


# ---- multiples and minima -----------------------------------------------------


@pytest.mark.parametrize("scale", [1, 2])
@pytest.mark.parametrize("isolate", [0, 1])
def test_a_model_of_multiples_takes_any_size(tmp_path, scale, isolate):
    net = Unet(scale).eval()
    source, result = made_by(dnn(save(tmp_path, net), isolate=isolate))
    assert any("multiples of 8" in line for line in result.filter_lines("info")), result
    made = pictures.unpack(result.stdout, "rgb24", WIDTH * scale, HEIGHT * scale)
    for frame, wanted in zip(made, source):
        assert_close(frame.image, by_torch(net, wanted.image, (3, 5)))


@pytest.mark.parametrize("type_first", [False, True])
def test_a_model_of_multiples_and_of_another_type(tmp_path, type_first):
    """What it says of one size may be the same in all types, and tells nothing of the next size."""
    source, result = made_by(dnn(save(tmp_path, Bytes(type_first))))
    wanted = [255 - frame.image for frame in source]
    assert (pictures.unpack(result.stdout, "rgb24", WIDTH, HEIGHT)[0].image == wanted[0]).all()


@pytest.mark.parametrize("wants_halves", [False, True])
def test_a_model_that_says_the_same_of_types_and_sizes(tmp_path, wants_halves):
    source, result = made_by(dnn(save(tmp_path, SaysTheSame(wants_halves))))
    made = pictures.unpack(result.stdout, "rgb24", WIDTH, HEIGHT)[0].image
    assert abs(made.astype(int) - (255 - source[0].image.astype(int))).max() <= 1


@pytest.mark.parametrize("padding,mode", [("reflect", "reflect"), ("replicate", "replicate")])
@pytest.mark.parametrize("by_file", [False, True])
def test_padding_is_as_the_contract_says(tmp_path, padding, mode, by_file):
    net = Unet().eval()
    path, options = save(tmp_path, net), {"multiple": 16, "padding": padding}
    if by_file:
        contract = {"input": {"multiple": 16, "padding": padding}}
        (tmp_path / "net.pt.json").write_text(json.dumps(contract))
        options = {}
    source, result = made_by(dnn(path, **options))
    made = pictures.unpack(result.stdout, "rgb24", WIDTH, HEIGHT)
    for frame, wanted in zip(made, source):
        assert_close(frame.image, by_torch(net, wanted.image, (11, 5), mode))


@pytest.mark.parametrize("name,size", [
    ("multiples_of_4", (63, 41)), ("even_only", (1, 1)), ("even_only", (33, 65)),
    ("needs16", (3, 40)), ("needs16", (1, 1)), ("one_more_than_8n", (64, 48)),
])
@pytest.mark.parametrize("pixel_format", ["rgb24", "gray10le", "yuv420p", "gbrap16le", "bgr0"])
def test_identity_of_any_size_is_lossless(model, name, size, pixel_format):
    source, result = made_by(dnn(model(name)), pixel_format, size)
    assert result.stdout == pictures.raw(source, pixel_format)


def test_minimum_of_a_contract(model, tmp_path):
    path = tmp_path / "net.pt"
    path.symlink_to(model("identity"))
    (tmp_path / "net.pt.json").write_text('{"input": {"minimum": [128, 96]}}')
    source, result = made_by(dnn(path), size=(40, 30), loglevel="verbose")
    assert result.stdout == pictures.raw(source, "rgb24")
    assert re.search(r"input\.minimum 128x96 \(.*net\.pt\.json\)", result.stderr), result


# ---- models of one size ---------------------------------------------------------


@pytest.mark.parametrize("size", [(640, 101), (64, 48), (65, 200), (20, 10)])
@pytest.mark.parametrize("scale", [1, 2])
def test_a_model_of_one_size_runs_in_tiles(tmp_path, scale, size):
    net = Chain(scale, 1)
    source, result = made_by(dnn(save(tmp_path, Only(net, 64, 48))), size=size)
    made = pictures.unpack(result.stdout, "rgb24", size[0] * scale, size[1] * scale)
    if size == (20, 10):
        return
    pad = (max(64 - size[0], 0), max(48 - size[1], 0))
    for frame, wanted in zip(made, source):
        assert_close(frame.image, by_torch(net.eval(), wanted.image, pad))


def test_a_global_model_of_one_size_is_scaled(tmp_path):
    path = save(tmp_path, Only(Global(), 64, 48))
    source, result = made_by(dnn(path, fit="auto"), size=(200, 150))
    frame = pictures.unpack(result.stdout, "rgb24", 200, 150)[0]
    assert any("scaled" in line for line in result.filter_lines("info")), result
    image = source[0].image.astype(float)
    brighter = frame.image.mean(axis=(1, 2)) - image.mean(axis=(1, 2))
    assert abs(frame.image.mean() - 127).max() < 3, brighter


@pytest.mark.parametrize("fit", ["scale", "letterbox"])
@pytest.mark.parametrize("size", [(200, 100), (30, 60)])
def test_fit(tmp_path, fit, size):
    """A slope survives scaling to the model and back."""
    path = save(tmp_path, Only(nn.Identity(), 64, 48))
    y, x = numpy.mgrid[0:size[1], 0:size[0]]
    slope = numpy.stack([x * 200 // size[0], y * 200 // size[1], (x + y) * 200 // sum(size)], -1)
    result = support.succeed(
        *pictures.raw_input("rgb24", *size),
        *("-vf", dnn(path, fit=fit), "-f", "rawvideo", "-"),
        stdin=slope.astype(numpy.uint8).tobytes(),
    )
    made = numpy.frombuffer(result.stdout, numpy.uint8).reshape(slope.shape).astype(int)
    assert abs(made - slope)[4:-4, 4:-4].max() <= 6


def test_size_of_a_contract(tmp_path):
    """A size that nobody would try."""
    path = save(tmp_path, Only(nn.Identity(), 71, 53))
    _, refused = run(dnn(path))
    support.assert_fails_clearly(refused, "made for one size alone")
    (tmp_path / "net.pt.json").write_text('{"input": {"size": [71, 53]}}')
    source, result = made_by(dnn(path))
    assert result.stdout == pictures.raw(source, "rgb24")


def test_one_channel_out_of_three_at_the_size_of_a_contract(tmp_path):
    """How many come out is only known at that size: IS-Net returns a mask."""
    path = save(tmp_path, Only(Red(), 71, 53))
    (tmp_path / "net.pt.json").write_text('{"input": {"size": [71, 53]}}')
    source, result = made_by(dnn(path), size=(71, 53))
    masks = pictures.unpack(result.stdout, "gray", 71, 53)
    assert len(masks) == len(source)
    for mask, frame in zip(masks, source):
        assert (mask.image[0] == frame.image[0]).all()


# ---- tiles ----------------------------------------------------------------------

LOCAL = ["identity", "invert", "enlarge2", "enlarge3", "halve", "stretch", "channels_last",
         "swap_red_and_blue", "espcn_rgb", "denoiser", "even_only", "multiples_of_4",
         "espcn_traced", "bfloat16"]  # fmt: skip
LARGE = (211, 163)


def tiled_and_whole(path, tile, pixel_format="rgb24", size=LARGE, frames=1, **options):
    _, whole = made_by(dnn(path, tile=0, **options), pixel_format, size, frames)
    _, tiled = made_by(dnn(path, tile=tile, **options), pixel_format, size, frames)
    notes = [line for line in tiled.filter_lines("info") if " tiles of " in line]
    assert notes and not tiled.warnings_but_range, tiled
    return tiled.stdout, whole.stdout


@pytest.mark.parametrize("name", LOCAL)
@pytest.mark.parametrize("tile", ["96x104"])
def test_tiles_of_local_models(model, name, tile):
    tiled, whole = tiled_and_whole(model(name), tile)
    assert tiled == whole


@pytest.mark.parametrize("scale", [1, 2, 4, -2])
@pytest.mark.parametrize("tile,size", [("96x104", LARGE), ("48", (64, 430)), ("100x90", (199, 133))])
def test_tiles_of_nets(tmp_path, scale, tile, size):
    tiled, whole = tiled_and_whole(save(tmp_path, Chain(scale, 2)), tile, size=size)
    assert tiled == whole


@pytest.mark.parametrize("pixel_format", ["gbrp10le", "gbrpf32le", "yuv444p", "rgba"])
@pytest.mark.parametrize("options", [{"batch_size": 2}, {"isolate": 1}, {"workers": 2}])
def test_tiles_in_formats(tmp_path, pixel_format, options):
    path = save(tmp_path, Chain(2, 1))
    tiled, whole = tiled_and_whole(path, "96x104", pixel_format, frames=3, **options)
    if pictures.is_float(pixel_format):
        # LibTorch takes other functions for the last samples of a tensor.
        floats = [numpy.frombuffer(each, "<f4") for each in (tiled, whole)]
        assert abs(floats[0] - floats[1]).max() <= 1e-6
        return
    assert tiled == whole


@pytest.mark.parametrize("pixel_format", ["yuv420p", "gray", "nv12", "yuv420p10le"])
def test_tiles_of_luma(models, pixel_format):
    path = support.REPOSITORY / "models" / "luma2x.pt"
    tiled, whole = tiled_and_whole(path, "160x140", pixel_format, (331, 283))
    assert tiled == whole


@pytest.mark.parametrize("name", ["denoise", "upscale2x", "stylise"])
def test_tiles_of_the_models_that_come_along(name):
    path = support.REPOSITORY / "models" / f"{name}.pt"
    _, whole = made_by(dnn(path, tile=0), size=(303, 231), frames=1)
    _, tiled = made_by(dnn(path, tile=128), size=(303, 231), frames=1)
    if not tiled.warnings_but_range:
        assert tiled.stdout == whole.stdout
        return
    (warning,) = tiled.warnings_but_range
    assert "blended" in warning, tiled
    pixels = [numpy.frombuffer(each.stdout, numpy.uint8).astype(int) for each in (tiled, whole)]
    assert abs(pixels[0] - pixels[1]).mean() < 8


def assert_same_but_for_rounding(made, wanted):
    pixels = [numpy.frombuffer(each, numpy.uint8).astype(int) for each in (made, wanted)]
    assert pixels[0].shape == pixels[1].shape
    difference = abs(pixels[0] - pixels[1])
    assert difference.max() <= 1 and (difference > 0).mean() < 1e-3


def test_unets_lie_at_their_stride(tmp_path):
    """Deep inside, a tile's tensors are so small that LibTorch computes them in another way."""
    assert_same_but_for_rounding(
        *tiled_and_whole(save(tmp_path, Unet(2)), 104, size=(251, 187))
    )


def test_a_global_model_is_blended(tmp_path):
    """With one warning; and no seam is left."""
    path = save(tmp_path, Global())
    flat = numpy.full((180, 240, 3), 100, numpy.uint8)
    flat[:, 120:] = 140
    result = support.succeed(
        *pictures.raw_input("rgb24", 240, 180),
        *("-vf", dnn(path, tile=100), "-f", "rawvideo", "-"),
        stdin=flat.tobytes() * 2,
    )
    (warning,) = result.warnings_but_range
    assert "whole picture" in warning, result
    made = numpy.frombuffer(result.stdout, numpy.uint8).reshape(2, 180, 240, 3).astype(int)
    steps = abs(numpy.diff(made, axis=2))
    steps[:, :, 119] = 0
    assert steps.max() <= 3 and abs(numpy.diff(made, axis=1)).max() <= 3


def test_overlap_can_be_given(tmp_path):
    path = save(tmp_path, Chain(2, 1))
    _, whole = made_by(dnn(path, tile=0), size=LARGE)
    _, tiled = made_by(dnn(path, tile=100, overlap=12), size=LARGE)
    assert tiled.stdout == whole.stdout and not tiled.warnings_but_range


def test_tiles_that_are_too_small_are_blended(tmp_path):
    path = save(tmp_path, Chain(1, 30))
    _, result = made_by(dnn(path, tile=96), size=LARGE)
    (warning,) = result.warnings_but_range
    assert "looks 62 pixels far" in warning, result


def test_a_command_changes_the_tiles(tmp_path):
    path = save(tmp_path, Chain(1, 1))
    graph = f"sendcmd=c='0.2 dnn_torch tile 100',realtime,{dnn(path)}"
    # Eight seconds: a busy machine needs some until the tiles are planned.
    _, whole = made_by(dnn(path), size=LARGE, frames=200)
    _, result = made_by(graph, size=LARGE, frames=200)
    assert result.stdout == whole.stdout
    assert any("tiles of 100x100" in line for line in result.filter_lines("info")), result


@pytest.mark.parametrize("isolate", [0, 1])
def test_frames_that_do_not_fit_into_memory(tmp_path, isolate):
    net = Chain(2, 1)
    _, wanted = made_by(dnn(save(tmp_path, net, "whole.pt"), isolate=isolate), size=LARGE)
    path = save(tmp_path, Limited(net, 30000), "limited.pt", "local")
    _, result = made_by(dnn(path, isolate=isolate), size=LARGE)
    assert result.stdout == wanted.stdout
    assert any("does not fit into memory" in line for line in result.filter_lines("info"))
    _, refused = run(dnn(path, isolate=isolate, tile=0), size=LARGE)
    support.assert_fails_clearly(refused, "memory")


@pytest.mark.parametrize("isolate", [0, 1])
@pytest.mark.parametrize("options", [{}, {"tile": 140}, {"batch_size": 2}, {"async": 0}])
def test_memory_that_runs_out_on_the_way(tmp_path, isolate, options):
    """No frame is lost, and one line tells."""
    net = Chain(2, 1)
    _, wanted = made_by(dnn(save(tmp_path, net, "whole.pt")), size=LARGE, frames=9)
    path = save(tmp_path, LimitedFrom5(net, 15000), "limited.pt", "local")
    _, result = made_by(dnn(path, isolate=isolate, **options), size=LARGE, frames=9)
    assert result.stdout == wanted.stdout
    told = [line for line in result.warnings if "memory ran out" in line]
    assert 1 <= len(told) <= 2, result


def test_models_that_remember_are_not_tiled(tmp_path):
    class Remembers(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("last", torch.zeros(1))

        def forward(self, x: Tensor) -> Tensor:
            self.last = x.mean().reshape(1)
            return x

    path = save(tmp_path, Remembers())
    _, result = run(dnn(path, tile=96), size=LARGE)
    support.assert_fails_clearly(result, "remembers earlier frames", "tile=0")
    source, result = made_by(dnn(path))
    assert result.stdout == pictures.raw(source, "rgb24")


# ---- the size of the result -----------------------------------------------------


@pytest.mark.parametrize("pixel_format", ["gray", "gray10le", "gbrp"])
@pytest.mark.parametrize("option,size", [
    ({"scale": 2}, (202, 150)), ({"scale": 0.5}, (51, 38)), ({"size": "160x90"}, (160, 90)),
    ({"size": "300x300"}, (300, 300)),
])
def test_target_size(model, pixel_format, option, size):
    """As the scale filter does it, plane by plane."""
    _, result = made_by(dnn(model("enlarge3"), **option), pixel_format, frames=1)
    _, large = made_by(dnn(model("enlarge3")), pixel_format, frames=1)
    kind = "gray" if pixel_format == "gbrp" else pixel_format
    wanted = support.succeed(
        *pictures.raw_input(kind, WIDTH * 3, HEIGHT * 3),
        *("-vf", f"scale={size[0]}:{size[1]}:flags=lanczos+accurate_rnd", "-f", "rawvideo", "-"),
        stdin=large.stdout,
        plain=True,
    )
    assert result.stdout == wanted.stdout


def test_the_size_that_the_model_makes_is_not_scaled(model):
    _, plain = made_by(dnn(model("enlarge2")))
    _, asked = made_by(dnn(model("enlarge2"), scale=2))
    assert asked.stdout == plain.stdout


def test_target_size_of_frames_with_alpha_and_aspect(model):
    source = pictures.make_frames("rgba", 80, 60, 1)
    graph = f"setsar=1,{dnn(model('enlarge2'), size='80x60')},showinfo"
    result = support.succeed(
        *pictures.raw_input("rgba", 80, 60), "-vf", graph, "-f", "rawvideo", "-",
        stdin=pictures.raw(source, "rgba"),
    )
    made = pictures.unpack(result.stdout, "rgba", 80, 60)[0]
    assert (made.rest == source[0].rest).all()
    assert abs(made.image.astype(int) - source[0].image).mean() < 12
    wide = f"setsar=1,{dnn(model('enlarge2'), size='160x60')},showinfo"
    result = support.succeed(
        *pictures.raw_input("rgba", 80, 60), "-vf", wide, "-f", "rawvideo", "-",
        stdin=pictures.raw(source, "rgba"),
    )
    assert "sar:1/2" in result.stderr


def test_target_size_with_tiles_and_padding(tmp_path):
    path = save(tmp_path, Unet(2))
    _, tiled = made_by(dnn(path, tile=104, scale=1), size=(251, 187))
    _, whole = made_by(dnn(path, tile=0, scale=1), size=(251, 187))
    assert_same_but_for_rounding(tiled.stdout, whole.stdout)
    assert len(whole.stdout) == 2 * 251 * 187 * 3


@pytest.mark.parametrize("option", ["tile=7", "tile=x", "tile=-4", "overlap=-1", "overlap=a", "fit=all",
                                    "overlap=32768", "tile=32:overlap=16",
                                    "multiple=0", "multiple=5000", "padding=zero", "scale=0",
                                    "scale=nan", "size=0x4", "size=huge", "scale=1e9"])
def test_options_that_make_no_sense(model, option):
    _, result = run(f"{dnn(model('identity'))}:{option}")
    support.assert_fails_clearly(result, f"{option.split(':')[-1].partition('=')[0]} takes")


def test_the_largest_overlap_of_a_tile_is_told(model):
    _, result = run(dnn(model("identity"), tile="64x32", overlap=500))
    support.assert_fails_clearly(result, "up to 15, less than half of tile=64x32, not '500'")


def test_an_overlap_without_room_is_told(tmp_path):
    _, result = made_by(dnn(save(tmp_path, Unet(3)), tile=104, overlap=51), size=LARGE)
    words = r"overlap=51 is more than tiles of \d+x\d+ have room for: they overlap by (\d+) pixels"
    assert int(re.search(words, result.stderr).group(1)) < 51, result


@pytest.mark.parametrize("text,words", [
    ('{"input": {"multiple": 0}}', "multiple takes"),
    ('{"input": {"multiple": 1.5}}', "multiple takes"),
    ('{"input": {"minimum": [1, 2, 3]}}', "minimum takes"),
    ('{"input": {"size": "large"}}', "size takes"),
    ('{"input": {"padding": 1}}', "padding takes"),
    ('{"output": {"multiple": 2}}', "output.multiple"),
    ('{"tiling": 1}', "tiling takes"),
    ('{"local": false}', '"local" that is not known'),
])
def test_contracts_that_make_no_sense(model, tmp_path, text, words):
    path = tmp_path / "net.pt"
    path.symlink_to(model("identity"))
    (tmp_path / "net.pt.json").write_text(text)
    _, result = run(dnn(path))
    support.assert_fails_clearly(result, r"net\.pt\.json", words)
