#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How well the filter finds cuts: precision and recall on clips that are joined at known frames.

The clips are pieces of the real footage of Debian's opencv-doc and movements over photographs,
with noise, flashes, fades and changing light.  A fade is no cut, and neither is a flash.  The
filter's limit was fixed on the first half of the material; the second half judges it.  They share
neither footage nor photographs.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "models"))
import photographs  # noqa: E402

WIDTH, HEIGHT = 256, 144
FOOTAGE = photographs.FOLDER / "usr/share/doc/opencv-doc/examples/data"
# First and last frame of each scene, as a person sees them.  The frames before the first one of
# Megamind are black.
SCENES = [
    [("vtest", 0, 795), ("Megamind", 2, 99), ("Megamind", 155, 201)],
    [("tree", 0, 444), ("Megamind", 99, 155), ("Megamind", 201, 270)],
]
RATE = 25


class Keeps(torch.nn.Module):
    """A state makes the filter look for cuts."""

    def forward(self, x: torch.Tensor, last: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x, last


def grey(path, *options):
    command = ["ffmpeg", "-v", "error", "-i", str(path), *options, "-pix_fmt", "gray", "-f", "rawvideo", "-"]
    return np.frombuffer(subprocess.run(command, check=True, capture_output=True).stdout, np.uint8)


def footage(name):
    scaled = f"scale={WIDTH}:{HEIGHT}:flags=area"
    return grey(FOOTAGE / f"{name}.avi", "-vf", scaled).reshape(-1, HEIGHT, WIDTH).astype(np.float32)


def moved(photograph, count, rng):
    """A camera that pans and zooms by hand."""
    height, width = photograph.shape
    size = rng.uniform(0.45, 0.8) * np.array([1, rng.uniform(0.85, 1.15)])
    places = [rng.uniform(0, 1 - each, 2) for each in size.clip(0.4, 0.9)]
    speed = rng.choice([0.3, 1])
    frames = []
    for i in range(count):
        part = i / count * speed
        extent = size[0] + (size[1] - size[0]) * part
        down, across = places[0] + (places[1] - places[0]) * part + rng.normal(0, 0.002, 2)
        rows = (down + extent * (np.arange(HEIGHT) + 0.5) / HEIGHT).clip(0, 1) * (height - 1)
        columns = (across + extent * (np.arange(WIDTH) + 0.5) / WIDTH).clip(0, 1) * (width - 1)
        frames.append(photograph[rows.astype(int)][:, columns.astype(int)])
    return np.array(frames)


def with_light(frames, rng):
    frames = frames + rng.normal(0, rng.choice([0, 2, 5]), frames.shape)
    if rng.random() < 0.3 and len(frames) > 14:
        begin, count = rng.integers(5, len(frames) - 5), rng.integers(1, 4)
        frames[begin:begin + count] = frames[begin:begin + count] * rng.uniform(1.3, 2.2) + rng.uniform(0, 80)
    if rng.random() < 0.15:
        frames = frames * np.linspace(1, rng.uniform(0.6, 1.5), len(frames))[:, None, None]
    return frames.clip(0, 255)


class Material:
    """Pieces of one half."""

    def __init__(self, half):
        self.scenes = [footage(name)[first:last] for name, first, last in SCENES[half]]
        pictures = photographs.load(longer_side=800)[half::2]
        self.photographs = [picture.float().mean(0).numpy() for picture in pictures]

    def piece(self, rng, last):
        """Returns it with its number, which is another one than `last`."""
        count = int(rng.integers(8, 50))
        if rng.random() < 0.5:
            number = int(rng.integers(len(self.scenes)))
            scene = self.scenes[number]
            begin = int(rng.integers(0, max(1, len(scene) - count)))
            frames = scene[begin:begin + count]
        else:
            which = int(rng.integers(len(self.photographs)))
            number = 100 + which
            frames = moved(self.photographs[which], count, rng)
        if number == last:
            return self.piece(rng, last)
        return number, with_light(frames, rng)


def joined(material, rng, pieces):
    """Frames, and the numbers of those that begin a scene by a cut."""
    frames, cuts, last = [], [], None
    for _ in range(pieces):
        last, piece = material.piece(rng, last)
        way = rng.random() if frames else 1
        if way < 0.25:  # a fade
            count = min(int(rng.integers(8, 25)), len(piece) - 1, len(frames))
            for i in range(count):
                weight = (i + 1) / (count + 1)
                frames[len(frames) - count + i] = frames[len(frames) - count + i] * (1 - weight) + piece[i] * weight
            piece = piece[count:]
        elif way < 0.35:  # through black
            count = int(rng.integers(6, 12))
            for i in range(min(count, len(frames), len(piece))):
                frames[-1 - i] = frames[-1 - i] * (i / count)
                piece[i] *= i / count
        elif frames:
            cuts.append(len(frames))
        frames.extend(piece)
    return frames, cuts


def found_by_filter(frames, model, program, limit):
    command = [*program, "run", "ffmpeg", "-nostats", "-v", "level+verbose", "-f", "rawvideo", "-pix_fmt", "gray",
               "-s", f"{WIDTH}x{HEIGHT}", "-r", str(RATE), "-i", "-", "-vf",
               f"dnn_torch={model}:inputs=last=state=1:tune=0:cuts={limit}", "-f", "null", "-"]
    data = b"".join(frame.round().astype(np.uint8).tobytes() for frame in frames)
    result = subprocess.run(command, input=data, capture_output=True, check=False)
    text = result.stderr.decode(errors="replace")
    if result.returncode:
        raise SystemExit(text)
    return {round(float(time) * RATE) for time in re.findall(r"starts anew at ([\d.]+) s: a cut", text)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clips", type=int, default=12, help="of each half")
    parser.add_argument("--limits", default="auto", help="values of cuts=, separated by commas")
    parser.add_argument("--program", default=os.environ.get("DNN_TORCH_LAUNCHER", "dnn-torch"))
    options = parser.parse_args()
    photographs.fetch("opencv-doc")
    with tempfile.TemporaryDirectory() as folder:
        model = f"{folder}/keeps.pt"
        torch.jit.script(Keeps().eval()).save(model)
        for half in (0, 1):
            material = Material(half)
            clips = [joined(material, np.random.default_rng(100 * half + i), 40) for i in range(options.clips)]
            for limit in options.limits.split(","):
                right = wrong = missed = 0
                for frames, cuts in clips:
                    found = found_by_filter(frames, model, [options.program], limit)
                    right += len(found & set(cuts))
                    wrong += len(found - set(cuts))
                    missed += len(set(cuts) - found)
                print(f"half {half + 1}  cuts={limit}  {right + missed} cuts in {sum(len(c[0]) for c in clips)} frames  "
                      f"precision {right / max(1, right + wrong):.3f}  recall {right / max(1, right + missed):.3f}",
                      flush=True)


if __name__ == "__main__":
    main()
