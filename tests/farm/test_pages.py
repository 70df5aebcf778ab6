# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is written about `dnn-torch farm` is what it says of itself."""
import pathlib
import re
import subprocess

import pytest
import support

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMANDS = ("plan", "run", "submit", "status", "show", "join", "verify")


def help_of(*words):
    return subprocess.run([support.LAUNCHER, "farm", *words, "--help"], capture_output=True,
                          text=True, check=True, timeout=60).stdout


def options_of(command):
    options = help_of(command).split("\noptions:\n")[1]
    return set(re.findall(r"^  (?:-\w[^-]*, )?--([a-z-]+)", options, re.MULTILINE))


def completed_by_bash(*words):
    script = (f". '{ROOT / 'completions' / 'dnn-torch.bash'}'; COMP_WORDS=(\"$@\");"
              ' COMP_CWORD=$(($# - 1)); _dnn_torch; printf "%s\\n" "${COMPREPLY[@]}"')
    result = subprocess.run(["bash", "-c", script, "bash", support.LAUNCHER, *words],
                            capture_output=True, text=True, timeout=60, check=False)
    return set(result.stdout.split())


def test_the_commands_are_known_everywhere():
    listed = re.findall(r"^    ([a-z]+) ", help_of(), re.MULTILINE)
    assert tuple(listed) == COMMANDS
    assert completed_by_bash("farm", "") == {*COMMANDS, "--help"}
    zsh = (ROOT / "completions" / "_dnn-torch").read_text()
    assert f":command:({' '.join(COMMANDS)})" in zsh
    man = (ROOT / "man" / "dnn-torch.1.in").read_text()
    assert set(COMMANDS) <= set(re.findall(r"^\.It Cm (\w+) Ar (?:clip|folder)", man, re.MULTILINE))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_man_page_has_every_option(command):
    man = (ROOT / "man" / "dnn-torch.1.in").read_text()
    assert options_of(command) - {"vf", "help"} <= set(re.findall(r"\bFl Fl ([a-z-]+)", man))


@pytest.mark.parametrize("command", COMMANDS)
def test_bash_completes_every_option(command):
    offered = completed_by_bash("farm", command, "out.farm", "--")
    assert offered == {f"--{name}" for name in options_of(command)}


def test_each_option_that_the_page_names_is_there():
    page = (ROOT / "docs" / "farm.md").read_text()
    ours = {name for command in COMMANDS for name in options_of(command)}
    of_others = {"time", "account", "nice", "array"}
    assert set(re.findall(r"(?<![\w-])--([a-z][a-z-]+)", page)) - of_others <= ours
