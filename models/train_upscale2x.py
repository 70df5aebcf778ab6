#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains the x2 upscaling net of this folder and saves it as TorchScript.

Every picture that it learns from is drawn here, from a seed.
"""

import argparse
import io
import math
import time
import zipfile

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

PICTURE = 192
"""Side of a drawn picture."""

# ---------------------------------------------------------------- pictures


def random_colour(rng):
    """Often grey, since pictures are less colourful than dice; at times full, as in graphics."""
    colour = rng.random(3)
    kind = rng.random()
    if kind < 0.15:
        return np.rint(colour)
    return np.full(3, colour[0]) if kind < 0.4 else colour


def grid(side=PICTURE):
    return np.mgrid[0:side, 0:side].astype(np.float32) + 0.5


def spectral_noise(rng, side=PICTURE):
    """Noise whose amplitude falls with a power of the frequency, as nature's does."""
    frequency = np.hypot(np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)[None, :])
    frequency[0, 0] = 1.0 / side
    shape = frequency ** -rng.uniform(0.6, 2.2)
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


def texture(rng):
    """One mask blends two colours, or three masks drive the three channels."""
    kinds = (spectral_noise, waves, checkers, ramp)
    kind = kinds[rng.choice(4, p=(0.45, 0.2, 0.1, 0.25))]
    if kind in (spectral_noise, ramp) and rng.random() < 0.25:
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


def draw(seed):
    """One picture, RGB bytes."""
    rng = np.random.default_rng(seed)
    textures = [texture(rng) for _ in range(5)]
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


def draw_many(first_seed, count):
    pictures = np.stack([draw(first_seed + i) for i in range(count)])
    return torch.from_numpy(pictures).permute(0, 3, 1, 2).contiguous()


# ----------------------------------------------------------------- halving


def cubic(distance, a):
    d = abs(distance)
    if d < 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * (d**3 - 5 * d**2 + 8 * d - 4) if d < 2 else 0.0


def lanczos(distance, lobes=3):
    return float(np.sinc(distance) * np.sinc(distance / lobes)) if abs(distance) < lobes else 0.0


def halving_taps(kernel, reach):
    """Taps of a scaler that widens its kernel by the factor by which it shrinks."""
    taps = torch.tensor([kernel((i - reach + 0.5) / 2) for i in range(2 * reach)])
    return taps / taps.sum()


SWSCALE_CUBIC = -0.6
HALVINGS = {
    "area": halving_taps(lambda d: float(abs(d) < 0.5), 1),
    "bilinear": halving_taps(lambda d: max(0.0, 1 - abs(d)), 2),
    "bicubic": halving_taps(lambda d: cubic(d, SWSCALE_CUBIC), 4),
    "lanczos": halving_taps(lanczos, 6),
}
"""The ways in which pictures get half as large in practice."""


def to_bytes_and_back(images):
    return images.mul(255).round_().clamp_(0, 255).div_(255)


def halved(images, taps):
    n, c, height, width = images.shape
    reach = len(taps) // 2 - 1
    padded = F.pad(images, (reach,) * 4, mode="replicate").reshape(n * c, 1, *(
        extent + 2 * reach for extent in (height, width)))
    rows = F.conv2d(padded, taps.view(1, 1, -1, 1), stride=(2, 1))
    small = F.conv2d(rows, taps.view(1, 1, 1, -1), stride=(1, 2))
    return to_bytes_and_back(small.view(n, c, height // 2, width // 2))


# --------------------------------------------------------------------- net


def bicubic_weights(a=-0.5):
    """Doubling as a convolution: four outputs per channel, one for each quarter of a pixel."""
    phases = []
    for offset in (-0.25, 0.25):
        taps = torch.tensor([cubic(i - 2 - offset, a) for i in range(5)])
        phases.append(taps / taps.sum())
    quarters = torch.stack([torch.outer(down, across) for down in phases for across in phases])
    weights = torch.zeros(3, 4, 3, 5, 5)
    for channel in range(3):
        weights[channel, :, channel] = quarters
    return weights.flatten(0, 1)


def curvature_only(weight):
    """Takes out of filters what they would answer to even and evenly shaded areas."""
    side = torch.linspace(-1, 1, weight.shape[-1])
    across, down = side.repeat(len(side), 1), side.repeat(len(side), 1).t()
    for slope in (torch.ones_like(across), across, down):
        unit = slope / slope.norm()
        weight.sub_((weight * unit).sum((2, 3), keepdim=True) * unit)


class Upscale2x(nn.Module):
    """Bicubic doubling plus what a small net adds to it.

    The net has no biases and its first layer sees curvature alone, so that it
    adds nothing to even and evenly shaded areas. What comes out lies within
    the pixels around, give or take their range, so that no edge rings far. The
    picture's edges are repeated once, at the input, and no layer pads: its
    border comes out as its inside would.
    """

    def __init__(self, channels=32, layers=5):
        super().__init__()
        self.reach: int = layers + 1
        self.register_buffer("bicubic", bicubic_weights())
        body = [nn.Conv2d(3, channels, 5, bias=False), nn.ReLU()]
        for _ in range(layers - 2):
            body += [nn.Conv2d(channels, channels, 3, bias=False), nn.ReLU()]
        self.body = nn.Sequential(*body, nn.Conv2d(channels, 12, 3, bias=False))
        nn.init.zeros_(self.body[-1].weight)

    def with_edges(self, x: torch.Tensor, reach: int) -> torch.Tensor:
        # F.pad repeats no edges in half precision on the CPU before LibTorch 2.
        rows = torch.arange(-reach, x.size(2) + reach, device=x.device).clamp(0, x.size(2) - 1)
        columns = torch.arange(-reach, x.size(3) + reach, device=x.device).clamp(0, x.size(3) - 1)
        return x.index_select(2, rows).index_select(3, columns)

    def lightest(self, x: torch.Tensor) -> torch.Tensor:
        # A tenth of the time of max_pool2d().
        x = torch.maximum(torch.maximum(x[:, :, :-2], x[:, :, 1:-1]), x[:, :, 2:])
        return torch.maximum(torch.maximum(x[..., :-2], x[..., 1:-1]), x[..., 2:])

    def within_range(self, quarters: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        near = self.with_edges(x, 1)
        highest, lowest = self.lightest(near), -self.lightest(-near)
        spread = highest - lowest
        by_channel = quarters.view(x.size(0), 3, 4, x.size(2), x.size(3))
        by_channel = torch.maximum(by_channel, (lowest - spread).unsqueeze(2))
        by_channel = torch.minimum(by_channel, (highest + spread).unsqueeze(2))
        return by_channel.flatten(1, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        doubled = F.conv2d(self.with_edges(x, 2), self.bicubic)
        added = self.body(self.with_edges(x, self.reach))
        return F.pixel_shuffle(self.within_range(doubled + added, x), 2)


# ---------------------------------------------------------------- training


def crops(pictures, count, side, rng):
    """Random crops, turned, mirrored and with their channels in random order."""
    batch = torch.empty(count, 3, side, side)
    for i in range(count):
        top, left = rng.integers(0, PICTURE - side + 1, 2)
        crop = pictures[rng.integers(len(pictures)), :, top:top + side, left:left + side]
        crop = crop[torch.from_numpy(rng.permutation(3))]
        crop = torch.rot90(crop, int(rng.integers(4)), (1, 2))
        batch[i] = crop.flip(2) if rng.random() < 0.5 else crop
    return batch.div_(255)


def psnr(result, wanted):
    error = (to_bytes_and_back(result) - wanted).square().mean().item()
    return -10 * math.log10(error)


@torch.no_grad()
def report(net, pictures):
    wanted = pictures.float() / 255
    plain = Upscale2x()
    plain.bicubic.copy_(bicubic_weights(SWSCALE_CUBIC))
    for name, taps in HALVINGS.items():
        small = halved(wanted, taps)
        scores = [psnr(torch.cat([f(s) for s in small.split(8)]), wanted) for f in (plain, net)]
        print(f"halved by {name:8}  bicubic {scores[0]:.2f} dB  net {scores[1]:.2f} dB  "
              f"gain {scores[1] - scores[0]:+.2f} dB")


def train(net, pictures, steps, rate, batch, side, rng):
    """Adam down a cosine; what is kept is the running mean of the weights."""
    mean = torch.optim.swa_utils.AveragedModel(
        net, avg_fn=lambda kept, new, count: torch.lerp(kept, new, 0.005))
    optimizer = torch.optim.Adam(net.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, steps, pct_start=0.1)
    ways = list(HALVINGS.values())
    started, losses = time.monotonic(), 0.0
    for step in range(1, steps + 1):
        wanted = crops(pictures, batch, side, rng)
        small = halved(wanted, ways[rng.integers(len(ways))])
        loss = F.l1_loss(net(small), wanted)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            curvature_only(net.body[0].weight)
        schedule.step()
        mean.update_parameters(net)
        losses += loss.item()
        if step % 500 == 0:
            print(f"step {step:5}  loss {losses / 500:.5f}  {time.monotonic() - started:.0f} s",
                  flush=True)
            losses = 0.0
    return mean.module


def save(net, path):
    """Leaves out the debug records: they hold the paths of the machine that trained."""
    whole = io.BytesIO()
    torch.jit.save(torch.jit.script(net.eval().requires_grad_(False)), whole)
    with zipfile.ZipFile(whole) as records, zipfile.ZipFile(path, "w") as kept:
        for record in records.infolist():
            if not record.filename.endswith(".debug_pkl"):
                kept.writestr(record, records.read(record))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="models/upscale2x.pt")
    parser.add_argument("--pictures", type=int, default=1500)
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--rate", type=float, default=2e-3, help="at which it learns, at most")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--side", type=int, default=96, help="of a crop, before it is halved")
    parser.add_argument("--threads", type=int, default=1,
                        help="one by default, for sums taken in one order everywhere")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    torch.use_deterministic_algorithms(True)
    started = time.monotonic()
    held_out = draw_many(10_000_000, 48)
    pictures = draw_many(options.seed * 100_000, options.pictures)
    print(f"{options.pictures} pictures drawn in {time.monotonic() - started:.0f} s", flush=True)
    net = train(Upscale2x(), pictures, options.steps, options.rate, options.batch, options.side,
                np.random.default_rng(options.seed))
    save(net, options.out)
    report(net, held_out)
    print(f"{options.out} saved, {sum(p.numel() for p in net.parameters())} weights, "
          f"{time.monotonic() - started:.0f} s in all")


if __name__ == "__main__":
    main()
