# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What video does to pictures: half the size, 8 bits, 4:2:0, compression and noise.

Pictures are RGB in [0, 1], [N, 3, height, width].
"""

import functools
import subprocess

import numpy as np
import torch
from torch.nn import functional as F


@functools.lru_cache(maxsize=None)
def constant(device, *values):
    """On a device once and for all: a copy waits until the device has done what it was told."""
    return torch.tensor(values, device=device)


def to_bytes_and_back(images):
    return images.mul(255).round_().clamp_(0, 255).div_(255)


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


def halved(images, taps):
    n, c, height, width = images.shape
    reach = len(taps) // 2 - 1
    padded = F.pad(images, (reach,) * 4, mode="replicate").reshape(n * c, 1, *(
        extent + 2 * reach for extent in (height, width)))
    rows = F.conv2d(padded, taps.view(1, 1, -1, 1), stride=(2, 1))
    small = F.conv2d(rows, taps.view(1, 1, 1, -1), stride=(1, 2))
    return to_bytes_and_back(small.view(n, c, height // 2, width // 2))


# ------------------------------------------------------------------- 4:2:0

RED, GREEN, BLUE = 0.299, 0.587, 0.114  # of luma in BT.601


def as_luma(images):
    """One channel, weighted as BT.601 has it."""
    return (images * constant(images.device, RED, GREEN, BLUE).view(3, 1, 1)).sum(-3, keepdim=True)


def to_420(images):
    """Luma, and Cb and Cr of half the size, sited left, as codes of 8 bits before they are rounded."""
    luma = as_luma(images)
    chroma = torch.cat([(images[:, 2:] - luma) / (2 - 2 * BLUE),
                        (images[:, :1] - luma) / (2 - 2 * RED)], 1)
    across = F.pad(chroma, (1, 0, 0, 0), mode="replicate")
    across = F.conv2d(across.flatten(0, 1).unsqueeze(1),
                      constant(images.device, 0.25, 0.5, 0.25).view(1, 1, 1, 3), stride=(1, 2))
    chroma = F.avg_pool2d(across, (2, 1)).view(len(images), 2, images.shape[2] // 2, -1)
    return luma * 219 + 16, chroma * 224 + 128


def from_420(luma, chroma):
    """RGB, which noise and footroom may take out of [0, 1], as the filter leaves it.

    Chroma is interpolated linearly; the filter's differs by an eighth of its slope.
    """
    right = torch.cat([chroma[..., 1:], chroma[..., -1:]], 3)
    across = torch.stack([chroma, (chroma + right) / 2], 4).flatten(3)
    above = torch.cat([across[..., :1, :], across[..., :-1, :]], 2)
    below = torch.cat([across[..., 1:, :], across[..., -1:, :]], 2)
    full = torch.stack([(3 * across + above) / 4, (3 * across + below) / 4], 3).flatten(2, 3)
    luma, (cb, cr) = (luma - 16) / 219, ((full - 128) / 224).split(1, 1)
    red, blue = luma + (2 - 2 * RED) * cr, luma + (2 - 2 * BLUE) * cb
    return torch.cat([red, (luma - RED * red - BLUE * blue) / GREEN, blue], 1)


def through_420(images):
    """As video of 8 bits has them."""
    luma, chroma = to_420(images)
    return from_420(luma.round().clamp(0, 255), chroma.round().clamp(0, 255))


# ------------------------------------------------------------- compression


def cosines(device):
    """The transform of JPEG and MPEG: a row for each frequency."""
    along = torch.arange(8, device=device)
    rows = torch.cos(np.pi / 8 * (along + 0.5) * along[:, None]) / 2
    return torch.cat([rows[:1] / 2**0.5, rows[1:]])


def quantised(images, steps):
    """What a coder without motion leaves: 8x8 cosines in steps[N], of extents that 8 divides."""
    transform = cosines(images.device)
    n, c, height, width = images.shape
    blocks = images.reshape(n, c, height // 8, 8, width // 8, 8).transpose(3, 4)
    steps = steps.view(n, 1, 1, 1, 1, 1)
    codes = (transform @ blocks @ transform.t() / steps).round()
    blocks = transform.t() @ (codes * steps) @ transform
    return blocks.transpose(3, 4).reshape(images.shape).clamp(0, 1)


def encoded(frames, crf):
    """What libx264 makes of frames of bytes, [N, 3, height, width] of even extents."""
    count, _, height, width = frames.shape
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24"]
    quietly = ["ffmpeg", "-v", "error", "-nostdin"]
    frames = frames.permute(0, 2, 3, 1).contiguous().numpy()
    video = subprocess.run(
        [*quietly, *raw, "-s", f"{width}x{height}", "-i", "-", "-c:v", "libx264", "-crf", str(crf),
         "-pix_fmt", "yuv420p", "-threads", "1", "-f", "matroska", "-"],
        input=frames.tobytes(), check=True, stdout=subprocess.PIPE).stdout
    back = subprocess.run(
        [*quietly, "-i", "-", "-vf", "scale=flags=bicubic+accurate_rnd+full_chroma_int", *raw, "-"],
        input=video, check=True, stdout=subprocess.PIPE).stdout
    back = np.frombuffer(back, np.uint8).reshape(count, height, width, 3)
    return torch.from_numpy(back.copy()).permute(0, 3, 1, 2).contiguous()
