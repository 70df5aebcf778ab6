#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how long networks of their published sizes take for a megapixel of input.

The weights are random: the time does not depend on them. Prints rows of a table in Markdown. Run it
on a machine that does nothing else; it takes about half a minute for each network.
"""
import argparse
import importlib
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "architectures")]

# Network: (file in tests/architectures/networks, class, arguments).
PUBLISHED = {
    "ESRGAN, 23 blocks, 4x": ("esrgan", "Places", {"features": 64, "growth": 32, "blocks": 23}),
    "Compact, 64x16, 4x": ("compact", "Compact",
                           {"features": 64, "convolutions": 16, "scale": 4}),
    "SPAN, 48, 4x": ("span", "Span", {"features": 48}),
    "RealPLKSR, 64x28, 4x": ("plksr", "Plksr", {"features": 64, "blocks": 28, "kernel": 17}),
    "MoSR, 64x24, 4x": ("mosr", "Mosr", {"features": 64, "blocks": 24}),
    "EDSR, 64x16, 4x": ("edsr", "Basic", {"features": 64, "blocks": 16}),
    "Real-CUGAN, 2x": ("cugan", "Cugan", {}),
    "OmniSR, 64x5, 4x": ("omnisr", "OmniSR",
                         {"features": 64, "groups": 5, "scale": 4}),
    "SwinIR, light, 4x": ("swinir", "SwinIR",
                          {"features": 60, "depths": (6,) * 4, "heads": (6,) * 4, "window": 8,
                           "hidden": 120, "upsampler": "pixelshuffledirect", "scale": 4,
                           "trained": 64}),
    "Swin2SR, light, 4x": ("swin2sr", "Swin2SR",
                           {"features": 60, "depths": (6,) * 4, "heads": (6,) * 4, "window": 8,
                            "hidden": 120, "upsampler": "pixelshuffledirect", "scale": 4,
                            "trained": 64}),
    "DAT, light, 4x": ("dat", "DAT", {"features": 60, "depths": (18,), "heads": 6, "scale": 4,
                                      "window": (8, 32), "direct": True}),
    "HAT, small, 4x": ("hat", "HAT", {"features": 144, "depths": (6,) * 6, "heads": (6,) * 6,
                                      "window": 16, "hidden": 288, "compress": 24, "squeeze": 24,
                                      "scale": 4}),
}


def save(name, folder):
    import checkpoint_files
    import published

    file, kind, arguments = PUBLISHED[name]
    module = importlib.import_module(f"networks.{file}")
    path = folder / "net_x4.safetensors"
    network = published.randomise(getattr(module, kind)(**arguments))
    checkpoint_files.save_safetensors(network.state_dict(), path)
    return path


def seconds_for_megapixel(launcher, path, size, seconds):
    command = [launcher, "bench", path, "--json", "--size", size, "--seconds", str(seconds)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        return None, result.stderr.strip()
    best = json.loads(result.stdout)["best_fp32"]
    width, height = (int(extent) for extent in size.split("x"))
    return 1 / best["fps"] / (width * height / 1e6), best["form"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--launcher", default=str(ROOT / "build" / "plugin" / "dnn-torch"))
    parser.add_argument("--size", default="320x180", help="of the pictures (320x180)")
    parser.add_argument("--seconds", default=20, type=int, help="for each network (20)")
    parser.add_argument("names", nargs="*", help="parts of the networks' names; all of them")
    options = parser.parse_args()
    print("| network | s per megapixel | form |\n|---|---|---|")
    for name in PUBLISHED:
        if options.names and not any(part in name for part in options.names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = save(name, pathlib.Path(folder))
            time, form = seconds_for_megapixel(options.launcher, path, options.size,
                                               options.seconds)
        print(f"| {name} | {'failed' if time is None else f'{time:.2f}'} | {form} |", flush=True)


if __name__ == "__main__":
    main()
