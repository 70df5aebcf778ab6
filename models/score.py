#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures the nets of this folder on real footage, beside ffmpeg's own filters.

PSNR and SSIM of luma, by ffmpeg, of what the filter makes in ffmpeg. ffmpeg's filters are
shown at the best of the settings listed here. The footage is that of Debian's opencv-doc,
from which no net has learned.
"""

import argparse
import collections
import itertools
import os
import pathlib
import re
import subprocess
import tempfile

import numpy as np

import photographs

MODELS = pathlib.Path(__file__).resolve().parent
FOOTAGE = photographs.FOLDER / "usr/share/doc/opencv-doc/examples/data"
CLIPS = {"vtest.avi": 100, "tree.avi": 30}
"""The first of the frames that are measured, behind each name."""

EXACTLY = "accurate_rnd+full_chroma_int"
SCALERS = ["bicubic", "lanczos", "spline"]
HALVED = {
    "halved by bicubic": (f"flags=bicubic+{EXACTLY}", None),
    "halved by area": (f"flags=area+{EXACTLY}", None),
    "halved by bicubic, then x264 at crf 23": (f"flags=bicubic+{EXACTLY}", 23),
}
UPSCALERS = ["upscale2x.pt", "luma2x.pt", "compact2x.pth"]
CINEPAK = None, 1, 100
"""Qualities, less with the number; tree.avi has 0.33 Mbit/s."""

STRENGTHS = 10, 25
DENOISERS = ["denoise.pt"]


def settings_of(name, **values):
    """All combinations, "name=a=1:b=2"."""
    return [name + "=" + ":".join(f"{key}={value}" for key, value in zip(values, each))
            for each in itertools.product(*values.values())]


SPATIAL_DENOISERS = {
    "nlmeans": settings_of("nlmeans", s=[2, 4, 6, 9, 13, 18, 25], p=[5, 7], r=[11, 15]),
    "vaguedenoiser": settings_of("vaguedenoiser", threshold=[4, 8, 12, 18, 26, 40, 60, 90]),
    "bm3d": settings_of("bm3d", sigma=[10, 20, 30, 45, 60, 80, 100, 130]),
    "owdenoise": settings_of("owdenoise", ls=[8, 14, 20, 30, 45, 70], cs=[8, 20, 45]),
    "hqdn3d": [f"hqdn3d={luma}:{luma}:0.01:0.01" for luma in (8, 12, 20, 30, 45, 70, 110)],
    "fftdnoiz": settings_of("fftdnoiz", sigma=[12, 20, 30, 45, 70, 100], block=[16, 32]),
    "dctdnoiz": settings_of("dctdnoiz", s=[10, 20, 30, 45, 60, 80], n=[3, 4]),
}
"""ffmpeg's denoisers that look at one frame alone, and what each is tried with.

For hqdn3d 0 would be the default of its temporal part.
"""


class Scorer:
    def __init__(self, options, folder):
        self.folder, self.frames = pathlib.Path(folder), options.frames
        self.launcher = str(pathlib.Path(options.build).resolve() / "plugin/dnn-torch")
        self.models = pathlib.Path(options.models).resolve()

    def ffmpeg(self, *arguments, launched=False, given=None):
        before = [self.launcher, "run"] if launched else []
        done = subprocess.run(
            [*before, "ffmpeg", "-nostdin" if given is None else "-y", "-hide_banner", "-y",
             *map(str, arguments)],
            input=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            raise SystemExit(done.stderr.decode(errors="replace"))
        return done

    def write(self, name, *arguments, **how):
        """A clip without loss, 8 bits 4:2:0."""
        path = self.folder / f"{name}.nut"
        self.ffmpeg(*arguments, "-pix_fmt", "yuv420p", "-c:v", "ffv1", path, **how)
        return path

    def wanted(self, clip):
        first = CLIPS[clip]
        cut = f"trim=start_frame={first}:end_frame={first + self.frames},setpts=PTS-STARTPTS"
        return self.write(f"wanted-{clip}", "-i", FOOTAGE / clip, "-an", "-vf",
                          f"{cut},crop=floor(iw/4)*4:floor(ih/4)*4")

    def halved(self, clip, flags, crf):
        wanted = self.folder / f"wanted-{clip}.nut"
        small = self.write("small", "-i", wanted, "-vf", f"scale=iw/2:ih/2:{flags}")
        if crf is None:
            return small
        compressed = self.folder / "small.mkv"
        self.ffmpeg("-i", small, "-c:v", "libx264", "-crf", crf, compressed)
        return compressed

    def noisy(self, clip, strength):
        """Gaussian noise of luma and chroma, rounded to 8 bits."""
        wanted = self.folder / f"wanted-{clip}.nut"
        raw = self.ffmpeg("-i", wanted, "-fps_mode", "passthrough", "-f", "rawvideo", "-").stdout
        samples = np.frombuffer(raw, np.uint8).astype(np.float32)
        samples += strength * np.random.default_rng(strength).standard_normal(
            len(samples), dtype=np.float32)
        size = photographs.size_of(wanted)
        return self.write("noisy", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s",
                          "x".join(map(str, size)), "-i", "-",
                          given=samples.round().clip(0, 255).astype(np.uint8).tobytes())

    def score(self, result, clip, graph="null"):
        """PSNR and SSIM of luma."""
        wanted = self.folder / f"wanted-{clip}.nut"
        in_order = "settb=1/25,setpts=N"
        log = self.ffmpeg(
            "-i", result, "-i", wanted, "-filter_complex",
            f"[0]{graph},format=yuv420p,{in_order},split[a][b];[1]{in_order},split[c][d];"
            "[a][c]psnr;[b][d]ssim",
            "-f", "null", "-").stderr.decode()
        return (float(re.search(r"PSNR y:([\d.]+)", log)[1]),
                float(re.search(r"SSIM Y:([\d.]+)", log)[1]))

    def by_scaler(self, source, clip, scaler):
        return self.score(source, clip, f"scale=iw*2:ih*2:flags={scaler}+{EXACTLY}")

    def by_model(self, source, clip, model):
        result = self.write("result", "-i", source, "-vf",
                            f"dnn_torch={self.models / model},scale=flags={EXACTLY}", launched=True)
        return self.score(result, clip)


def show(name, score, than=None):
    gain = f"{score[0] - than[0]:+6.2f} dB" if than else ""
    print(f"  {name:36} {score[0]:6.2f} dB  {score[1]:.4f}  {gain}", flush=True)
    return score


def upscale(scorer, nets):
    for clip, (how, (flags, crf)) in itertools.product(CLIPS, HALVED.items()):
        print(f"{clip}, {how}")
        source = scorer.halved(clip, flags, crf)
        bicubic = None
        for scaler in SCALERS:
            score = scorer.by_scaler(source, clip, scaler)
            bicubic = bicubic or score
            show(scaler, score, bicubic)
        for net in nets:
            show(net, scorer.by_model(source, clip, net), bicubic)


def denoise(scorer, nets):
    for clip, strength in itertools.product(CLIPS, STRENGTHS):
        print(f"{clip}, noise of {strength}")
        source = scorer.noisy(clip, strength)
        show("noise", scorer.score(source, clip))
        best = None
        for settings in SPATIAL_DENOISERS.values():
            scores = {setting: scorer.score(source, clip, setting) for setting in settings}
            setting = max(scores, key=scores.get)
            best = max(best or scores[setting], scores[setting])
            show(setting, scores[setting])
        for net in nets:
            show(net, scorer.by_model(source, clip, net), best)


def compressed_photographs(scorer, nets):
    """As tree.avi was compressed: what that costs a net, which has seen no such blocks.

    The camera moves over photographs that no net has learned from.
    """
    held_out = [each for each in photographs.PHOTOGRAPHS if each.held_out]
    view = f"scale=640:-2:flags=area+{EXACTLY},crop=320:240:20+3*n:10+2*n"
    for quality in CINEPAK:
        scores, bits = collections.defaultdict(list), 0
        for photograph in held_out:
            moving = scorer.write("moving", "-loop", 1, "-i", photograph.path, "-vf", view, "-r", 15,
                                  "-frames:v", scorer.frames)
            if quality is not None:
                compressed = scorer.folder / "moving.avi"
                scorer.ffmpeg("-i", moving, "-c:v", "cinepak", "-q:v", quality, compressed)
                bits += 8 * compressed.stat().st_size
                moving = compressed
            scorer.write("wanted-moving", "-i", moving)
            source = scorer.halved("moving", *HALVED["halved by bicubic"])
            scores["bicubic"].append(scorer.by_scaler(source, "moving", "bicubic"))
            for net in nets:
                scores[net].append(scorer.by_model(source, "moving", net))
        rate = bits * 15 / scorer.frames / len(held_out) / 1e6
        print("photographs" + (f", by Cinepak with {rate:.1f} Mbit/s" if bits else ""))
        means = {name: tuple(np.mean(each, axis=0)) for name, each in scores.items()}
        for name, mean in means.items():
            show(name, mean, means["bicubic"])


def parser_of(description, tasks, frames, limit=None):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("task", choices=tasks)
    parser.add_argument("nets", nargs="*", help="files of --models; all for the task by default")
    parser.add_argument("--models", default=MODELS)
    parser.add_argument("--build", default=os.environ.get("BUILD_DIR", "build"))
    parser.add_argument("--frames", type=int, default=frames, help=limit)
    return parser


def main():
    tasks = ["upscale", "denoise", "cinepak"]
    options = parser_of(__doc__.splitlines()[0], tasks, 30).parse_args()
    photographs.fetch(*(photographs.PACKAGES if options.task == "cinepak" else ["opencv-doc"]))
    with tempfile.TemporaryDirectory() as folder:
        scorer = Scorer(options, folder)
        if options.task == "cinepak":
            compressed_photographs(scorer, options.nets or UPSCALERS)
            return
        for clip in CLIPS:
            scorer.wanted(clip)
        if options.task == "upscale":
            upscale(scorer, options.nets or UPSCALERS)
        else:
            denoise(scorer, options.nets or DENOISERS)


if __name__ == "__main__":
    main()
