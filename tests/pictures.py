# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Raw video in numpy: making it, what a model sees of it, and what has to come back."""
import dataclasses
import hashlib

import numpy

# How the samples of a frame lie in a file, and which channel of the model each plane is.
PACKED = {"rgb24": (0, 1, 2), "bgr24": (2, 1, 0)}
PLANAR = {"gbrp": (1, 2, 0), "gbrpf32le": (1, 2, 0)}
LUMA = {
    "gray": None,
    "grayf32le": None,
    "yuv420p": (2, 2),
    "yuv422p": (2, 1),
    "yuv444p": (1, 1),
}
FORMATS = (*PACKED, *PLANAR, *LUMA)
FLOATS = ("gbrpf32le", "grayf32le")


def channels_of(pixel_format):
    return 1 if pixel_format in LUMA else 3


def is_float(pixel_format):
    return pixel_format in FLOATS


@dataclasses.dataclass
class Frame:
    """What the model works on, (channels, height, width), and the chroma planes beside it."""

    image: numpy.ndarray
    chroma: list = dataclasses.field(default_factory=list)

    @property
    def size(self):
        return self.image.shape[2], self.image.shape[1]


def chroma_size(pixel_format, width, height):
    across, down = LUMA[pixel_format]
    return -(-width // across), -(-height // down)


def has_chroma(pixel_format):
    return LUMA.get(pixel_format) is not None


def plane_sizes(pixel_format, width, height):
    if pixel_format in PACKED:
        return [(width * 3, height)]
    if pixel_format in PLANAR:
        return [(width, height)] * 3
    if has_chroma(pixel_format):
        return [(width, height)] + [chroma_size(pixel_format, width, height)] * 2
    return [(width, height)]


def sample_type(pixel_format):
    return numpy.dtype("<f4") if is_float(pixel_format) else numpy.dtype("u1")


def pack(frame, pixel_format):
    """A frame as rawvideo has it."""
    image, kind = frame.image, sample_type(pixel_format)
    if pixel_format in PACKED:
        return numpy.stack([image[c] for c in PACKED[pixel_format]], -1).astype(kind).tobytes()
    order = PLANAR.get(pixel_format, (0,))
    planes = [image[c] for c in order] + list(frame.chroma)
    return b"".join(numpy.ascontiguousarray(plane, kind).tobytes() for plane in planes)


def unpack(data, pixel_format, width, height):
    """The frames of a rawvideo file."""
    kind = sample_type(pixel_format)
    sizes = plane_sizes(pixel_format, width, height)
    length = sum(across * down for across, down in sizes) * kind.itemsize
    assert len(data) % length == 0, f"{len(data)} bytes are no frames of {length}"
    return [
        unpack_one(numpy.frombuffer(data[at : at + length], kind), pixel_format, sizes)
        for at in range(0, len(data), length)
    ]


def unpack_one(samples, pixel_format, sizes):
    planes = []
    for across, down in sizes:
        planes.append(samples[: across * down].reshape(down, across))
        samples = samples[across * down :]
    if pixel_format in PACKED:
        pixels = planes[0].reshape(planes[0].shape[0], -1, 3)
        order = [PACKED[pixel_format].index(c) for c in range(3)]
        return Frame(numpy.stack([pixels[:, :, at] for at in order]))
    if pixel_format in PLANAR:
        order = [PLANAR[pixel_format].index(c) for c in range(3)]
        return Frame(numpy.stack([planes[at] for at in order]))
    return Frame(planes[0][None], planes[1:])


def noise(count, seed):
    """Bytes that are the same with every numpy."""
    value = numpy.arange(count, dtype=numpy.uint64) + numpy.uint64(seed * 7919 + 1)
    value = value * numpy.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> numpy.uint64(29))) * numpy.uint64(0xBF58476D1CE4E5B9)
    return (value >> numpy.uint64(56)).astype(numpy.uint8)


def picture(channels, width, height, number):
    """A slope with texture and noise on it, so that nets have something to do; 8 bits."""
    y, x = numpy.mgrid[0:height, 0:width]
    image = numpy.empty((channels, height, width), numpy.uint8)
    for c in range(channels):
        slope = (x * (3 + c) + y * (2 + c) + number * 11) % 211
        squares = ((x // 5 + y // 7 + c) % 2) * 24
        speckle = noise(width * height, number * 16 + c).reshape(height, width) // 12
        image[c] = numpy.clip(slope + squares + speckle, 0, 255)
    return image


def make_frame(pixel_format, width, height, number, textured_chroma=False):
    """Frame `number`, which is also its first sample."""
    image = picture(channels_of(pixel_format), width, height, number)
    image[0, 0, 0] = number
    if is_float(pixel_format):
        image = image.astype(numpy.float32) / numpy.float32(255)
    chroma = []
    if has_chroma(pixel_format):
        across, down = chroma_size(pixel_format, width, height)
        for plane in range(2):
            flat = numpy.full(
                (down, across), (number * 9 + plane * 77 + 40) % 200 + 20, numpy.uint8
            )
            chroma.append(picture(1, across, down, number + plane)[0] if textured_chroma else flat)
    return Frame(image, chroma)


def make_frames(pixel_format, width, height, count, **options):
    return [
        make_frame(pixel_format, width, height, number, **options) for number in range(1, count + 1)
    ]


def raw(frames, pixel_format):
    return b"".join(pack(frame, pixel_format) for frame in frames)


def digest(frame, pixel_format):
    """As in framemd5."""
    return hashlib.md5(pack(frame, pixel_format)).hexdigest()


def raw_input(pixel_format, width, height, rate=25):
    """ffmpeg's options for reading raw() from its standard input."""
    size = f"{width}x{height}"
    return ["-f", "rawvideo", "-pixel_format", pixel_format, "-video_size", size,
            "-framerate", str(rate), "-i", "pipe:0"]  # fmt: skip


def to_unit(image):
    """What the model sees: float32, 1.0 is white."""
    if image.dtype == numpy.uint8:
        return image.astype(numpy.float32) / numpy.float32(255)
    return image.astype(numpy.float32)


def from_unit(image, pixel_format):
    """What has to come back of a model's result."""
    if is_float(pixel_format):
        return numpy.where(numpy.isnan(image), numpy.float32(0), image).astype(numpy.float32)
    bounded = numpy.clip(numpy.nan_to_num(image, nan=0.0), 0, 1)
    return numpy.rint(bounded * numpy.float32(255)).astype(numpy.uint8)
