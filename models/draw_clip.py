#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws a clip of moving shapes or of walking persons, and writes it as PPM pictures for ffmpeg.

    draw_clip.py shapes | ffmpeg -f image2pipe -framerate 25 -c:v ppm -i - clip.mp4
"""

import argparse
import json
import math
import sys

import numpy as np

from drawn_figures import Pose, draw_figure, random_figure
from drawn_shapes import SHAPES, Scene, background, paint_unlike, random_shape

FIRST_SEED = 20_000_000
"""Of clips; no net has learned from these seeds, nor was any scored on them."""


def folded(position, extent):
    """Where something is that turns back at both ends."""
    return np.abs(np.mod(position + extent, 2 * extent) - extent)


class MovingShapes:
    """One of each kind and more; they bounce off the edges, turn and pulsate."""

    def __init__(self, rng, height, width, count):
        self.ground = background(rng, height, width)
        self.extent = np.array([height, width])
        self.shapes, self.ways, self.turns = [], [], []
        for i in range(count):
            shape = random_shape(rng, height, width)
            shape.kind, shape.size = i % len(SHAPES), rng.uniform(0.07, 0.17) * height
            shape.centre = rng.uniform(0.1, 0.9, 2) * self.extent
            mean = self.ground.mean((0, 1))
            shape.paint, shape.rim_paint = paint_unlike(mean, rng), paint_unlike(mean, rng)
            self.shapes.append(shape)
            self.ways.append(rng.uniform(-0.008, 0.008, 2) * height)
            self.turns.append(rng.uniform(-0.05, 0.05))
        self.starts = [(s.centre.copy(), s.turn, s.size) for s in self.shapes]

    def frame(self, number):
        """A picture, and its boxes and kinds."""
        scene = Scene(self.ground.copy())
        for i, (shape, (centre, turn, size)) in enumerate(zip(self.shapes, self.starts)):
            shape.centre = folded(centre + number * self.ways[i], self.extent)
            shape.turn = turn + number * self.turns[i]
            shape.size = size * (1 + 0.15 * math.sin(0.06 * number + i))
            scene.draw(shape)
        return scene.picture, *scene.truth()


class Walkers:
    """Persons who go to and fro and swing their arms; one waves."""

    def __init__(self, rng, height, width, count):
        self.ground = background(rng, height, width)
        self.width = width
        self.figures = [random_figure(rng, height, width) for _ in range(count)]
        for i, figure in enumerate(self.figures):
            figure.size = rng.uniform(0.36, 0.44) * height
            figure.centre = np.array([0.96 * height - figure.size, width * (i + 1) / (count + 1)])
            figure.lean = 0.0
        self.starts = [figure.centre.copy() for figure in self.figures]

    def pose(self, phase, waves):
        step = 0.35 * math.sin(phase)
        arms = (-0.8 * step + 0.15, 0.8 * step + 0.15)
        lower = (arms[0] + 0.2, arms[1] + 0.2)
        if waves:
            arms, lower = (arms[0], 2.0), (lower[0], 2.6 + 0.5 * math.sin(2 * phase))
        legs = (abs(step) + 0.03, abs(step) + 0.03)
        return Pose(arms, lower, legs, (legs[0] - 0.1, legs[1] - 0.1))

    def frame(self, number):
        """A picture; boxes and kinds are of shapes, and there are none."""
        picture = self.ground.copy()
        matte = np.zeros(picture.shape[:2], np.float32)
        for i, (figure, start) in enumerate(zip(self.figures, self.starts)):
            sway = 0.12 * self.width * math.sin(0.02 * number + 2 * i)
            figure.centre = start + (0, sway)
            figure.pose = self.pose(0.16 * number + i, waves=i == 0)
            draw_figure(picture, matte, figure)
        return picture, np.zeros((0, 4)), np.zeros(0, np.int64)


def write_frame(picture, stream):
    samples = np.rint(np.clip(picture, 0, 1) * 255).astype(np.uint8)
    stream.write(f"P6 {samples.shape[1]} {samples.shape[0]} 255\n".encode() + samples.tobytes())


def record_of(number, boxes, kinds):
    """What a line of the truth says: "frame", and of each shape its "label" and its "box"."""
    found = [{"label": SHAPES[kind], "box": [round(float(side), 2) for side in box]}
             for box, kind in zip(boxes, kinds)]
    return json.dumps({"frame": number, "objects": found})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("shapes", "persons"))
    parser.add_argument("--size", default="640x360", metavar="WxH")
    parser.add_argument("--frames", type=int, default=150)
    parser.add_argument("--count", type=int, help="of shapes or persons; 8 and 2 if not given")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--truth", metavar="FILE",
                        help="gets one line of JSON for each frame: left, top, right, bottom")
    options = parser.parse_args()
    width, height = (int(side) for side in options.size.split("x"))
    kind, count = (MovingShapes, 8) if options.what == "shapes" else (Walkers, 2)
    clip = kind(np.random.default_rng(FIRST_SEED + options.seed), height, width,
                options.count or count)
    lines = []
    for number in range(options.frames):
        picture, boxes, kinds = clip.frame(number)
        write_frame(picture, sys.stdout.buffer)
        lines.append(record_of(number, boxes, kinds) + "\n")
    if options.truth:
        with open(options.truth, "w", encoding="utf-8") as file:
            file.writelines(lines)


if __name__ == "__main__":
    main()
