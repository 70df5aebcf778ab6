#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Raw frames in, raw frames out, a model in between: pipe_filter.py MODEL FORMAT WIDTH HEIGHT

What people write who have no filter: the straight way, with nothing left out and
nothing tuned.  rgb24 goes through the model as RGB, yuv420p by its luma.
"""
import sys

import numpy
import torch


def to_tensor(samples):
    return torch.from_numpy(samples).float().div_(255).unsqueeze(0)


def to_samples(tensor):
    return tensor.squeeze(0).clamp_(0, 1).mul_(255).round_().to(torch.uint8)


def run_rgb(model, data, width, height):
    frame = numpy.frombuffer(data, numpy.uint8).reshape(height, width, 3)
    output = model(to_tensor(frame.transpose(2, 0, 1)))
    return to_samples(output).permute(1, 2, 0).contiguous().numpy()


def run_luma(model, data, width, height):
    luma = numpy.frombuffer(data, numpy.uint8, width * height).reshape(1, height, width)
    return to_samples(model(to_tensor(luma))).numpy().tobytes() + data[width * height :]


def main():
    path, pixel_format, width, height = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    model = torch.jit.load(path).eval()
    is_rgb = pixel_format == "rgb24"
    size = width * height * 3 if is_rgb else width * height * 3 // 2
    run_frame = run_rgb if is_rgb else run_luma
    with torch.no_grad():
        while len(data := sys.stdin.buffer.read(size)) == size:
            sys.stdout.buffer.write(run_frame(model, data, width, height))


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.exit(1)
