# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the golden references cover, and what each exact model does, said in numpy."""
import numpy
import pictures

FRAMES = 7
WIDTH, HEIGHT = 38, 22


def enlarge(factor):
    return lambda image: image.repeat(factor, 1).repeat(factor, 2)


# Each takes what the model sees, (channels, height, width) in float32, and says what it returns.
MEANING = {
    "identity": lambda image: image,
    "invert": lambda image: numpy.float32(1) - image,
    "enlarge2": enlarge(2),
    "enlarge3": enlarge(3),
    "enlarge4": enlarge(4),
    "crop": lambda image: image[:, 2:-2, 2:-2],
    "halve": lambda image: image[:, ::2, ::2],
    "stretch": lambda image: numpy.float32(2) * image - numpy.float32(64.0 / 255.0),
}

# Other ways to the same samples, checked against the references of the first.
SAME_AS = {
    "identity": ("channels_last",),
    "enlarge2": ("shuffle2",),
}

# Arithmetic on floats may differ in the last bit between builds of LibTorch.
EXACT_ON_FLOATS = ("identity", "enlarge2", "enlarge3", "enlarge4", "halve")

# Chroma and alpha are copied, whatever is in them.
OF_SAME_SIZE = ("identity", "invert", "stretch")

COMMON = (
    "rgb24", "bgr24", "gbrp", "gbrpf32le", "gray", "grayf32le", "yuv420p", "yuv422p", "yuv444p",
)  # fmt: skip

# Of each way in which samples lie in memory, one.
OTHERS = (
    "rgba", "0rgb", "ya8", "rgb48le", "rgba64le", "gbrp10le", "gbrap12le", "gbrapf32le",
    "gray16le", "ya16le", "yuv410p", "yuv420p10le", "yuv444p16le", "yuva420p", "nv12", "p010le",
)  # fmt: skip

OF_MODEL = {
    "identity": tuple(pictures.FORMATS),
    "invert": COMMON + OTHERS,
    "enlarge2": COMMON + OTHERS,
    "halve": COMMON + OTHERS,
}


def has_one_answer(model, pixel_format):
    if not pictures.is_float(pixel_format):
        return True
    scales_alpha = pictures.has_alpha(pixel_format) and model not in OF_SAME_SIZE
    return model in EXACT_ON_FLOATS and not scales_alpha


def formats_of(model):
    return [name for name in OF_MODEL.get(model, COMMON) if has_one_answer(model, name)]


def cases():
    return [(model, pixel_format) for model in MEANING for pixel_format in formats_of(model)]


def source(pixel_format, model=None):
    """Where the size changes, chroma and alpha are flat: scaling them has one right answer."""
    return pictures.make_frames(
        pixel_format, WIDTH, HEIGHT, FRAMES, textured_chroma=model in OF_SAME_SIZE
    )


def resized(plane, width, height):
    return plane if plane.shape == (height, width) else numpy.full((height, width), plane[0, 0])


def expected_rest(frame, pixel_format, size):
    """Alpha is scaled; padding is kept or becomes all ones."""
    if frame.rest is None or frame.size == size or pictures.has_alpha(pixel_format):
        return frame.rest if frame.rest is None else resized(frame.rest, *size)
    return numpy.full(size[::-1], 255, numpy.uint8)


def expected_frame(frame, model, pixel_format):
    image = MEANING[model](pictures.to_unit(frame.image, pictures.FORMATS[pixel_format].white))
    result = pictures.Frame(pictures.from_unit(image, pixel_format))
    if frame.chroma:
        size = pictures.chroma_size(pixel_format, *result.size)
        result.chroma = [resized(plane, *size) for plane in frame.chroma]
    result.rest = expected_rest(frame, pixel_format, result.size)
    return result


def framemd5(frames, pixel_format):
    """The lines that ffmpeg -f framemd5 writes for frames at 25 a second, less the versions."""
    width, height = frames[0].size
    lines = ["#tb 0: 1/25", f"#dimensions 0: {width}x{height}", "#sar 0: 0/1"]
    for number, frame in enumerate(frames):
        size, digest = len(pictures.pack(frame, pixel_format)), pictures.digest(frame, pixel_format)
        lines.append(f"0, {number:10}, {number:10}, {1:8}, {size:8}, {digest}")
    return "\n".join(lines) + "\n"


def reference_name(model, pixel_format):
    return f"{model}-{pixel_format}.framemd5"


def reference(model, pixel_format):
    frames = [
        expected_frame(frame, model, pixel_format) for frame in source(pixel_format, model)
    ]
    return framemd5(frames, pixel_format)
