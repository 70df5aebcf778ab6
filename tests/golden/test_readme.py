# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the README tells a new user to do works, and what the pages quote is what is printed."""
import os
import pathlib
import re
import shutil

import pytest
import support
import torch

MODELS = support.REPOSITORY / "models"
PAGES = ["README.md", *sorted(f"docs/{page.name}" for page in support.REPOSITORY.glob("docs/*.md"))]


def test_the_six_tasks(tmp_path):
    if support.PATCHED:
        pytest.skip("the patched ffmpeg needs no launcher, and the README is of the launcher")
    programs = [shutil.which(program) for program in (support.LAUNCHER, support.FFMPEG)]
    folders = [str(pathlib.Path(program).absolute().parent) for program in programs]
    result = support.execute(
        [support.REPOSITORY / "scripts" / "readme-tasks.sh", tmp_path],
        env={
            "PATH": ":".join([*folders, os.environ["PATH"]]),
            "DNN_TORCH_MODELS_DIR": str(MODELS),
        },
        timeout=10 * support.TIME_LIMIT,
    )
    assert result.stdout.decode().endswith("\n6 passed, 0 failed, 0 skipped\n"), (
        f"{result}\n{result.stdout.decode()}"
    )


def test_every_model_is_told_of_and_installed():
    installed = (support.REPOSITORY / "packaging" / "meson.build").read_text()
    pages = {page: (support.REPOSITORY / page).read_text() for page in ("README.md", "models/README.md")}
    models = [path.name for path in MODELS.glob("*.pt*")]
    assert len(models) >= 6
    kilobytes = {"shapes.pt": 1500, "backdrop.pt": 500, "denoise.pt": 500,
                 "denoise_video.pt": 500, "interpolate.pt": 1000}
    for model in models:
        assert f"'../models/{model}'" in installed
        assert (MODELS / model).stat().st_size <= kilobytes.get(model, 200) * 1024
        for page, text in pages.items():
            assert model in text, f"{page} does not know {model}"


@pytest.mark.parametrize("size", [(1, 1), (5, 7), (20, 33), (64, 48)])
@pytest.mark.parametrize(
    "name,channels,scale",
    [("upscale2x", 3, 2), ("luma2x", 1, 2), ("denoise", 3, 1), ("stylise", 3, 1)],
)
def test_models_take_any_size(name, channels, scale, size):
    height, width = size
    x = torch.rand(2, channels, height, width)
    with torch.no_grad():
        result = torch.jit.load(str(MODELS / f"{name}.pt"))(x)
    assert result.shape == (2, channels, height * scale, width * scale)
    assert bool(torch.isfinite(result).all())


@pytest.mark.parametrize("name,channels", [("upscale2x", 3), ("luma2x", 1), ("denoise", 3)])
def test_nets_leave_even_areas_alone(name, channels):
    x = torch.full((1, channels, 24, 32), 0.4)
    with torch.no_grad():
        result = torch.jit.load(str(MODELS / f"{name}.pt"))(x)
    assert float((result - 0.4).abs().max()) < 1 / 1024


# ---- quoted messages --------------------------------------------------------

# What ffmpeg, MLT and LibTorch print themselves.
FOREIGN = (
    "No such filter: 'dnn_torch'",
    "Cannot get frame from buffer sink",
    "The size of tensor a",
    "expected input[",
    "Input type (float)",
)


def literals_of(text):
    """The string literals of C++; those side by side are one, and %s and what is added is a gap."""
    text = re.sub(r'"\s*\n\s*"', "", text)
    return [re.sub(r"%\w+", "\0", found) for found in re.findall(r'"((?:[^"\\\n]|\\.)*)"', text)]


@pytest.fixture(scope="module")
def printed():
    sources = [
        path for kind in ("c", "cpp", "h") for path in support.REPOSITORY.glob(f"plugin/**/*.{kind}")
    ]
    return "\n".join(line for path in sources for line in literals_of(path.read_text()))


def quoted_messages(page):
    """The first cells of the tables of messages; a list of the pieces between their gaps."""
    for cell in re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE):
        if not cell.startswith(FOREIGN):
            yield cell, [piece for piece in re.split(r"\.\.\.|\bN\b", cell) if len(piece) > 4]


@pytest.mark.parametrize("page", ["README.md", "docs/troubleshooting.md"])
def test_quoted_messages_are_printed(page, printed):
    text = (support.REPOSITORY / page).read_text()
    messages = [found for found in quoted_messages(text) if found[0].count(" ") > 2]
    assert len(messages) >= 3
    for cell, pieces in messages:
        for piece in pieces:
            for part in re.split(r"(?<=offered: )", piece):
                assert part.strip(" ;:,") in printed, f"{page} quotes {cell!r}; none prints {part!r}"


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    file = support.REPOSITORY / page
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", file.read_text()):
        if "://" not in target:
            assert (file.parent / target).exists(), f"{page} links to {target}"
