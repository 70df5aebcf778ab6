# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs ffmpeg and ffprobe, and reads what they print.  Arguments are lists, and no shell is used."""
import contextlib
import ctypes
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import threading
from fractions import Fraction

from plan import Again, Failure, Never, Refused

LAUNCHER = os.environ.get("DNN_TORCH_LAUNCHER", "dnn-torch")
FFMPEG = os.environ.get("FFMPEG", "ffmpeg")
MIB = 1 << 20
QUIET = ["-hide_banner", "-nostdin", "-nostats", "-loglevel", "level+error"]
# Frames keep their times, counted from the file's beginning as in a run without -copyts.
OWN_TIMES = ["-copyts", "-start_at_zero"]
HASHED = ["-f", "framehash", "-hash", "murmur3", "pipe:1"]

_running = set()
_lock = threading.Lock()
_ended = threading.Event()
_libc = ctypes.CDLL(None, use_errno=True)


def _end_with_parent():
    pr_set_pdeathsig = 1
    _libc.prctl(pr_set_pdeathsig, signal.SIGKILL)


def ffprobe():
    return str(pathlib.Path(FFMPEG).with_name("ffprobe")) if os.sep in FFMPEG else "ffprobe"


def name_of(path):
    """A file's name for ffmpeg: no name is taken for an option, a pattern or an address."""
    return f"file:{path}"


def hashed_frames(stream, *words):
    """An output: the checksums of all frames of a stream, at their times."""
    return ["-map", stream, "-fps_mode", "passthrough", *words, "-c:v", "rawvideo", *HASHED]


def launched(arguments):
    return [LAUNCHER, "run", FFMPEG, *arguments]


@contextlib.contextmanager
def started(command, **options):
    """A process that ends with this one, by a signal or otherwise."""
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("stdout", subprocess.PIPE)
    with _lock:
        if _ended.is_set():
            raise Again("interrupted")
        try:
            process = subprocess.Popen(
                [str(word) for word in command],
                start_new_session=True, preexec_fn=_end_with_parent, **options,
            )
        except FileNotFoundError as error:
            raise Refused(f"{error.filename}: no such program or folder") from None
        _running.add(process)
    try:
        yield process
    finally:
        kill(process)
        with _lock:
            _running.discard(process)


def kill(process):
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream:
            stream.close()


def end_all():
    """For signals: ends what runs, and nothing starts any more.  Takes no lock, because the
    signal may have come while it was held."""
    _ended.set()
    for process in list(_running):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def is_ending():
    return _ended.is_set()


def why(process, errors):
    """The failure of a process that ended, by its last line of error."""
    if process.returncode < 0:
        return Again(f"{process.args[0]} was ended by signal {-process.returncode}")
    lines = [line for line in errors.splitlines() if line.strip()]
    return Failed(lines[-1] if lines else f"{process.args[0]} exits with {process.returncode}")


class Failed(Failure):
    """ffmpeg's own error; whether another try helps is for the caller to say."""


class Reader(threading.Thread):
    """Reads a stream, so that the process never waits for it, and keeps the last lines."""

    def __init__(self, stream, take=None, most=2000):
        super().__init__(daemon=True)
        self.stream, self.take, self.most, self.lines = stream, take, most, []
        self.start()

    def run(self):
        with contextlib.suppress(ValueError):
            for line in self.stream:
                text = line.decode(errors="replace").rstrip("\n")
                if not (self.take and self.take(text)):
                    self.lines.append(text)
                    if len(self.lines) > 2 * self.most:
                        del self.lines[:self.most]

    def text(self):
        self.join()
        return "\n".join(self.lines)


def lines_of(command, take_error=None, **options):
    """Yields the lines of standard output; raises if the command fails in the end."""
    with started(command, stderr=subprocess.PIPE, **options) as process:
        errors = Reader(process.stderr, take_error)
        for line in process.stdout:
            yield line.decode(errors="replace").rstrip("\n")
        process.wait()
        text = errors.text()
        if process.returncode:
            failure = why(process, text)
            failure.log = text
            raise failure


def output_of(command, **options):
    return "\n".join(lines_of(command, **options))


def probe(path, *arguments):
    """ffprobe's answer about a file, as JSON."""
    command = [ffprobe(), "-v", "error", "-of", "json", *arguments, "-i", name_of(path)]
    return json.loads(output_of(command))


def frame_lines(lines):
    """Yields (pts, size, hash) of each line of framehash, and first the time base."""
    for line in lines:
        if line.startswith("#tb"):
            yield Fraction(line.split(":")[1].strip())
        elif line and not line.startswith("#"):
            words = [word.strip() for word in line.split(",")]
            yield int(words[2]), int(words[4]), words[5]


def checksum(frames):
    """One number for a list of (pts, size, hash)."""
    total = hashlib.sha256()
    for pts, size, digest in frames:
        total.update(f"{pts} {size} {digest}\n".encode())
    return total.hexdigest()[:32]


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def ends(path):
    """A checksum of a file's size and its first and last MiB."""
    size = os.stat(path).st_size
    total = hashlib.sha256(str(size).encode())
    with open(path, "rb") as file:
        total.update(file.read(MIB))
        file.seek(max(0, size - MIB))
        total.update(file.read(MIB))
    return total.hexdigest()[:32]


# ---- the machine ------------------------------------------------------------

# What code is chosen by: the widest set that the processor has all of, or a ceiling below it.
LEVELS = {"avx512": ["AVX-512"], "avx2": ["AVX2", "FMA"], "plain": []}
CEILINGS = {
    "avx512": {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE", "ATEN_CPU_CAPABILITY": "avx512"},
    "avx2": {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"},
    "plain": {"ONEDNN_MAX_CPU_ISA": "SSE41", "ATEN_CPU_CAPABILITY": "default"},
}


def machine(with_models, with_instructions=False, device="cpu"):
    """What the bytes of a result depend on, by its name for people."""
    facts = {
        "dnn-torch": output_of([LAUNCHER, "--version"]).split()[-1],
        "ffmpeg": output_of([FFMPEG, "-version"]).splitlines()[0].split()[2],
    }
    if not with_models:
        return facts
    report = json.loads(output_of([LAUNCHER, "devices", "--json"]))
    engine, processor = report.get("engine") or {}, report["cpu"]
    facts["engine"] = f"{engine.get('name')} {engine.get('version')}"
    facts["oneDNN"] = engine.get("onednn")
    features = processor["features"]
    facts["instructions"] = next(
        name for name, needs in LEVELS.items() if all(need in features for need in needs))
    if with_instructions:
        facts["instructions"] += f", {engine.get('onednn_instructions')}: {' '.join(features)}"
    if device != "cpu":
        facts["device"] = next(
            (each["description"] for each in report["devices"] if each["device"] == device), None)
    return facts


def check_machine(plan):
    """Other versions or instructions may make other bytes."""
    wanted = plan.machine
    here = machine("engine" in wanted, "," in wanted.get("instructions", ""),
                   wanted.get("device_name", "cpu"))
    for name, value in wanted.items():
        if name != "device_name" and not is_enough(name, here.get(name), value):
            raise Again(f"this machine has {name} {here.get(name)}, and the plan was made with "
                        f"{value}: run the slice on another machine, or plan again")


def is_enough(name, here, wanted):
    """Wider instructions than the plan's are left alone, by its ceiling."""
    widest = list(LEVELS)
    if name == "instructions" and {here, wanted} <= set(widest):
        return widest.index(here) <= widest.index(wanted)
    return here == wanted


def check_source(plan):
    try:
        same = ends(plan.source) == plan.source_ends
    except OSError as error:
        raise Again(f"{plan.source}: {error.strerror}") from None
    if not same:
        raise Never(f"{plan.source} has changed since the plan was made: plan again")


def check_files(plan):
    for path, wanted in plan.files.items():
        try:
            same = sha256(path) == wanted
        except OSError as error:
            raise Again(f"{path}: {error.strerror}") from None
        if not same:
            raise Never(f"{path} has changed since the plan was made: plan again")
