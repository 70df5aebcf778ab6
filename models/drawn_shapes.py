# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scenes of drawn shapes and figures, each from a seed, and where in them the shapes are.

Colours are fractions of white, coordinates are pixels, (0, 0) is the upper left corner of the
first pixel. Needs nothing but numpy.
"""

import dataclasses
import math

import numpy as np

SHAPES = ("circle", "square", "triangle", "star", "cross", "heart")
SMALLEST, LARGEST = 16, 200
"""Pixels that a shape is wide, about."""

SEEN_AT_LEAST = 0.55
"""Share of a shape that neither another one nor the picture's edge may take away."""


# ------------------------------------------------------------- signed distances


def circle(y, x):
    return np.hypot(y, x) - 1


def square(y, x):
    return np.maximum(np.abs(y), np.abs(x)) - 0.85


def triangle(y, x):
    """With equal sides, one of them below."""
    return np.maximum(y, 0.5 * (math.sqrt(3) * np.abs(x) - y)) - 0.55


def star(y, x):
    """Five tips, by folding the plane into half a tip."""
    tenth = math.pi / 5
    angle = np.abs(np.mod(np.arctan2(x, -y) + tenth, 2 * tenth) - tenth)
    along, across = np.hypot(y, x) * np.cos(angle), np.hypot(y, x) * np.sin(angle)
    notch = 0.42 * np.array([math.cos(tenth), math.sin(tenth)])
    edge = np.array([notch[1], 1 - notch[0]]) / math.hypot(notch[1], 1 - notch[0])
    return (along - 1) * edge[0] + across * edge[1]


def cross(y, x):
    y, x = np.abs(y), np.abs(x)
    return np.minimum(np.maximum(y - 1, x - 0.3), np.maximum(y - 0.3, x - 1))


def heart(y, x):
    """A square on its tip, with a circle on each of its upper sides."""
    half = 0.58
    tip = (np.abs(x) + np.abs(y - 0.2)) / math.sqrt(2) - half
    lobe = np.hypot(np.abs(x) - half / math.sqrt(2), y - 0.2 + half / math.sqrt(2)) - half
    return np.minimum(tip, lobe)


DISTANCES = {f.__name__: f for f in (circle, square, triangle, star, cross, heart)}


def capsule(y, x, start, end, radius):
    """A line from start to end, each (y, x), that is as thick as twice the radius."""
    way = (end[0] - start[0], end[1] - start[1])
    length = max(1e-6, way[0] ** 2 + way[1] ** 2)
    at = np.clip(((y - start[0]) * way[0] + (x - start[1]) * way[1]) / length, 0, 1)
    return np.hypot(y - start[0] - at * way[0], x - start[1] - at * way[1]) - radius


# ------------------------------------------------------------------------ paint


@dataclasses.dataclass
class Paint:
    """Two colours and how they share an area."""

    first: np.ndarray
    second: np.ndarray
    kind: str
    angle: float
    density: float

    def colours(self, y, x):
        """At coordinates of which 1 is the size of what is painted."""
        if self.kind == "even":
            return np.broadcast_to(self.first, (*y.shape, 3))
        along = x * math.cos(self.angle) + y * math.sin(self.angle)
        if self.kind == "ramp":
            share = np.clip(0.5 + 0.5 * along, 0, 1)
        else:
            across = y * math.cos(self.angle) - x * math.sin(self.angle)
            wave = np.sin(self.density * along)
            wave = wave * np.sin(self.density * across) if self.kind == "spots" else wave
            share = np.clip(0.5 + 1.5 * wave, 0, 1)
        return self.first + share[..., None].astype(np.float32) * (self.second - self.first)


def colour(rng):
    chosen = rng.random(3)
    if rng.random() < 0.2:
        chosen[:] = chosen[0]
    return chosen.astype(np.float32)


def colour_unlike(other, rng, least=0.3):
    """Differs from the other one by that much in at least one channel."""
    while True:
        chosen = colour(rng)
        if np.abs(chosen - other).max() > least:
            return chosen


def paint_unlike(other, rng):
    first = colour_unlike(other, rng)
    second = colour_unlike(other, rng)
    kind = rng.choice(("even", "ramp", "stripes", "spots"), p=(0.45, 0.3, 0.15, 0.1))
    return Paint(first, second, str(kind), rng.uniform(0, 7), rng.uniform(4, 14))


def coordinates(height, width):
    return np.mgrid[0:height, 0:width].astype(np.float32) + np.float32(0.5)


def reach_of(centre, reach, height, width):
    """Slices of the part of a picture within reach of a point, and coordinates in it."""
    top, left = (min(most, max(0, int(c - reach - 2)))
                 for c, most in zip(centre, (height, width)))
    bottom = max(top, min(height, int(centre[0] + reach + 3)))
    right = max(left, min(width, int(centre[1] + reach + 3)))
    y, x = np.mgrid[top:bottom, left:right].astype(np.float32) + np.float32(0.5)
    return (slice(top, bottom), slice(left, right)), y, x


def cover(picture, place, covered, colours):
    picture[place] += covered[..., None] * (colours - picture[place])


# ------------------------------------------------------------------ backgrounds


def stretched(samples, extent):
    """The matrix that interpolates between samples at even distances."""
    at = np.linspace(0, samples - 1, extent)
    return np.maximum(0, 1 - np.abs(at[:, None] - np.arange(samples))).astype(np.float32)


def clouds(rng, height, width, channels):
    """Random numbers, interpolated, at several scales."""
    total = np.zeros((height, width, channels), np.float32)
    weight, cells, fall = 1.0, 3, rng.uniform(0.35, 0.8)
    for _ in range(rng.integers(1, 6)):
        down, across = stretched(cells, height), stretched(cells, width)
        grid = rng.random((cells, cells, channels), np.float32) - np.float32(0.5)
        total += weight * np.einsum("yi,ijc,xj->yxc", down, grid, across, optimize=True)
        weight, cells = weight * fall, cells * 2
    return np.clip(0.5 + 0.8 * total, 0, 1)


def background(rng, height, width):
    """Even, shaded, cloudy or striped, with lines and bars on it."""
    first, second = colour(rng), colour(rng)
    y, x = coordinates(height, width)
    kind = rng.random()
    if kind < 0.5:
        share = clouds(rng, height, width, 1 if kind < 0.35 else 3)
        picture = first + share * (second - first)
    else:
        size = max(height, width) / 2
        kind = str(rng.choice(("even", "ramp", "stripes", "spots"), p=(0.2, 0.5, 0.2, 0.1)))
        ground = Paint(first, second, kind, rng.uniform(0, 7), rng.uniform(3, 60))
        picture = ground.colours(y / size - 1, x / size - 1).copy()
    for _ in range(int(rng.exponential(3)) if rng.random() < 0.6 else 0):
        bar(picture, rng)
    return picture


def bar(picture, rng):
    """A line, thin or thick, from anywhere to anywhere."""
    height, width = picture.shape[:2]
    start, end = rng.uniform(-0.1, 1.1, (2, 2)) * (height, width)
    radius = math.exp(rng.uniform(math.log(0.5), math.log(9)))
    centre = (start + end) / 2
    length = np.hypot(*(end - start))
    if length < 8 * radius:
        return
    place, y, x = reach_of(centre, length / 2 + radius, height, width)
    covered = np.clip(0.5 - capsule(y, x, start, end, radius), 0, 1)
    cover(picture, place, covered, colour(rng))


def photographed(picture, rng):
    """As through a lens and a sensor: a little blurred, a little noisy; RGB bytes."""
    if rng.random() < 0.35:
        sigma = rng.uniform(0.3, 1.3)
        taps = np.exp(-0.5 * (np.arange(-3, 4) / sigma) ** 2).astype(np.float32)
        taps /= taps.sum()
        for axis in (0, 1):
            spread = [(3, 3) if a == axis else (0, 0) for a in range(3)]
            padded = np.pad(picture, spread, mode="edge")
            extent = picture.shape[axis]
            picture = sum(taps[i] * np.take(padded, range(i, i + extent), axis) for i in range(7))
    if rng.random() < 0.35:
        noise = rng.standard_normal(picture.shape, np.float32)
        picture = picture + np.float32(rng.uniform(0.005, 0.06)) * noise
    return np.rint(np.clip(picture, 0, 1) * 255).astype(np.uint8)


# ----------------------------------------------------------------------- shapes


@dataclasses.dataclass
class Shape:
    kind: int  # of SHAPES
    centre: np.ndarray  # y, x
    size: float  # half of it, about
    turn: float
    flat: float  # how much narrower than high; 1 is not at all
    ring: float  # how thick the line is, if it is drawn as an outline; 0: filled
    rim: float  # how thick the rim of another colour is
    paint: Paint
    rim_paint: Paint

    def local(self, y, x):
        """Coordinates of which 1 is the size."""
        y, x = y - self.centre[0], x - self.centre[1]
        cos, sin = math.cos(self.turn), math.sin(self.turn)
        return (y * cos - x * sin) / self.size, (x * cos + y * sin) / (self.size * self.flat)

    def distance(self, y, x):
        """In pixels to the outline, at most; negative inside."""
        return DISTANCES[SHAPES[self.kind]](y, x) * self.size * min(1.0, self.flat)


def random_shape(rng, height, width):
    size = math.exp(rng.uniform(math.log(SMALLEST), math.log(min(LARGEST, min(height, width))))) / 2
    centre = rng.uniform(-0.2, 1.2, 2) * size + rng.uniform(0, 1, 2) * (height, width)
    plain = colour(rng)
    return Shape(kind=int(rng.integers(len(SHAPES))), centre=centre, size=size,
                 turn=rng.uniform(0, 2 * math.pi), flat=rng.uniform(0.85, 1.18),
                 ring=rng.uniform(0.12, 0.25) if rng.random() < 0.15 else 0.0,
                 rim=rng.uniform(0.05, 0.12) if rng.random() < 0.25 else 0.0,
                 paint=paint_unlike(plain, rng), rim_paint=paint_unlike(plain, rng))


def box_of(distance, y, x):
    """Left, top, right, bottom of what is inside: around each point there is room to the outline."""
    inside = distance < 0
    depth, y, x = distance[inside], y[inside], x[inside]
    return [(x + depth).min(), (y + depth).min(), (x - depth).max(), (y - depth).max()]


class Scene:
    """A picture, and the boxes and kinds of the shapes that were drawn on it."""

    def __init__(self, picture):
        self.picture = picture
        self.boxes, self.kinds = [], []
        self.owner = np.full(picture.shape[:2], -1, np.int16)
        self.full, self.seen = [], []

    def would_hide(self, owners):
        """Whether an earlier shape would be seen too little without these pixels."""
        hidden = np.bincount(owners[owners >= 0], minlength=len(self.full))
        return any(seen - less < SEEN_AT_LEAST * full
                   for seen, less, full in zip(self.seen, hidden, self.full))

    def add(self, shape, rng):
        """Draws it unlike the ground and returns True, if enough is seen of it and of those before."""
        place, y, x = self.place_of(shape)
        inside = shape.distance(*shape.local(y, x)) < 0
        if inside.sum() < max(1.0, SEEN_AT_LEAST * area_of(shape)):
            return False
        if self.would_hide(self.owner[place][inside]):
            return False
        ground = self.picture[place][inside].mean(0)
        shape.paint, shape.rim_paint = paint_unlike(ground, rng), paint_unlike(ground, rng)
        self.draw(shape)
        return True

    def place_of(self, shape):
        return reach_of(shape.centre, 1.6 * shape.size, *self.picture.shape[:2])

    def draw(self, shape):
        """Over everything that is there; it has to be within the picture."""
        place, y, x = self.place_of(shape)
        v, u = shape.local(y, x)
        distance = shape.distance(v, u)
        self.cover(shape, place, distance, v, u)
        self.note(shape, place, distance < 0, distance, y, x)

    def cover(self, shape, place, distance, v, u):
        if shape.ring:
            thick = max(1.2, shape.ring * shape.size)
            cover(self.picture, place, covered_by(np.abs(distance + thick) - thick),
                  shape.paint.colours(v, u))
            return
        cover(self.picture, place, covered_by(distance), shape.paint.colours(v, u))
        if shape.rim:
            thick = max(0.8, shape.rim * shape.size)
            cover(self.picture, place, covered_by(np.abs(distance + thick) - thick),
                  shape.rim_paint.colours(v, u))

    def note(self, shape, place, inside, distance, y, x):
        owners = self.owner[place]
        for earlier, less in enumerate(np.bincount(owners[inside & (owners >= 0)],
                                                   minlength=len(self.full))):
            self.seen[earlier] -= less
        owners[inside] = len(self.full)
        self.full.append(area_of(shape))
        self.seen.append(int(inside.sum()))
        self.boxes.append(box_of(distance, y, x))
        self.kinds.append(shape.kind)

    def truth(self):
        """Boxes, cut at the picture's edges, and kinds, of what is seen enough."""
        height, width = self.picture.shape[:2]
        enough = [seen >= SEEN_AT_LEAST * full for seen, full in zip(self.seen, self.full)]
        boxes = np.array(self.boxes, np.float32).reshape(-1, 4)[enough]
        most = np.array([width, height, width, height], np.float32)
        return np.clip(boxes, 0, most), np.array(self.kinds, np.int64)[enough]


def covered_by(distance):
    return np.clip(0.5 - distance, 0, 1)


UNIT_Y, UNIT_X = (coordinates(64, 64) - 32) / 20
UNIT_AREAS = [float((DISTANCES[kind](UNIT_Y, UNIT_X) < 0).sum()) / 400 for kind in SHAPES]


def area_of(shape):
    return UNIT_AREAS[shape.kind] * shape.size**2 * shape.flat


def draw_scene(seed, height, width):
    """RGB bytes, boxes [n, 4] and kinds [n] of what is on them."""
    rng = np.random.default_rng(seed)
    scene = Scene(background(rng, height, width))
    wanted = int(rng.integers(0, 9))
    for _ in range(wanted * 2):
        if len(scene.kinds) < wanted:
            scene.add(random_shape(rng, height, width), rng)
    boxes, kinds = scene.truth()
    return photographed(scene.picture, rng), boxes, kinds
