# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is written about options and commands is what the programs say."""
import re
import shutil
import subprocess

import pytest
import support

OPTIONS = support.REPOSITORY / "docs" / "options.md"
MAN_FILTER = support.REPOSITORY / "man" / "dnn_torch.7.in"
MAN_DETECT = support.REPOSITORY / "man" / "dnn_torch_detect.7.in"
MAN_CLASSIFY = support.REPOSITORY / "man" / "dnn_torch_classify.7.in"
CLASSIFICATION = support.REPOSITORY / "docs" / "classification.md"
INTERPOLATION = support.REPOSITORY / "docs" / "interpolation.md"
MAN_INTERPOLATE = support.REPOSITORY / "man" / "dnn_torch_interpolate.7.in"
DETECTION = support.REPOSITORY / "docs" / "detection.md"
MAN_LAUNCHER = support.REPOSITORY / "man" / "dnn-torch.1.in"
COMPLETIONS = support.REPOSITORY / "completions"


# ---- the options of the filter ----------------------------------------------


def plain(default):
    """A default as one text, however it was written: true is 1, 10:00 is 600."""
    text = {"true": "1", "false": "0", None: ""}.get(default, default).strip('"')
    if re.fullmatch(r"\d+(:\d+)+", text):
        seconds = 0
        for part in text.split(":"):
            seconds = seconds * 60 + int(part)
        text = str(seconds)
    return text


def offered_by(name):
    """A filter's own table: {option: default}."""
    listing = support.ffmpeg("-h", f"filter={name}", plain=support.PATCHED).stdout.decode()
    options = {}
    for name, text in re.findall(r"^ {1,4}(\w+) +<\w+> +\S{11} (.*)$", listing, re.MULTILINE):
        default = re.search(r"\(default (.*)\)$", text)
        options[name] = plain(default and default.group(1))
    assert "model" in options, listing
    return options


@pytest.fixture(scope="module")
def offered():
    return offered_by("dnn_torch")


# Filters with pages of their own, which only name the options that they share with dnn_torch.
PAGES = {
    "dnn_torch_detect": (MAN_DETECT, DETECTION),
    "dnn_torch_classify": (MAN_CLASSIFY, CLASSIFICATION),
    "dnn_torch_interpolate": (MAN_INTERPOLATE, INTERPOLATION),
}


@pytest.fixture(scope="module", params=PAGES)
def with_pages(request):
    return (offered_by(request.param), *PAGES[request.param])


def options_in_table(path):
    section = path.read_text().split("\n## Options\n")[1].split("\n## ")[0]
    options = {}
    for names, default in re.findall(r"^\|( `[^|]*)\|([^|]*)\|", section, re.MULTILINE):
        for name in re.findall(r"`(\w+)`", names):
            options[name] = plain(default.strip("` "))
    return options


def options_in_man_page(page):
    section = page.read_text().split("\n.Sh OPTIONS\n")[1].split("\n.Sh ")[0]
    entries = re.findall(r"^\.It Cm (\w+) Ns = Ns Ar \w+(?: Pq (.*))?$", section, re.MULTILINE)
    return {name: plain(default) for name, default in entries}


def options_as_in_dnn_torch(page):
    """Those that the page only names."""
    text = page.read_text().split("These are as in\n.Xr dnn_torch 7 :\n")[1]
    return re.findall(r"\w+", text.split("\n.Pp")[0].replace(".Cm", ""))


def test_page_has_every_option(offered):
    written = options_in_table(OPTIONS)
    # libavfilter's own, which it offers to every filter that says it can.
    assert written.pop("enable", None) == ""
    assert written == offered


def test_page_has_every_command_of_the_filter():
    """libavfilter marks with T what a command changes."""
    listing = support.ffmpeg("-h", "filter=dnn_torch", plain=support.PATCHED).stdout.decode()
    changeable = set(re.findall(r"^ {1,4}(\w+) +<\w+> +\S{9}T\S ", listing, re.MULTILINE))
    section = OPTIONS.read_text().split("\n## Another model while it runs\n")[1].split("\n## ")[0]
    written = re.search(r"^The commands (.*) take a new value", section, re.MULTILINE).group(1)
    assert set(re.findall(r"`(\w+)`", written)) | {"strength"} == changeable


def test_man_page_has_every_option(offered):
    assert options_in_man_page(MAN_FILTER) == offered


def test_man_page_has_every_option_of_others(offered, with_pages):
    options, page, _ = with_pages
    own = options_in_man_page(page)
    shared = {name: offered[name] for name in options_as_in_dnn_torch(page)}
    assert not own.keys() & shared.keys()
    assert own | shared == options


def test_docs_have_every_option_of_others(with_pages):
    options, page, docs = with_pages
    own = {name: default for name, default in options.items()
           if name not in options_as_in_dnn_torch(page)}
    assert options_in_table(docs) == own


# ---- the commands of the launcher -------------------------------------------


@pytest.fixture(scope="module")
def commands():
    """What `dnn-torch --help` lists, without options."""
    if support.PATCHED:
        pytest.skip("the patched ffmpeg needs no launcher")
    text = support.execute([support.LAUNCHER, "--help"]).stdout.decode()
    found = set(re.findall(r"^(?:usage:|) *dnn-torch ([a-z]\w*)", text, re.MULTILINE))
    assert "run" in found, text
    return found


def test_man_page_has_every_command(commands):
    synopsis = MAN_LAUNCHER.read_text().split("\n.Sh SYNOPSIS\n")[1].split("\n.Sh ")[0]
    assert commands == set(re.findall(r"^\.Cm (\w+)", synopsis, re.MULTILINE))


def test_zsh_completes_every_command(commands):
    offered = re.findall(r"^ +'(\w+):", (COMPLETIONS / "_dnn-torch").read_text(), re.MULTILINE)
    assert commands == set(offered)


def completed_by_bash(*words):
    """What the shell offers for the last of the words."""
    if not shutil.which("bash"):
        pytest.skip("bash is not installed")
    script = (
        f". '{COMPLETIONS / 'dnn-torch.bash'}'; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1));"
        ' _dnn_torch; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    result = subprocess.run(["bash", "-c", script, "bash", support.LAUNCHER, *words],
                            capture_output=True, text=True, timeout=20,
                            env=support.environment())
    return set(result.stdout.split())


def test_bash_completes_every_command(commands):
    offered = {word for word in completed_by_bash("") if not word.startswith("-")}
    assert commands == offered


def options_of(command):
    text = support.execute([support.LAUNCHER, command, "--help"]).stdout.decode()
    found = set(re.findall(r"^  --(\w+)", text, re.MULTILINE))
    assert "help" in found, text
    return found


@pytest.mark.parametrize("command", ["inspect", "bench", "compare", "contract", "convert"])
def test_man_page_has_every_option_of_a_command(commands, command):
    assert command in commands
    page = MAN_LAUNCHER.read_text()
    written = set(re.findall(r"\bFl Fl (\w+)", page))
    assert options_of(command) <= written


@pytest.mark.parametrize("command", ["inspect", "bench", "compare", "contract", "convert"])
def test_bash_completes_every_option(commands, command):
    offered = completed_by_bash(command, "net.pt", "--")
    assert offered == {f"--{name}" for name in options_of(command)}


@pytest.mark.parametrize("words,wanted", [
    (["--as", ""], {"picture", "gray", "alpha", "lab", "depth", "index", "colors"}),
    (["--as", "p"], {"picture"}),
    (["--as", "="], {"picture", "gray", "alpha", "lab", "depth", "index", "colors"}),
    (["--as", "=", "g"], {"gray"}),
    (["--isolate", ""], {"auto", "0", "1", "require"}),
    (["--order", ""], {"rgb", "bgr"}),
    (["--padding", ""], {"reflect", "replicate"}),
    (["--range", ""], {"1", "255"}),
    (["--tile", ""], {"auto", "0"}),
    (["--size", ""], set()),
    (["--mean", ""], set()),
])
def test_bash_completes_values(commands, words, wanted):
    offered = completed_by_bash("inspect", "net.pt", *words)
    assert offered >= wanted and bool(offered) == bool(wanted), offered


def test_bash_completes_files(commands, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("net.pt", "net.txt", "bars.svg"):
        (tmp_path / name).touch()
    assert completed_by_bash("inspect", "") == {"net.pt"}
    assert completed_by_bash("bench", "net.pt", "--svg", "") == {"bars.svg"}
    assert completed_by_bash("inspect", "--json", "n") == {"net.pt"}
