# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What scripts/demo.sh prints and leaves, with the programs that it builds and no others."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest
import support

OUT = support.REPOSITORY / "out" / "demo"
ROW = re.compile(r"^  (\S+) +([\d.]+) dB +([\d.]+) *(\d+ ms)?$", re.MULTILINE)


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """A build folder that holds, built already, what scripts/demo.sh asks Ninja for."""
    whole = pathlib.Path(os.environ["DNN_TORCH_BUILD"])
    answer = subprocess.run(["ninja", "-C", whole, "-t", "query", "demo-programs"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout  # fmt: skip
    programs = re.findall(r"^ +(?:\|+ )?(plugin/\S+)$", answer, re.MULTILINE)
    assert "plugin/dnn-torch" in programs
    folder = tmp_path_factory.mktemp("build")
    (folder / "plugin").mkdir()
    for program in programs:
        shutil.copy2(whole / program, folder / "plugin")
    (folder / "build.ninja").write_text("build demo-programs: phony\n")
    return folder


def test_nothing_is_missing(build):
    done = subprocess.run([build / "plugin/dnn-torch", "doctor"], text=True, check=False, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def demo(build):
    if os.geteuid() != 0:
        pytest.skip("the demo installs packages where some are missing: it is run as root")
    missing = support.lacks(
        demuxers=["avi", "lavfi", "matroska"], decoders=["ffv1", "mpeg4", "msmpeg4v3"], encoders=["ffv1", "png"],
        muxers=["image2", "matroska"],
        filters=["crop", "framerate", "framestep", "hqdn3d", "hstack", "minterpolate", "nlmeans",
                 "noise", "psnr", "scale", "select", "setpts", "ssim", "trim", "vstack"],
    )  # fmt: skip
    if missing and support.OWN_FFMPEG:
        pytest.skip(f"this ffmpeg was built without: {missing}")
    done = subprocess.run(
        [support.REPOSITORY / "scripts/demo.sh"], stdin=subprocess.DEVNULL, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=600,
        env={**os.environ, "BUILD_DIR": str(build)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_nets_are_closer_than_filters(demo):
    psnr = {name: float(number) for name, number, _, _ in ROW.findall(demo)}
    scalers, nets = ("bicubic", "lanczos"), ("compact2x.pth", "upscale2x.pt")
    assert min(psnr[net] for net in nets) > max(psnr[scaler] for scaler in scalers)
    assert psnr["denoise_video.pt"] > psnr["denoise.pt"] > psnr["nothing"] + 3
    assert psnr["interpolate.pt"] > psnr["framerate"] > psnr["repeating"]
    assert sum(name.startswith(("hqdn3d=", "nlmeans=")) for name in psnr) == 2


def test_nets_say_their_time(demo):
    times = {name: time for name, _, _, time in ROW.findall(demo)}
    assert all(times[net] for net in ("compact2x.pth", "upscale2x.pt", "denoise.pt", "denoise_video.pt"))
    assert not times["bicubic"]


def test_leaves_a_page_and_a_picture(demo):
    for line in demo.splitlines()[-2:]:
        path = support.REPOSITORY / line.split()[0]
        assert path.stat().st_size > 10_000
    page = pathlib.Path(OUT / "index.html").read_text()
    assert "upscale2x.pt" in page and "data:image/png;base64," in page
    assert (OUT / "side-by-side.png").read_bytes().startswith(b"\x89PNG")
