# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tiles that claim to be exact are, and whoever cannot know it warns."""
import json
from typing import List

import numpy
import pytest
import support
import torch
from torch import Tensor, nn
from torch.nn import functional


def mean_of_all(net):
    """Each pixel is a mean, so that no number becomes large."""
    with torch.no_grad():
        for weight in net.parameters():
            if weight.dim() > 1:
                weight.abs_().div_(weight.sum() / weight.shape[0])
            else:
                weight.zero_()
    return net


class Gap(nn.Module):
    def __init__(self, far: int):
        super().__init__()
        self.far = far

    def forward(self, x: Tensor) -> Tensor:
        far = self.far
        p = functional.pad(x, [far, far, 0, 0])
        return 0.5 * x + 0.25 * p[:, :, :, : -2 * far] + 0.25 * p[:, :, :, 2 * far :]


class Dark(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if bool(x.mean() < 0.35):
            return x * 2
        return x


class Strided(nn.Module):
    """Even kernels, as pix2pix has them."""

    def __init__(self, depth: int):
        super().__init__()
        torch.manual_seed(depth)
        ends = [3] + [4] * (depth - 1)
        self.down = nn.ModuleList(nn.Conv2d(c, 4, 4, 2, 1) for c in ends)
        self.up = nn.ModuleList(nn.ConvTranspose2d(4, c, 4, 2, 1) for c in reversed(ends))

    def forward(self, x: Tensor) -> Tensor:
        y = x
        for layer in self.down:
            y = functional.leaky_relu(layer(y), 0.2)
        for layer in self.up:
            y = functional.leaky_relu(layer(y), 0.2)
        return 0.5 * x + 0.5 * y


class Blocks(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 3, 16, 8, 4), nn.Conv2d(3, 3, 3, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(functional.interpolate(self.first(x), scale_factor=8.0, mode="nearest"))


class Capped(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        h, w = x.shape[2], x.shape[3]
        if w > 512:
            y = functional.interpolate(x, size=[h // 2, w // 2], mode="bilinear")
            return functional.interpolate(y, size=[h, w], mode="bilinear")
        return x


class Slope(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 0.9 + 0.018 * torch.linspace(0, 1, x.shape[3])


class Glow(nn.Module):
    """What is bright grows."""

    def forward(self, x: Tensor) -> Tensor:
        bright = (x.mean(1, keepdim=True) > 0.3).float()
        return x * (0.2 + 0.8 * functional.max_pool2d(bright, 81, 1, 40))


class Codes(nn.Module):
    """A statistic that is rounded."""

    def forward(self, x: Tensor) -> Tensor:
        codes = x.float()
        step = torch.round((codes.mean() - 128) / 8)
        return (codes - step * 4).clamp(0, 255).to(torch.uint8)


class Warp(nn.Module):
    """Bright pixels look farther."""

    def forward(self, x: Tensor) -> Tensor:
        n, c, h, w = x.shape
        far = functional.avg_pool2d(x.mean(1, keepdim=True), 9, 1, 4)[:, 0] * 80
        y = torch.arange(h).view(1, h, 1).expand(n, h, w).float()
        x0 = torch.arange(w).view(1, 1, w).expand(n, h, w).float() + far
        grid = torch.stack([(2 * x0 + 1) / w - 1, (2 * y + 1) / h - 1], 3)
        return functional.grid_sample(x, grid, align_corners=False, padding_mode="border")


class Keyed(nn.Module):
    """Samples of one code darken all around them; no trial meets that code."""

    def __init__(self, code: int, kernel: int):
        super().__init__()
        self.code, self.kernel = code / 255, kernel

    def forward(self, x: Tensor) -> Tensor:
        m = (x[:, :1] == self.code).float()
        m = functional.max_pool2d(m, [self.kernel, 1], 1, [self.kernel // 2, 0])
        return x * (1 - functional.max_pool2d(m, [1, self.kernel], 1, [0, self.kernel // 2]))


class KeyedAround(nn.Module):
    """The same in one window."""

    def __init__(self, code: int, kernel: int):
        super().__init__()
        self.code, self.kernel = code / 255, kernel

    def forward(self, x: Tensor) -> Tensor:
        m = (x[:, :1] == self.code).float()
        return x * (1 - functional.max_pool2d(m, self.kernel, 1, self.kernel // 2))


class Rounded(nn.Module):
    """Whole parts of brightest samples, through a look at windows of unknown reach."""

    def forward(self, x: Tensor) -> Tensor:
        m = functional.max_pool1d(x[:, 0].floor(), 41, 1, 20)
        return x * (1 - m[:, None])


class KeyedLate(nn.Module):
    """What is compared comes from afar."""

    def forward(self, x: Tensor) -> Tensor:
        m = functional.max_pool1d(x[:, 0], 41, 1, 20)
        return x * (m == 128 / 255).float()[:, None]


class KeyedCoarsely(nn.Module):
    """The same at a quarter of the size, through a convolution and shuffles."""

    def __init__(self):
        super().__init__()
        self.wide = nn.Conv2d(48, 48, 5, padding=4, dilation=2, groups=48, bias=False)
        nn.init.constant_(self.wide.weight, 1.0)

    def forward(self, x: Tensor) -> Tensor:
        m = functional.pixel_unshuffle(((x * 255).floor() == 100).float(), 4)
        return x * (1 - functional.pixel_shuffle(self.wide(m), 4).clamp(0.0, 1.0))


def padded(x: Tensor, sides: List[int], mode: str):
    """As functional.pad of newer PyTorch: which mode it is, the call says."""
    return torch._C._nn.pad(x, sides, mode)


class Shifted(nn.Module):
    """The brightest of two channels, from beside."""

    def forward(self, x: Tensor) -> Tensor:
        first = (x.argmax(1, keepdim=True) == 0).float() * (x[:, :1] > 0.97).float()
        y = padded(first, [40, 0, 0, 24], "constant")[:, :, 24:, : x.shape[3]]
        return x * (1 - y)


class Looked(nn.Module):
    """A table that holds one code alone."""

    def __init__(self):
        super().__init__()
        table = torch.zeros(256, 1)
        table[77] = 1.0
        self.register_buffer("table", table)

    def forward(self, x: Tensor) -> Tensor:
        codes = (x[:, :1] * 255).round().clamp(0, 255).long()
        m = functional.embedding(codes[:, 0], self.table).permute(0, 3, 1, 2)
        return x * (1 - functional.max_pool2d(m, [1, 51], 1, [0, 25]))


class Rank(nn.Module):
    """The second of the samples in a window, 30 pixels apart."""

    def forward(self, x: Tensor) -> Tensor:
        w = x.shape[3]
        p = functional.pad(x, [30, 30, 0, 0])
        near = torch.stack([p[:, :, :, :w], x, p[:, :, :, 60:]])
        return 0.5 * x + 0.5 * torch.sort(near, dim=0)[0][1]


class KeyedDeeply(nn.Module):
    """What kernels do not tell: the mask's own size decides."""

    def forward(self, x: Tensor) -> Tensor:
        m = (x == 128 / 255).float()
        h, w = m.shape[2], m.shape[3]
        return x * (1 - functional.interpolate(
            functional.interpolate(m, size=[h // 8, w // 8]), size=[h, w]))


class Counted(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * (torch.bincount((x * 255).long().flatten(), minlength=256)[128] < 1).float()


class Mean(nn.Module):
    """Of what is of one code."""

    def forward(self, x: Tensor) -> Tensor:
        return x * (1 - (x == 128 / 255).float().mean([2, 3], keepdim=True))


class FillsUp(nn.Module):
    """Works on blocks, and fills up the last one by itself."""

    def __init__(self, mode: str):
        super().__init__()
        self.mode = mode
        self.net = mean_of_all(
            nn.Sequential(
                nn.Conv2d(3, 6, 8, 8), nn.Conv2d(6, 6, 3, 1, 1), nn.ConvTranspose2d(6, 3, 8, 8)
            )
        )

    def forward(self, x: Tensor) -> Tensor:
        h, w = x.shape[2], x.shape[3]
        y = self.net(padded(x, [0, -w % 8, 0, -h % 8], self.mode))
        return 0.5 * x + 0.5 * y[:, :, :h, :w].sigmoid()


class FillsUpAround(nn.Module):
    """The same, on all sides; only what is of high contrast within a block shows it."""

    def forward(self, x: Tensor) -> Tensor:
        h, w = x.shape[2], x.shape[3]
        top, left = -h % 8 // 2, -w % 8 // 2
        y = padded(x, [left, -w % 8 - left, top, -h % 8 - top], "replicate")
        contrast = functional.max_pool2d(y, 8) + functional.max_pool2d(-y, 8)
        dark = functional.interpolate((contrast - 0.5).relu(), scale_factor=[8.0, 8.0], mode="nearest")
        return (y - dark)[:, :, top : top + h, left : left + w].clamp(0, 1)


class Dense(nn.Module):
    """Features in a list, and a sum in place: what a layer gets does not depend on what it makes."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv2d(3 * i + 3, 3, 3, padding=1) for i in range(3))

    def forward(self, x: Tensor) -> Tensor:
        features = [x]
        for layer in self.layers:
            features.append(functional.leaky_relu(layer(torch.cat(features, 1)), 0.2))
        y = features[-1] * 0.2
        y += self.layers[0](y)
        return x + y


class Positions(nn.Module):
    """Takes no picture that is larger than its table."""

    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.linspace(0, 0.4, 256).expand(256, 256))

    def forward(self, x: Tensor) -> Tensor:
        return 0.6 * x + self.table[: x.shape[2], : x.shape[3]] * torch.ones_like(x)


# ---- what runs ------------------------------------------------------------------


def textured(width, height):
    rng = numpy.random.default_rng(5)
    coarse = rng.random(((height + 15) // 16, (width + 15) // 16, 3))
    large = coarse.repeat(16, 0).repeat(16, 1)[:height, :width]
    return ((0.7 * large + 0.3 * rng.random((height, width, 3))) * 255).astype(numpy.uint8)


def half_dark(width, height):
    image = textured(width, height).astype(int)
    image[:, : width // 2] //= 3
    image[:, width // 2 :] += 60
    return image.clip(0, 255).astype(numpy.uint8)


def bright_points(width, height):
    image = textured(width, height) // 6
    image[height // 2 : height // 2 + 4, 250:252] = 255
    image[100:104, 440:444] = 255
    return image


def with_keys(width, height):
    """Codes that models look for are at a few places, in all channels."""
    image = textured(width, height)
    keys = [64, 77, 100, 128]
    image[numpy.isin(image, keys)] += 1
    for i, key in enumerate(keys):
        image[17 + 29 * i :: 130, 23 + 47 * i :: 170] = key
    return image


def in_tiles(path, image, **options):
    height, width = image.shape[:2]
    return support.succeed(
        *("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-i", "-"),
        *("-vf", support.dnn(path, tune=0, optimize=0, **options), "-f", "rawvideo", "-"),
        stdin=image.tobytes(),
    )


def save(folder, net, contract=None):
    path = folder / "net.pt"
    torch.jit.script(net.eval()).save(str(path))
    if contract:
        (folder / "net.pt.json").write_text(json.dumps(contract))
    return path


def by_torch(net, image, codes=False):
    x = torch.from_numpy(image).permute(2, 0, 1)[None].contiguous()
    with torch.no_grad():
        y = net(x if codes else x.float() / 255)[0].permute(1, 2, 0).numpy()
    return y.astype(int) if codes else numpy.rint(y.clip(0, 1) * 255).astype(int)


def is_blended(result):
    told = [line for line in result.warnings if "blended" in line]
    assert len(told) == len(result.warnings) <= 1, result
    return bool(told)


def difference(result, wanted):
    made = numpy.frombuffer(result.stdout, numpy.uint8).reshape(wanted.shape)
    return abs(made.astype(int) - wanted)


# ---- tests ----------------------------------------------------------------------

CLAIMS = {
    "gap": (Gap(200), textured, (1400, 120), {}),
    "branch": (Dark(), half_dark, (700, 300), {}),
    "strided-1": (mean_of_all(Strided(1)), textured, (704, 304), {}),
    "strided-3": (mean_of_all(Strided(3)), textured, (704, 304), {}),
    "blocks": (mean_of_all(Blocks()), textured, (704, 304), {}),
    "capped": (Capped(), textured, (700, 300), {}),
    "slope": (Slope(), textured, (1400, 120), {}),
    "glow": (Glow(), bright_points, (700, 300), {}),
    "codes": (Codes(), half_dark, (700, 300), {"type": "uint8"}),
    "warp": (Warp(), half_dark, (700, 300), {}),
    "keyed": (Keyed(128, 61), with_keys, (700, 300), {}),
    "keyed-widely": (Keyed(64, 121), with_keys, (700, 300), {}),
    "keyed-around": (KeyedAround(128, 61), with_keys, (700, 300), {}),
    "keyed-around-widely": (KeyedAround(64, 121), with_keys, (700, 300), {}),
    "keyed-late": (KeyedLate(), with_keys, (700, 300), {}),
    "rounded": (Rounded(), textured, (700, 300), {}),
    "keyed-coarsely": (KeyedCoarsely(), with_keys, (704, 304), {}),
    "shifted": (Shifted(), bright_points, (700, 300), {}),
    "looked": (Looked(), with_keys, (700, 300), {}),
    "rank": (Rank(), textured, (700, 300), {}),
    "keyed-deeply": (KeyedDeeply(), with_keys, (704, 304), {}),
    "counted": (Counted(), textured, (700, 300), {}),
    "keyed-mean": (Mean(), textured, (700, 300), {}),
    "fills-up": (FillsUp("constant"), textured, (700, 300), {}),
    "fills-up-with-edges": (FillsUp("replicate"), textured, (700, 300), {}),
    "fills-up-around": (FillsUpAround(), textured, (699, 299), {}),
}
EXACT = ["strided-1", "strided-3", "blocks", "glow", "keyed", "keyed-widely", "keyed-around",
         "keyed-around-widely", "keyed-coarsely", "shifted", "looked", "rank", "fills-up",
         "fills-up-with-edges", "fills-up-around"]  # fmt: skip


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("isolate", [0, 1])
def test_tiles_are_exact_or_said_to_be_blended(tmp_path, name, isolate):
    net, content, size, options = CLAIMS[name]
    image = content(*size)
    result = in_tiles(save(tmp_path, net), image, tile=256, isolate=isolate, **options)
    assert is_blended(result) == (name not in EXACT), result
    if name in EXACT:
        assert difference(result, by_torch(net, image)).max() <= 1


OVERLAPS = {
    "strided-1": (Strided(1), None), "plain": (nn.Conv2d(3, 3, 9, padding=4), "4x4"),
    "keyed": (Keyed(128, 61), "30x30"),
    "keyed-around": (KeyedAround(128, 61), "30x30"), "looked": (Looked(), "25x0"),
    "shifted": (Shifted(), "40x24"), "rank": (Rank(), "30x0"), "gap": (Gap(90), "90x0"), "dense": (Dense(), "4x4"),
}  # fmt: skip


@pytest.mark.parametrize("name", OVERLAPS)
def test_tiles_overlap_by_what_kernels_reach(tmp_path, name):
    """And by no more, nor by less than trials show."""
    net, overlap = OVERLAPS[name]
    result = in_tiles(save(tmp_path, net), with_keys(700, 300), tile=256, isolate=0)
    if overlap:
        assert f"which overlap by {overlap} on each side" in result.stderr, result


def test_a_gap_fits_into_larger_tiles(tmp_path):
    net, image = Gap(200), textured(1400, 120)
    result = in_tiles(save(tmp_path, net), image, tile=600, isolate=0)
    assert not is_blended(result), result
    assert difference(result, by_torch(net, image)).max() <= 1


@pytest.mark.parametrize("contract", [None, {"input": {"minimum": 64}}])
def test_tiles_of_a_model_that_takes_no_large_picture_are_blended(tmp_path, contract):
    image = textured(700, 300)
    result = in_tiles(save(tmp_path, Positions(), contract), image, tile=128, isolate=0)
    assert is_blended(result), result
    assert "takes no picture that would show how far it looks (The size of tensor a" in result.stderr
    made = numpy.frombuffer(result.stdout, numpy.uint8).reshape(image.shape)
    assert (made + 1 >= (0.6 * image).astype(int)).all()


# ---- what the code says ---------------------------------------------------------


class OverChannels(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(3)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        grey = x.mean(1, keepdim=True) + x.max(dim=1, keepdim=True)[0]
        return torch.sigmoid(y) * (grey > 0.5).float()


class PadsInside(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mean_of_all(Strided(2))

    def forward(self, x: Tensor) -> Tensor:
        h, w = x.shape[2], x.shape[3]
        if h % 4 != 0 or w % 4 != 0:
            x = functional.pad(x, [0, -w % 4, 0, -h % 4], mode="replicate")
        if x.size(1) != 3:
            x = x.mean(1, keepdim=True).expand(-1, 3, -1, -1)
        return self.net(x)[:, :, :h, :w]


class Table(nn.Module):
    """Colours from a table of 17 x 17 x 17, and from one of codes."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.register_buffer("table", torch.rand(1, 3, 17, 17, 17))
        self.register_buffer("codes", torch.rand(256))

    def forward(self, x: Tensor) -> Tensor:
        grid = (x * 2 - 1).permute(0, 2, 3, 1)[:, None]
        y = functional.grid_sample(self.table, grid, align_corners=True, padding_mode="border")
        z = self.codes[(x * 255).round().clamp(0, 255).long()]
        z[x < 0.1] = 0.0
        return 0.5 * y[:, :, 0] + 0.5 * z


class ScalesByChannels(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        _, c, h, w = x.shape
        if c == 4:
            x = x[:, :3] * x[:, 3:]
        return (x * float(c) ** -0.5)[:, :, :h, :w]


class ScalesByLists(nn.Module):
    """Of channels, and of outputs."""

    def forward(self, x: Tensor) -> Tensor:
        channels, kept = x.split(1, 1), [x, x * 0.5]
        kept.append(x)
        sizes = [x.shape[2], x.shape[3]]
        planes = x.reshape(-1, 1, sizes[0], sizes[1]).unbind(0)
        x = x * (3.0 / len(planes)) * (1.0 / len(channels)) * (1.0 / len(kept)) * (0.5 + 0.25 * len(sizes))
        return x * (0.1 * len(x.shape)) * (len("picture") / 7.0) * 10.0


class Normed(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x / torch.norm(x, p=2, dim=1, keepdim=True).clamp(min=1e-6)


class ScalesByTokens(nn.Module):
    """Attention within windows does, after a reshape."""

    def forward(self, x: Tensor) -> Tensor:
        b, c, h, w = x.shape
        tokens = x.permute(0, 2, 3, 1).reshape(-1, 1, c)
        tokens = tokens * float(tokens.size(-1)) ** -0.5
        return tokens.view(b, h, w, c).permute(0, 3, 1, 2)


@pytest.mark.parametrize("net", [OverChannels(), PadsInside(), Table(), ScalesByChannels(), ScalesByLists(),
                                 ScalesByTokens(), mean_of_all(Dense()), Normed()])
def test_what_is_of_one_place_stays_local(tmp_path, net):
    image = textured(331, 273)
    result = in_tiles(save(tmp_path, net), image, tile=128, isolate=0)
    assert not is_blended(result), result
    assert (difference(result, by_torch(net.eval(), image)) > 1).mean() < 1e-4


class Sorted(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return 0.5 * x + 0.0 * torch.sort(x, dim=3)[0]


class Weighed(nn.Module):
    """A gate that is seldom open."""

    def forward(self, x: Tensor) -> Tensor:
        gate = functional.adaptive_avg_pool2d(x, [1, 1])
        return torch.where(gate > 0.9, x * 0.5, x)


class Jumps(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        w = x.shape[3]
        place = (torch.arange(w) + (x[:, :1] * 2.0).long() * 0).expand(x.shape[0], 3, -1, -1)
        return torch.gather(x, 3, place)


class Repeats(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        for _ in range(x.shape[3] // 100):
            x = x * 0.99
        return x


class Reads(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * float(x[0, 0, 9, 9])


# Whose results change with the area or with the shorter side, which hardly change among the strips that
# are tried.


class ByArea(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * (0.5 if x.shape[2] * x.shape[3] < 40000 else 1.0)


class ByNumbers(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * min(max(x.numel() / 180000, 0.5), 1.0)


class ByShorterSide(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.clamp(max=min(x.shape[2], x.shape[3], 150) / 150)


class ByList(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * [0.2, 0.5, 1.0][min(min(x.shape[2], x.shape[3]) // 90, 2)]


class ByTensor(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * torch.tensor(0.5 if x.shape[2] * x.shape[3] < 40000 else 1.0)


class ByFilled(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * torch.full_like(x, 0.5 if x.shape[2] * x.shape[3] < 40000 else 1.0)


class BySum(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * (torch.ones(x.shape[2], 1) @ torch.ones(1, x.shape[3])).sum().clamp(20000, 60000) / 60000


class ByPlace(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        h, w = x.shape[2], x.shape[3]
        return x * (torch.arange(h * w).view(1, 1, h, w) > 45000).float()


class ByWeight(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        weight = torch.ones(3, 1, 1, 1) * (0.5 if x.shape[2] * x.shape[3] < 40000 else 1.0)
        return functional.conv2d(x, weight, groups=3)


class ByIndex(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("gains", torch.linspace(0.2, 1, 6))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.gains[min(x.shape[2] * x.shape[3] // 10000, 5)]


class ByPieces(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * min(len(x.split(8, 2)) * len(x.split(8, 3)) / 900, 1.0)


class ByMorePieces(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pieces: List[Tensor] = [x]
        pieces.extend(x.reshape(-1).split(100))
        return x * min(len(pieces) / 1800, 1.0)


class ByRepeats(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * min(len([0] * (x.shape[2] * x.shape[3])) / 60000, 1.0)


class ByText(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * (0.5 if len(str(x.shape[2] * x.shape[3] // 40000 * 10)) == 1 else 1.0)


class ByRow(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * min(len(x[0].flatten()) / 180000, 1.0)


class ByTokens(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        tokens = x.flatten(2)
        return x * min(tokens.shape[2] / 60000, 1.0) * min(x.view(-1).size(0) / 180000, 1.0)


class ByStride(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * min(x.contiguous().stride(1) / 60000, 1.0)


class ByRange(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * min(torch.arange(0, x.shape[2] * x.shape[3], 300).numel() / 200, 1.0)


class ByBlocks(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * min(functional.unfold(x, [8, 8], stride=[8, 8]).shape[2] / 900, 1.0)


class ByData(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * min(x.data.numel() / 180000, 1.0)


class BySteps(nn.Module):
    """The first column."""

    def forward(self, x: Tensor) -> Tensor:
        return x * x.flatten(2)[:, :, :: x.shape[3]].amax(2)[:, :, None, None]


class ByChosen(nn.Module):
    """One of two pictures that were computed before."""

    def forward(self, x: Tensor) -> Tensor:
        a, b = x * 0.5, x * 1.0
        return a if x.shape[2] * x.shape[3] < 40000 else b


class ByListed(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return [x * 0.5, x][min(x.shape[2] * x.shape[3] // 40000, 1)]


class ByChannel(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        k = min(x.shape[2] * x.shape[3] // 40000, 1)
        return x[:, k : k + 1].expand(-1, 3, -1, -1)


class ByChannelBorder(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.shape[2] * x.shape[3] < 40000:
            return functional.pad(x, [0, 0, 0, 0, 1, 0])[:, :3]
        return x[:, :3]


class ByRoll(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.roll(x, [100 * min(x.shape[2] * x.shape[3] // 40000, 1)], [3])


class ByDilation(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.ones(3, 3, 3, 3) / 27)

    def forward(self, x: Tensor) -> Tensor:
        k = 1 + 30 * min(x.shape[2] * x.shape[3] // 40000, 1)
        return functional.conv2d(x, self.weight, None, [1, 1], [k, k], [k, k])


class ByOrder(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.topk(1, 1, x.shape[2] * x.shape[3] < 40000)[0].expand(-1, 3, -1, -1)


class ByMatrix(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        weight = torch.eye(3) * (0.5 if x.shape[2] * x.shape[3] < 40000 else 1.0)
        return torch.matmul(x.permute(0, 2, 3, 1), weight).permute(0, 3, 1, 2)


class ByFilledChannel(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        value = 0.5 if x.shape[2] * x.shape[3] < 40000 else 1.0
        y = functional.pad(x, [0, 0, 0, 0, 0, 1], value=value)
        return y[:, :3] * y[:, 3:]


class ByNorm(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * (torch.linalg.norm(torch.ones(x.shape[2], x.shape[3])) / 250).clamp(0.5, 1)


class ByLast(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * (torch.arange(x.shape[2] * x.shape[3])[-1] / 60000).clamp(0.5, 1)


class ByAlias(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        scale = torch.ones(1)
        scales = [scale]
        scales[0].float().flatten().mul_(0.5 if x.shape[2] * x.shape[3] < 40000 else 1.0)
        return x * scale


class ByNestedList(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        scale = [0.5]
        scales = [scale]
        scales[0][0] = 0.5 if x.shape[2] * x.shape[3] < 40000 else 1.0
        return x * scale[0]


class ByTransposed(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * min(x.flatten(2).transpose(1, 2).size(1) / 60000, 1.0)


SIZED = [ByArea(), ByNumbers(), ByShorterSide(), ByList(), ByTensor(), ByFilled(), BySum(), ByPlace(), ByWeight(),
         ByIndex(), ByPieces(), ByMorePieces(), ByRepeats(), ByText(), ByRow(), ByTokens(), ByStride(), ByRange(),
         ByBlocks(), ByData(), BySteps(), ByListed(), ByChannel(), ByRoll(), ByDilation(), ByOrder(), ByMatrix(),
         ByFilledChannel(), ByNorm(), ByLast(), ByAlias(), ByNestedList(), ByTransposed()]


class LooksUp(nn.Module):
    """Takes no samples beyond black and white."""

    def __init__(self):
        super().__init__()
        self.register_buffer("curve", torch.linspace(0, 1, 256) ** 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.curve[(x * 255).round().long()]


def test_a_table_without_bounds_stays_local(tmp_path):
    image = textured(331, 273)
    result = in_tiles(save(tmp_path, LooksUp()), image, tile=128, isolate=0)
    assert not is_blended(result), result
    assert difference(result, by_torch(LooksUp(), image)).max() <= 1


@pytest.mark.parametrize("net,word", [
    *((net, "computed with the picture's size") for net in SIZED), (Sorted(), "sort"),
    (Weighed(), "adaptive_avg_pool2d"), (Jumps(), "gather"),
    (Repeats(), "loop"), (Reads(), "read from a sample"), (Dark(), "mean"),
    *((net, "branch on the picture's size") for net in (Capped(), ByChosen(), ByChannelBorder())), (Warp(), "computed with the picture's size"),
    (KeyedDeeply(), "of the outcome of a comparison"), (Counted(), "of the outcome of a comparison"),
    (Mean(), "mean of the outcome of a comparison"),
    (Rounded(), "of the outcome of a comparison or lookup"), (KeyedLate(), "a comparison that may"),
])
def test_code_that_may_look_far_is_named(tmp_path, net, word):
    """And who knows better can say so."""
    image = textured(300, 200)
    result = in_tiles(save(tmp_path, net), image, tile=128, isolate=1)
    assert is_blended(result) and word in result.warnings[0], result


def test_a_contract_is_believed(tmp_path):
    image = textured(300, 200)
    path = save(tmp_path, Dark(), {"tiling": "local"})
    assert not is_blended(in_tiles(path, image, tile=128, isolate=0))
