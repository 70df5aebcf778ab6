# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Raw video in numpy: making it, what a model sees of it, and what has to come back."""
import dataclasses
import hashlib

import numpy


@dataclasses.dataclass(frozen=True)
class Format:
    """How the samples of a frame lie in a file."""

    planes: tuple  # of the samples of one pixel: r, g, b, y, u, v, a; x is padding
    depth: int = 8  # 32 is a float
    shift: int = 0  # bits below the value
    chroma: tuple = None  # how many pixels one sample of chroma spans, across and down

    @property
    def seen(self):
        return "rgb" if any("r" in plane for plane in self.planes) else "y"

    @property
    def is_float(self):
        return self.depth == 32

    @property
    def white(self):
        return 1 if self.is_float else (1 << self.depth) - 1

    @property
    def kind(self):
        if self.is_float:
            return numpy.dtype("<f4")
        return numpy.dtype("u1" if self.depth == 8 else "<u2")


def all_formats():
    """By FFmpeg's names; without yuvj*, which newer releases call yuv*, and what 5.1 lacks."""
    packed = ("rgb", "bgr", "rgba", "bgra", "argb", "abgr")
    table = {"gray": Format(("y",)), "ya8": Format(("ya",)), "ya16le": Format(("ya",), 16)}
    for name in packed:
        table[name if "a" in name else f"{name}24"] = Format((name,))
    for name in ("0rgb", "0bgr", "rgb0", "bgr0"):
        table[name] = Format((name.replace("0", "x"),))
    for name in packed[:4]:
        table[f"{name}64le" if "a" in name else f"{name}48le"] = Format((name,), 16)
    for depth, suffix in suffixes(8, 9, 10, 12, 14, 16):
        table[f"gbrp{suffix}"] = Format(tuple("gbr"), depth)
        table[f"gray{suffix}"] = Format(("y",), depth)
    for depth, suffix in suffixes(8, 10, 12, 16):
        table[f"gbrap{suffix}"] = Format(tuple("gbra"), depth)
    table["grayf32le"] = Format(("y",), 32)
    table["gbrpf32le"] = Format(tuple("gbr"), 32)
    table["gbrapf32le"] = Format(tuple("gbra"), 32)
    return table | planar_yuv() | yuv_of_two_planes()


def suffixes(*depths):
    return [(depth, "" if depth == 8 else f"{depth}le") for depth in depths]


def planar_yuv():
    spans = {"420": (2, 2), "422": (2, 1), "444": (1, 1)}
    table = {
        "yuv411p": Format(tuple("yuv"), chroma=(4, 1)),
        "yuv410p": Format(tuple("yuv"), chroma=(4, 4)),
    }
    for name, span in spans.items():
        for depth, suffix in suffixes(8, 9, 10, 12, 14, 16):
            table[f"yuv{name}p{suffix}"] = Format(tuple("yuv"), depth, chroma=span)
        for depth, suffix in suffixes(8, 9, 10, 12, 16):
            if (name, depth) != ("420", 12):
                table[f"yuva{name}p{suffix}"] = Format(tuple("yuva"), depth, chroma=span)
    for depth, suffix in suffixes(8, 10, 12):
        table[f"yuv440p{suffix}"] = Format(tuple("yuv"), depth, chroma=(1, 2))
    return table


def yuv_of_two_planes():
    table = {
        "nv12": Format(("y", "uv"), chroma=(2, 2)),
        "nv21": Format(("y", "vu"), chroma=(2, 2)),
        "nv16": Format(("y", "uv"), chroma=(2, 1)),
        "nv24": Format(("y", "uv"), chroma=(1, 1)),
        "nv42": Format(("y", "vu"), chroma=(1, 1)),
        "nv20le": Format(("y", "uv"), 10, chroma=(2, 1)),
    }
    for name, span in {"p0": (2, 2), "p2": (2, 1), "p4": (1, 1)}.items():
        for depth in (10, 16):
            table[f"{name}{depth}le"] = Format(("y", "uv"), depth, 16 - depth, span)
    return table


FORMATS = all_formats()


def channels_of(pixel_format):
    return len(FORMATS[pixel_format].seen)


def is_float(pixel_format):
    return FORMATS[pixel_format].is_float


@dataclasses.dataclass
class Frame:
    """What the model works on, (channels, height, width), and what lies beside it."""

    image: numpy.ndarray
    chroma: list = dataclasses.field(default_factory=list)
    rest: numpy.ndarray = None  # alpha or padding

    @property
    def size(self):
        return self.image.shape[2], self.image.shape[1]


def chroma_size(pixel_format, width, height):
    across, down = FORMATS[pixel_format].chroma
    return -(-width // across), -(-height // down)


def has_chroma(pixel_format):
    return FORMATS[pixel_format].chroma is not None


def has_alpha(pixel_format):
    return any("a" in plane for plane in FORMATS[pixel_format].planes)


def has_rest(pixel_format):
    return has_alpha(pixel_format) or any("x" in plane for plane in FORMATS[pixel_format].planes)


def plane_sizes(pixel_format, width, height):
    """Of each plane in samples, all of a pixel's counted."""
    sizes = []
    for plane in FORMATS[pixel_format].planes:
        is_chroma = plane[0] in "uv"
        across, down = chroma_size(pixel_format, width, height) if is_chroma else (width, height)
        sizes.append((across * len(plane), down))
    return sizes


def samples_by_letter(frame, layout):
    letters = dict(zip(layout.seen, frame.image))
    letters.update(zip("uv", frame.chroma))
    letters.update({"a": frame.rest, "x": frame.rest})
    return letters


def pack(frame, pixel_format):
    """A frame as rawvideo has it."""
    layout = FORMATS[pixel_format]
    letters = samples_by_letter(frame, layout)
    packed = b""
    for plane in layout.planes:
        samples = numpy.stack([letters[letter] for letter in plane], -1).astype(layout.kind)
        packed += (samples << layout.shift if layout.shift else samples).tobytes()
    return packed


def unpack(data, pixel_format, width, height):
    """The frames of a rawvideo file."""
    kind = FORMATS[pixel_format].kind
    sizes = plane_sizes(pixel_format, width, height)
    length = sum(across * down for across, down in sizes) * kind.itemsize
    assert len(data) % length == 0, f"{len(data)} bytes are no frames of {length}"
    return [
        unpack_one(numpy.frombuffer(data[at : at + length], kind), pixel_format, sizes)
        for at in range(0, len(data), length)
    ]


def unpack_one(samples, pixel_format, sizes):
    layout = FORMATS[pixel_format]
    letters = {}
    for plane, (across, down) in zip(layout.planes, sizes):
        pixels = samples[: across * down].reshape(down, -1, len(plane))
        pixels = pixels >> layout.shift if layout.shift else pixels
        letters.update((letter, pixels[:, :, at]) for at, letter in enumerate(plane))
        samples = samples[across * down :]
    image = numpy.stack([letters[letter] for letter in layout.seen])
    chroma = [letters[letter] for letter in "uv" if letter in letters]
    return Frame(image, chroma, letters.get("a", letters.get("x")))


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


def coded(image, pixel_format, seed):
    """Eight bits in the format's own samples; deeper ones get noise below."""
    layout = FORMATS[pixel_format]
    if layout.is_float:
        return image.astype(numpy.float32) / numpy.float32(255)
    if layout.depth == 8:
        return image
    below = noise(image.size, seed).reshape(image.shape).astype(numpy.uint16)
    return (image.astype(numpy.uint16) << (layout.depth - 8)) | (below >> (16 - layout.depth))


def make_frame(pixel_format, width, height, number, textured_chroma=False):
    """Frame `number`, which is also its first sample."""
    seed = number * 16 + 8
    image = picture(channels_of(pixel_format), width, height, number)
    image = coded(image, pixel_format, seed)
    image[0, 0, 0] = coded(numpy.array(number, numpy.uint8), pixel_format, seed)
    frame = Frame(image)

    def beside(plane, across, down):
        if textured_chroma:
            return coded(picture(1, across, down, number + plane)[0], pixel_format, seed + plane)
        level = numpy.array((number * 9 + plane * 77 + 40) % 200 + 20, numpy.uint8)
        return numpy.full((down, across), coded(level, pixel_format, seed + plane))

    if has_chroma(pixel_format):
        size = chroma_size(pixel_format, width, height)
        frame.chroma = [beside(plane, *size) for plane in range(2)]
    if has_rest(pixel_format):
        frame.rest = beside(2, width, height)
    return frame


def make_frames(pixel_format, width, height, count, **options):
    return [
        make_frame(pixel_format, width, height, number, **options) for number in range(1, count + 1)
    ]


def raw(frames, pixel_format):
    return b"".join(pack(frame, pixel_format) for frame in frames)


def digest(frame, pixel_format):
    """As in framemd5."""
    return hashlib.md5(pack(frame, pixel_format)).hexdigest()


def raw_input(pixel_format, width, height, rate=25, path="pipe:0"):
    """ffmpeg's options for reading raw(), from its standard input or a file."""
    size = f"{width}x{height}"
    return ["-f", "rawvideo", "-pixel_format", pixel_format, "-video_size", size,
            "-framerate", str(rate), "-i", str(path)]  # fmt: skip


def to_unit(image, white=255):
    """What the model sees: float32, 1.0 is white."""
    if image.dtype.kind == "f":
        return image.astype(numpy.float32)
    return image.astype(numpy.float32) / numpy.float32(white)


def from_unit(image, pixel_format):
    """What has to come back of a model's result."""
    layout = FORMATS[pixel_format]
    number = numpy.where(numpy.isnan(image), numpy.float32(0), image).astype(numpy.float32)
    if layout.is_float:
        return number
    bounded = numpy.clip(number, 0, 1)
    return numpy.rint(bounded * numpy.float32(layout.white)).astype(layout.kind)
