# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pictures that the nets of this folder learn from: drawn, each from a seed."""

import functools
import math

import numpy as np
import torch

PICTURE = 192
"""Side of a drawn picture."""


def random_colour(rng):
    """Often grey, since pictures are less colourful than dice; at times full, as in graphics."""
    colour = rng.random(3)
    kind = rng.random()
    if kind < 0.15:
        return np.rint(colour)
    return np.full(3, colour[0]) if kind < 0.4 else colour


def grid(side=PICTURE):
    return np.mgrid[0:side, 0:side].astype(np.float32) + 0.5


def spectral_noise(rng, roughest, side=PICTURE):
    """Noise whose amplitude falls with a power of the frequency, as nature's does."""
    frequency = np.hypot(np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)[None, :])
    frequency[0, 0] = 1.0 / side
    shape = frequency ** -rng.uniform(roughest, 2.2)
    phase = np.exp(2j * np.pi * rng.random(shape.shape))
    noise = np.fft.irfft2(shape * phase, s=(side, side))
    return np.clip(0.5 + noise / (5 * noise.std()), 0, 1)


def waves(rng, side=PICTURE):
    """Stripes or rings, from coarse down to two pixels, soft or hard."""
    y, x = grid(side)
    angle = rng.uniform(0, math.pi)
    along = x * math.cos(angle) + y * math.sin(angle)
    if rng.random() < 0.4:
        along = np.hypot(x - rng.uniform(0, side), y - rng.uniform(0, side))
    period = math.exp(rng.uniform(math.log(2.5), math.log(40)))
    chirp = 1 + rng.uniform(-0.6, 0.6) * along / side if rng.random() < 0.5 else 1.0
    wave = np.sin(2 * np.pi * along * chirp / period + rng.uniform(0, 7))
    sharpness = period / math.pi if rng.random() < 0.5 else 0.5
    return 0.5 + 0.5 * np.clip(wave * sharpness, -1, 1)


def checkers(rng, side=PICTURE):
    y, x = grid(side)
    angle = rng.uniform(0, math.pi) if rng.random() < 0.6 else 0.0
    period = math.exp(rng.uniform(math.log(4), math.log(48)))
    u = np.sin(2 * np.pi * (x * math.cos(angle) + y * math.sin(angle)) / period)
    v = np.sin(2 * np.pi * (y * math.cos(angle) - x * math.sin(angle)) / period)
    return 0.5 + 0.5 * np.clip(u * period / 6, -1, 1) * np.clip(v * period / 6, -1, 1)


def ramp(rng, side=PICTURE):
    y, x = grid(side) / side
    return np.clip(x * rng.uniform(-1, 1) + y * rng.uniform(-1, 1) + 0.5, 0, 1)


def texture(rng, roughest):
    """One mask blends two colours, or three masks drive the three channels."""
    noise = functools.partial(spectral_noise, roughest=roughest)
    kind = (noise, waves, checkers, ramp)[rng.choice(4, p=(0.45, 0.2, 0.1, 0.25))]
    if kind in (noise, ramp) and rng.random() < 0.25:
        return np.stack([kind(rng) for _ in range(3)], axis=-1)
    mask, dark, light = kind(rng)[..., None], random_colour(rng), random_colour(rng)
    return dark + mask * (light - dark)


def window(centre, reach):
    """Slices of the part of a picture within reach of a point, and coordinates from there."""
    top, left = (max(0, int(c - reach - 2)) for c in centre)
    bottom = max(top, min(PICTURE, int(centre[0] + reach + 3)))
    right = max(left, min(PICTURE, int(centre[1] + reach + 3)))
    y, x = np.mgrid[top:bottom, left:right].astype(np.float32) + 0.5
    return (slice(top, bottom), slice(left, right)), y - centre[0], x - centre[1]


def paint(picture, place, distance, fill):
    """Antialiased: a pixel is covered by how far its middle lies inside the edge."""
    covered = np.clip(0.5 - distance, 0, 1)[..., None]
    target = picture[place]
    target += covered * (fill - target)


def ellipse(y, x, size, rng):
    flat = rng.uniform(0.4, 1)
    return (np.hypot(y, x / flat) - size) * flat


def box(y, x, size, rng):
    return np.maximum(np.abs(y) - size, np.abs(x) - size * rng.uniform(0.2, 1))


def polygon(y, x, size, rng):
    """A convex one: the meeting of three to seven half-planes."""
    count = rng.integers(3, 8)
    angles = 2 * math.pi * (np.arange(count) + rng.uniform(-0.3, 0.3, count)) / count
    sides = [y * math.sin(a) + x * math.cos(a) - 0.7 * size for a in angles]
    return np.max(sides, axis=0)


def leaf(picture, rng, textures):
    """One opaque shape of the dead-leaves model: sizes follow a power law."""
    size = min(60.0, 1.5 / rng.random() ** 0.7)
    centre = rng.uniform(0, PICTURE, 2)
    place, y, x = window(centre, 1.5 * size)
    angle = rng.uniform(0, math.pi) if rng.random() < 0.8 else 0.0
    turned = (y * math.cos(angle) - x * math.sin(angle), x * math.cos(angle) + y * math.sin(angle))
    kind = (ellipse, box, polygon)[rng.integers(3)]
    distance = kind(*turned, size, rng)
    if rng.random() < 0.15:
        distance = np.abs(distance) - rng.uniform(0.4, 3)
    textured = size > 5 and rng.random() < 0.5
    fill = textures[rng.integers(len(textures))][place] if textured else random_colour(rng)
    paint(picture, place, distance, fill)


def stroke(picture, start, end, half_width, colour):
    """A line with round ends."""
    middle, half = (start + end) / 2, (end - start) / 2
    reach = math.hypot(*half) + half_width
    place, y, x = window(middle, reach)
    along = np.clip((y * half[0] + x * half[1]) / max(1e-6, half @ half), -1, 1)
    distance = np.hypot(y - along * half[0], x - along * half[1]) - half_width
    paint(picture, place, distance, colour)


def fan(picture, rng, _textures):
    """Lines from one point, or side by side."""
    colour, width = random_colour(rng), rng.uniform(0.3, 1.6)
    start, step = rng.uniform(0, PICTURE, 2), rng.uniform(0, 5, 2)
    angle, turn = rng.uniform(0, 7), rng.uniform(-0.3, 0.3)
    length = rng.uniform(10, 120)
    for i in range(rng.integers(1, 14)):
        direction = np.array([math.sin(angle + i * turn), math.cos(angle + i * turn)])
        stroke(picture, start + i * step, start + i * step + length * direction, width, colour)


def writing(picture, rng, _textures):
    """A row of made-up letters: strokes between the corners and middles of a cell."""
    height = rng.uniform(5, 28)
    width, weight, colour = height * rng.uniform(0.45, 0.8), height * 0.06, random_colour(rng)
    weight = max(0.35, weight * rng.uniform(0.5, 1.6))
    angle = rng.uniform(-0.4, 0.4) if rng.random() < 0.4 else 0.0
    across = np.array([math.sin(angle), math.cos(angle)])
    down = np.array([math.cos(angle), -math.sin(angle)])
    corner = rng.uniform(0, PICTURE, 2) * (1, 0.6)
    for letter in range(rng.integers(3, 16)):
        origin = corner + across * letter * width * 1.35
        for _ in range(rng.integers(2, 5)):
            ends = rng.integers(0, 3, (2, 2)) / 2
            start, end = (origin + down * v * height + across * u * width for v, u in ends)
            stroke(picture, start, end, weight, colour)


def pixel_art(picture, rng, _textures):
    """Hard square pixels, one to three wide: bitmap letters, pointers, old games."""
    scale, cells = rng.integers(1, 4), rng.integers(4, 24, 2)
    art = np.kron(rng.random(cells) < 0.45, np.ones((scale, scale), bool))
    top, left = rng.integers(0, PICTURE - 72, 2)
    target = picture[top:top + art.shape[0], left:left + art.shape[1]]
    if rng.random() < 0.5:
        target[:] = random_colour(rng)
    target[art] = random_colour(rng)


def blurred(picture, rng):
    """A lens is never perfect."""
    sigma = rng.uniform(0.3, 1.1)
    taps = np.exp(-0.5 * (np.arange(-3, 4) / sigma) ** 2)
    taps /= taps.sum()
    for axis in (0, 1):
        spread = [(3, 3) if a == axis else (0, 0) for a in range(3)]
        padded = np.pad(picture, spread, mode="edge")
        parts = [np.take(padded, range(i, i + PICTURE), axis) * taps[i] for i in range(7)]
        picture = np.sum(parts, axis=0)
    return picture


def draw(seed, roughest):
    """One picture, RGB bytes."""
    rng = np.random.default_rng(seed)
    textures = [texture(rng, roughest) for _ in range(5)]
    picture = textures[0].copy()
    if rng.random() < 0.3:
        picture[:] = random_colour(rng)
    kinds = (leaf, fan, writing, pixel_art)
    likely = rng.dirichlet((3, 0.3, 0.4, 0.15))
    for _ in range(int(math.exp(rng.uniform(math.log(6), math.log(320))))):
        kinds[rng.choice(4, p=likely)](picture, rng, textures)
    if rng.random() < 0.5:
        picture = blurred(picture, rng)
    if rng.random() < 0.15:
        picture = picture + rng.normal(0, rng.uniform(0.002, 0.02), picture.shape)
    return np.rint(np.clip(picture, 0, 1) * 255).astype(np.uint8)


def draw_many(first_seed, count, roughest):
    """Textures are rough down to that power of the frequency; 0 would be white noise."""
    pictures = np.stack([draw(first_seed + i, roughest) for i in range(count)])
    return torch.from_numpy(pictures).permute(0, 3, 1, 2).contiguous()
