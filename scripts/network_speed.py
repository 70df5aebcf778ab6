#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how long networks of their published sizes take for a megapixel of input.

The weights are random: the time does not depend on them. Prints rows of a table in Markdown. Run it
on a machine that does nothing else; it takes about half a minute for each network. The time is that of
all cores at the best setting of workers and threads in fp32. Exits with 1 if one failed.
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


class Failed(Exception):
    """A network was not measured; the text says why."""


def seconds_for_megapixel(launcher, path, size, seconds):
    """The time of the whole machine, and the form that the engine ran."""
    command = [launcher, "bench", path, "--json", "--size", size, "--seconds", str(seconds)]
    # Loading, trying what the network takes, and the runs that were begun in time.
    result = subprocess.run(command, capture_output=True, text=True, timeout=10 * seconds + 300)
    if result.returncode != 0:
        raise Failed((result.stderr.strip().splitlines() or [f"exit {result.returncode}"])[-1])
    found = json.loads(result.stdout)
    best = found["best_fp32"]
    if not best:
        raise Failed("; ".join(found["left_out"]))
    megapixels = found["size"]["width"] * found["size"]["height"] / 1e6
    setting = f"{best['workers']} x {best['threads']}"
    return 1 / best["fps"] / megapixels, f"{best['form']}, {setting} threads"


def row(name, options):
    with tempfile.TemporaryDirectory() as folder:
        try:
            path = save(name, pathlib.Path(folder))
            time, how = seconds_for_megapixel(options.launcher, path, options.size,
                                              options.seconds)
        except subprocess.TimeoutExpired as error:
            return f"| {name} | failed | no end after {error.timeout:.0f} s |"
        except Failed as error:
            return f"| {name} | failed | {str(error).replace('|', '/')} |"
    return f"| {name} | {time:.3g} | {how} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--launcher", default=str(ROOT / "build" / "plugin" / "dnn-torch"))
    parser.add_argument("--size", default="320x180", help="of the pictures (320x180)")
    parser.add_argument("--seconds", default=20, type=int, help="for each network (20)")
    parser.add_argument("names", nargs="*", help="parts of the networks' names; all of them")
    options = parser.parse_args()
    if not pathlib.Path(options.launcher).exists():
        parser.error(f"there is no {options.launcher}; build it, or name one with --launcher")
    chosen = [name for name in PUBLISHED
              if not options.names or any(part in name for part in options.names)]
    if not chosen:
        parser.error(f"no network is called so; there are {', '.join(PUBLISHED)}")
    print("| network | s per megapixel | how |\n|---|---|---|")
    rows = []
    for name in chosen:
        rows.append(row(name, options))
        print(rows[-1], flush=True)
    return any("| failed |" in each for each in rows)


if __name__ == "__main__":
    sys.exit(main())
