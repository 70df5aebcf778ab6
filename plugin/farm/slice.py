# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""One slice: decodes its frames, runs the chain, encodes, and records what came of it.

It takes no lock.  Each run writes under a name of its own, and a slice that is done is not run
again.  Two runs of one slice at once make the same bytes."""
import contextlib
import os
import re
import shutil
import socket
import subprocess
import time
from fractions import Fraction

import chain as chains
import media
import plan as plans
import records
from plan import Again, Failure, Never, Refused

# showinfo prints a line in several pieces.  Since FFmpeg 7 other threads may print between any two
# of them, whole lines as well as the beginning of one.
TICK = re.compile(r"config in time_base: (\d+/\d+)")
PIECE = re.compile(r"n: *\d+ pts: *(?P<pts>-?\w+) pts_time:|checksum:(?P<sum>\w+) plane_checksum")
# What a slice's disk must have left: less explains why ffmpeg failed.
NO_SPACE = 4 << 20


class Wrong(Exception):
    """Decoding did not give the slice's frames."""


class Shown:
    """What the filter showinfo says of the frames that go into the encoder."""

    def __init__(self, tell=None):
        self.tick, self.frames, self.moments, self.tell = None, [], [], tell
        self.pts = None  # of the frame whose checksum comes next

    def take(self, line):
        """Returns whether the line was for this."""
        if base := TICK.search(line):
            self.tick = Fraction(base.group(1))
        pieces = list(PIECE.finditer(line))
        for piece in pieces:
            if piece["pts"]:
                self.pts = None if piece["pts"] == "NOPTS" else int(piece["pts"])
                continue
            self.frames.append((self.pts, piece["sum"]))
            self.moments.append(time.monotonic())
            if self.tell:
                self.tell(len(self.frames))
        return bool(pieces) or "[showinfo@farm @" in line

    def times(self):
        return [None if pts is None else pts * self.tick for pts, _ in self.frames]


def seconds(ticks, tick):
    """For the filter trim: a moment just before the frame, in microseconds."""
    return f"{float((ticks - Fraction(1, 4)) * tick):.6f}"


def graph(plan, piece, chain):
    """The chain, with what cuts the frames out before it and the halo off behind it."""
    words = [f"trim=start_pts={piece.decode_start}"]
    if piece.decode_end is not None:
        words[0] += f":end_pts={piece.decode_end}"
    words.append(chain)
    if piece.out_count:
        words.append(f"trim=start={seconds(piece.out_start, plan.out_tick)}")
        if piece.end is not None:
            words[-1] += f":end={seconds(piece.out_start + piece.out_count, plan.out_tick)}"
    elif (piece.start, piece.end) != (piece.decode_start, piece.decode_end):
        words.append(f"trim=start={seconds(piece.start, plan.tick)}")
        if piece.end is not None:
            words[-1] += f":end={seconds(piece.end, plan.tick)}"
    return ",".join([*words, "showinfo@farm"])


def own_chain(plan, piece, text, part):
    """Random numbers are those of the whole video's frames, and records go beside the part."""
    filters, further = chains.parse(text), records.options(plan, part)
    if further and max(further) >= len(filters):
        raise Never(f"{plan.where / 'plan.json'} is damaged: make the plan again")
    numbers, place = {"start_number": piece.decode_first}, chains.interpolator_of(filters)
    for i, each in enumerate(filters):
        if each.is_ours:
            further[i] = {**numbers, **further.get(i, {})}
        if plan.rate and i == place:
            further[i]["anchor"] = plan.anchor
            numbers = {"start_number": plan.outputs_before(piece.decode_start)}
    return chains.with_options(text, filters, further)


def source_arguments(plan, piece, from_start):
    words = media.OWN_TIMES
    if piece.seek is not None and not from_start:
        words = [*words, "-noaccurate_seek", "-ss", f"{piece.seek:.6f}"]
    return [*words, "-i", media.name_of(plan.source)]


def decoded_output(plan, piece):
    """The checksums of what is decoded for the slice."""
    cut = graph(plan, piece, "null").split(",")[0]
    return media.hashed_frames(f"0:{plan.stream}", "-enc_time_base", plan.time_base, "-vf", cut)


def arguments(plan, piece, part, from_start=False, chain=None):
    """ffmpeg's arguments: the encoded slice, and the checksums of what was decoded."""
    return [
        "-hide_banner", "-nostdin", "-nostats", "-loglevel", "level+info", "-y",
        *source_arguments(plan, piece, from_start),
        "-map", f"0:{plan.stream}", "-fps_mode", "passthrough",
        "-enc_time_base", plan.encoder_time_base,
        "-vf", graph(plan, piece, own_chain(plan, piece, chain or plan.fixed_chain, part)),
        *plan.encoder, "-map_chapters", "-1", "-map_metadata", "-1", "-map_metadata:s",
        "-1", "-avoid_negative_ts", "disabled",
        "-fflags", "+bitexact",  # without it, Matroska draws a number for each file
        "-f", plan.slice_format, media.name_of(part),
        *decoded_output(plan, piece),
    ]


def environment(plan):
    return {**os.environ, **plan.environment}


def encode(plan, piece, part, from_start, shown, log):
    """Raises Wrong if other frames were decoded than when the plan was made."""
    command = media.launched(arguments(plan, piece, part, from_start))
    frames, failure = [], None
    lines = media.lines_of(command, shown.take, cwd=plan.folder, env=environment(plan))
    try:
        for frame in media.frame_lines(lines):
            if isinstance(frame, tuple):
                frames.append(frame)
                if frames[0][0] != piece.decode_start:
                    raise Wrong
    except media.Failure as error:
        failure = error
        log.write_text(getattr(error, "log", str(error)), errors="replace")
    finally:
        lines.close()
    if failure and not (piece.seek and not from_start and len(frames) < piece.decode_count):
        raise failure
    if len(frames) != piece.decode_count or media.checksum(frames) != piece.source:
        raise Wrong
    return [pts * plan.tick for pts, _, _ in frames]


def check_frames(piece, plan, decoded, shown):
    """As many frames out as in, at the same times, in the same order."""
    if plan.rate:
        wanted = [(piece.out_start + i) * plan.out_tick for i in range(piece.out_count)]
        if shown.times() != wanted:
            raise Never(f"{len(shown.frames)} frames came out of the chain, and {len(wanted)} at a "
                        "constant rate were planned")
        return wanted
    last = None if piece.end is None else piece.end * plan.tick
    wanted = [at for at in decoded if at >= piece.start * plan.tick and (last is None or at < last)]
    if len(shown.frames) != piece.count:
        raise Never(f"{piece.count} frames went into the chain and {len(shown.frames)} came out")
    if shown.times() != wanted:
        raise Never("the chain changes the times of frames")
    return wanted


def packets_of(path):
    """The time base, and (pts, size, checksum) of each packet."""
    yield from media.frame_lines(media.lines_of(
        [media.FFMPEG, *media.QUIET, "-copyts", "-i", media.name_of(path), "-map", "0:v:0", "-c",
         "copy", *media.HASHED]))


def packets_both_ways(path):
    """The same, and (size, checksum) of each packet in the form that the result's muxer gives
    it."""
    reader, writer = os.pipe()
    video = ["-map", "0:v:0", "-c", "copy"]
    command = [media.FFMPEG, *media.QUIET, "-y", "-copyts", "-i", media.name_of(path), *video,
               *media.HASHED, *video, "-f", "matroska", f"pipe:{writer}"]
    with media.started(command, stderr=subprocess.PIPE, pass_fds=[writer]) as process:
        os.close(writer)
        own = media.Reader(process.stdout, most=1 << 60)
        try:
            reading = media.lines_of([media.FFMPEG, *media.QUIET, "-f", "matroska", "-i", "pipe:0",
                                      "-c", "copy", *media.HASHED], stdin=reader)
            joined = [frame for frame in media.frame_lines(reading) if isinstance(frame, tuple)]
        finally:
            os.close(reader)
        return media.frame_lines(own.text().splitlines()), [each[1:] for each in joined]


def knows_start(path):
    """Whether libavformat finds out when the slice begins: not if all of it is still reordered, or
    if nothing ever is."""
    return "start_time" in media.probe(path, "-show_entries", "format=start_time")["format"]


def check_packets(plan, piece, part, wanted):
    """The file has each frame, at its time."""
    (tick, *packets), joined = packets_both_ways(part)
    times = sorted(pts * tick for pts, _, _ in packets)
    slack = max(Fraction(plan.encoder_time_base), tick) / 2
    if len(times) != len(wanted):
        raise Never(f"{len(wanted)} frames went into the encoder and {len(times)} packets came out")
    if any(abs(one - other) > slack for one, other in zip(times, wanted)):
        raise Never("the encoder changes the times of frames")
    if len(joined) != len(wanted):
        raise Never("Matroska does not keep all packets of this encoder")
    return joined


def checksum_of_packets(packets):
    return media.checksum((0, size, digest) for size, digest in packets)


def steps(numbers):
    """A list of numbers as [first, [difference, how often], ...]."""
    found = [numbers[0]]
    for one, other in zip(numbers, numbers[1:]):
        if len(found) > 1 and found[-1][0] == other - one:
            found[-1][1] += 1
        else:
            found.append([other - one, 1])
    return found


def numbers_of(steps_):
    number = steps_[0]
    yield number
    for difference, often in steps_[1:]:
        for _ in range(often):
            number += difference
            yield number


def is_own(number, plan, facts):
    try:
        return os.stat(plan.path(number)).st_ino == facts.st_ino
    except OSError:
        return False


def store(plan, number, part, record):
    facts = os.stat(part)
    record |= {"bytes": facts.st_size, "sha256": media.sha256(part), "host": socket.gethostname()}
    plans.put_in_place(part, plan.path(number))
    plans.write_whole(plan.path(number, "json"), plans.json.dumps(record).encode())
    if not is_own(number, plan, facts) and media.sha256(plan.path(number)) != record["sha256"]:
        plan.path(number, "json").unlink(missing_ok=True)
        raise Again(f"slice {number} was made twice at once, with other bytes: run it again")


def make(plan, number, tell):
    """Makes a slice that is not done."""
    piece, begun = plan.slices[number], time.monotonic()
    part = plans.part_name(plan.path(number))
    log = plan.log(number)
    try:
        for from_start in (False, True):
            shown = Shown(tell)
            with contextlib.suppress(Wrong):
                decoded = encode(plan, piece, part, from_start, shown, log)
                break
            if from_start or piece.seek is None:
                media.check_source(plan)
                raise Never(f"{plan.source} gives other frames here than when the plan was made")
        wanted = check_frames(piece, plan, decoded, shown)
        packets = check_packets(plan, piece, part, wanted)
        ahead = sum(at < piece.start * plan.tick for at in decoded)
        store(plan, number, part, {
            "records": records.store(plan, number, part, ahead),
            "first": piece.first, "count": len(wanted),
            "frames": media.checksum((0, 0, digest) for _, digest in shown.frames),
            "times": steps([int(at / plan.out_tick) for at in wanted]),
            "packets": checksum_of_packets(packets), "packet_bytes": sum(s for s, _ in packets),
            "seconds": round(time.monotonic() - begun, 3), "from_start": from_start,
            "knows_start": knows_start(part)})
        log.unlink(missing_ok=True)
    except OSError as error:
        raise plans.of_system(error, error.filename or part) from None
    finally:
        part.unlink(missing_ok=True)
        records.remove(plan, part)


def has_no_space(folder):
    try:
        return shutil.disk_usage(folder).free < NO_SPACE
    except OSError:
        return False


def run(plan, number, retries, tell=None, say=print):
    """Makes the slice unless it is done; returns whether it was made."""
    for folder in ("slices", "logs"):
        (plan.where / folder).mkdir(exist_ok=True)
    plans.remove_leftovers(plan.path(number))
    failures = []
    while not plan.record(number):
        try:
            make(plan, number, tell)
            return True
        except Failure as error:
            # ffmpeg may end well although the end of its file is missing.
            if has_no_space(plan.where):
                raise Again(f"slice {number}: no space left in {plan.where}") from None
            if isinstance(error, (Never, Refused)):
                raise type(error)(f"slice {number}: {error}") from None
            failures.append(str(error))
            if media.is_ending() or len(failures) > retries:
                raise final(number, failures, error, plan) from None
            say(f"slice {number}: {error}; trying again")
    return False


def final(number, failures, error, plan):
    """Another machine may help, unless ffmpeg said the same each time."""
    same = isinstance(error, media.Failed) and len(failures) > 1 and len(set(map(
        lambda text: re.sub(r"0x[0-9a-f]+", "", text), failures))) == 1
    kind = Never if same else Again
    return kind(f"slice {number}: {error}; more in {plan.log(number)}")
