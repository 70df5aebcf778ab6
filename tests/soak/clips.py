# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clips of random frames, no two alike, and what a model makes of them."""
import dataclasses

import numpy

WIDTH, HEIGHT, RATE = 16, 12, 25

# The first sample of a frame: of most, of those that a script knows, and of the grey
# pictures that a model is tried on.
USUAL, MARKED, GREY = 7, 201, 128


@dataclasses.dataclass(frozen=True)
class Format:
    planes: tuple  # the shape of what the model sees of one frame; "H" and "W" are the extents
    kind: type = numpy.uint8
    rest: int = 0  # samples that follow and pass unchanged

    def shape(self):
        return [{"H": HEIGHT, "W": WIDTH}.get(extent, extent) for extent in self.planes]


FORMATS = {
    "rgb24": Format(("H", "W", 3)),
    "gbrp": Format((3, "H", "W")),
    "gray": Format(("H", "W")),
    "gray16le": Format(("H", "W"), numpy.dtype("<u2")),
    "yuv420p": Format(("H", "W"), rest=WIDTH * HEIGHT // 2),
}


@dataclasses.dataclass(frozen=True)
class Model:
    """What both a script and numpy can do."""

    inverts: bool = False
    scale: str = "1"

    def script(self):
        lines = {"scale": self.scale}
        return {**lines, "gain": -1, "offset": 1} if self.inverts else lines

    def apply(self, image, layout):
        if self.inverts:
            image = numpy.iinfo(image.dtype).max - image
        for axis, extent in enumerate(layout.planes, 1):
            if extent in ("H", "W") and self.scale == "2":
                image = image.repeat(2, axis)
            if extent in ("H", "W") and self.scale == "1/2":
                image = image.take(range(0, image.shape[axis], 2), axis)
        return image


class Clip:
    def __init__(self, pixel_format, count, seed, marked=()):
        self.layout = FORMATS[pixel_format]
        generator = numpy.random.default_rng(seed)
        most = numpy.iinfo(self.layout.kind).max
        shape = [count, *self.layout.shape()]
        self.image = generator.integers(0, most, shape, self.layout.kind, endpoint=True)
        self.rest = generator.integers(0, 255, [count, self.layout.rest], numpy.uint8, True)
        self.mark(slice(None), USUAL)
        self.mark(list(marked), MARKED)

    def mark(self, numbers, code):
        corner = [0 if extent in ("H", "W") else slice(None) for extent in self.layout.planes]
        white = numpy.iinfo(self.layout.kind).max
        self.image[(numbers, *corner)] = code * (white // 255)

    def with_image(self, image):
        return packed(image, self.rest)

    def write(self, path):
        path.write_bytes(self.with_image(self.image).tobytes())


def packed(image, rest):
    """One row of bytes for each frame."""
    count = len(image)
    image = numpy.ascontiguousarray(image)
    return numpy.concatenate([image.reshape(count, -1).view(numpy.uint8), rest], axis=1)
