#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures the nets of this folder that look at time, beside ffmpeg's own filters.

PSNR and SSIM of luma. ffmpeg's filters are shown at the best of the settings listed here. The
footage is that of Debian's opencv-doc, from which no net has learned. Clips go from program to
program as samples without times, so that none drops or doubles a frame.
"""

import itertools
import math
import pathlib
import re
import subprocess
import tempfile

import numpy as np
import torch
from torch.nn import functional as F

import photographs
from score import EXACTLY, FOOTAGE, parser_of, settings_of, show

SIDES = 320, 240
CLIPS = {
    "vtest.avi": (100, "a camera that stands still", "crop=320:240:220:150"),
    "tree.avi": (10, "a camera that moves", "null"),
    "Megamind.avi": (20, "a drawn film", "crop=320:240:130:110"),
}
"""The first of the frames that are measured, what they show, and the part of them."""

STRENGTHS = 10, 25
DENOISERS = ["denoise.pt", "denoise_video.pt"]
INTERPOLATORS = ["interpolate.pt"]

FILTERS = {
    "hqdn3d": [f"hqdn3d={luma}:{luma}:{time}:{time}"
               for luma, time in itertools.product((2, 5, 10, 20, 40, 80), (4, 10, 20, 40, 80))],
    "nlmeans": settings_of("nlmeans", s=[3, 6, 9, 13, 18], p=[5], r=[11]),
    "atadenoise": [f"atadenoise={':'.join(f'{plane}a={a}:{plane}b={2 * a}' for plane in range(3))}"
                   f":s={frames}" for a, frames in itertools.product((.02, .05, .1, .2), (9, 33))],
    "vaguedenoiser": settings_of("vaguedenoiser", threshold=[4, 8, 12, 18, 26, 40, 60, 90]),
    "bm3d": settings_of("bm3d", sigma=[10, 20, 30, 45, 60, 80, 100, 130]),
    "fftdnoiz": settings_of("fftdnoiz", sigma=[6, 12, 20, 30, 45, 70, 100], block=[32],
                            prev=[1], next=[1]),
}

MISSING = 3
"""Of the frames that minterpolate should make, those at the end that it does not."""

INTERPOLATING = {
    "minterpolate": [
        "minterpolate=fps=50:scd=none:mi_mode=blend",
        *settings_of("minterpolate", fps=[50], scd=["none"], mi_mode=["mci"],
                     mc_mode=["obmc", "aobmc"], me_mode=["bidir", "bilat"], me=["epzs", "umh"],
                     vsbmc=[0, 1], search_param=[16, 32])],
}


def luma(frames):
    """Of yuv420p, [frames, height, width]."""
    width, height = SIDES
    return frames[:, :width * height].reshape(-1, height, width).astype(np.float32)


def ssim_map(a, b):
    """Of squares of 8 pixels around each, as ffmpeg's filter has it."""
    a, b = (torch.from_numpy(part)[:, None] for part in (a, b))

    def mean(x):
        return F.avg_pool2d(x, 8, 1)

    both = mean(a), mean(b)
    variance = mean(a * a) - both[0]**2 + mean(b * b) - both[1]**2
    together = mean(a * b) - both[0] * both[1]
    c1, c2 = (0.01 * 255)**2, (0.03 * 255)**2
    found = (2 * both[0] * both[1] + c1) * (2 * together + c2) / (
        (both[0]**2 + both[1]**2 + c1) * (variance + c2))
    return F.pad(found, (4, 3, 4, 3), mode="replicate")[:, 0].numpy()


def score_of(result, wanted, where=None):
    """PSNR and SSIM of luma, where told."""
    if len(result) != len(wanted):
        return -math.inf, 0.0
    where = np.ones(wanted.shape, bool) if where is None else where
    error = np.square(result - wanted)[where].mean()
    return 10 * math.log10(255**2 / max(error, 1e-9)), float(ssim_map(result, wanted)[where].mean())


def flicker(result, wanted):
    """Standard deviation, in codes, of the change to the next frame, where nothing moves."""
    change = torch.from_numpy(np.abs(np.diff(wanted, axis=0)))[:, None]
    still = (F.avg_pool2d(change, 9, 1, 4) < 1.5)[:, 0].numpy()
    return float(np.sqrt(np.square(np.diff(result, axis=0))[still].mean())) if still.any() else 0.0


class Scorer:
    def __init__(self, options, folder):
        self.folder, self.frames = pathlib.Path(folder), options.frames
        self.launcher = str(pathlib.Path(options.build).resolve() / "plugin/dnn-torch")
        self.models = pathlib.Path(options.models).resolve()
        self.filters = {} if options.nets_only else FILTERS
        self.interpolating = {} if options.nets_only else INTERPOLATING

    def ffmpeg(self, frames, graph, launched=False, before="yuv420p", after="yuv420p", rate=25):
        """Frames of bytes through a filter graph; and what it says."""
        given, made = self.folder / "given.raw", self.folder / "made.raw"
        frames.tofile(given)
        done = subprocess.run(
            [*([self.launcher, "run"] if launched else []), "ffmpeg", "-nostdin", "-hide_banner",
             "-y", "-f", "rawvideo", "-pix_fmt", before, "-s", "x".join(map(str, SIDES)), "-r",
             str(rate), "-i", given, "-vf", graph, "-fps_mode", "passthrough", "-pix_fmt", after,
             "-f", "rawvideo", made], stderr=subprocess.PIPE, check=False, timeout=600)
        if done.returncode:
            raise SystemExit(done.stderr.decode(errors="replace"))
        size = SIDES[0] * SIDES[1] * 3
        return np.fromfile(made, np.uint8).reshape(
            -1, size // 2 if after == "yuv420p" else size), done.stderr.decode(errors="replace")

    def wanted(self, clip):
        first, _, part = CLIPS[clip]
        cut = f"trim=start_frame={first}:end_frame={first + self.frames},setpts=N"
        made = subprocess.run(
            ["ffmpeg", "-nostdin", "-v", "error", "-i", FOOTAGE / clip, "-an", "-vf",
             f"{cut},{part},scale=flags={EXACTLY}", "-fps_mode", "passthrough",
             "-pix_fmt", "yuv420p", "-f", "rawvideo", "-"], check=True, stdout=subprocess.PIPE)
        return np.frombuffer(made.stdout, np.uint8).reshape(-1, SIDES[0] * SIDES[1] * 3 // 2)


def with_noise(frames, strength):
    """Gaussian noise of luma and chroma, rounded to 8 bits."""
    noise = np.random.default_rng(strength).standard_normal(frames.shape, dtype=np.float32)
    return (frames + strength * noise).round().clip(0, 255).astype(np.uint8)


def denoise(scorer, clip, nets):
    wanted = scorer.wanted(clip)
    for strength in STRENGTHS:
        print(f"{clip}, {CLIPS[clip][1]}, noise of {strength}")
        source = with_noise(wanted, strength)

        def told(name, frames, best=None):
            show(name, score_of(luma(frames), luma(wanted)), best)
            print(f"  {'':36} flickers by {flicker(luma(frames), luma(wanted)):.2f}", flush=True)

        told("noise", source)
        best = None
        for settings in scorer.filters.values():
            results = {each: scorer.ffmpeg(source, each)[0] for each in settings}
            scores = {each: score_of(luma(made), luma(wanted)) for each, made in results.items()}
            setting = max(scores, key=scores.get)
            best = max(best or scores[setting], scores[setting])
            told(setting, results[setting])
        for net in nets:
            graph = f"dnn_torch={scorer.models / net},scale=flags={EXACTLY}"
            made, _ = scorer.ffmpeg(source, graph, launched=True)
            told(net, made, best)


# ----------------------------------------------------------- interpolation


def interpolated(scorer, given, net):
    """What a net makes for the middle of each two frames."""
    exactly = f"scale=flags={EXACTLY}"
    rgb, _ = scorer.ffmpeg(given, exactly, after="rgb24")
    width, height = SIDES
    pictures = torch.from_numpy(rgb.reshape(-1, height, width, 3)).permute(0, 3, 1, 2) / 255
    net = torch.jit.load(str(scorer.models / net))
    with torch.no_grad():
        made = torch.cat([net(a[None], b[None], torch.tensor(0.5))
                          for a, b in zip(pictures, pictures[1:])])
    made = made.mul(255).round().clamp(0, 255).byte().permute(0, 2, 3, 1).contiguous().numpy()
    return scorer.ffmpeg(made, exactly, before="rgb24")[0]


def by_filter(scorer, given, graph):
    """minterpolate's frames between those given; None for one that it does not make."""
    made, said = scorer.ffmpeg(given, f"{graph},showinfo")
    times = [float(found) for found in re.findall(r"pts_time:([\d.]+)", said)]
    middle = {round(time * 50): frame for time, frame in zip(times, made)}
    return [middle.get(2 * i + 1) for i in range(len(given) - 1)]


def interpolate(scorer, clip, nets):
    wanted = scorer.wanted(clip)[:scorer.frames // 2 * 2 - 1]
    given, dropped = wanted[::2].copy(), wanted[1::2].copy()
    first, last = luma(given[:-1]), luma(given[1:])
    change = torch.from_numpy(np.abs(first - last))[:, None]
    moves = (F.avg_pool2d(change, 9, 1, 4) > 6)[:, 0].numpy()
    print(f"{clip}, {CLIPS[clip][1]}, every other frame dropped; where something moves "
          f"({100 * moves.mean():.0f} %)")

    def score(frames):
        """Without the last ones, because minterpolate ends early."""
        frames = frames[:-MISSING]
        if any(frame is None for frame in frames):
            return -math.inf, 0.0
        return score_of(luma(np.stack(frames)), luma(dropped[:-MISSING]), moves[:-MISSING])

    best = show("repetition", score(list(given[:-1])))
    blend = ((given[:-1].astype(np.uint16) + given[1:] + 1) // 2).astype(np.uint8)
    best = max(best, show("blend", score(list(blend))))
    for settings in scorer.interpolating.values():
        scores = {each: score(by_filter(scorer, given, each)) for each in settings}
        setting = max(scores, key=scores.get)
        best = max(best, show(setting.split("none:")[1], scores[setting]))
    for net in nets:
        show(net, score(list(interpolated(scorer, given, net))), best)


def main():
    parser = parser_of(__doc__.splitlines()[0], ["denoise", "interpolate"], 40,
                       "not below 34: atadenoise would hang")
    parser.add_argument("--nets-only", action="store_true", help="leaves out ffmpeg's filters")
    parser.add_argument("--clips", nargs="*", default=list(CLIPS))
    options = parser.parse_args()
    photographs.fetch("opencv-doc")
    with tempfile.TemporaryDirectory() as folder:
        scorer = Scorer(options, folder)
        for clip in options.clips:
            if options.task == "denoise":
                denoise(scorer, clip, options.nets or DENOISERS)
            else:
                interpolate(scorer, clip, options.nets or INTERPOLATORS)


if __name__ == "__main__":
    main()
