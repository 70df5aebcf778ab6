# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Joins slices without encoding them again, adds what else the source has, and checks the result."""
import os
import pathlib
from fractions import Fraction

import media
import plan as plans
import records as records_
import slice as slices
from plan import Again, Failure, Never, Refused

# Stream copies set these from options, because not all slices' codecs carry them.
TAGS = {"color_range": "color_range", "color_space": "colorspace",
        "color_transfer": "color_trc", "color_primaries": "color_primaries",
        "chroma_location": "chroma_sample_location"}
# ffprobe's names that options do not have.
RENAMED = {"gbr": "rgb", "bt470m": "gamma22", "bt470bg": "gamma28", "log100": "log",
           "log316": "log_sqrt"}
ORDERS = {"progressive": "progressive", "tt": "tt", "bb": "bb", "tb": "tb", "bt": "bt"}
# Without pts=, the filter sets that to the decoding time.
RISING = "setts=pts=PTS:dts=if(N\\,max(DTS\\,PREV_OUTDTS+1)\\,DTS)"
# With these a muxer may move all streams by what decoding is ahead.
MOVING = {"-movflags", "-avoid_negative_ts", "-use_editlist"}
MICROSECOND = Fraction(1, 1000000)


def tag_arguments(tags):
    words = []
    for tag, option in TAGS.items():
        if tags.get(tag, "unknown") not in ("unknown", "unspecified"):
            name = tags[tag] if tag == "color_primaries" else RENAMED.get(tags[tag], tags[tag])
            name = "bt470bg" if tag == "color_space" and name == "gamma28" else name
            words += [f"-{option}:v:0", name]
    if tags.get("field_order") in ORDERS:
        words += ["-field_order:v:0", tags["field_order"]]
    aspect = tags.get("display_aspect_ratio", "0:1")
    if tags.get("sample_aspect_ratio", "1:1") not in ("1:1", "0:1") and aspect != "0:1":
        words += ["-aspect:v:0", aspect]
    return words


def metadata_arguments(metadata):
    """The video stream's own; ffmpeg copies that of the other streams unless told which."""
    return [word for name, value in metadata.items()
            for word in ("-metadata:s:v:0", f"{name}={value}")]


def microseconds(seconds):
    """As libavformat rounds."""
    return int(seconds / MICROSECOND + Fraction(1, 2))


def text_of(count):
    return f"{count // 1000000}.{count % 1000000:06}"


def list_of(plan, pieces, names, known):
    """A script for FFmpeg's demuxer concat.  Durations are such that each slice begins where its
    own times say.  Of some slices libavformat does not find out where they begin: `known` says
    it for each."""
    lines = ["ffconcat version 1.0"]
    starts = [microseconds(plan.begin_of(piece)) for piece in pieces]
    for i, name in enumerate(names):
        lines.append(f"file '{name}'")
        if not known[i]:
            lines.append(f"inpoint {text_of(starts[i])}")
        if i + 1 < len(starts):
            lines.append(f"duration {text_of(starts[i + 1] - starts[i])}")
    return "\n".join(lines) + "\n"


def arguments(plan, script, start, part, further=()):
    """ffmpeg's arguments.  The first input's times begin at 0: they are moved to the first
    frame's.  The decoding times that a slice begins with may overlap the end of the one before."""
    return [
        "-hide_banner", "-nostdin", "-nostats", "-loglevel", "level+warning", "-y",
        "-itsoffset", text_of(microseconds(start)),
        # Converted, packets of MP4 and Matroska get parameter sets that they do not have.
        "-f", "concat", "-safe", "0", "-auto_convert", "0", "-i", media.name_of(script),
        "-i", media.name_of(plan.source),
        "-map", "0:v:0", *plan.streams, "-map_metadata", "1", "-map_chapters", "1",
        *metadata_arguments(plan.metadata), "-c", "copy", *tag_arguments(plan.tags),
        *plan.others, "-c:v:0", "copy", "-bsf:v:0", RISING,
        *further, "-f", plan.output_format, media.name_of(part),
    ]


def write(plan, pieces, names, known, folder, part, further=()):
    start = plan.begin_of(pieces[0]) if not further else 0  # a trial's times begin at 0
    script = plans.part_name(folder / "join")
    try:
        script.write_text(list_of(plan, pieces, names, known))
        return media.output_of(
            [media.FFMPEG, *arguments(plan, script, start, part, further)],
            cwd=plan.folder)
    finally:
        script.unlink(missing_ok=True)


def records_of(plan):
    missing = plan.missing()
    if missing:
        raise Again(f"{len(missing)} of {len(plan.slices)} slices are missing, the first is "
                    f"{missing[0]}: dnn-torch farm run {plan.where}")
    return [plan.record(number) for number in range(len(plan.slices))]


def check_slices(plan, records):
    for number, record in enumerate(records):
        records_.check(plan, number, record)
        if media.sha256(plan.path(number)) != record["sha256"]:
            plan.path(number, "json").unlink(missing_ok=True)
            raise Again(f"slice {number} was damaged on disk and is no longer done: dnn-torch farm "
                        f"run {plan.where}")


def join(plan, replace=False):
    """Writes the result; returns what was checked."""
    output = pathlib.Path(plan.output)
    done = plans.read_json(plan.where / "join.json")
    if output.exists() and not replace and not (done and is_joined(output, done)):
        raise Refused(f"{output} is there: move it away, or join with --replace")
    media.check_source(plan)
    records = records_of(plan)
    check_slices(plan, records)
    if media.sha256(plan.source) != plan.source_sha256:
        raise Never(f"{plan.source} has changed since the plan was made: plan again")
    hidden = output.with_name("." + output.name)
    for path in (hidden, plan.where / "slices" / "join", plan.where / "join.json"):
        plans.remove_leftovers(path)
    part = plans.part_name(hidden)
    try:
        names = [plan.path(number).name for number in range(len(records))]
        known = [record["knows_start"] for record in records]
        write(plan, plan.slices, names, known, plan.where / "slices", part)
        facts = check(plan, records, part)
        facts["bytes"] = part.stat().st_size
        records_.join(plan)
        plans.put_in_place(part, output)
        plans.write_whole(plan.where / "join.json", plans.json.dumps(facts).encode())
        return facts
    except OSError as error:
        raise plans.of_system(error, error.filename or output) from None
    except Failure:
        if slices.has_no_space(output.parent):
            raise Again(f"no space left in {output.parent}") from None
        raise
    finally:
        part.unlink(missing_ok=True)


def is_joined(output, done):
    try:
        return output.stat().st_size == done["bytes"]
    except OSError:
        return False


def check(plan, records, path):
    """The joined packets are those of the slices, and their times those of the source."""
    tick, *packets = slices.packets_of(path)
    place, off = 0, Fraction(plan.moved)
    for number, record in enumerate(records):
        mine = packets[place:place + record["count"]]
        place += record["count"]
        packed = [(size, digest) for _, size, digest in mine]
        if (len(mine) != record["count"]
                or slices.checksum_of_packets(packed) != record["packets"]):
            raise Never(f"{path}: the packets of slice {number} are not those that it recorded")
        times = [at * plan.out_tick for at in slices.numbers_of(record["times"])]
        shown = [pts * tick for pts in sorted(pts for pts, _, _ in mine)]
        if not number and MOVING & set(plan.others):
            off = shown[0] - times[0]
        slack = max(tick, plan.out_tick, Fraction(plan.encoder_time_base) / 2)
        if any(abs(one - other - off) > slack for one, other in zip(shown, times)):
            raise Never(f"{path}: frames of slice {number} are not at the source's times")
    if place != len(packets):
        raise Never(f"{path}: {len(packets)} frames, and {place} are wanted")
    return {"frames": place, "packets": slices.checksum_of_packets(
        (size, digest) for _, size, digest in packets)}


def frames_of(path):
    return [(size, digest) for _, size, digest in (
        frame for frame in media.frame_lines(media.lines_of(
            [media.FFMPEG, *media.QUIET, "-i", media.name_of(path),
             *media.hashed_frames("0:v:0")])) if isinstance(frame, tuple))]


def verify(plan, with_frames=False):
    """Checks the result as joining does, and each frame against the slices' if asked to."""
    if not os.path.exists(plan.output):
        raise Again(f"{plan.output} is not there: dnn-torch farm join {plan.where}")
    records = records_of(plan)
    facts = check(plan, records, pathlib.Path(plan.output))
    if with_frames:
        wanted = [frame for number in range(len(records)) for frame in frames_of(plan.path(number))]
        if frames_of(plan.output) != wanted:
            raise Never(f"{plan.output} shows other frames than the slices do")
    return facts
