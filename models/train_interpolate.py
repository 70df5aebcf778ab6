#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains the net that makes frames between frames and saves it as TorchScript.

It learns from clips of moving photographs (moving_photographs.py): the frames of two times,
and the frame of a time between them.
"""

from typing import List, Tuple

import torch
from torch import nn
from torch.nn import functional as F

import moving_photographs
import timed_training
import training
from degradations import as_luma, through_420


def convolution(before, after, side=3, stride=1):
    return nn.Sequential(nn.Conv2d(before, after, side, stride, side // 2), nn.PReLU(after))


class Level(nn.Module):
    """Corrects motion and mask, from pictures twice as large as it works on."""

    def __init__(self, channels: int, count: int):
        super().__init__()
        # Both frames and both as they are moved, of luma and colour, t, motion and mask.
        self.first = convolution(4 * 12 + 1 + 5, channels)
        self.body = nn.ModuleList([convolution(channels, channels) for _ in range(count)])
        self.last = nn.Conv2d(channels, 4 * 5, 3, padding=1)
        nn.init.normal_(self.last.weight, std=1e-3)
        nn.init.zeros_(self.last.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        for layer in self.body:
            x = x + layer(x)
        return F.pixel_shuffle(self.last(x), 2).float()


class Interpolate(nn.Module):
    """Makes the frame at the time t between the frames a, at 0, and b, at 1.

    Three levels, at a sixteenth, an eighth and a quarter of the size, find how both frames
    move and how they are mixed; then a few layers at half the size mend what is left. What
    the levels find is the speed: at t, frame a has moved by t of it.
    """

    def __init__(self):
        super().__init__()
        self.levels = nn.ModuleList([Level(40, 4), Level(40, 3), Level(32, 3)])
        self.mend = nn.Sequential(convolution(12 * 3 + 5 + 1, 32), convolution(32, 32),
                                  nn.Conv2d(32, 12, 3, padding=1))
        nn.init.normal_(self.mend[-1].weight, std=1e-3)
        nn.init.zeros_(self.mend[-1].bias)

    def warp(self, x: torch.Tensor, motion: torch.Tensor) -> torch.Tensor:
        """What is `motion` pixels off, in fp32."""
        height, width = x.size(2), x.size(3)
        motion = motion.float()
        across = torch.arange(width, device=x.device, dtype=torch.float32)
        down = torch.arange(height, device=x.device, dtype=torch.float32)
        u = (across[None, None, :] + motion[:, 0]) * (2.0 / max(width - 1, 1)) - 1.0
        v = (down[None, :, None] + motion[:, 1]) * (2.0 / max(height - 1, 1)) - 1.0
        return F.grid_sample(x.float(), torch.stack([u, v], 3), mode="bilinear",
                             padding_mode="border", align_corners=True)

    def moved(self, a: torch.Tensor, b: torch.Tensor, found: torch.Tensor, t: torch.Tensor
              ) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Both frames at the time t, and the first one's share."""
        at_t, bt = self.warp(a, -t * found[:, 0:2]), self.warp(b, (1.0 - t) * found[:, 2:4])
        share = torch.sigmoid(found[:, 4:5] + torch.log((1.0 - t) / t))
        return at_t, bt, share

    def between(self, a: torch.Tensor, b: torch.Tensor, t: torch.Tensor
                ) -> Tuple[torch.Tensor, List[torch.Tensor]]:
        """The frame, and what each level found, in pixels of the whole size; multiples of 16."""
        half_a, half_b = F.avg_pool2d(a, 2), F.avg_pool2d(b, 2)
        quarter_a, quarter_b = F.avg_pool2d(half_a, 2), F.avg_pool2d(half_b, 2)
        smaller_a = [F.avg_pool2d(quarter_a, 2), quarter_a, half_a]
        smaller_b = [F.avg_pool2d(quarter_b, 2), quarter_b, half_b]
        n, height, width = a.size(0), a.size(2), a.size(3)
        found = torch.zeros([n, 5, height // 8, width // 8], device=a.device, dtype=torch.float32)
        every: List[torch.Tensor] = []
        scale = 8.0
        for i, level in enumerate(self.levels):
            x, y = smaller_a[i], smaller_b[i]
            if i > 0:
                found = F.interpolate(found, scale_factor=2.0, mode="bilinear",
                                      align_corners=False)
                found = torch.cat([2.0 * found[:, :4], found[:, 4:]], 1)
            at_t, bt, _ = self.moved(x, y, found, t)
            seen = F.pixel_unshuffle(torch.cat([x, y, at_t, bt], 1), 2)
            known = torch.cat([F.avg_pool2d(found, 2), t.expand(n, 1, seen.size(2), seen.size(3))],
                              1)
            found = found + level(torch.cat([seen, known], 1))
            every.append(torch.cat([scale * found[:, :4], found[:, 4:]], 1))
            scale = scale / 2.0
        whole = F.interpolate(every[-1], scale_factor=2.0, mode="bilinear", align_corners=False)
        at_t, bt, share = self.moved(a, b, whole, t)
        mixed = bt + share * (at_t - bt)
        seen = F.pixel_unshuffle(torch.cat([mixed, at_t - mixed, bt - mixed], 1), 2)
        known = torch.cat([found, t.expand(n, 1, seen.size(2), seen.size(3))], 1)
        mended = F.pixel_shuffle(self.mend(torch.cat([seen, known], 1)).float(), 2)
        return mixed + mended, every

    def forward(self, a: torch.Tensor, b: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        height, width = a.size(2), a.size(3)
        room = [0, -width % 16, 0, -height % 16]
        a, b = F.pad(a, room, mode="replicate"), F.pad(b, room, mode="replicate")
        # Of a plane, which says the same everywhere, one sample is enough.
        t = t.float().reshape(-1, 1, 1, 1) if t.dim() < 4 else t.float()[:, :1, :1, :1]
        made, _ = self.between(a, b, t.clamp(0.001, 0.999))
        return made[:, :, :height, :width]


# ------------------------------------------------------------------ training


class Examples:
    def __init__(self, options):
        pictures = moving_photographs.read(options.photographs)
        self.clips = moving_photographs.Clips(pictures, options.batch, options.side, fastest=24)

    def __call__(self, rng):
        """Two frames, t, the frame between, and the speeds that are to be found."""
        t = float(rng.uniform(0.1, 0.9)) if rng.random() < 0.6 else 0.5
        frames = moving_photographs.as_filmed(self.clips.draw(rng, [0.0, t, 1.0]), steady=True)
        wanted = through_420(frames.flatten(0, 1)).view_as(frames)
        given = moving_photographs.noisy(wanted, strongest=6) if rng.random() < 0.6 else wanted
        speed = torch.cat([self.clips.motion(0, 1) / -t, self.clips.motion(2, 1) / (1 - t)], 1)
        return given[:, 0], given[:, 2], torch.full((1, 1, 1, 1), t), wanted[:, 1], speed


def distance(result, wanted):
    """Luma counts twice."""
    error = result - wanted
    return (torch.cat([error, as_luma(error)], 1).square() + 1e-6).sqrt().mean()


def loss_of_pair(net, a, b, t, wanted, speed, guided):
    """Of the result; and of what each level makes of the frames, and the speed that it found."""
    made, every = net.between(a, b, t)
    loss = distance(made, wanted)
    for factor, found in zip((8, 4, 2), every):
        small_a, small_b, small, far = (F.avg_pool2d(x, factor) for x in (a, b, wanted, speed))
        scaled = torch.cat([found[:, :4] / factor, found[:, 4:]], 1)
        at_t, bt, share = net.moved(small_a, small_b, scaled, t)
        loss = loss + 0.2 * distance(bt + share * (at_t - bt), small)
        loss = loss + guided * ((found[:, :4] - far).square() + 0.25).sqrt().mean()
    return loss


def main():
    parser = timed_training.options_of(__doc__.splitlines()[0], "models/interpolate.pt",
                                       steps=4000, rate=1e-3, batch=6, side=128)
    options = parser.parse_args()
    timed_training.prepare(options)
    examples = Examples(options)

    def loss_of(net, rng, progress):
        with torch.no_grad():
            example = examples(rng)
        with timed_training.sixteen_bits(options, 0.7, progress):
            return loss_of_pair(net, *example, guided=0.004 * (1.05 - progress))

    net = timed_training.train(Interpolate(), options, loss_of)
    if not options.train_only:
        training.save(net, options.out)
    print(f"{sum(p.numel() for p in net.parameters())} weights")


if __name__ == "__main__":
    main()
