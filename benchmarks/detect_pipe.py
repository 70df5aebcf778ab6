#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Raw rgb24 frames in, boxes out, a YOLOv8 in between: detect_pipe.py MODEL WIDTH HEIGHT

What people write who have no filter: scale into a border, run, sort out doubles.  Nothing is left
out and nothing is tuned.  Says as ffmpeg does how many frames are done.
"""
import sys

import numpy
import torch
import torch.nn.functional as functional

LONGEST, MULTIPLE, GREY = 640, 32, 114 / 255
CONFIDENCE, IOU = 0.25, 0.45


def letterboxed(data, width, height):
    """The model's picture, its scale, and where in it the frame begins."""
    frame = torch.from_numpy(numpy.frombuffer(data, numpy.uint8).reshape(height, width, 3))
    picture = frame.permute(2, 0, 1).unsqueeze(0).float().div_(255)
    scale = LONGEST / max(width, height)
    size = round(height * scale), round(width * scale)
    picture = functional.interpolate(picture, size=size, mode="bilinear", align_corners=False)
    down, across = (-(-extent // MULTIPLE) * MULTIPLE - extent for extent in size)
    left, top = across // 2, down // 2
    border = (left, across - left, top, down - top)
    return functional.pad(picture, border, value=GREY), scale, left, top


def overlaps(box, others):
    start = torch.maximum(box[:2], others[:, :2])
    end = torch.minimum(box[2:], others[:, 2:])
    common = (end - start).clamp(min=0).prod(1)
    return common / ((box[2:] - box[:2]).prod() + (others[:, 2:] - others[:, :2]).prod(1) - common)


def surest(boxes, scores, labels):
    """The numbers of those that no surer one of their class covers."""
    order, kept = scores.argsort(descending=True), []
    while len(order):
        first, order = order[0], order[1:]
        kept.append(int(first))
        same = labels[order] == labels[first]
        order = order[~(same & (overlaps(boxes[first], boxes[order]) > IOU))]
    return kept


def find(model, data, width, height):
    picture, scale, left, top = letterboxed(data, width, height)
    rows = model(picture)[0].T
    scores, labels = rows[:, 4:].max(1)
    sure = scores >= CONFIDENCE
    rows, scores, labels = rows[sure], scores[sure], labels[sure]
    middles, extents = rows[:, :2], rows[:, 2:4]
    boxes = torch.cat([middles - extents / 2, middles + extents / 2], 1)
    kept = surest(boxes, scores, labels)
    boxes[:, 0::2] -= left
    boxes[:, 1::2] -= top
    boxes /= scale
    return boxes[kept].tolist(), scores[kept].tolist(), labels[kept].tolist()


def main():
    path, width, height = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    model = torch.jit.load(path).eval()
    size, frames = width * height * 3, 0
    with torch.no_grad():
        while len(data := sys.stdin.buffer.read(size)) == size:
            find(model, data, width, height)
            frames += 1
            print(f"frame={frames}\nprogress=continue", flush=True)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.exit(1)
