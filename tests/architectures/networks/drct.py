# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""DRCT, as its authors publish it."""
import torch
from published import Case
from swin_parts import SwinBlock, SwinFamily
from torch import nn
from torch.nn import functional


class Layer(nn.Module):
    def __init__(self, features, growth, window, heads, hidden, qkv_bias, trained):
        super().__init__()
        for i in range(5):
            channels = features + i * growth
            # Published: the blocks' heads divide their channels.
            own_heads = heads if i == 0 else heads - channels % heads
            block = SwinBlock(channels, window, own_heads, i % 2 * (window // 2),
                              hidden if i < 3 else channels, qkv_bias, trained)
            self.add_module(f"swin{i + 1}", block)
            made = growth if i < 4 else features
            self.add_module(f"adjust{i + 1}", nn.Conv2d(channels, made, 1))

    def forward(self, x):
        known = [x]
        for i in range(1, 6):
            made = self.get_submodule(f"swin{i}")(torch.cat(known, -1)).permute(0, 3, 1, 2)
            made = self.get_submodule(f"adjust{i}")(made).permute(0, 2, 3, 1)
            known.append(functional.leaky_relu(made, 0.2) if i < 5 else made)
        return x + 0.2 * known[-1]


class DRCT(SwinFamily):
    def __init__(self, layers=2, features=12, growth=4, window=4, heads=2, hidden=24,
                 qkv_bias=True, trained=16, **family):
        made = [Layer(features, growth, window, heads, hidden, qkv_bias, trained)
                for _ in range(layers)]
        super().__init__(made, window=window, features=features, **family)


def told(scale=2, layers=2, growth=4, window=4, heads="2/2/2/2/2", features=12):
    return {"architecture": "DRCT", "scale": scale, "features": features, "growth": growth,
            "layers": layers, "heads": heads, "window": window, "upsampler": "pixelshuffle"}


CASES = {
    "x2": Case(DRCT, told()),
    "x3": Case(lambda: DRCT(scale=3), told(scale=3)),
    "x4": Case(lambda: DRCT(scale=4, layers=3), told(scale=4, layers=3)),
    "x1": Case(lambda: DRCT(scale=1), told(scale=1)),
    "grey": Case(lambda: DRCT(channels=1), told(), channels=1),
    # As in the published ones, the heads of the blocks differ.
    "heads": Case(lambda: DRCT(growth=8, heads=6), told(growth=8, heads="6/4/2/6/4")),
    "published-window": Case(lambda: DRCT(window=16, trained=64), told(window=16)),
    "never-shifted": Case(lambda: DRCT(trained=4), told()),
    "identity": Case(lambda: DRCT(residual="identity", qkv_bias=False, patch_norm=False), told()),
}
