# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A plan: what it holds, how it is read and written, and the names of its files.

The folder of a plan can be moved; the source, the result and the models stay where they are.

    plan.json           this module's Plan
    slices/00017.nut    a slice, and slices/00017.json its record: it is done if both agree; .mkv,
                        .mp4 or .mov where NUT cannot hold the codec
    slices/*.part       what is being written, each under a name of its own
    logs/00017.log      what ffmpeg said in the last try
    join.json           what was joined
"""
import dataclasses
import errno
import json
import math
import os
import pathlib
import secrets
import socket
import stat
from fractions import Fraction

FORMAT = 3


class Failure(Exception):
    """Ends the command with one line and this exit code."""

    code = 1


class Refused(Failure):
    """The command line or the plan cannot be carried out as it is."""

    code = 2


class Never(Failure):
    """Another try would fail too."""

    code = 65


class Again(Failure):
    """Another try, later or on another machine, may succeed."""

    code = 75


@dataclasses.dataclass
class Slice:
    """Times are in units of the source's time base, from the source's beginning."""

    first: int  # the number of its first frame in the source
    count: int
    start: int  # the time of its first frame
    end: int | None  # the time of the first frame after it; None: there is none
    decode_start: int  # the same for what is decoded, which includes the halo
    decode_end: int | None
    decode_count: int
    seek: float | None  # where decoding begins, in seconds; None: at the source's beginning
    decode_first: int  # the number of the first decoded frame in the source
    source: str  # a checksum of the decoded frames and their times
    # Of a chain that makes another rate: the time of the first frame that goes out, in units of that
    # rate, and how many do.
    out_start: int = 0
    out_count: int = 0


@dataclasses.dataclass
class Plan:
    source: str  # absolute
    source_bytes: int
    source_sha256: str
    source_ends: str  # a checksum of its first and last MiB, which takes no time to make
    stream: int  # the index of the video stream
    time_base: str
    folder: str  # where relative names in the chain begin
    chain: str  # as given
    fixed_chain: str  # with what the filters chose when the plan was made
    encoder: list  # ffmpeg's arguments for slices
    encoder_time_base: str
    slice_format: str  # nut, or that of the result
    tags: dict  # of the result's video stream, as a whole run writes them
    metadata: dict  # of the source's video stream
    output: str  # absolute
    output_format: str
    others: list  # ffmpeg's arguments for joining: sound, subtitles, metadata
    streams: list  # ffmpeg's -map of the source's other streams
    files: dict  # absolute name: checksum, of the models and other files that the chain names
    moved: str  # seconds by which the result's muxer moves all streams
    records: list  # [option's filter number, file, format] for destinations of detections
    machine: dict  # versions and instructions: see media.machine()
    environment: dict  # variables that limit the instructions
    frames: int
    seconds_a_frame: float
    seconds_to_start: float
    cores: int  # of the machine that measured these
    retries: int
    slices: list
    rate: str = ""  # of the result's frames, if the chain makes another
    anchor: str = "0"  # when the source's first frame is, in seconds
    format: int = FORMAT
    where: pathlib.Path = None  # the plan's folder; not in the file

    @property
    def tick(self):
        return Fraction(self.time_base)

    @property
    def out_tick(self):
        return 1 / Fraction(self.rate) if self.rate else self.tick

    def begin_of(self, piece):
        """When the slice's first frame goes out, in seconds."""
        return piece.out_start * self.out_tick if self.rate else piece.start * self.tick

    def count_of(self, piece):
        """How many frames go out."""
        return piece.out_count if self.rate else piece.count

    def outputs_before(self, pts):
        """How many frames go out before that time of the source.  They are counted from its first
        frame on, which goes out itself."""
        return math.ceil((pts * self.tick - Fraction(self.anchor)) / self.out_tick)

    def path(self, number, ending=None):
        ending = ending or ("mkv" if self.slice_format == "matroska" else self.slice_format)
        return self.where / "slices" / f"{number:05}.{ending}"

    def log(self, number):
        return self.where / "logs" / f"{number:05}.log"

    def record(self, number):
        """The record of a slice that is done, or None."""
        record = read_json(self.path(number, "json"))
        if not isinstance(record, dict) or record.get("first") != self.slices[number].first:
            return None
        try:
            size = self.path(number).stat().st_size
        except OSError:
            return None
        return record if size == record.get("bytes") else None

    def missing(self):
        return [number for number in range(len(self.slices)) if not self.record(number)]

    def write(self):
        values = dataclasses.asdict(self)
        del values["where"]
        values["slices"] = [list(dataclasses.astuple(each)) for each in self.slices]
        write_whole(self.where / "plan.json", json.dumps(values, indent=1).encode())


def own_host():
    return "".join(letter if letter.isalnum() else "-" for letter in socket.gethostname())[:40]


def part_name(path):
    """A name in the same folder that nothing else uses."""
    return path.with_name(
        f"{path.stem}.{own_host()}.{os.getpid()}.{secrets.token_hex(4)}.part")


def remove_leftovers(path):
    """Removes the parts of processes of this machine that were ended by force."""
    begins = f"{path.stem}.{own_host()}."
    for name in os.listdir(path.parent):
        words = name[len(begins):].split(".")
        if (name.startswith(begins) and len(words) > 2 and words[-1] == "part"
                and not os.path.exists(f"/proc/{words[0]}")):
            path.with_name(name).unlink(missing_ok=True)


def put_in_place(part, path):
    """Gives a finished file its name, so that it is whole even after a power cut."""
    with open(part, "rb") as file:
        os.fsync(file.fileno())
    os.replace(part, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def write_whole(path, contents):
    part = part_name(path)
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(contents)
        put_in_place(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise of_system(error, path) from None


def of_system(error, path):
    """The failure that a system call's error means."""
    again = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ESTALE, errno.ENOMEM, errno.EAGAIN)
    kind = Again if error.errno in again else Refused
    return kind(f"{path}: {error.strerror or error}")


def read_json(path):
    """None if it is not there or is no JSON."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None


def check_owner(path, facts, trust):
    """A plan runs commands, so whoever writes one can do what its reader can."""
    if not stat.S_ISREG(facts.st_mode):
        raise Never(f"{path} is damaged: make the plan again")
    if trust:
        return
    if facts.st_uid not in (os.geteuid(), 0):
        raise Refused(f"{path} belongs to another user: see `dnn-torch farm show`, then --trust")
    if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Refused(f"{path} can be changed by other users: chmod go-w it, or --trust")


def read(folder, trust=False):
    where = pathlib.Path(os.path.abspath(folder))
    path = where / "plan.json"
    try:
        # Not to wait for a pipe.  What is checked is what is read.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            check_owner(path, os.fstat(file.fileno()), trust)
            text = file.read()
    except FileNotFoundError:
        raise Refused(f"there is no plan in {folder}: `dnn-torch farm plan` makes one") from None
    except OSError as error:
        raise of_system(error, path) from None
    try:
        return from_values(json.loads(text, parse_constant=refuse_constant), where)
    except (ArithmeticError, ValueError, TypeError, KeyError, RecursionError):
        raise Never(f"{path} is damaged: make the plan again") from None


def refuse_constant(name):
    raise ValueError(name)


def check_kinds(one):
    """Whoever uses a field relies on its kind.  Numbers are so small that no sum overflows."""
    for field in dataclasses.fields(one):
        value = getattr(one, field.name)
        kind = field.type if field.type is not float else (int, float)
        if field.type == (float | None):
            kind = (int, float, type(None))
        if field.name == "where":
            continue
        if isinstance(value, bool) or not isinstance(value, kind):
            raise TypeError(field.name)
        if isinstance(value, str):
            check_text(value)
        if isinstance(value, (int, float)) and not abs(value) < 1 << 62:
            raise ValueError(field.name)


def check_text(text):
    """A file's name or an argument can be neither of these."""
    if b"\0" in os.fsencode(text):
        raise ValueError(text)


def check_parts(plan):
    """The same of what lists and texts hold, and what must not be 0."""
    texts = [*plan.encoder, *plan.others, *plan.streams, *plan.tags, *plan.metadata, *plan.machine,
             *plan.metadata.values(), *plan.files.values(), *plan.environment.values()]
    numbers = [number for number, _, _ in plan.records]
    texts += [text for _, *both in plan.records for text in both]
    texts += [value for value in plan.machine.values() if value is not None]
    texts += [tag for name, tag in plan.tags.items()
              if name not in ("width", "height") or type(tag) is not int]
    for text in texts:
        check_text(text)
    if not all(isinstance(number, int) and number >= 0 for number in numbers):
        raise TypeError
    Fraction(plan.moved), Fraction(plan.anchor)
    if min(plan.tick, plan.out_tick) <= 0 or min(each.count for each in plan.slices) <= 0:
        raise ValueError
    if min(plan.seconds_a_frame, plan.seconds_to_start, plan.retries, plan.cores - 1) < 0:
        raise ValueError
    if not all(map(os.path.isabs, (plan.source, plan.output, plan.folder))):
        raise ValueError


def from_values(values, where):
    if values["format"] != FORMAT:
        raise Refused(f"{where} was made by another version of dnn-torch farm: plan again")
    values["slices"] = [Slice(*each) for each in values["slices"]]
    known = {field.name for field in dataclasses.fields(Plan)}
    plan = Plan(**{name: value for name, value in values.items() if name in known})
    plan.where = where
    for each in (plan, *plan.slices):
        check_kinds(each)
    check_parts(plan)
    if sum(each.count for each in plan.slices) != plan.frames or not plan.slices:
        raise ValueError
    return plan
