# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""SwinIR, as its authors publish it."""
from published import Case
from swin_parts import Group, SwinBlock, SwinFamily


class SwinIR(SwinFamily):
    def __init__(self, depths=(2, 2), heads=(2, 2), features=12, window=4, hidden=24,
                 qkv_bias=True, trained=16, residual="1conv", **family):
        layers = []
        for depth, count in zip(depths, heads):
            blocks = [SwinBlock(features, window, count, i % 2 * (window // 2), hidden, qkv_bias,
                                trained) for i in range(depth)]
            layers.append(Group(features, blocks, residual))
        super().__init__(layers, window=window, features=features, residual=residual, **family)


class Stripped(SwinIR):
    """The file of somebody who left the buffers out."""

    def state_dict(self, *arguments, **options):
        return {name: tensor for name, tensor in super().state_dict(*arguments, **options).items()
                if not name.endswith(("attn_mask", "relative_position_index"))}


def told(scale=2, blocks="2/2", heads="2/2", window=4, features=12, upsampler="pixelshuffle"):
    return {"architecture": "SwinIR", "scale": scale, "features": features, "blocks": blocks,
            "heads": heads, "window": window, "upsampler": upsampler}


CASES = {
    "classic-x2": Case(SwinIR, told()),
    "classic-x3": Case(lambda: SwinIR(scale=3), told(scale=3)),
    "classic-x4": Case(lambda: SwinIR(scale=4), told(scale=4)),
    "classic-x8": Case(lambda: SwinIR(scale=8), told(scale=8)),
    "classic-x1": Case(lambda: SwinIR(scale=1), told(scale=1)),
    "layers": Case(lambda: SwinIR(depths=(3, 1, 2), heads=(1, 2, 4), hidden=20),
                   told(blocks="3/1/2", heads="1/2/4")),
    "published-window": Case(lambda: SwinIR(window=8, trained=64), told(window=8)),
    "odd-window": Case(lambda: SwinIR(window=5, trained=20), told(window=5)),
    "light-x3": Case(lambda: SwinIR(upsampler="pixelshuffledirect", scale=3),
                     told(scale=3, upsampler="pixelshuffledirect")),
    "light-grey": Case(lambda: SwinIR(upsampler="pixelshuffledirect", channels=1),
                       told(upsampler="pixelshuffledirect"), channels=1),
    "real-x4": Case(lambda: SwinIR(upsampler="nearest+conv", scale=4),
                    told(scale=4, upsampler="nearest+conv")),
    "real-x2": Case(lambda: SwinIR(upsampler="nearest+conv"), told(upsampler="nearest+conv")),
    "unshuffled-x4": Case(
        lambda: SwinIR(upsampler="nearest+conv", scale=4, unshuffle=2),
        told(scale=4, upsampler="nearest+conv") | {"unshuffle": 2}),
    "large": Case(lambda: SwinIR(upsampler="nearest+conv", scale=4, residual="3conv"),
                  told(scale=4, upsampler="nearest+conv")),
    "denoise": Case(lambda: SwinIR(upsampler="none", scale=1), told(scale=1, upsampler="none")),
    "denoise-grey": Case(lambda: SwinIR(upsampler="none", scale=1, channels=1),
                         told(scale=1, upsampler="none"), channels=1),
    "jpeg": Case(lambda: SwinIR(upsampler="none", scale=1, window=7, trained=21, span=255.0),
                 told(scale=1, window=7, upsampler="none")),
    "jpeg-grey": Case(
        lambda: SwinIR(upsampler="none", scale=1, window=7, trained=21, span=255.0, channels=1),
        told(scale=1, window=7, upsampler="none"), channels=1),
    "no-bias": Case(lambda: SwinIR(qkv_bias=False, patch_norm=False), told()),
    "never-shifted": Case(lambda: SwinIR(trained=4), told()),
    "without-buffers": Case(Stripped, told()),
    "multiple-of-window": Case(SwinIR, told(), size=(24, 16)),
    "one-window": Case(SwinIR, told(), size=(4, 3)),
}
