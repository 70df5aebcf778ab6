#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains the denoising net that remembers and saves it as TorchScript.

It learns from clips of moving photographs (moving_photographs.py) with the noise of cameras,
as video of 8 bits, 4:2:0, has it.
"""

from typing import Optional, Tuple

import torch
from torch import nn
from torch.nn import functional as F

import moving_photographs
import timed_training
import training
from degradations import as_luma, through_420

STRONGEST = 35
"""Standard deviation of the strongest noise that it learns to remove; white is 255."""

CONTRACT = {"inputs": {"state": "state=1"}}

SIXTEEN_BITS = 0.6
"""The part of the training for which they are exact enough."""

MEMORY = 16
"""Channels that it keeps for the next frame, beside the result."""


def layers(*channels):
    parts = []
    for before, after in zip(channels, channels[1:]):
        parts += [nn.Conv2d(before, after, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*parts)


class DenoiseVideo(nn.Module):
    """Denoises a frame with what it made of the frames before.

    The state is the last result and `MEMORY` channels, at half the size. Both follow the
    motion, which is found at an eighth and at a quarter of the size; motion of less than
    about a tenth of a pixel is none, so that what stands still stays as sharp as it is. The
    rest works at half the size, on four pixels at once, and at a quarter.
    """

    def __init__(self, channels: int = 32, deep: int = 48):
        super().__init__()
        self.motion8 = nn.Sequential(layers(6, 24, 24, 24), nn.Conv2d(24, 2, 3, padding=1))
        self.motion4 = nn.Sequential(layers(8, 24, 24), nn.Conv2d(24, 2, 3, padding=1))
        self.head = layers(12 * 3 + MEMORY + 1, channels, channels)
        self.down = nn.Sequential(nn.Conv2d(channels, deep, 2, 2), nn.ReLU())
        self.deep = layers(deep, deep, deep)
        self.up = nn.Conv2d(deep, 4 * channels, 1)
        self.tail = layers(channels, channels)
        self.last = nn.Conv2d(channels, 12 + MEMORY, 3, padding=1)
        for layer in (self.motion8[-1], self.motion4[-1]):
            # Not zero: no gradient passes a motion of nothing.
            nn.init.normal_(layer.weight, std=0.02)
            nn.init.zeros_(layer.bias)
        nn.init.normal_(self.last.weight, std=0.01)
        nn.init.zeros_(self.last.bias)

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

    def motion_of(self, frame: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        """At half the size, in its pixels; both are at half the size."""
        now4, then4 = F.avg_pool2d(frame, 2), F.avg_pool2d(before, 2)
        now8, then8 = F.avg_pool2d(now4, 2), F.avg_pool2d(then4, 2)
        coarse = self.motion8(torch.cat([now8, then8], 1)).float()
        coarse = 2.0 * F.interpolate(coarse, scale_factor=2.0, mode="bilinear", align_corners=False)
        then4 = self.warp(then4, coarse)
        fine = coarse + self.motion4(torch.cat([now4, then4, coarse], 1)).float()
        return 2.0 * F.interpolate(fine, scale_factor=2.0, mode="bilinear", align_corners=False)

    def first_state(self, x: torch.Tensor) -> torch.Tensor:
        frame = F.pixel_unshuffle(x, 2)
        return torch.cat([frame, torch.zeros_like(frame), torch.zeros_like(frame[:, :4])], 1)

    def step(self, x: torch.Tensor, state: torch.Tensor, known: float
             ) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The result, the next state, and the motion; x has multiples of 8 pixels."""
        before, memory = state[:, :12], state[:, 12:]
        frame = F.pixel_unshuffle(x, 2)
        then = F.pixel_shuffle(before, 2)
        found = self.motion_of(F.avg_pool2d(x, 2), F.avg_pool2d(then, 2))
        squared = found.square().sum(1, keepdim=True)
        motion = found * (squared / (squared + 0.004))
        finer = 2.0 * F.interpolate(motion, scale_factor=2.0, mode="bilinear", align_corners=False)
        moved = F.pixel_unshuffle(self.warp(then, finer), 2)
        memory = self.warp(memory, motion)
        flag = torch.full_like(frame[:, :1], known)
        first = self.head(torch.cat([frame, before - frame, moved - frame, memory, flag], 1))
        wide = F.pixel_shuffle(self.up(self.deep(self.down(first))), 2)
        last = self.last(self.tail(first + wide)).float()
        result = frame + last[:, :12]
        kept = torch.cat([result.clamp(-0.25, 1.25), last[:, 12:].tanh()], 1)
        return F.pixel_shuffle(result, 2), kept, found

    def forward(self, x: torch.Tensor, state: Optional[torch.Tensor] = None
                ) -> Tuple[torch.Tensor, torch.Tensor]:
        height, width = x.size(2), x.size(3)
        wide = F.pad(x, [0, -width % 8, 0, -height % 8], mode="replicate")
        known = 1.0
        if state is None:
            known = 0.0
            state = self.first_state(wide)
        result, kept, _ = self.step(wide, state, known)
        return result[:, :, :height, :width], kept


# ------------------------------------------------------------------ training


class Examples:
    def __init__(self, options):
        pictures = moving_photographs.read(options.photographs)
        self.length = options.length
        self.clips = moving_photographs.Clips(pictures, options.batch, options.side, fastest=8)

    def __call__(self, rng):
        """What is filmed, what there is, and the motion to the frame before, [N, T, 2, …]."""
        frames = self.clips.draw(rng, [float(i) for i in range(self.length)])
        frames = moving_photographs.as_filmed(frames)
        wanted = through_420(frames.flatten(0, 1)).view_as(frames)
        motion = [self.clips.motion(max(0, i - 1), i) for i in range(self.length)]
        return moving_photographs.noisy(wanted, STRONGEST), wanted, motion


def aged(net, given):
    """The state after all of the frames backwards: one that has seen many frames."""
    state = None
    for i in reversed(range(1, given.shape[1])):
        before = net.first_state(given[:, i]) if state is None else state
        state = net.step(given[:, i], before, 0.0 if state is None else 1.0)[1]
    return state


def loss_of_clip(net, given, wanted, motion, state, guided):
    """Luma counts twice, and changes from frame to frame count as well."""
    loss, before = 0.0, None
    for i in range(given.shape[1]):
        known = 0.0 if state is None else 1.0
        if state is None:
            state = net.first_state(given[:, i])
        result, state, found = net.step(given[:, i], state, known)
        error = result - wanted[:, i]
        both = torch.cat([error, as_luma(error)], 1)
        loss = loss + (both.square() + 1e-6).sqrt().mean()
        if before is not None:
            loss = loss + 0.1 * (error - before).abs().mean()
        if known:
            off = 2 * found - F.avg_pool2d(motion[i], 2)
            loss = loss + guided * (off.square() + 0.01).sqrt().mean()
        before = error
    return loss / given.shape[1]


def main():
    parser = timed_training.options_of(__doc__.splitlines()[0], "models/denoise_video.pt",
                                       steps=3000, rate=1.5e-3, batch=4, side=96)
    parser.add_argument("--length", type=int, default=8, help="of a clip, in frames")
    options = parser.parse_args()
    timed_training.prepare(options)
    examples = Examples(options)

    def loss_of(net, rng, progress):
        with torch.no_grad():
            given, wanted, motion = examples(rng)
            state = None
            if rng.random() < 0.6:
                # A block of its own: autocast would keep weights that have no gradient.
                with timed_training.sixteen_bits(options, SIXTEEN_BITS, progress):
                    state = aged(net, moving_photographs.noisy(wanted, STRONGEST))
        with timed_training.sixteen_bits(options, SIXTEEN_BITS, progress):
            return loss_of_clip(net, given, wanted, motion, state, 0.003 * (1.05 - progress))

    net = timed_training.train(DenoiseVideo(), options, loss_of)
    if not options.train_only:
        training.save(net, options.out, CONTRACT)
    print(f"{sum(p.numel() for p in net.parameters())} weights")


if __name__ == "__main__":
    main()
