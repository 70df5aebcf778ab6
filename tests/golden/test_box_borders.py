# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which pixels of a box dnn_torch_classify shows to its model, against numpy.

DNN_TORCH_BOXES=N draws N frames with boxes.
"""
import dataclasses
import json
import math
import os
import random

import numpy
import pictures
import pytest
import support
import torch
from classifiers import classify
from detectors import Same, detect, save
from torch import Tensor, nn

# Few enough for each change.
FRAMES = int(os.environ.get("DNN_TORCH_BOXES", "5"))
BOXES = 12
SIZE = (23, 17)  # of a picture that is not scaled
SIDE = 96  # of the model's picture: no box is larger, so that none is made smaller
FORMATS = ["gray", "gray10le", "gray16le", "grayf32le", "rgb24", "rgb48le", "gbrp", "gbrp10le", "gbrp16le",
           "gbrpf32le", "rgba", "gbrap16le", "yuv420p", "nv12", "yuv422p10le", "yuv420p10le", "yuv420p16le",
           "yuva444p10le", "yuv411p", "p010le"]  # fmt: skip


class Ramps(nn.Module):
    """Where a picture lies in ramps: the means of red and green, and how much they rise."""

    def forward(self, x: Tensor) -> Tensor:
        red, green = x[:, 0], x[:, 1]
        across, down = red.mean(1), green.mean(2)
        means = torch.stack([red.flatten(1).mean(1), green.flatten(1).mean(1)], 1)
        rises = torch.stack([across[:, -1] - across[:, 0], down[:, -1] - down[:, 0]], 1)
        return torch.cat([means, rises], 1)


class Corners(nn.Module):
    """The green of a picture's four corners."""

    def forward(self, x: Tensor) -> Tensor:
        green = x[:, 1]
        return torch.stack([green[:, 0, 0], green[:, 0, -1], green[:, -1, 0], green[:, -1, -1]], 1)


@dataclasses.dataclass
class Drawn:
    pixel_format: str
    size: tuple
    boxes: list  # left, top, right, bottom


# ---- drawing ------------------------------------------------------------------------------


def draw_box(dice, width, height):
    kind = dice.randrange(8)
    if kind == 0:  # all of it, and more
        over = dice.choice([0, 0.4, 3, 1e4])
        return [-over, -over, width + over, height + over]
    left, top = dice.randrange(width), dice.randrange(height)
    if kind == 1:  # one pixel
        return [left, top, left + 1, top + 1]
    if kind == 2:  # nothing, or less than a pixel
        less = dice.choice([0, 0.2, 0.7])
        return [left + 0.1, top + 0.1, left + 0.1 + less, top + 0.1 + less]
    if kind == 3:  # beyond an edge
        far = dice.choice([0.3, 1, 7, 1e6])
        return dice.choice([[-far, top, left + 1, height + far], [left, -far, width + far, top + 1]])
    if kind == 4:  # outside
        far = dice.choice([0.2, 1, 30])
        return dice.choice([[width + far, top, width + far + 9, top + 5], [left, -far - 8, left + 6, -far]])
    right, bottom = dice.randint(left + 1, width), dice.randint(top + 1, height)
    if kind == 5:  # between pixels
        return [left + dice.random() * 0.9, top + dice.random() * 0.9, right - 0.02, bottom - 0.02]
    return [left, top, right, bottom]


def draw(seed):
    dice = random.Random(seed)
    size = tuple(dice.randint(1, 9) if dice.random() < 0.2 else dice.randint(10, most) for most in (72, 60))
    return Drawn(FORMATS[seed % len(FORMATS)], size, [draw_box(dice, *size) for _ in range(BOXES)])


# ---- its frame, and what has to come ---------------------------------------------------------


def is_luma(pixel_format):
    return pictures.FORMATS[pixel_format].seen == "y"


def has_range(pixel_format):
    """Whether black is 16 of 255."""
    return is_luma(pixel_format) and pictures.has_chroma(pixel_format)


def ramps_of(drawn):
    """The frame: two codes of 8 bits more with each pixel."""
    width, height = drawn.size
    x, y = numpy.meshgrid(numpy.arange(width), numpy.arange(height))
    codes = [2 * x + y] if is_luma(drawn.pixel_format) else [2 * x, 2 * y, 0 * x]
    layout = pictures.FORMATS[drawn.pixel_format]
    codes = numpy.stack(codes) + (16 if has_range(drawn.pixel_format) else 0)
    frame = pictures.make_frame(drawn.pixel_format, width, height, 1)
    if layout.is_float:
        frame.image = (codes / 255).astype(numpy.float32)
    elif has_range(drawn.pixel_format):
        frame.image = (codes << (layout.depth - 8)).astype(layout.kind)
    else:
        frame.image = numpy.rint(codes * (layout.white / 255)).astype(layout.kind)
    frame.chroma = [numpy.full_like(plane, 1 << (layout.depth - 1)) for plane in frame.chroma]
    return frame


def pixels_between(begin, end, limit, unit):
    """As docs/classify.md has it: at least one pixel, and none outside; a sample of chroma is not cut."""
    if begin >= limit or end <= 0:
        return None
    first = math.floor(min(max(begin, 0), limit - 1) + 0.5)
    last = max(math.floor(min(max(end, 0), limit) + 0.5), first + 1)
    return first - first % unit, last


def wanted_of(drawn, box):
    """What Ramps says of that box, in codes; None: it is not classified."""
    units = pictures.FORMATS[drawn.pixel_format].chroma or (1, 1)
    across, down = (pixels_between(box[axis], box[axis + 2], drawn.size[axis], units[axis]) for axis in (0, 1))
    if not across or not down:
        return None
    x, y = sum(across) - 1, sum(down) - 1  # twice the middle
    wide, high = across[1] - across[0] - 1, down[1] - down[0] - 1
    if is_luma(drawn.pixel_format):
        return [x + y / 2, x + y / 2, 2 * wide, high]
    return [x, y, 2 * wide, 2 * high]


def clipped(box, size):
    return [min(box[axis + 2], size[axis]) - max(box[axis], 0) for axis in (0, 1)]


# ---- running it -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ramps(tmp_path_factory):
    return save(Ramps(), tmp_path_factory.mktemp("ramps") / "ramps.pt")


@pytest.fixture(scope="module")
def corners(tmp_path_factory):
    return save(Corners(), tmp_path_factory.mktemp("corners") / "corners.pt")


def things_of(folder, boxes, model, size, frame, pixel_format):
    """What the filters say of one frame, by the number of the box."""
    rows = [[*box, 0.9, number] for number, box in enumerate(boxes)]
    finder = detect(save(Same(rows), folder / "same.pt"), decoder="boxes", size="frame", iou=1, tune=0)
    classifier = classify(model, size=size, tune=0, top=4, scores="plain", on="boxes")
    clip, out = folder / "clip.raw", folder / "found.jsonl"
    clip.write_bytes(pictures.raw([frame], pixel_format))
    graph = f"{finder},{classifier}:destination={support.escape_graph(out)}"
    support.succeed(*pictures.raw_input(pixel_format, *frame.size, path=clip),
                    *("-noauto_conversion_filters", "-vf", graph, "-f", "null", "-"))
    return {int(thing["label"]): thing for thing in json.loads(out.read_text())["things"]}


def said_of(thing, scale):
    """The model's four numbers, from a record."""
    scores = {each["label"]: each["confidence"] * scale for each in thing["classes"]}
    return [scores[str(number)] for number in range(4)]


@pytest.mark.parametrize("seed", range(FRAMES))
def test_boxes_at_borders(ramps, tmp_path, seed):
    drawn = draw(seed)
    things = things_of(tmp_path, drawn.boxes, ramps, SIDE, ramps_of(drawn), drawn.pixel_format)
    scale = 219 if has_range(drawn.pixel_format) else 255
    for number, box in enumerate(drawn.boxes):
        wanted = wanted_of(drawn, box)
        if number not in things:
            # docs/detection.md: a box that is outside or thinner than half a pixel is dropped.
            assert not wanted or min(clipped(box, drawn.size)) < 0.5, (drawn, number)
            continue
        assert wanted, (drawn, number)
        # A pixel more or less is 0.5 of a mean and 1 of a rise.
        assert numpy.abs(numpy.subtract(said_of(things[number], scale), wanted)).max() < 0.4, (drawn, number)


def exact_boxes(dice, width, height):
    """Boxes of the model's size, some at the frame's edges."""
    across, down = width - SIZE[0], height - SIZE[1]
    places = [(0, 0), (across, 0), (0, down), (across, down)]
    places += [(dice.randint(0, across), dice.randint(0, down)) for _ in range(BOXES)]
    return [[x, y, x + SIZE[0], y + SIZE[1]] for x, y in places]


def check_corners(folder, model, boxes, frame, pixel_format):
    things = things_of(folder, boxes, model, "x".join(map(str, SIZE)), frame, pixel_format)
    assert sorted(things) == list(range(len(boxes)))
    green = frame.image[len(frame.image) // 2] / pictures.FORMATS[pixel_format].white
    for number, (left, top, right, bottom) in enumerate(boxes):
        part = green[top:bottom, left:right]
        wanted = [part[0, 0], part[0, -1], part[-1, 0], part[-1, -1]]
        assert numpy.abs(numpy.subtract(said_of(things[number], 1), wanted)).max() < 1e-4, (number, boxes[number])


@pytest.mark.parametrize("pixel_format", ["gbrp", "gbrp10le", "gbrp16le", "gbrpf32le", "rgb24", "rgb48le", "gray16le"])
def test_pixels_of_boxes(corners, tmp_path, pixel_format):
    """Without scaling, bit for bit as far as records tell."""
    dice, layout = random.Random(1), pictures.FORMATS[pixel_format]
    frame = pictures.make_frame(pixel_format, 71, 45, 1)
    noise = numpy.random.default_rng(1).random(frame.image.shape)
    frame.image = (noise if layout.is_float else numpy.rint(noise * layout.white)).astype(layout.kind)
    check_corners(tmp_path, corners, exact_boxes(dice, 71, 45), frame, pixel_format)
