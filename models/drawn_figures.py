# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scenes with drawn persons, each from a seed, and the matte that cuts the persons out.

A person is 2 high: the crown is at y -1, the soles are at 1. Needs nothing but numpy.
"""

import dataclasses
import math

import numpy as np

from drawn_shapes import (Paint, Scene, background, capsule, colour, cover, covered_by, photographed,
                          random_shape, reach_of)

SKINS = np.array([[0.98, 0.85, 0.74], [0.9, 0.72, 0.56], [0.72, 0.52, 0.37], [0.45, 0.3, 0.2]],
                 np.float32)


@dataclasses.dataclass
class Pose:
    """Angles of upper and lower arms and legs from straight down, outwards, in radians; left, right."""

    upper_arms: tuple
    lower_arms: tuple
    upper_legs: tuple
    lower_legs: tuple


@dataclasses.dataclass
class Figure:
    centre: np.ndarray  # y, x
    size: float  # half its height in pixels
    lean: float
    build: float  # how thick arms, legs and body are
    pose: Pose
    skin: np.ndarray
    hair: np.ndarray
    hair_length: float
    shoes: np.ndarray
    shirt: Paint
    trousers: Paint
    sleeves: bool


def random_paint(rng):
    kind = str(rng.choice(("even", "ramp", "stripes", "spots"), p=(0.5, 0.2, 0.2, 0.1)))
    return Paint(colour(rng), colour(rng), kind, rng.uniform(0, 7), rng.uniform(8, 24))


def random_pose(rng):
    def pair(low, high):
        return tuple(rng.uniform(low, high, 2))

    upper_arms = pair(-0.2, 2.8) if rng.random() < 0.5 else pair(0, 0.6)
    bend = rng.uniform(-0.3, 1.5, 2)
    upper_legs = pair(-0.15, 0.5)
    return Pose(upper_arms, tuple(a + b for a, b in zip(upper_arms, bend)), upper_legs,
                tuple(a - b for a, b in zip(upper_legs, rng.uniform(-0.1, 0.5, 2))))


def random_figure(rng, height, width):
    """Often with the legs beyond the picture's lower edge, as people are filmed."""
    size = math.exp(rng.uniform(math.log(0.22), math.log(0.85))) * height
    middle = rng.uniform(0.35, 0.75) if rng.random() < 0.5 else 0.25 + size / height
    skin = SKINS[rng.integers(len(SKINS))] + rng.normal(0, 0.03, 3)
    return Figure(centre=np.array([middle * height, rng.uniform(0.05, 0.95) * width]), size=size,
                  lean=rng.normal(0, 0.12), build=rng.uniform(0.85, 1.3), pose=random_pose(rng),
                  skin=np.clip(skin, 0, 1).astype(np.float32), hair=colour(rng) * np.float32(0.7),
                  hair_length=rng.uniform(-0.1, 0.35), shoes=colour(rng),
                  shirt=random_paint(rng), trousers=random_paint(rng),
                  sleeves=bool(rng.random() < 0.6))


def limb(start, angles, lengths, side):
    """The joint and the end of an arm or a leg; side is -1 or 1."""
    points = [start]
    for angle, length in zip(angles, lengths):
        y, x = points[-1]
        points.append((y + length * math.cos(angle), x + side * length * math.sin(angle)))
    return points


def legs(figure, y, x):
    thick = 0.085 * figure.build
    for i, side in enumerate((-1, 1)):
        hip, knee, foot = limb((0.12, side * 0.09), (figure.pose.upper_legs[i],
                               figure.pose.lower_legs[i]), (0.42, 0.4), side)
        toe = (foot[0], foot[1] + side * 0.1)
        yield capsule(y, x, foot, toe, 0.06), figure.shoes
        yield np.minimum(capsule(y, x, hip, knee, thick),
                         capsule(y, x, knee, foot, 0.8 * thick)), figure.trousers


def arms(figure, y, x):
    thick = 0.06 * figure.build
    for i, side in enumerate((-1, 1)):
        shoulder, elbow, hand = limb((-0.46, side * 0.2 * figure.build),
                                     (figure.pose.upper_arms[i], figure.pose.lower_arms[i]),
                                     (0.3, 0.28), side)
        lower = figure.shirt if figure.sleeves else figure.skin
        yield capsule(y, x, hand, hand, 1.15 * thick), figure.skin
        yield capsule(y, x, elbow, hand, 0.8 * thick), lower
        yield capsule(y, x, shoulder, elbow, thick), figure.shirt


def body(figure, y, x):
    wide = 0.12 * figure.build
    chest = capsule(y, x, (-0.42, -wide * 0.8), (-0.42, wide * 0.8), 0.11)
    waist = capsule(y, x, (-0.38, 0), (0.1, 0), 1.25 * wide)
    yield capsule(y, x, (-0.7, 0), (-0.45, 0), 0.065), figure.skin
    yield np.minimum(chest, waist), figure.shirt
    yield np.maximum(np.minimum(chest, waist), 0.06 - y), figure.trousers


def head(figure, y, x):
    face = capsule(y, x, (-0.82, 0), (-0.76, 0), 0.135)
    if figure.hair_length > 0:
        yield capsule(y, x, (-0.83, 0), (-0.83 + figure.hair_length, 0), 0.17), figure.hair
    yield face, figure.skin
    yield np.maximum(face - 0.02, y + 0.84 + 0.3 * np.abs(x)), figure.hair
    for side in (-1, 1):
        eye = (-0.79, side * 0.05)
        yield capsule(y, x, eye, eye, 0.018), np.zeros(3, np.float32)
    yield capsule(y, x, (-0.7, -0.03), (-0.7, 0.03), 0.01), figure.skin * np.float32(0.5)


def draw_figure(picture, matte, figure):
    """Paints a person over the picture, and white where it is over the matte."""
    height, width = picture.shape[:2]
    place, y, x = reach_of(figure.centre, 1.4 * figure.size, height, width)
    y, x = (y - figure.centre[0]) / figure.size, (x - figure.centre[1]) / figure.size
    cos, sin = math.cos(figure.lean), math.sin(figure.lean)
    y, x = y * cos - x * sin, x * cos + y * sin
    for part in (legs, body, arms, head):
        for distance, painted in part(figure, y, x):
            covered = covered_by(distance * figure.size).astype(np.float32)
            colours = painted.colours(y, x) if isinstance(painted, Paint) else painted
            cover(picture, place, covered, colours)
            matte[place] = np.maximum(matte[place], covered)


def draw_scene(seed, height, width):
    """RGB bytes, and the matte as bytes: up to two persons among shapes."""
    rng = np.random.default_rng(seed)
    scene = Scene(background(rng, height, width))
    for _ in range(int(rng.integers(0, 5))):
        scene.add(random_shape(rng, height, width), rng)
    picture, matte = scene.picture, np.zeros((height, width), np.float32)
    for _ in range(rng.choice(3, p=(0.08, 0.72, 0.2))):
        draw_figure(picture, matte, random_figure(rng, height, width))
    return photographed(picture, rng), np.rint(matte * 255).astype(np.uint8)
