#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains the denoising net of this folder and saves it as TorchScript.

Every picture that it learns from is drawn here, from a seed.
"""

import torch
from torch import nn
from torch.nn import functional as F

import training

STRONGEST = 0.1
"""Standard deviation of the strongest noise that it learns to remove; white is 1."""


def gaussian(sigma, reach):
    taps = torch.exp(-0.5 * (torch.arange(-reach, reach + 1) / sigma) ** 2)
    square = torch.outer(taps, taps)
    return square / square.sum()


class Denoise(nn.Module):
    """A blur, and how much of what it took away comes back, as a small net decides.

    The net says for each sample which share comes back, and what to add beside.
    It works at half the size, on the four pixels of each square at once; its
    first layer does not see how bright a picture is. The picture is mirrored at
    its edges once, at the input, and no layer pads.
    """

    def __init__(self, channels: int = 32, layers: int = 6):
        super().__init__()
        self.reach: int = 2 * layers
        self.register_buffer("blur", gaussian(1.6, 4).repeat(3, 1, 1, 1))
        body = [nn.Conv2d(12, channels, 3, bias=False), nn.ReLU()]
        for _ in range(layers - 2):
            body += [nn.Conv2d(channels, channels, 3, bias=False), nn.ReLU()]
        self.body = nn.Sequential(*body, nn.Conv2d(channels, 24, 3, bias=False))
        for layer in self.body[:-1:2]:
            # Without biases nothing else keeps noise as large as it comes in.
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
        nn.init.zeros_(self.body[-1].weight)
        self.kept = nn.Parameter(torch.zeros(1, 12, 1, 1))

    def mirrored(self, x: torch.Tensor, extent: int) -> torch.Tensor:
        """Indices from reach before an extent to reach after it, an even number of them."""
        i = torch.arange(-self.reach, extent + extent % 2 + self.reach, device=x.device).abs()
        return (extent - 1 - (extent - 1 - i).abs()).clamp(0, extent - 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        height, width = x.size(2), x.size(3)
        wide = x.index_select(2, self.mirrored(x, height)).index_select(3, self.mirrored(x, width))
        found = self.body(F.pixel_unshuffle(wide, 2) * 8)
        share = F.pixel_shuffle(torch.sigmoid(found[:, :12] + self.kept), 2)[:, :, :height, :width]
        added = F.pixel_shuffle(found[:, 12:] / 8, 2)[:, :, :height, :width]
        near = wide[:, :, self.reach - 4:self.reach + height + 4,
                    self.reach - 4:self.reach + width + 4]
        blurred = F.conv2d(near, self.blur, groups=3)
        return blurred + share * (x - blurred) + added


def blind_to_brightness(net):
    """Takes out of the first filters what they would answer to an even colour."""
    by_colour = net.body[0].weight.view(-1, 3, 4 * 9)
    by_colour.sub_(by_colour.mean(2, keepdim=True))


def noise_like(images, rng):
    """Of a camera: more in all colours together than in each, the colours' at times coarse."""
    noise = torch.randn_like(images)
    if rng.random() < 0.5:
        grey = noise.mean(1, keepdim=True)
        colour = noise - grey
        if rng.random() < 0.6:
            colour = F.interpolate(F.avg_pool2d(colour, 2) * 2, scale_factor=2)
        noise = 3**0.5 * grey + rng.uniform(0, 1) * colour
    return noise


def example(wanted, rng):
    strength = torch.from_numpy(rng.uniform(0, STRONGEST, (len(wanted), 1, 1, 1))).float()
    noisy = wanted + strength * noise_like(wanted, rng)
    return training.to_bytes_and_back(noisy), wanted


def report(net, wanted):
    for of_255 in (5, 10, 15, 25):
        torch.manual_seed(of_255)
        noisy = training.to_bytes_and_back(wanted + torch.randn_like(wanted) * of_255 / 255)
        clean = torch.cat([net(part) for part in noisy.split(8)])
        before, after = (training.psnr(result, wanted) for result in (noisy, clean))
        print(f"noise of {of_255:2}  {before:.2f} dB  without it {after:.2f} dB  "
              f"gain {after - before:+.2f} dB")


if __name__ == "__main__":
    parser = training.options_of(__doc__.splitlines()[0], "models/denoise.pt", steps=4500)
    parser.set_defaults(pictures=800, side=64)
    # Texture as rough as noise cannot be told from it.
    training.train_and_save(Denoise, parser.parse_args(), example, blind_to_brightness, report,
                            roughest=1.2)
