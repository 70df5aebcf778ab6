#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Raw RGB in, raw frames out, a model that looks at time in between.

pipe_video.py fastdvdnet|rife|rvm MODEL WIDTH HEIGHT: what people write who have no filter.  Windows are
reflected at both ends; a matte's states are handed on.
"""
import sys

import numpy
import torch


def frames_of(stream, width, height):
    while len(data := stream.read(width * height * 3)) == width * height * 3:
        samples = numpy.frombuffer(data, numpy.uint8).reshape(height, width, 3)
        yield torch.from_numpy(samples.transpose(2, 0, 1).copy()).float().div_(255)


def windows_of(frames, reach):
    """Each frame with so many before and after it."""
    held, first = [], 0  # the number of the first one that is held

    def window(i, last):
        places = (abs(i + step) for step in range(-reach, reach + 1))
        places = (2 * last - place if place > last else place for place in places)
        return torch.cat([held[min(max(place, first), last) - first] for place in places])

    count = 0
    for count, frame in enumerate(frames, 1):
        held.append(frame)
        if count > reach:
            yield window(count - 1 - reach, count - 1)
        if len(held) > 2 * reach + 1:
            held.pop(0)
            first += 1
    for i in range(max(0, count - reach), count):
        yield window(i, count - 1)


def denoised(model, frames):
    for window in windows_of(frames, 2):
        yield model(window.unsqueeze(0))[0].permute(1, 2, 0)


def mattes(model, frames):
    states = {}
    for frame in frames:
        ratio = min(1.0, 512 / max(frame.shape[1:]))
        _, alpha, *made = model(frame.unsqueeze(0), downsample_ratio=ratio, **states)
        states = {f"r{i}": state for i, state in enumerate(made, 1)}
        yield alpha[0, 0]


def doubled(model, frames):
    before = None
    for frame in frames:
        if before is not None:
            yield before.permute(1, 2, 0)
            yield model(torch.cat((before, frame)).unsqueeze(0))[0].permute(1, 2, 0)
        before = frame


def main():
    kind, path, width, height = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    model = torch.jit.load(path).eval()
    results = {"fastdvdnet": denoised, "rife": doubled, "rvm": mattes}[kind]
    with torch.no_grad():
        for result in results(model, frames_of(sys.stdin.buffer, width, height)):
            made = result.clamp(0, 1).mul(255).round().to(torch.uint8)
            sys.stdout.buffer.write(made.contiguous().numpy())


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.exit(1)
