#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains the denoising net of this folder and saves it as TorchScript.

It learns from photographs (photographs.py) with the noise of cameras, as video of 8 bits,
4:2:0, has it.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import photographs
import training
from degradations import as_luma, from_420, through_420, to_420, to_bytes_and_back

STRONGEST = 32
"""Standard deviation of the strongest noise that it learns to remove; white is 255."""


class Denoise(nn.Module):
    """What a small net takes for noise is taken away.

    It works at half the size, on the four pixels of each square at once. It has no
    biases, so that it treats contrast and noise of any strength alike; its first layer
    does not see how bright a picture is. The picture is mirrored at its edges once, at
    the input, and no layer pads.
    """

    def __init__(self, channels: int = 48, layers: int = 7):
        super().__init__()
        self.reach: int = 2 * layers
        body = [nn.Conv2d(12, channels, 3, bias=False), nn.ReLU()]
        for _ in range(layers - 2):
            body += [nn.Conv2d(channels, channels, 3, bias=False), nn.ReLU()]
        self.body = nn.Sequential(*body, nn.Conv2d(channels, 12, 3, bias=False))
        for layer in self.body[:-1:2]:
            # Without biases nothing else keeps noise as large as it comes in.
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
        nn.init.zeros_(self.body[-1].weight)

    def mirrored(self, x: torch.Tensor, extent: int) -> torch.Tensor:
        """Indices from reach before an extent to reach after it, an even number of them."""
        i = torch.arange(-self.reach, extent + extent % 2 + self.reach, device=x.device).abs()
        return (extent - 1 - (extent - 1 - i).abs()).clamp(0, extent - 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        height, width = x.size(2), x.size(3)
        wide = x.index_select(2, self.mirrored(x, height)).index_select(3, self.mirrored(x, width))
        noise = F.pixel_shuffle(self.body(F.pixel_unshuffle(wide, 2)), 2)
        return x - noise[:, :, :height, :width]


def blind_to_brightness(net):
    """Takes out of the first filters what they would answer to an even colour."""
    weight = net.body[0].weight
    by_colour = weight.unflatten(1, (3, 4)).mean((2, 3, 4))
    weight.sub_(by_colour.repeat_interleave(4, 1)[..., None, None])


# ----------------------------------------------------------------- noise


def in_codes(images, strength):
    """Noise of luma and chroma alike, rounded to 8 bits and cut to what these hold."""
    luma, chroma = to_420(images)
    return from_420(*(
        (part + strength * torch.randn_like(part)).round().clamp(0, 255) for part in (luma, chroma)
    ))


def of_a_camera(images, strength):
    """More where it is bright, more in all colours together than in each, these at times coarse."""
    noise = torch.randn_like(images)
    gray = noise.mean(1, keepdim=True)
    colour = noise - gray
    if torch.rand(()) < 0.5:
        colour = F.interpolate(F.avg_pool2d(colour, 2) * 2, scale_factor=2)
    noise = 3**0.5 * gray + torch.rand(()) * colour
    by_light = (0.3 + 0.7 * as_luma(images)).sqrt()
    return through_420(images + strength / 255 * by_light * noise)


def in_rgb(images, strength):
    return to_bytes_and_back(images + strength / 255 * torch.randn_like(images))


class Examples:
    """Makes noisy pictures, and what they were before."""

    def __init__(self, pictures, options):
        self.pictures, self.batch, self.side = pictures, options.batch, options.side

    def __call__(self, rng):
        wanted = training.crops(self.pictures, self.batch, self.side, rng)
        strength = torch.from_numpy(rng.uniform(0, STRONGEST, (self.batch, 1, 1, 1))).float()
        kind = rng.random()
        if kind < 0.2:
            return in_rgb(wanted, strength), wanted
        wanted = through_420(wanted)
        return (in_codes if kind < 0.7 else of_a_camera)(wanted, strength), wanted


def scores_of(net):
    """For strengths of noise: PSNR of luma with it and without, on photographs held out."""
    pictures = [through_420(picture[None].float() / 255)
                for picture in photographs.load(held_out=True, longer_side=800)]
    scores = {}
    for strength in (5, 10, 15, 25):
        torch.manual_seed(strength)
        pairs = [(in_codes(picture, strength), picture) for picture in pictures]
        with torch.no_grad():
            scores[strength] = [
                np.mean([training.psnr(as_luma(way(noisy)), as_luma(picture))
                         for noisy, picture in pairs]) for way in (lambda x: x, net)]
    return scores


def report(net):
    for strength, (before, after) in scores_of(net).items():
        print(f"noise of {strength:2}  {before:.2f} dB  without it {after:.2f} dB  "
              f"gain {after - before:+.2f} dB")


def main():
    parser = training.options_of(__doc__.splitlines()[0], "models/denoise.pt", steps=8000)
    parser.set_defaults(side=64)
    options = parser.parse_args()
    training.train_and_save(Denoise, options, Examples(photographs.load(), options),
                            blind_to_brightness, report, loss_of=training.with_luma)


if __name__ == "__main__":
    main()
