#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains shapes.pt, a detector of drawn shapes, and saves it as TorchScript with its contract.

Every picture that it learns from is drawn here, from a seed.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import detection_score
import drawn_training
import training
from drawn_shapes import SHAPES, draw_scene
from units import Residual, Unit

STRIDES = (8, 16, 32)
SIDE, SIDE_AT_FIRST, SIDE_HELD_OUT = 192, 128, 256
"""Of pictures: for the first half of the training they are made smaller, which is quicker."""

MOST = 8
"""Shapes of a picture."""

CONTRACT = {
    "task": "detect",
    "labels": list(SHAPES),
    "end2end": False,
    "author": "the ffmpeg-dnn-torch authors",
    "licence": "LGPL-2.1-or-later",
    "input": {"channels": 3, "order": "rgb", "range": [0, 1], "multiple": max(STRIDES)},
}

# --------------------------------------------------------------------- net


class Head(nn.Module):
    """Says for each cell of a grid what is there, and how far it reaches in cells."""

    def __init__(self, features: int, classes: int):
        super().__init__()
        self.kinds = nn.Sequential(Unit(features, features), nn.Conv2d(features, classes, 1))
        self.reaches = nn.Sequential(Unit(features, features), nn.Conv2d(features, 4, 1))
        nn.init.constant_(self.kinds[-1].bias, -5.0)
        nn.init.constant_(self.reaches[-1].bias, 1.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([F.softplus(self.reaches(x)), self.kinds(x)], 1)


class Detector(nn.Module):
    """Finds shapes at three scales, without anchors.

    Returns [n, 4 + classes, cells] as YOLOv8 does: middle, width and height in
    pixels, then the classes' probabilities. Width and height are multiples of 32.
    """

    def __init__(self, classes: int = len(SHAPES), shared: int = 36):
        super().__init__()
        self.start = nn.Sequential(Unit(3, 12, stride=2), Unit(12, 24, stride=2))
        self.fine = nn.Sequential(Unit(24, 40, stride=2), Residual(40), Residual(40))
        self.middle = nn.Sequential(Unit(40, 64, stride=2), Residual(64), Residual(64))
        self.coarse = nn.Sequential(Unit(64, 80, stride=2), Residual(80), Residual(80))
        self.coarse_in = Unit(80, shared, 1)
        self.middle_in = Unit(64 + shared, shared, 1)
        self.fine_in = Unit(40 + shared, shared, 1)
        self.head = Head(shared, classes)

    def decoded(self, found: torch.Tensor, stride: float) -> torch.Tensor:
        """What the head says of each cell, with the reaches to all sides as a box.

        It is stacked: of concatenations within each other LibTorch 2.6 makes a kernel that it
        never ends compiling.
        """
        left, top, right, bottom = found[:, 0], found[:, 1], found[:, 2], found[:, 3]
        columns = torch.arange(found.size(3), device=found.device).to(found.dtype)
        rows = torch.arange(found.size(2), device=found.device).to(found.dtype)
        x = columns.view(1, 1, -1) + 0.5 + (right - left) * 0.5
        y = rows.view(1, -1, 1) + 0.5 + (bottom - top) * 0.5
        rows_of_all = [x * stride, y * stride, (left + right) * stride, (top + bottom) * stride]
        rows_of_all.extend(found[:, 4:].unbind(1))
        return torch.stack(rows_of_all, 1).flatten(2)

    def cells(self, x: torch.Tensor) -> torch.Tensor:
        """The result with logits for probabilities."""
        fine = self.fine(self.start(x))
        middle = self.middle(fine)
        coarse = self.coarse_in(self.coarse(middle))
        wider = F.interpolate(coarse, scale_factor=2.0, mode="nearest")
        middle = self.middle_in(torch.cat([middle, wider], 1))
        wider = F.interpolate(middle, scale_factor=2.0, mode="nearest")
        fine = self.fine_in(torch.cat([fine, wider], 1))
        return torch.cat([self.decoded(self.head(fine), 8.0),
                          self.decoded(self.head(middle), 16.0),
                          self.decoded(self.head(coarse), 32.0)], 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found = self.cells(x)
        return torch.cat([found[:, :4], torch.sigmoid(found[:, 4:])], 1)


# -------------------------------------------------------------------- loss


def corners(boxes):
    """Of middle, width and height in dimension 1: left, top, right, bottom in the last."""
    x, y, width, height = boxes.unbind(1)
    return torch.stack([x - width / 2, y - height / 2, x + width / 2, y + height / 2], -1)


def overlap_of(a, b):
    """Intersection over union of boxes, and the same less what of the box around both is empty."""
    common = (torch.minimum(a[..., 2:], b[..., 2:]) - torch.maximum(a[..., :2], b[..., :2]))
    common = common.clamp(min=0).prod(-1)
    around = (torch.maximum(a[..., 2:], b[..., 2:]) - torch.minimum(a[..., :2], b[..., :2])).prod(-1)
    union = (a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1) - common
    overlap = common / union.clamp(min=1e-6)
    return overlap, overlap - (around - union) / around.clamp(min=1e-6)


def middles(side):
    """x and y of the middle of each cell."""
    grids = []
    for stride in STRIDES:
        at = (torch.arange(side // stride) + 0.5) * stride
        grids.append(torch.stack([at.repeat(len(at)), at.repeat_interleave(len(at))], -1))
    return torch.cat(grids)


@torch.no_grad()
def assigned(boxes, scores, points, truths, kinds, present, most=10):
    """Which shape each cell is to find, and how sure it should be.

    A shape takes the cells in it whose box and class fit best already; a cell that
    several want goes to the shape that its box overlaps most.
    """
    overlap, _ = overlap_of(truths.unsqueeze(2), boxes.unsqueeze(1))  # [n, shapes, cells]
    of_kind = torch.gather(scores.transpose(1, 2), 1,
                           kinds.unsqueeze(2).expand(-1, -1, scores.size(1)))
    room = torch.cat([points - truths[..., None, :2], truths[..., None, 2:] - points], -1)
    allowed = (room.amin(-1) > 0) & present.unsqueeze(2)
    fit = (of_kind.sqrt() * overlap.pow(4) + 1e-7) * allowed
    least = fit.topk(most, dim=2).values[..., -1:]
    fit = fit * ((fit >= least) & allowed)
    owner = (overlap * (fit > 0)).argmax(1, keepdim=True)
    fit = fit * torch.zeros_like(fit).scatter_(1, owner, 1)
    best_overlap = (overlap * (fit > 0)).amax(2, keepdim=True)
    sure = fit / fit.amax(2, keepdim=True).clamp(min=1e-9) * best_overlap
    return owner.squeeze(1), sure.amax(1), fit.amax(1) > 0


def loss_of(found, points, truths, kinds, present):
    boxes, logits = corners(found[:, :4]), found[:, 4:].transpose(1, 2)
    owner, sure, chosen = assigned(boxes, logits.sigmoid(), points, truths, kinds, present)
    total = sure.sum().clamp(min=1)
    cell_kinds = kinds.gather(1, owner)
    wanted = F.one_hot(cell_kinds, logits.size(2)) * (sure * chosen).unsqueeze(2)
    classes = F.binary_cross_entropy_with_logits(logits, wanted, reduction="sum") / total
    cell_truths = truths.gather(1, owner.unsqueeze(2).expand(-1, -1, 4))
    _, nearness = overlap_of(boxes[chosen], cell_truths[chosen])
    return classes + 3 * ((1 - nearness) * sure[chosen]).sum() / total


# ---------------------------------------------------------------- training


def draw_many(first_seed, count, side=SIDE):
    """Pictures, and their boxes and kinds with rows of zeros and -1 for what is not there."""
    pictures = torch.empty(count, 3, side, side, dtype=torch.uint8)
    boxes = torch.zeros(count, MOST, 4)
    kinds = torch.full((count, MOST), -1)
    for i in range(count):
        picture, found, which = draw_scene(first_seed + i, side, side)
        pictures[i] = torch.from_numpy(picture).permute(2, 0, 1)
        boxes[i, :len(found)] = torch.from_numpy(found)
        kinds[i, :len(found)] = torch.from_numpy(which)
    return pictures, boxes, kinds


def varied(pictures, boxes, rng):
    """Turned, mirrored, with their channels in random order, at times as a negative."""
    pictures = pictures[:, torch.from_numpy(rng.permutation(3))].float().div_(255)
    if rng.random() < 0.5:
        pictures = 1 - pictures
    if rng.random() < 0.5:
        pictures, boxes = pictures.transpose(2, 3), boxes[..., [1, 0, 3, 2]]
    if rng.random() < 0.5:
        pictures = pictures.flip(3)
        boxes = torch.stack([SIDE - boxes[..., 2], boxes[..., 1],
                             SIDE - boxes[..., 0], boxes[..., 3]], -1)
    if rng.random() < 0.5:
        pictures = pictures.flip(2)
        boxes = torch.stack([boxes[..., 0], SIDE - boxes[..., 3],
                             boxes[..., 2], SIDE - boxes[..., 1]], -1)
    return pictures, boxes


def resized(pictures, boxes, side):
    if side != SIDE:
        pictures = F.interpolate(pictures, (side, side), mode="bilinear", antialias=True)
    return pictures.contiguous(memory_format=torch.channels_last), boxes * (side / SIDE)


def loss_with(drawn, options):
    def loss(net, chosen, rng, step):
        side = SIDE_AT_FIRST if step <= options.steps // 2 else SIDE
        pictures, boxes = resized(*varied(drawn[0][chosen], drawn[1][chosen], rng), side)
        kinds = drawn[2][chosen]
        return loss_of(net.cells(pictures), middles(side), boxes, kinds.clamp(min=0), kinds >= 0)

    return loss


# ------------------------------------------------------------------ report


def found_by(net, pictures, least=0.001):
    """Boxes, scores and kinds of each picture, without doubles."""
    for picture in pictures:
        with torch.no_grad():
            result = net(picture[None].float() / 255)
        boxes = corners(result[:, :4])[0].numpy().clip(0, SIDE_HELD_OUT)
        cells, kinds = np.nonzero(result[0, 4:].t().numpy() > least)
        scores = result[0, 4:].t().numpy()[cells, kinds]
        kept = detection_score.suppressed(boxes[cells], scores, kinds)
        yield boxes[cells][kept], scores[kept], kinds[kept]


def table_of(net, count):
    """The average precision on pictures held out, for each limit of overlap and each class."""
    pictures, boxes, kinds = draw_many(training.HELD_OUT_SEED, count, SIDE_HELD_OUT)
    wanted = [(b[k >= 0].numpy(), k[k >= 0].numpy()) for b, k in zip(boxes, kinds)]
    return detection_score.mean_average_precision(
        list(found_by(net, pictures)), wanted, len(SHAPES))


def report(net, count=200):
    table = table_of(net, count)
    print(f"{count} pictures: mAP@0.5 {table[0].mean():.3f}  mAP@0.5:0.95 {table.mean():.3f}")
    for kind, name in enumerate(SHAPES):
        print(f"  {name:10} AP@0.5 {table[0, kind]:.3f}  AP@0.5:0.95 {table[:, kind].mean():.3f}")


def main():
    options = drawn_training.options_of(__doc__.splitlines()[0], "models/shapes.pt",
                                        steps=2600, rate=3e-3, batch=8).parse_args()
    drawn_training.train_and_save(Detector, options, draw_many,
                                  lambda drawn: loss_with(drawn, options), CONTRACT, report,
                                  largest_gradient=10)


if __name__ == "__main__":
    main()
