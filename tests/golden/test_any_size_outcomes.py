# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Frames that are padded, tiled or scaled have the same outcomes as whole ones."""
import numpy
import pictures
import pytest
import support
import torch
from torch import Tensor, nn
from torch.nn import functional

SIZE = (211, 163)


class Net(nn.Module):
    """Looks 4 pixels far.  Takes multiples of `step` alone, and enlarges by `scale`."""

    def __init__(self, taken: int, made: int, step: int = 1, scale: int = 1, gain: float = 1.0):
        super().__init__()
        torch.manual_seed(taken * 10 + made)
        self.first = nn.Conv2d(taken, 8, 5, padding=2)
        self.last = nn.Conv2d(8, made, 5, padding=2)
        self.step, self.scale, self.gain = step, scale, gain

    def forward(self, x: Tensor) -> Tensor:
        if x.size(2) % self.step != 0 or x.size(3) % self.step != 0:
            raise RuntimeError("a size that does not divide")
        y = torch.sigmoid(self.last(torch.relu(self.first(x))) * 4.0) * self.gain
        return functional.interpolate(y, scale_factor=float(self.scale), mode="nearest")


def save(folder, *arguments, **options):
    net = Net(*arguments, **options).eval()
    path = folder / "net.pt"
    torch.jit.script(net).save(str(path))
    return net, path


def made_by(path, pixel_format, result_format, size=SIZE, frames=2, isolate=0, **options):
    graph = support.dnn(path, tune=0, optimize=0, isolate=isolate, **options)
    source = pictures.make_frames(pixel_format, *size, frames, textured_chroma=True)
    result = support.succeed(
        *pictures.raw_input(pixel_format, *size),
        *("-noauto_conversion_filters", "-vf", f"{graph},format={result_format}"),
        *("-f", "rawvideo", "-"),
        stdin=pictures.raw(source, pixel_format),
    )
    return source, result


def planes_of(result, result_format, size=SIZE):
    return pictures.unpack(result.stdout, result_format, *size)


def by_torch(net, frame, pad=(0, 0)):
    x = torch.from_numpy(pictures.to_unit(frame.image))[None]
    with torch.no_grad():
        y = net(functional.pad(x, [0, pad[0], 0, pad[1]], mode="reflect") if any(pad) else x)
    return y[0, :, : x.shape[2], : x.shape[3]].numpy()


CASES = [
    (3, 1, "rgb24", "gray16le", {}),
    (3, 1, "rgb24", "gray", {"as": "gray"}),
    (1, 3, "gray", "rgb24", {}),
    (3, 4, "rgba", "rgba", {}),
    (4, 3, "rgba", "rgba", {}),
    (3, 1, "rgba", "rgba", {"as": "alpha"}),
    (3, 1, "gbrap", "gbrap", {"as": "alpha", "strength": 0.4}),
    (3, 1, "yuva444p", "yuva444p", {"as": "alpha"}),
    (1, 1, "yuva420p", "yuva420p", {"as": "alpha", "strength": 0.7}),
    (3, 1, "rgb24", "gray16le", {"as": "depth"}),
    (3, 1, "rgb24", "grayf32le", {"as": "depth"}),
    (3, 1, "rgb24", "gray", {"depth": "3..0"}),
    (3, 3, "rgb24", "rgb24", {"strength": 0.3}),
    (3, 3, "rgba", "rgba", {"strength": 0.3}),
    (1, 1, "yuv420p", "yuv420p", {"strength": 0.6}),
]


@pytest.mark.parametrize("taken,made,pixel_format,result_format,options", CASES)
def test_tiles_are_as_the_whole(tmp_path, taken, made, pixel_format, result_format, options):
    _, path = save(tmp_path, taken, made, gain=5.0 if "depth" in str(options) else 1.0)
    arguments = (path, pixel_format, result_format)
    _, whole = made_by(*arguments, tile=0, **options)
    _, tiled = made_by(*arguments, tile="150x144", isolate=1, batch_size=2, **options)
    assert any(" tiles of " in line for line in tiled.filter_lines("info")), tiled
    if pictures.is_float(result_format):
        floats = [numpy.frombuffer(each.stdout, "<f4") for each in (tiled, whole)]
        assert abs(floats[0] - floats[1]).max() <= 1e-6
        return
    assert tiled.stdout == whole.stdout


@pytest.mark.parametrize("isolate", [0, 1])
def test_the_depth_of_padded_frames(tmp_path, isolate):
    """What comes of the padding sets no limits."""
    net, path = save(tmp_path, 3, 1, step=16, gain=7.0)
    size = (101, 75)
    source, result = made_by(path, "rgb24", "gray", size, isolate=isolate, **{"as": "depth"})
    for frame, made in zip(source, planes_of(result, "gray", size)):
        depth = by_torch(net, frame, (11, 5))
        wanted = (depth - depth.min()) / (depth.max() - depth.min())
        assert abs(made.image.astype(int) - numpy.rint(wanted * 255)).max() <= 1


@pytest.mark.parametrize("pixel_format", ["rgba", "gbrap", "yuva444p"])
@pytest.mark.parametrize("scale", [1, 2])
def test_alpha_of_padded_and_scaled_frames(tmp_path, pixel_format, scale):
    """Colours stay to the bit.  What is enlarged and made smaller again stays about the same."""
    net, path = save(tmp_path, 3, 1, step=16, scale=scale)
    size = (101, 75)
    options = {"as": "alpha", "scale": 1}
    source, result = made_by(path, pixel_format, pixel_format, size, **options)
    for frame, made in zip(source, planes_of(result, pixel_format, size)):
        assert (made.image == frame.image).all()
        if pixel_format == "yuva444p":
            assert (numpy.array(made.chroma) == numpy.array(frame.chroma)).all()
            continue
        net.scale = 1
        wanted = by_torch(net, frame, (11, 5)) * 255
        difference = abs(made.rest.astype(float) - wanted)
        assert difference.max() <= 1 if scale == 1 else difference.mean() < 4


def test_alpha_of_another_size_is_refused(tmp_path):
    _, path = save(tmp_path, 3, 1, scale=2)
    graph = support.dnn(path, tune=0, isolate=0, **{"as": "alpha"})
    frames = pictures.make_frames("rgba", 64, 48, 1)
    result = support.ffmpeg(*pictures.raw_input("rgba", 64, 48), "-vf", graph, "-f", "null", "-",
                            stdin=pictures.raw(frames, "rgba"))
    support.assert_fails_clearly(result, "as=alpha needs a result of the frame's size")


def test_strength_of_results_that_are_scaled(tmp_path):
    net, path = save(tmp_path, 3, 3, step=16, scale=2)
    size = (101, 75)
    source, result = made_by(path, "rgb24", "rgb24", size, scale=1, strength=0.25)
    _, alone = made_by(path, "rgb24", "rgb24", size, scale=1)
    for frame, mixed, whole in zip(source, planes_of(result, "rgb24", size),
                                   planes_of(alone, "rgb24", size)):
        wanted = frame.image + 0.25 * (whole.image.astype(float) - frame.image)
        assert abs(mixed.image - wanted).max() <= 0.5001


def test_a_contracts_scale_is_the_models(tmp_path):
    """And not that of the result that is asked for."""
    _, path = save(tmp_path, 3, 3, step=16, scale=2)
    (tmp_path / "net.pt.json").write_text('{"scale": 2, "tiling": "global", "alignment": 16}')
    _, result = made_by(path, "rgb24", "rgb24", (101, 75), scale=1)
    assert len(result.stdout) == 2 * 3 * 101 * 75
    _, tiled = made_by(path, "rgb24", "rgb24", scale=1, tile=96)
    assert len(tiled.warnings) == 1 and "blended" in tiled.warnings[0], tiled


@pytest.mark.parametrize("options", [{}, {"tile": "150x144"}])
def test_frames_past_the_model(tmp_path, options):
    """They get the format of the results, and their size."""
    _, path = save(tmp_path, 3, 1, step=16)
    graph = support.dnn(path, tune=0, isolate=0, size="120x90", **options)
    frames = pictures.make_frames("rgb24", *SIZE, 4)
    result = support.succeed(
        *pictures.raw_input("rgb24", *SIZE),
        *("-vf", f"{graph}:enable='lt(n,2)',format=gray", "-f", "rawvideo", "-"),
        stdin=pictures.raw(frames, "rgb24"),
    )
    assert len(pictures.unpack(result.stdout, "gray", 120, 90)) == 4
