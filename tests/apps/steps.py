# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A clip of plain frames, each a step brighter than the one before, and what is left of one."""
import support

WIDTH, HEIGHT, RATE, COUNT = 64, 48, 25, 60
FIRST, STEP = 40, 3


def luma(number):
    return FIRST + STEP * number


def inverse(number):
    """What a model that inverts makes of frame `number`."""
    return 255 - luma(number)


def write_clip(path):
    frames = [
        bytes([luma(number)]) * (WIDTH * HEIGHT) + bytes([128]) * (WIDTH * HEIGHT // 2)
        for number in range(COUNT)
    ]
    size = f"{WIDTH}x{HEIGHT}"
    source = ["-f", "rawvideo", "-pixel_format", "yuv420p", "-video_size", size]
    source += ["-framerate", str(RATE), "-i", "pipe:0"]
    support.succeed(*source, "-c:v", "ffv1", path, stdin=b"".join(frames), plain=True)


def read_luma(path):
    """The first sample of each frame of a video or a picture."""
    chain = "crop=16:16,scale=out_range=limited,format=yuv420p,extractplanes=y"
    raw = support.succeed("-i", path, "-vf", chain, "-f", "rawvideo", "-", plain=True).stdout
    assert raw and len(raw) % 256 == 0
    return list(raw[::256])


def is_close(found, expected):
    """Two conversions of colours lie between a frame and the picture of it."""
    return abs(found - expected) <= 1
