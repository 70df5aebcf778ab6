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


def cases():
    for model in MEANING:
        for pixel_format in pictures.FORMATS:
            if not pictures.is_float(pixel_format) or model in EXACT_ON_FLOATS:
                yield model, pixel_format


def source(pixel_format):
    return pictures.make_frames(pixel_format, WIDTH, HEIGHT, FRAMES)


def expected_frame(frame, model, pixel_format):
    """Chroma of the source is flat, so that scaling it along has one right answer."""
    image = MEANING[model](pictures.to_unit(frame.image))
    result = pictures.Frame(pictures.from_unit(image, pixel_format))
    if frame.chroma:
        across, down = pictures.chroma_size(pixel_format, *result.size)
        result.chroma = [numpy.full((down, across), plane[0, 0]) for plane in frame.chroma]
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
    frames = [expected_frame(frame, model, pixel_format) for frame in source(pixel_format)]
    return framemd5(frames, pixel_format)
