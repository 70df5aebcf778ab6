# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clips made of photographs: one is the background, cut-outs of others move before it.

Everything is moved, turned and zoomed by known transforms, so that the true motion between
any two frames is known as well. The clips are made on the device on which the net learns.
"""

import math
import pathlib

import numpy as np
import torch
from torch.nn import functional as F

import photographs
from degradations import from_420, to_420

TEXTURE = 384
"""Pixels of a photograph that a layer is made of, across and down; beyond, it is mirrored."""

FINER = 2
"""Frames are drawn this many times as large, and then reduced by area."""

LAYERS = 4
"""The background and what moves before it."""


def read(folder):
    """Photographs for a net to learn from: images of a folder, or those of photographs.py."""
    if folder is None:
        return photographs.load()
    from PIL import Image

    paths = sorted(path for path in pathlib.Path(folder).rglob("*")
                   if path.suffix.lower() in (".webp", ".jpg", ".jpeg", ".png"))
    if not paths:
        raise SystemExit(f"{folder} holds no photographs (.webp, .jpg or .png)")
    pictures = [torch.from_numpy(np.array(Image.open(path).convert("RGB"))) for path in paths]
    return [picture.permute(2, 0, 1).contiguous() for picture in pictures
            if min(picture.shape[:2]) >= TEXTURE]


def uniform(low, high, *shape):
    return torch.rand(*shape) * (high - low) + low


def happens(chance, *shape):
    return (torch.rand(*shape) < chance).float()


def similarity(x, y, angle, scale, mirror):
    """Matrices [..., 2, 3] from places of a frame, in pixels from its middle, to a texture's."""
    cos, sin = torch.cos(angle) * scale, torch.sin(angle) * scale
    linear = torch.stack([cos * mirror, -sin * mirror, sin, cos], -1).unflatten(-1, (2, 2))
    moved = -(linear @ torch.stack([x, y], -1)[..., None])
    return torch.cat([linear, moved], -1)


def inverse(matrix):
    """Of matrices [..., 2, 3]."""
    (a, b), (c, d) = matrix[..., 0, :2].unbind(-1), matrix[..., 1, :2].unbind(-1)
    linear = torch.stack([d, -b, -c, a], -1) / (a * d - b * c)[..., None]
    linear = linear.unflatten(-1, (2, 2))
    return torch.cat([linear, -(linear @ matrix[..., 2:])], -1)


def places(side, finer=1):
    """Pixel centres of a frame, [3, pixels], from its middle; the third row is 1."""
    across = (torch.arange(side * finer) + 0.5) / finer - side / 2
    y, x = torch.meshgrid(across, across, indexing="ij")
    return torch.stack([x, y, torch.ones_like(x)]).flatten(1)


class Clips:
    """Frames [N, T, 3, side, side] from 0 to 1, at given times, and their true motion.

    A layer's speed is up to `fastest` pixels in a unit of time; a third of the backgrounds
    stands still, as a camera on a tripod sees them.
    """

    def __init__(self, pictures, count, side, fastest, still=0.33):
        device = torch.zeros(()).device  # the default one
        self.pictures = [picture.to(device) for picture in pictures]
        self.count, self.side, self.fastest, self.still = count, side, fastest, still
        self.reduced_by = 3 * max(max(picture.shape) for picture in pictures) / 1600
        self.fine, self.coarse = places(side, FINER), places(side)

    def textures(self, rng):
        """[N, layers, 3, TEXTURE, TEXTURE], with their channels in random order."""
        crops = []
        for _ in range(self.count * LAYERS):
            picture = self.pictures[rng.integers(len(self.pictures))]
            top, left = (int(rng.integers(0, extent - TEXTURE + 1)) for extent in picture.shape[1:])
            crops.append(picture[:, top:top + TEXTURE, left:left + TEXTURE])
        crops = torch.stack(crops)
        order = torch.rand(len(crops), 3).argsort(1)[..., None, None].expand_as(crops)
        crops = crops.gather(1, order).float() / 255
        return crops.view(self.count, LAYERS, 3, TEXTURE, TEXTURE)

    def outlines(self, scale):
        """Masks of the layers, [N, layers, 1, TEXTURE, TEXTURE]: blobs, and all for the first."""
        shape = (self.count, LAYERS, 1, 1)
        across = torch.arange(TEXTURE) + 0.5 - TEXTURE / 2
        y, x = torch.meshgrid(across, across, indexing="ij")
        stretch = torch.exp(uniform(-0.8, 0.8, *shape))
        around, out = torch.atan2(y, x), torch.sqrt((x * stretch) ** 2 + (y / stretch) ** 2)
        radius = scale * self.side * uniform(0.06, 0.3, *shape)
        wave = sum(uniform(0, 0.5 / k, *shape) * torch.cos(k * around + uniform(0, 7, *shape))
                   for k in (1, 2, 3, 5, 8))
        soft = uniform(0.7, 2.5, *shape)
        masks = torch.sigmoid((radius * (1 + wave) - out) / soft) * happens(0.8, *shape)
        masks[:, 0] = 1
        return masks[:, :, None]

    def transforms(self, times, scale):
        """[N, layers, T, 2, 3]: near the places in a frame, with speeds of their own."""
        shape = (self.count, LAYERS, 1)
        background = torch.arange(LAYERS).view(1, -1, 1) == 0
        speed = self.fastest * torch.rand(*shape) ** 2
        towards = uniform(0, 2 * math.pi, *shape)
        turning, zooming = (torch.randn(*shape) * rate * happens(0.5, *shape) * self.fastest / 20
                            for rate in (0.04, 0.03))
        moves = 1 - happens(self.still, self.count, 1, 1) * background.float()
        moves = moves * (1 - happens(0.1, *shape))
        bent = uniform(-0.3, 0.3, *shape) * times / times.abs().max().clamp(min=1)
        along = times * (1 + bent) * moves
        shaking = torch.randn(2, self.count, LAYERS, len(times)) * moves * (
            happens(0.3, *shape) * uniform(0, 0.05, *shape) * self.fastest)
        spread = torch.where(background, 0.05, 0.4) * self.side
        x, y = (uniform(-1, 1, *shape) * spread + speed * part(towards) * along + shake
                for part, shake in zip((torch.cos, torch.sin), shaking))
        quarter = torch.randint(4, shape) * happens(0.3, *shape) * math.pi / 2
        angle = quarter + torch.randn(*shape) * 0.1 + turning * along
        mirror = 1 - 2 * happens(0.5, *shape)
        return similarity(x, y, angle, scale * torch.exp(zooming * along), mirror)

    def draw(self, rng, times):
        # A tensor of a list would wait until the device has done all that it was told.
        times = torch.stack([torch.full((), time) for time in times])
        scale = uniform(0.9, self.reduced_by, self.count, LAYERS, 1)
        textures = torch.cat([self.textures(rng), self.outlines(scale[..., None])], 2)
        self.matrices = self.transforms(times, scale)
        shape = (self.count, 1, len(times), FINER * self.side, FINER * self.side)
        frames, self.visible = None, []
        for layer in range(LAYERS):
            seen = self.warped(textures[:, layer], self.matrices[:, layer]).view(
                self.count, 4, *shape[2:])
            colours, mask = seen[:, :3], seen[:, 3:]
            frames = colours if frames is None else torch.lerp(frames, colours, mask)
            self.visible.append(self.reduced(mask))
        return self.reduced(frames).transpose(1, 2)

    def warped(self, texture, matrices):
        """Mirrored outside, so that there is something everywhere."""
        grid = (matrices @ self.fine / (TEXTURE / 2)).transpose(-1, -2)
        grid = grid.reshape(self.count, -1, FINER * self.side, 2)
        return F.grid_sample(texture, grid, padding_mode="reflection", align_corners=False)

    def reduced(self, frames):
        n, c, t = frames.shape[:3]
        return F.avg_pool2d(frames.flatten(1, 2), FINER).view(n, c, t, self.side, self.side)

    def motion(self, there, here):
        """[N, 2, side, side]: how far off what is at a place of frame `here` is in `there`."""
        result = None
        for layer in range(LAYERS):
            matrices = self.matrices[:, layer]
            texture = matrices[:, here] @ self.coarse
            back = inverse(matrices[:, there])
            found = back[..., :2] @ texture + back[..., 2:]
            motion = (found - self.coarse[:2]).view(self.count, 2, self.side, self.side)
            mask = self.visible[layer][:, :, here] > 0.5
            result = motion if result is None else torch.where(mask, motion, result)
        return result


def as_filmed(frames, steady=False):
    """Blur, contrast and exposure, which may change slowly or flicker if it is not steady."""
    count, length = frames.shape[:2]
    shape = (count, 1, 1, 1, 1)
    flat = frames.flatten(0, 1)
    soft = F.avg_pool2d(F.pad(flat, (1, 1, 1, 1), mode="replicate"), 3, 1).view_as(frames)
    frames = torch.lerp(frames, soft, happens(0.5, *shape) * torch.rand(*shape))
    frames = frames.clamp(1e-4, 1) ** torch.exp(uniform(-0.4, 0.4, *shape))
    times = torch.arange(length).view(1, -1, 1, 1, 1)
    drift = torch.randn(*shape) * 0.015 * happens(0.3, *shape) * times
    flicker = torch.randn(count, length, 1, 1, 1) * 0.02 * happens(0.15, *shape)
    contrast, middle = uniform(0.6, 1, *shape), uniform(0.3, 0.7, *shape)
    frames = (frames - 0.5) * contrast + 0.5 + (middle - 0.5) * (1 - contrast)
    return (frames if steady else frames * torch.exp(drift + flicker)).clamp(0, 1)


def coarser(noise, share):
    """Spreads a share of it over its neighbours, and keeps its strength."""
    spread = F.avg_pool2d(F.pad(noise, (1, 1, 1, 1), mode="reflect"), 3, 1) * 3
    return (noise * (1 - share) + spread * share) / (
        (1 - share) ** 2 + share**2 + 2 * share * (1 - share) / 3).sqrt()


def noisy(frames, strongest):
    """Frames [N, T, 3, height, width] with the noise of N cameras, as 4:2:0 of 8 bits."""
    count, length = frames.shape[:2]
    shape = (count, 1, 1, 1, 1)
    strength = uniform(0, strongest, *shape)
    colours = torch.where(happens(0.5, *shape) > 0, torch.ones(shape), uniform(0.2, 1.2, *shape))
    spread = happens(0.3, *shape) * torch.rand(*shape)
    by_light = happens(0.3, *shape) * uniform(0, 0.7, *shape)
    every = [part.expand(count, length, 1, 1, 1).flatten(0, 1)
             for part in (strength, colours, spread, by_light)]
    strength, colours, spread, by_light = every
    luma, chroma = to_420(frames.flatten(0, 1))
    light = ((luma - 16) / 219).clamp(0, 1)
    by_light = (1 - by_light + by_light * light).sqrt()
    parts = ((luma, strength * by_light),
             (chroma, strength * colours * F.avg_pool2d(by_light, 2)))
    parts = [part + amount * coarser(torch.randn_like(part), spread) for part, amount in parts]
    return from_420(*(part.round().clamp(0, 255) for part in parts)).view_as(frames)
