# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every command of every page runs as it stands there.

stand_ins.py has what stands for the files that pages name; NOT_RUN below has what cannot run here,
and why.  A page's commands run in one folder, in their order: what one makes, the next may use."""
import fnmatch
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import textwrap

import pytest
import stand_ins
import support

pytestmark = pytest.mark.skipif(
    support.PATCHED, reason="the patched ffmpeg needs no launcher, and pages are of the launcher"
)

# What a user is told to type begins with one of these, or with a program of the repository.
PROGRAMS = {
    "apt", "apt-get", "dnn-torch", "dpkg-buildpackage", "export", "ffmpeg", "ffplay", "ffprobe",
    "g++", "git", "make", "melt", "meson", "mkdir", "mpv", "patch", "pip", "python", "python3",
    "tar", "yolo", "./configure",
}
# What cannot run here: the page, how the command begins, and why.
NOT_RUN = [
    ("README.md", "apt install", "it installs a package"),
    ("README.md", "scripts/demo.sh", "it installs packages, and builds; CI runs it as a part"),
    ("README.md", "scripts/check.sh", "it is what runs this test"),
    ("docs/benchmarks.md", "benchmarks/run.py", "minutes to an hour each; their names are tested"),
    ("docs/devices.md", "scripts/check-gpu.sh", "it needs a machine with a GPU"),
    ("docs/devices.md", "dnn-torch run ffmpeg -i in.mp4 -vf 'dnn_torch=model.pt:device=cuda",
     "it needs a machine with two GPUs"),
    ("docs/farm.md", "dnn-torch farm submit out.farm --slurm", "tests/farm submits to a Slurm"),
    ("docs/farm.md", "dnn-torch farm submit out.farm --parallel --sshlogin", "it needs two hosts"),
    ("docs/models.md", "models/export_model.py --from real.py:net", "it needs basicsr"),
    ("docs/models.md", "models/export_model.py --from net.py:Net --weights net.pth --aoti",
     "tests/architectures/test_aoti.py runs it, where PyTorch can"),
    ("docs/i-have.md", "yolo export", "it needs ultralytics"),
    ("docs/i-have.md", "python export.py", "it needs YOLOv5's own folder"),
    ("docs/i-have.md", 'python3 -c "import torch, transformers', "it needs transformers"),
    ("docs/i-have.md", 'python3 -c "from net import Net; Net.load', "it needs lightning"),
    ("docs/i-have.md", 'python3 -c "import onnx', "it needs python3-onnx"),
    ("models/README.md", "models/train_", "it trains for minutes to hours"),
    ("models/README.md", "models/make_", "it writes the model into the source tree"),
    ("models/README.md", "models/draw_clip.py", "it draws for minutes"),
    ("packaging/README.md", "apt", "it installs packages"),
    ("packaging/README.md", "dpkg-buildpackage", "CI builds the packages as a part"),
    ("packaging/README.md", "meson", "it builds the project, which CI does"),
    ("packaging/README.md", "pip", "it downloads PyTorch"),
    ("patches/README.md", "tar", "it builds FFmpeg, which CI does"),
    ("patches/README.md", "patch", "it builds FFmpeg, which CI does"),
    ("patches/README.md", "./configure", "it builds FFmpeg, which CI does"),
    ("patches/README.md", "FFMPEG_FILTER_PATH=", "it needs the patched FFmpeg"),
    ("CONTRIBUTING.md", "meson", "it builds the project, which CI does"),
    ("CONTRIBUTING.md", "scripts/", "it builds, fuzzes or soaks for minutes to hours"),
    ("CONTRIBUTING.md", "mkdir", "it builds FFmpeg"),
    ("CONTRIBUTING.md", "export", "it builds FFmpeg"),
    ("CONTRIBUTING.md", "build-11/", "it builds FFmpeg"),
]
# Commands of a test of their own.
ELSEWHERE = ("README.md", "## Six things to do with it")

PAGES = sorted(
    str(path.relative_to(support.REPOSITORY))
    for pattern in ("*.md", "docs/*.md", "*/README.md", "man/*.in")
    for path in support.REPOSITORY.glob(pattern)
    if not path.relative_to(support.REPOSITORY).parts[0].startswith(("build", "out", "shared"))
)


# ---- what a page has ----------------------------------------------------------------------


def blocks_of(page):
    """The code of a page, each block as (its heading, its lines)."""
    text = (support.REPOSITORY / page).read_text()
    if page.endswith(".in"):
        examples = text.partition(".Sh EXAMPLES")[2].partition(".Sh ")[0]
        return [("EXAMPLES", block.replace("\\e\n", "\\\n").splitlines())
                for block in re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", examples, re.M | re.S)]
    blocks, heading, inside = [], "", False
    for line in text.splitlines():
        if line.startswith("## "):
            heading = line
        is_code = line.startswith("    ") and not line.isspace()
        if is_code and not inside:
            blocks.append((heading, []))
        if is_code:
            blocks[-1][1].append(line)
        inside = is_code
    return [(heading, textwrap.dedent("\n".join(lines)).splitlines()) for heading, lines in blocks]


def first_word(line):
    return re.sub(r"^(\w+=\S* +)+", "", line).partition(" ")[0]


def begins_command(line):
    """A line of options alone is of an ffmpeg that the reader has."""
    word = first_word(line)
    is_ours = "/" in word and os.access(support.REPOSITORY / word, os.X_OK)
    return word in PROGRAMS or is_ours or line.startswith(("-vf ", "build-11/"))


def is_whole(command):
    try:
        shlex.split(command, comments=True)
    except ValueError:  # a quotation that goes on
        return False
    return not command.endswith("\\")


def commands_of(page):
    """(heading, command) in their order."""
    commands = []
    for heading, lines in blocks_of(page):
        rest = list(lines)
        while rest:
            command = rest.pop(0)
            if not begins_command(command):
                continue
            while not is_whole(command) and rest:
                command += "\n" + rest.pop(0)
            commands.append((heading, command))
    return commands


def reason_not_to_run(page, heading, command):
    if (page, heading) == ELSEWHERE:
        return "scripts/readme-tasks.sh runs it"
    for its_page, beginning, reason in NOT_RUN:
        if page == its_page and command.startswith(beginning):
            return reason
    return None


def commands_to_run(page):
    return [command for heading, command in commands_of(page)
            if not reason_not_to_run(page, heading, command)]


@pytest.mark.parametrize("page, beginning, reason", NOT_RUN)
def test_what_is_not_run_is_in_its_page(page, beginning, reason):
    assert any(command.startswith(beginning) for _, command in commands_of(page)), reason


@pytest.mark.parametrize("page", PAGES)
def test_no_command_is_overlooked(page):
    """A line with ffmpeg or dnn-torch is a command, or goes on with one."""
    commands = "\n".join(command for _, command in commands_of(page)).splitlines()
    for _, lines in blocks_of(page):
        for line in lines:
            if re.match(r"(\w+=\S* +)*(ffmpeg|ffplay|ffprobe|mpv|dnn-torch) ", line):
                assert line in commands, line


def test_benchmarks_have_their_names():
    listing = support.execute([support.REPOSITORY / "benchmarks" / "run.py", "--help"])
    for _, command in commands_of("docs/benchmarks.md"):
        name = shlex.split(command, comments=True)[1]
        assert re.search(rf"\b{name}\b", listing.stdout.decode()), name


# ---- running it ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """The programs of this build, by their names; an mpv that shows nothing."""
    folder = tmp_path_factory.mktemp("environment")
    (folder / "mpv.conf").write_text("vo=null\nao=null\n")
    programs = {"dnn-torch": support.LAUNCHER, "ffmpeg": support.FFMPEG, "python3": sys.executable}
    for name, program in programs.items():
        (folder / name).symlink_to(pathlib.Path(shutil.which(program)).absolute())
    return {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "MPV_HOME": str(folder),
        "DNN_TORCH_CACHE": str(folder / "cache"),
    }


@pytest.fixture
def folder(tmp_path):
    """As a clone, for what a page names there; and a folder with models."""
    for name in ("models", "examples", "include"):
        (tmp_path / name).symlink_to(support.REPOSITORY / name)
    (tmp_path / "downloads").mkdir()
    for name in ("luma2x.pt", "compact2x.pth"):
        shutil.copy(stand_ins.MODELS / name, tmp_path / "downloads")
    return tmp_path


def put_stand_ins(folder, page, command):
    """What the command names and the page does not make."""
    text = (support.REPOSITORY / page).read_text()
    for name in re.findall(r"(?<![\w/.-])[\w.-]+\.\w+", command):
        for pattern, words, write in stand_ins.STAND_INS:
            if fnmatch.fnmatch(name, pattern) and words in command:
                if not (folder / name).exists() or words:
                    write(folder / name, text)
                break


def output_of(command):
    """The file that an ffmpeg or a conversion writes, or None."""
    words = shlex.split(command, comments=True)
    name = words[-1]
    writes = "ffmpeg" in words or "dnn-torch convert" in command
    return name if writes and re.fullmatch(r"[\w-]+\.\w+", name) else None


def as_here(command):
    for installed in ("@DATADIR@/dnn-torch", "/usr/share/dnn-torch"):
        command = command.replace(installed, str(stand_ins.MODELS))
    if command.startswith("-vf "):
        command = f"dnn-torch run ffmpeg -i in.mp4 {command} out.mp4"
    return command


def fault_of(folder, page, command, environment):
    command = as_here(command)
    output = output_of(command)
    if output:
        (folder / output).unlink(missing_ok=True)
    put_stand_ins(folder, page, re.sub(r"\s+#.*", "", command).removesuffix(output or ""))
    result = subprocess.run(
        ["bash", "-eu", "-o", "pipefail", "-c", command], cwd=folder, stdin=subprocess.DEVNULL,
        env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=4 * support.TIME_LIMIT, check=False)
    if result.returncode:
        return f"exit code {result.returncode}: {result.stdout.decode(errors='replace')[-2000:]}"
    if output and not ((folder / output).exists() and (folder / output).stat().st_size):
        return f"{output} is not there"
    return None


@pytest.mark.parametrize("page", [page for page in PAGES if commands_to_run(page)])
def test_commands_run_as_they_stand(page, folder, environment):
    faults = []
    for command in commands_to_run(page):
        if "mpv" in command and not shutil.which("mpv"):
            continue
        if fault := fault_of(folder, page, command, environment):
            faults.append(f"{page}: {command}\n{fault}")
    assert not faults, "\n\n".join(faults)
