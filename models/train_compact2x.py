#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains a Compact net that doubles the size, and saves its weights alone, as such nets are published.

Every picture that it learns from is drawn here, from a seed.
"""

import torch
from torch import nn
from torch.nn import functional as F

import training
from train_upscale2x import HALVINGS, SWSCALE_CUBIC, Upscale2x, bicubic_weights, examples, halved


class Compact(nn.Module):
    """Convolutions in a row that add to the picture enlarged by repeated pixels.

    The names of the weights are those of SRVGGNetCompact. No layer has a bias and
    the first one is blind to brightness, so that even areas come out as they are;
    the file has biases, all zero, because the published layout has them.
    """

    def __init__(self, features: int = 24, convolutions: int = 6):
        super().__init__()
        layers = [nn.Conv2d(3, features, 3, padding=1), nn.PReLU(features)]
        for _ in range(convolutions):
            layers += [nn.Conv2d(features, features, 3, padding=1), nn.PReLU(features)]
        self.body = nn.ModuleList([*layers, nn.Conv2d(features, 12, 3, padding=1)])
        for layer in self.body[::2]:
            nn.init.kaiming_normal_(layer.weight, a=0.25)
            nn.init.zeros_(layer.bias)
            layer.bias.requires_grad_(False)
        nn.init.zeros_(self.body[-1].weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found = x
        for layer in self.body:
            found = layer(found)
        return F.pixel_shuffle(found, 2) + F.interpolate(x, scale_factor=2.0, mode="nearest")


def similarity(a, b):
    """SSIM of windows of 8x8 pixels, four apart."""
    def mean(x):
        return F.avg_pool2d(x, 8, 4)

    mean_a, mean_b = mean(a), mean(b)
    common = mean(a * b) - mean_a * mean_b
    spread = mean(a * a) - mean_a * mean_a + mean(b * b) - mean_b * mean_b
    light = (2 * mean_a * mean_b + 0.01**2) / (mean_a**2 + mean_b**2 + 0.01**2)
    return (light * (2 * common + 0.03**2) / (spread + 0.03**2)).mean()


def with_structure(result, wanted):
    """Structure counts as well: differences alone leave faint noise on what is nearly even."""
    return F.l1_loss(result, wanted) + 0.1 * (1 - similarity(result, wanted))


def blind_to_brightness(net):
    """Takes out of the first filters what they would answer to an even colour."""
    weight = net.body[0].weight
    weight.sub_(weight.mean((2, 3), keepdim=True))


def save(net, path):
    """Under the key of published checkpoints, and without what belongs to this machine."""
    torch.save({"params": {name: weight.clone() for name, weight in net.state_dict().items()}}, path)


def scores_of(net, wanted):
    """PSNR of bicubic and of the net, for each way of halving."""
    plain = Upscale2x(3, 4)
    plain.bicubic.copy_(bicubic_weights(3, SWSCALE_CUBIC))
    scores = {}
    for name, taps in HALVINGS.items():
        parts = halved(wanted, taps).split(8)
        with torch.no_grad():
            results = [torch.cat([f(part) for part in parts]) for f in (plain, net)]
        scores[name] = [training.psnr(result, wanted) for result in results]
    return scores


def report(net, wanted):
    for name, (bicubic, mine) in scores_of(net, wanted).items():
        print(f"halved by {name:8}  bicubic {bicubic:.2f} dB  net {mine:.2f} dB  "
              f"gain {mine - bicubic:+.2f} dB")


def main():
    parser = training.options_of(__doc__.splitlines()[0], "models/compact2x.pth", steps=3000)
    parser.set_defaults(pictures=1000, side=72)
    parser.add_argument("--after", metavar="FILE",
                        help="go on with these weights, and look at the structure as well")
    options = parser.parse_args()

    def make_net():
        net = Compact()
        if options.after:
            net.load_state_dict(torch.load(options.after)["params"])
        return net

    training.train_and_save(make_net, options, examples(3), blind_to_brightness, report, keep=save,
                            loss_of=with_structure if options.after else F.l1_loss)


if __name__ == "__main__":
    main()
