# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the end-to-end tests share: running ffmpeg, writing graph strings, reading its log."""
import contextlib
import dataclasses
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess

import forked

TESTS = pathlib.Path(__file__).resolve().parent
REPOSITORY = TESTS.parent
BUILD = pathlib.Path(os.environ.get("DNN_TORCH_BUILD", REPOSITORY / "build"))

PATCHED = os.environ.get("DNN_TORCH_PATCHED") == "1"
LAUNCHER = os.environ.get("DNN_TORCH_LAUNCHER", str(BUILD / "plugin" / "dnn-torch"))
MODULES = os.environ.get("DNN_TORCH_MODULES", str(BUILD / "plugin"))
FAKE_ENGINE_DIR = os.environ.get("DNN_TORCH_FAKE_ENGINE_DIR", str(BUILD / "tests" / "fake_engine"))
FFMPEG = os.environ.get("FFMPEG", "ffmpeg")
# One that somebody built may lack components; mpv and the like are of the system's then.
OWN_FFMPEG = os.sep in FFMPEG
SANITIZED = "DNN_TORCH_SANITIZED" in os.environ

# A run that takes longer hangs, also with a sanitizer or on a busy machine.
TIME_LIMIT = 180


# ---- programs ---------------------------------------------------------------


def sibling(name):
    """ffprobe or ffplay of the same installation as FFMPEG."""
    if os.sep in FFMPEG:
        return str(pathlib.Path(FFMPEG).with_name(name))
    return name


def have(program):
    return shutil.which(program) is not None


def launched(*command):
    """The command line by which a program finds our filters."""
    return list(command) if PATCHED else [LAUNCHER, "run", *command]


def environment(fake_engine=False, **extra):
    env = dict(os.environ)
    # What an earlier run found fastest must not decide over what this one tests.
    env["DNN_TORCH_CACHE"] = ""
    if fake_engine:
        env["DNN_TORCH_MODULE_PATH"] = FAKE_ENGINE_DIR
    if PATCHED:
        env.setdefault("FFMPEG_FILTER_PATH", MODULES)
    env.update(extra)
    return env


@dataclasses.dataclass
class Result:
    command: list
    returncode: int
    stdout: bytes
    stderr: str

    def filter_lines(self, level=None):
        """What dnn_torch itself logged, without the prefix; of one level or of all."""
        pattern = r"^\[(?:Parsed_)?dnn_torch\S* @ \w+\] \[(\w+)\] (.*)$"
        lines = re.findall(pattern, self.stderr, re.MULTILINE)
        # This one is libavfilter's, in the filter's name.
        lines = [line for line in lines if not line[1].startswith("Failed to configure output pad")]
        return [text for found, text in lines if level in (None, found)]

    @property
    def errors(self):
        return self.filter_lines("error") + self.filter_lines("fatal")

    @property
    def warnings(self):
        return self.filter_lines("warning")

    @property
    def warnings_but_range(self):
        """For nets of seeded weights, whose results lie in any range."""
        return [text for text in self.warnings if "of which those outside" not in text]

    def __str__(self):
        return f"exit {self.returncode} of {' '.join(self.command)}\n{self.stderr[-4000:]}"


def finish(process, stdin=None, timeout=TIME_LIMIT):
    """Waits for a process made by start(); one that hangs is killed and fails the test."""
    try:
        out, err = process.communicate(stdin, timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        text = (err or b"").decode(errors="replace")
        raise AssertionError(f"no end after {timeout} s: {process.args}\n{text[-4000:]}") from None
    return Result(
        process.args, process.returncode, out or b"", (err or b"").decode(errors="replace")
    )


def start(command, fake_engine=False, env=(), **options):
    for stream in ("stdout", "stderr"):
        options.setdefault(stream, subprocess.PIPE)
    options.setdefault("stdin", subprocess.DEVNULL)
    variables = environment(fake_engine, **dict(env))
    return subprocess.Popen([str(word) for word in command], env=variables, **options)


def start_fork(command, stdin, fake_engine=False, env=(), cwd=None, **options):
    """As start(), in a fork of ffmpeg, ffprobe or model-tool, see forked.py; None if that cannot
    be."""
    words = [str(word) for word in command]
    if not forked.is_wanted() or PATCHED or options:
        return None
    modules = MODULES
    if words[:3] == [LAUNCHER, "run", FFMPEG]:
        program, arguments = FFMPEG, words[2:]
    elif words[0] in (FFMPEG, sibling("ffprobe")):
        program, arguments, modules = words[0], words, None
    elif words[0] == LAUNCHER and words[1] in ("inspect", "bench", "contract", "convert"):
        program = os.path.join(MODULES, "model-tool")
        arguments = [program, *words[1:]]
        if not any(word.startswith(("--isolate", "--engine")) for word in words):
            arguments.insert(2, "--isolate=0")
    else:
        return None
    variables = environment(fake_engine, **dict(env))
    server = forked.server(program, variables, modules)
    if not server:
        return None
    return forked.Process(words, server, arguments, variables, stdin is not None, cwd)


def execute(command, stdin=None, timeout=TIME_LIMIT, **options):
    process = start_fork(command, stdin, **options)
    if not process:
        source = subprocess.DEVNULL if stdin is None else subprocess.PIPE
        process = start(command, stdin=source, **options)
    return finish(process, stdin, timeout)


def inspect(path):
    result = execute([LAUNCHER, "inspect", "--json", path])
    assert result.returncode == 0, str(result)
    return json.loads(result.stdout)


def ffmpeg_command(*arguments, plain=False, loglevel="info"):
    command = [
        FFMPEG,
        "-hide_banner",
        "-nostats",
        "-loglevel",
        f"level+{loglevel}",
        "-y",
        *arguments,
    ]
    return command if plain else launched(*command)


def ffmpeg(*arguments, plain=False, loglevel="info", **options):
    """Runs ffmpeg to its end; plain is without our filters."""
    return execute(ffmpeg_command(*arguments, plain=plain, loglevel=loglevel), **options)


def colour_tags(**tags):
    """Options that tag an output.  The encoder takes most of them from options in FFmpeg 5.1, and
    from the frames alone since 7.1."""
    frames = ":".join(f"{name.replace('color_range', 'range')}={value}"
                      for name, value in tags.items())
    return ["-vf", f"setparams={frames}",
            *(word for name, value in tags.items() for word in (f"-{name}", value))]


def succeed(*arguments, **options):
    result = ffmpeg(*arguments, **options)
    assert result.returncode == 0, str(result)
    return result


def assert_fails_clearly(result, *phrases):
    """Non-zero, and exactly one line of the filter, which has all the phrases (patterns)."""
    assert result.returncode > 0, f"exit code of a failure expected: {result}"
    for trace in ("terminate called", "what():", "#0 0x", "Traceback", "AddressSanitizer"):
        assert trace not in result.stderr, f"'{trace}' in what the user sees: {result}"
    assert len(result.errors) == 1, f"{len(result.errors)} error lines of the filter: {result}"
    for phrase in phrases:
        assert re.search(phrase, result.errors[0], re.IGNORECASE), f"no {phrase!r} in: {result}"
    return result.errors[0]


@functools.lru_cache(None)
def offered(kind):
    """Names that this ffmpeg lists under -filters, -muxers, -demuxers, -encoders or -decoders."""
    listing = execute([FFMPEG, "-hide_banner", f"-{kind}"]).stdout.decode()
    names = re.findall(r"^ [A-Zd.| ]{2,7} ([\w,]+)", listing, re.MULTILINE)
    return {name for group in names for name in group.split(",")}


def lacks(**needs):
    """What a minimal build does without: lacks(filters=["split"], encoders=["ffv1"])."""
    missing = [name for kind, names in needs.items() for name in names if name not in offered(kind)]
    return ", ".join(missing)


@functools.lru_cache(None)
def ffmpeg_major():
    text = execute([FFMPEG, "-version"]).stdout.decode()
    # A libavfilter major says it for releases and development builds alike.
    lavfi = int(re.search(r"libavfilter\s+(\d+)\.", text).group(1))
    return lavfi - 3


def openings():
    """How often ffmpeg opens the model of a graph: from 6.1 on it builds each graph twice."""
    text = execute([FFMPEG, "-version"]).stdout.decode()
    major, minor = map(int, re.search(r"libavfilter\s+(\d+)\.\s*(\d+)\.", text).groups())
    return 2 if (major, minor) >= (9, 12) else 1


# ---- graph strings ----------------------------------------------------------


def escape_value(text):
    """One level: for an option's value."""
    return re.sub(r"([\\':])", r"\\\1", str(text))


def escape_graph(text):
    """Both levels: for an option's value inside a graph."""
    return re.sub(r"([\\'\[\],;])", r"\\\1", escape_value(text))


def dnn(model, instance="", **options):
    """The graph string of one dnn_torch."""
    name = "dnn_torch" + (f"@{instance}" if instance else "")
    words = [f"model={escape_graph(model)}"]
    if forked.is_wanted():
        # LibTorch is there already.
        options.setdefault("isolate", 0)
    words += [f"{key}={escape_graph(value)}" for key, value in options.items()]
    return f"{name}={':'.join(words)}"


def fake(script, **options):
    # A fake engine writes down what it is asked, which a process of its own may not.
    return dnn(script, engine="fake", **{"isolate": 0, **options})


# ---- reading back -----------------------------------------------------------


def without_versions(framemd5):
    """A framemd5 text less the header lines that differ between FFmpeg releases."""
    lines = framemd5.decode() if isinstance(framemd5, bytes) else framemd5
    kept = ("#tb", "#dimensions", "#sar")
    return "".join(
        line + "\n"
        for line in lines.splitlines()
        if not line.startswith("#") or line.startswith(kept)
    )


def digests(framemd5):
    """The digest of each frame of a framemd5 text."""
    return re.findall(r"^0,.*, (\w+)$", framemd5.decode(), re.MULTILINE)


def shown_frames(result, instance):
    """What a showinfo@instance printed, one dict a frame."""
    frames = []
    pattern = rf"showinfo@{instance} @ \w+\] \[info\] (.*)$"
    for text in re.findall(pattern, result.stderr, re.MULTILINE):
        number = re.match(r"n: *\d+ ", text)
        if number:
            frames.append(dict(re.findall(r"(\w+): *(\[[^]]*\]|\S+)", text)))
        elif frames and text.strip().startswith("color_range:"):
            frames[-1].update(re.findall(r"(color_\w+):(\S+)", text))
    return frames


@contextlib.contextmanager
def no_new_files(*folders):
    """Fails where the block leaves anything behind in the folders."""
    before = {folder: set(os.listdir(folder)) for folder in folders}
    yield
    for folder in folders:
        left = set(os.listdir(folder)) - before[folder]
        assert not left, f"left in {folder}: {left}"
