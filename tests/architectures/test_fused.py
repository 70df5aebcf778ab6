# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fused programs make what PyTorch makes, of known layers, of nets, and of parts of nets."""
import re
import time

import numpy
import pictures
import pytest
import support
import torch
from checkpoint_files import ALL, picture, save_safetensors
from published import randomise
from torch import Tensor, nn
from torch.nn import functional

SIZES = [(40, 56), (37, 53), (5, 70)]  # height, width


def seeded(module):
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in module.parameters():
            fan = weight[0].numel() if weight.dim() > 1 else 4
            weight.copy_((torch.rand(weight.shape, generator=generator) - 0.5) * 3 / fan**0.5)
        for name, numbers in module.named_buffers():
            if "running" in name:
                numbers.copy_(torch.rand(numbers.shape, generator=generator) + 0.5)
    return module.eval()


def between(*layers, channels=16, made=None):
    """The layers between two convolutions."""
    return nn.Sequential(
        nn.Conv2d(3, channels, 3, 1, 1), *layers, nn.Conv2d(made or channels, 3, 3, 1, 1)
    )


class With(nn.Module):
    """Some lines of code between two convolutions."""

    def __init__(self, channels=16, made=16):
        super().__init__()
        self.first = nn.Conv2d(3, channels, 3, 1, 1)
        self.second = nn.Conv2d(channels, channels, 3, 1, 1)
        self.last = nn.Conv2d(made, 3, 3, 1, 1)
        self.gain = nn.Parameter(torch.ones(1, channels, 1, 1))
        self.key = 0.0


class Sums(With):
    def forward(self, x: Tensor) -> Tensor:
        a = self.first(x)
        b = self.second(a)
        c = 0.3 * a - 1.5 * b + 0.25
        c = torch.add(c, b, alpha=2) - torch.sub(a, b, alpha=0.5)
        c = (1 - c) * self.gain / 3 + b * torch.sigmoid(a)
        return self.last(-c)


class InPlace(With):
    def forward(self, x: Tensor) -> Tensor:
        a = self.first(x)
        a = functional.relu_(a)
        b = self.second(a)
        b += 0.5
        b *= 2
        return self.last(torch.clamp_(b, -1.0, 1.0)) + x


class Channels(With):
    def forward(self, x: Tensor) -> Tensor:
        a = self.first(x)
        u, v, w = torch.split(a, [3, 5, 8], dim=1)
        p, q = self.second(torch.cat([w, u, v], 1)).chunk(2, 1)
        return self.last(torch.cat([a[:, -4:], p * q, a[:, :4]], 1))


class Larger(With):
    def __init__(self):
        super().__init__(16, 4)

    def forward(self, x: Tensor) -> Tensor:
        a = functional.pixel_shuffle(self.second(self.first(x)), 2)
        a = self.last(a)
        b = functional.interpolate(x, scale_factor=2.0, mode="nearest")
        return a + b + functional.interpolate(x, scale_factor=2.0, mode="bilinear",
                                              align_corners=False)


class Around(With):
    def forward(self, x: Tensor) -> Tensor:
        a = functional.pad(self.first(x), [1, 2, 3, 0])
        return self.last(functional.pad(self.second(a), [0, 1, 0, 2], value=0.5))


class Unknown(With):
    """Means and maxima split the net into three parts."""

    def forward(self, x: Tensor) -> Tensor:
        a = functional.relu(self.first(x))
        weight = torch.sigmoid(self.second(a.mean((2, 3), keepdim=True)))
        b = functional.max_pool2d(self.second(a) * weight, 3, 1, 1)
        return self.last(functional.relu(self.second(b)) + b) + x


class Shared(With):
    """Several results of a part are used outside of it."""

    def forward(self, x: Tensor) -> Tensor:
        a = functional.relu(self.first(x))
        b, c = self.second(a), functional.relu(a) * 0.5
        return self.last(torch.cumsum(b, 1) * 0.1 + torch.exp(-c * c) + torch.tanh(b))


class Extents(With):
    def forward(self, x: Tensor) -> Tensor:
        a = functional.relu(self.first(x))
        b = functional.interpolate(a, size=[a.shape[2] // 2, a.shape[3] // 2])
        b = functional.interpolate(self.second(b), size=[a.shape[2], a.shape[3]])
        return self.last(a + b)


class Overwritten(With):
    """Writes to a part of what was read before: nothing may be fused."""

    def forward(self, x: Tensor) -> Tensor:
        a = self.second(self.first(x))
        b = a[:, 2:7]
        b.mul_(3.0)
        return self.last(a)


class Lists(With):
    """A list that grows after it was made."""

    def __init__(self):
        super().__init__(16, 32)

    def forward(self, x: Tensor) -> Tensor:
        parts = [functional.relu(self.first(x))]
        parts.append(self.second(parts[0]))
        return self.last(torch.cat(parts, 1))


class Out(With):
    """The sample's range is cut in place, which the trial's pictures need not show."""

    def forward(self, x: Tensor) -> Tensor:
        y = x * 1.0
        torch.clamp(y, 0.0, 1.0, out=y)
        return self.last(self.second(self.first(y)))


class ManyParts(With):
    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.first(x).chunk(9223372036854775807, 1)[0].expand(-1, 16, -1, -1))


class Unshuffled(With):
    def forward(self, x: Tensor) -> Tensor:
        for _ in range(4):
            x = functional.pixel_unshuffle(x * 2.0 + 1.0, 64)
        return self.last(x)


class Strides(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.ConvTranspose2d(3, 1, 1, 60000, 60000)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x[:, :, :1, :1])


class Spread(nn.Module):
    """A transposed convolution between operators that no program knows."""

    def __init__(self, kernel, stride):
        super().__init__()
        self.layer = nn.ConvTranspose2d(64, 64, kernel, stride)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(torch.amax(x, 1, True).expand(-1, 64, -1, -1)).amax(1, True)


class Slice(With):
    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.second(self.first(x[:, :3]))[:, :, 1:-1])


class Warps(With):
    """By grids that lead beyond the border, of other extents, and as LibTorch alone does it."""

    def forward(self, x: Tensor) -> Tensor:
        a = self.first(x)
        b = self.second(a)
        across = torch.linspace(-1.0, 1.0, x.size(3)) + b[:, 0]
        down = torch.linspace(-1.0, 1.0, x.size(2)).unsqueeze(1) + b[:, 1]
        grid = torch.stack([across, down], 3)
        moved = functional.grid_sample(a, grid, "bilinear", "border", True)
        narrow = functional.grid_sample(a, grid[:, :, 1:], "bilinear", "border", True)
        other = functional.grid_sample(a, grid, "bilinear", "zeros", False)
        return self.last(moved + functional.pad(narrow, [0, 1]) - 2.0 * other)


NETS = {
    "activations": between(nn.ReLU(), nn.LeakyReLU(0.2), nn.ELU(), nn.GELU(), nn.SiLU(), nn.Tanh(),
                           nn.Sigmoid(), nn.Hardtanh(), nn.ReLU6(), nn.Hardswish(),
                           nn.Hardsigmoid(), nn.GELU("tanh"), nn.PReLU(), nn.PReLU(16)),
    "norms": between(nn.BatchNorm2d(16), nn.ReLU(True), nn.BatchNorm2d(16, affine=False)),
    "strides": between(nn.Conv2d(16, 24, 5, 2, 2), nn.ConvTranspose2d(24, 16, 4, 2, 1)),
    "groups": between(nn.Conv2d(16, 16, 3, 1, 1, groups=16), nn.Conv2d(16, 32, 3, 1, 1, groups=4),
                      made=32),
    "dilation": between(nn.Conv2d(16, 16, 3, 1, 2, dilation=2), nn.Conv2d(16, 16, 1)),
    "same": between(nn.Conv2d(16, 16, 4, padding="same"), nn.Conv2d(16, 16, 3, padding="valid")),
    "wide": between(nn.Conv2d(64, 24, (1, 7), 1, (0, 3)), nn.Conv2d(24, 64, (5, 1), 1, (2, 0)),
                    channels=64),
    "many": between(nn.Conv2d(40, 72, 3, 1, 1), nn.ReLU(), nn.Conv2d(72, 40, 3, 1, 1, bias=False),
                    channels=40),
    "sums": Sums(),
    "in place": InPlace(),
    "channels": Channels(made=16),
    "larger": Larger(),
    "around": Around(),
    "unknown": Unknown(),
    "shared": Shared(),
    "extents": Extents(),
    "slice": Slice(),
    "lists": Lists(),
    "warps": Warps(),
}


def expect_same(engine, path, network, images, tolerance=2e-5, optimize="fused"):
    with torch.no_grad():
        wanted = network(images)[0].numpy()
    result = engine.run(path, images, optimize)
    assert not result.error
    assert result.picture.shape == wanted.shape
    largest = max(float(numpy.abs(wanted).max()), 1)
    assert numpy.abs(result.picture - wanted).max() <= tolerance * largest
    return result


@pytest.mark.parametrize("way", ["script", "trace"])
@pytest.mark.parametrize("name", NETS)
def test_layers(name, way, engine, tmp_path):
    network = seeded(NETS[name])
    for height, width in SIZES if way == "script" else SIZES[:1]:
        images = torch.rand((1, 3, height, width), generator=torch.Generator().manual_seed(2))
        made = torch.jit.script(network) if way == "script" else torch.jit.trace(network, images)
        path = tmp_path / "net.pt"
        made.save(str(path))
        result = expect_same(engine, path, network, images)
        assert result.form == "fp32, fused" and not result.notice


class Masked(With):
    """What is -inf reaches its neighbours alone."""

    def forward(self, x: Tensor) -> Tensor:
        a = functional.relu(self.first(x)).masked_fill(x[:, :1] > 0.999, self.key)
        return self.last(self.second(a).clamp(-1.0, 1.0))


@pytest.mark.parametrize("key", [float("-inf"), float("nan"), -1e9])
def test_numbers_that_harm_others(key, engine, tmp_path):
    network = seeded(Masked())
    network.key = key
    torch.jit.script(network).save(str(tmp_path / "net.pt"))
    images = torch.rand((1, 3, 40, 56), generator=torch.Generator().manual_seed(2)) * 0.9
    images[0, 0, 20, 33] = images[0, 0, 0, 0] = 1
    images[0, 0, 20, 34] = 0.5
    with torch.no_grad():
        wanted = network(images)[0].numpy()
    result = engine.run(tmp_path / "net.pt", images, "fused")
    assert result.form == "fp32, fused" and not result.notice
    assert (numpy.isnan(result.picture) == numpy.isnan(wanted)).all()
    assert numpy.nanmax(numpy.abs(result.picture - wanted)) <= 2e-5


@pytest.mark.parametrize("kind", [Overwritten, Out])
def test_what_is_overwritten_is_not_fused(kind, engine, tmp_path):
    network, images = seeded(kind()), torch.rand((1, 3, 24, 32)) * 4 - 1.5
    torch.jit.script(network).save(str(tmp_path / "net.pt"))
    result = expect_same(engine, tmp_path / "net.pt", network, images)
    assert "fused" not in result.form
    assert "optimize=fused cannot be used: it has no layers that fused programs know" in result.notice


@pytest.mark.parametrize("kind", [ManyParts, Unshuffled, Strides])
def test_numbers_without_sense_take_no_time(kind, engine, tmp_path):
    torch.jit.script(seeded(kind())).save(str(tmp_path / "net.pt"))
    start = time.monotonic()
    engine.run(tmp_path / "net.pt", torch.rand((1, 3, 24, 32)), "fused")
    assert time.monotonic() - start < 20


def fused_spread(engine, tmp_path, kernel, stride):
    network, images = seeded(Spread(kernel, stride)), torch.rand((1, 3, 5, 4))
    torch.jit.script(network).save(str(tmp_path / "net.pt"))
    return expect_same(engine, tmp_path / "net.pt", network, images)


@pytest.mark.parametrize("kernel, stride", [(2, 2), (3, 2), (4, 2), (4, 4), (5, 4), (8, 4), (1, 2)])
def test_phases_are_fused(kernel, stride, engine, tmp_path):
    assert fused_spread(engine, tmp_path, kernel, stride).form == "fp32, fused"


@pytest.mark.parametrize("kernel, stride", [(1, 16), ((16, 1), 16), (2, 16)])
def test_phases_that_are_mostly_zeros_are_not_fused(kernel, stride, engine, tmp_path):
    """They would be many times as many weights."""
    result = fused_spread(engine, tmp_path, kernel, stride)
    assert "it has no layers that fused programs know" in result.notice, result.form


def frames_of(path, count=6, **options):
    """What the filter makes of some frames, as bytes."""
    result = support.succeed(
        *pictures.raw_input("rgb24", 61, 43),
        *("-vf", support.dnn(path, tune=0, **options), "-f", "rawvideo", "-"),
        stdin=pictures.raw(pictures.make_frames("rgb24", 61, 43, count), "rgb24"),
    )
    assert not result.warnings
    return result


def test_in_the_filter(tmp_path):
    """Settings that must not matter do not; several threads take LibTorch's own form."""
    torch.jit.script(seeded(Larger())).save(str(tmp_path / "net.pt"))
    alone = frames_of(tmp_path / "net.pt", optimize="fused", workers=1, threads=1)
    assert "fp32, fused" in alone.stderr
    for options in ({"workers": 2}, {"batch_size": 3}, {"isolate": 0}):
        assert frames_of(tmp_path / "net.pt", optimize="fused", **options).stdout == alone.stdout
    threads = {"workers": 1, "threads": 2}
    assert (frames_of(tmp_path / "net.pt", optimize="fused", **threads).stdout ==
            frames_of(tmp_path / "net.pt", optimize="frozen", **threads).stdout)


class Shallow(nn.Module):
    """Looks three pixels far."""

    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3, 32, 3, 1, 1), nn.ReLU(), nn.Conv2d(32, 32, 3, 1, 1), nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.Conv2d(32, 3, 3, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x)


@pytest.mark.parametrize("bright", [1.0, 100.0, 1000.0, float("inf")])
def test_a_bright_sample_harms_none_in_bf16(bright, tmp_path):
    """Frames of floats may have highlights; what does not depend on one is as it was."""
    torch.jit.script(seeded(Shallow())).save(str(tmp_path / "net.pt"))
    frames = numpy.random.default_rng(5).random((3, 3, 40, 60), numpy.float32) * 0.5
    frames[1, :, 20, 30] = bright

    def run(**options):
        result = support.succeed(
            *pictures.raw_input("gbrpf32le", 60, 40),
            *("-vf", support.dnn(tmp_path / "net.pt", optimize="fused", **options)),
            *("-f", "rawvideo", "-pix_fmt", "gbrpf32le", "-"), stdin=frames.tobytes(),
        )  # fmt: skip
        return result, numpy.frombuffer(result.stdout, numpy.float32).reshape(frames.shape)

    result, made = run(precision="bf16")
    if "bf16, fused" not in result.stderr:
        pytest.skip("no fused programs in bf16 here")
    far = numpy.ones(frames.shape, bool)
    far[1, :, 17:24, 27:34] = False
    assert numpy.abs(made - run()[1])[far].max() < 0.01


class Wide(nn.Module):
    """For frames of 0 to 255."""

    def __init__(self):
        super().__init__()
        middle = [layer for _ in range(4) for layer in (nn.Conv2d(64, 64, 3, 1, 1), nn.ReLU())]
        self.layers = nn.Sequential(nn.Conv2d(3, 64, 3, 1, 1), *middle, nn.Conv2d(64, 3, 3, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x) * 0.1


def test_advice_of_bf16_counts_from_the_range(tmp_path):
    torch.jit.script(seeded(Wide())).save(str(tmp_path / "net.pt"))
    log = support.succeed(
        *("-f", "lavfi", "-i", "testsrc2=s=320x180", "-frames:v", 1),
        *("-vf", support.dnn(tmp_path / "net.pt", range=255, tune=3), "-f", "null", "-"),
    ).stderr
    found = re.search(r"precision=bf16 would be [\d.]+ times as fast, at ([\d.]+) dB to fp32", log)
    if not found:
        pytest.skip("bf16 is not much faster here")
    assert float(found[1]) >= 35


class Compact(nn.Module):
    """As nets of super resolution are: the result is the frame, and a little more."""

    def __init__(self):
        super().__init__()
        layers = [layer for _ in range(6) for layer in (nn.Conv2d(24, 24, 3, 1, 1), nn.PReLU(24))]
        self.body = nn.Sequential(nn.Conv2d(3, 24, 3, 1, 1), *layers, nn.Conv2d(24, 12, 3, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        large = functional.interpolate(x, scale_factor=2.0, mode="nearest")
        return 0.05 * functional.pixel_shuffle(self.body(x), 2) + large


class TwoParts(With):
    """A mean, which no program knows, stands between two of them."""

    def forward(self, x: Tensor) -> Tensor:
        a = functional.relu(self.second(functional.relu(self.first(x))))
        b = a * torch.sigmoid(a.mean((2, 3), keepdim=True))
        return 0.2 * self.last(functional.relu(self.second(b))) + x


def saved(network, tmp_path):
    torch.jit.script(seeded(network)).save(str(tmp_path / "net.pt"))
    return tmp_path / "net.pt"


def psnr(one, other):
    a, b = (numpy.frombuffer(data, "u1").astype(float) for data in (one, other))
    return 10 * numpy.log10(255**2 / numpy.square(a - b).mean())


def said_of_int8(stderr):
    """How many layers are in int8, of how many, and the PSNR that the log says."""
    found = re.search(r"int8, fused, (\d+) of (\d+) layers, ([\d.]+) dB PSNR from fp32", stderr)
    return int(found[1]), int(found[2]), float(found[3])


@pytest.mark.parametrize("kind, layers", [(Compact, 8), (TwoParts, 4), (Larger, 3)])
def test_int8(kind, layers, tmp_path):
    path = saved(kind(), tmp_path)
    made, plain = frames_of(path, precision="int8"), frames_of(path, optimize="fused")
    in_int8, of_all, decibel = said_of_int8(made.stderr)
    assert 0 < in_int8 <= of_all == layers
    assert decibel > 38
    assert made.stdout != plain.stdout
    assert psnr(made.stdout, plain.stdout) > 35


def test_int8_does_not_depend_on_settings(tmp_path):
    path = saved(Compact(), tmp_path)
    alone = frames_of(path, precision="int8", workers=1, threads=1)
    for options in ({"workers": 2}, {"batch_size": 3}, {"isolate": 0}, {"optimize": "fused"},
                    {"workers": 1, "threads": 2}):
        again = frames_of(path, precision="int8", **options)
        assert again.stdout == alone.stdout
        assert said_of_int8(again.stderr) == said_of_int8(alone.stderr)
    measured = support.succeed(
        *pictures.raw_input("rgb24", 61, 43),
        *("-vf", support.dnn(path, tune=2, precision="int8"), "-f", "rawvideo", "-"),
        stdin=pictures.raw(pictures.make_frames("rgb24", 61, 43, 6), "rgb24"),
    )
    assert measured.stdout == alone.stdout


def warned_of(path, **options):
    """What the filter makes of a frame, and its warnings."""
    result = support.succeed(
        *pictures.raw_input("rgb24", 61, 43),
        *("-vf", support.dnn(path, tune=0, **options), "-f", "rawvideo", "-"),
        stdin=pictures.raw(pictures.make_frames("rgb24", 61, 43, 1), "rgb24"),
    )
    return result.stdout, " ".join(result.warnings)


class Branches(With):
    def forward(self, x: Tensor) -> Tensor:
        a = self.first(x)
        if float(a.mean()) > 0.1:
            a = self.second(a)
        return self.last(a)


class Pooled(nn.Module):
    """Nothing in it is a layer of a fused program."""

    def forward(self, x: Tensor) -> Tensor:
        return functional.max_pool2d(x, 3, 1, 1)


@pytest.mark.parametrize("kind, options, reason", [
    (Overwritten, {}, "it has no layers that fused programs know"),
    (Pooled, {}, "it has no layers that fused programs know"),
    (Branches, {}, "the model branches on samples of pictures"),
    (Compact, {"optimize": "frozen"}, "only optimize=fused has it"),
])
def test_int8_that_cannot_be_had(kind, options, reason, tmp_path):
    path = saved(kind(), tmp_path)
    frame, warnings = warned_of(path, precision="int8", **options)
    assert f"precision=int8 cannot be used: {reason}; the model runs in fp32" in warnings
    assert frame == warned_of(path, **options)[0]


# Networks whose random weights make such numbers that another order of sums is too far off.
UNSTABLE = ("span-x4", "span-x2")
BRANCHING = ("rife-4.0", "rife-4.0-far")  # on samples


@pytest.mark.parametrize("name", ALL)
def test_networks(name, engine, tmp_path):
    case = ALL[name]
    network = randomise(case.make())
    save_safetensors(network.state_dict() | case.extras(), tmp_path / case.file)
    result = expect_same(engine, tmp_path / case.file, network, picture(case), 10 * case.tolerance)
    assert result.form == "fp32, fused" or name in UNSTABLE + BRANCHING, result.notice
