# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a plan: decodes the source once, tries the chain on frames from its middle, and cuts."""
import bisect
import collections
import concurrent.futures
import dataclasses
import json
import math
import os
import pathlib
import re
import shlex
import stat
import subprocess
import tempfile
import time
from fractions import Fraction

import chain as chains
import joining
import media
import plan as plans
import records
import slice as slices
from plan import Failure, Refused

FORMATS = {".mkv": "matroska", ".mp4": "mp4", ".m4v": "mp4", ".mov": "mov"}
# These are lists of other files, or have no end.
LISTS = {"concat", "hls", "dash", "sdp", "rtsp", "lavfi", "image2", "image2pipe", "tty", "webm_dash_manifest"}
# Tags of a stream that the encoder, the muxer or the rotated picture have anew.
MADE_ANEW = {"encoder", "duration", "rotate"}
# Side data of a stream that the encoder makes, or that ffmpeg applies.
NOT_OF_SOURCE = {"CPB properties", "Display Matrix"}
# Starting a slice costs at most this share of its work.
SHARE_OF_START = 0.03
LEAST_SECONDS = 120
MOST_SLICES = 10000
TRIAL_SECONDS, TRIAL_FRAMES, EARLIER = 5.0, 96, 3
# How many frames after a warm-up are compared with those after how many times the warm-up.
WARM_FRAMES, LONGER = 8, 2
CUT = re.compile(r"starts anew at ([\d.]+) s: a cut")
# ffmpeg takes a larger step of a transport stream's times for a fault, and closes the gap.
LARGEST_STEP_SECONDS = 10


@dataclasses.dataclass
class Source:
    path: str
    stream: int
    tick: Fraction
    rate: Fraction
    container: str
    start: Fraction
    metadata: dict
    pts: list = dataclasses.field(default_factory=list)
    frames: list = dataclasses.field(default_factory=list)
    keys: list = dataclasses.field(default_factory=list)
    cuts: list = dataclasses.field(default_factory=list)  # numbers of frames; only if looked for
    # Of a chain that makes another rate: that, and where its frames begin and end in units of it.
    out_rate: Fraction | None = None
    out_begin: int = 0
    out_end: int = 0

    def outputs(self, first, count):
        """Where the frames begin that go out for so many of the source, and how many there are."""
        if not self.out_rate:
            return 0, 0
        begin, end = (self.out_begin + math.ceil((self.pts[place] - self.pts[0]) * self.tick
                                                 * self.out_rate)
                      if place < len(self.pts) else self.out_end for place in (first, first + count))
        return begin, max(0, end - begin)


# ---- the source -------------------------------------------------------------


def refuse_pictures(path):
    """A pattern, or a folder: slices read one file."""
    what, words = "the name of many pictures", ["-framerate", "25", "-i", path]
    if os.path.isdir(path):
        what, words[-1] = "a folder", os.path.join(path, "%d.png")
    elif "*" in path:
        words[:0] = ["-pattern_type", "glob"]
    elif not re.search(r"%\d*d", path):
        return
    raise Refused(f"{path} is {what}, and slices read one file: make it of pictures, at their rate: "
                  f"{shlex.join(['ffmpeg', *words, '-c:v', 'ffv1', 'OUT.mkv'])}")


def open_source(path):
    try:
        facts = os.stat(path)
    except OSError as error:
        refuse_pictures(path)
        raise plans.of_system(error, path) from None
    if stat.S_ISDIR(facts.st_mode):
        refuse_pictures(path)
    if not stat.S_ISREG(facts.st_mode):
        raise Refused(f"{path} is no file: slices read it at several places, so that a pipe, a "
                      "device or a live source cannot be cut; record it first")
    try:
        found = media.probe(path, "-show_streams", "-show_format")
    except media.Failed as error:
        raise Refused(f"{path} cannot be read: {error}") from None
    container = found["format"]["format_name"]
    if LISTS & set(container.split(",")) or container.endswith("_pipe"):
        raise Refused(f"{path} is a picture or a list of other files ({container}): make one file "
                      "of it, such as ffmpeg -i IN -c:v ffv1 OUT.mkv")
    videos = [each for each in found["streams"] if each.get("codec_type") == "video"
              and not each["disposition"]["attached_pic"]]
    if not videos:
        raise Refused(f"{path} has no video")
    best = max(videos, key=lambda each: (each["disposition"]["default"],
                                         each.get("width", 0) * each.get("height", 0)))
    rate = best["r_frame_rate"] if best["avg_frame_rate"] == "0/0" else best["avg_frame_rate"]
    if best["r_frame_rate"] != "0/0" and is_near(best["r_frame_rate"], rate):
        rate = best["r_frame_rate"]
    return Source(path, best["index"], Fraction(best["time_base"]),
                  Fraction(0) if rate == "0/0" else Fraction(rate), container,
                  Fraction(found["format"].get("start_time", "0")),
                  {name: value for name, value in best.get("tags", {}).items()
                   if name.lower() not in MADE_ANEW})


def is_near(one, other):
    if "0/0" in (one, other):
        return other == "0/0"
    return abs(Fraction(one) / Fraction(other) - 1) < Fraction(1, 1000)


def decode(source, tell):
    """Reads times and checksums of all frames."""
    command = [media.FFMPEG, *media.QUIET, *media.OWN_TIMES, "-i", media.name_of(source.path),
               *media.hashed_frames(f"0:{source.stream}", "-enc_time_base", text_of(source.tick))]
    try:
        for frame in media.frame_lines(media.lines_of(command)):
            if isinstance(frame, tuple):
                source.frames.append(frame)
                tell(len(source.frames))
    except media.Failed as error:
        raise Refused(f"{source.path} cannot be decoded: {error}") from None
    source.pts = [pts for pts, _, _ in source.frames]
    check_times(source)


def check_times(source):
    if not source.frames:
        raise Refused(f"{source.path} has no frames that can be decoded")
    remux = "repair it first, such as ffmpeg -i IN -map 0 -c copy OUT.mkv"
    if len({size for _, size, _ in source.frames}) > 1:
        raise Refused(f"{source.path} changes its size or its pixel format: slices would differ in "
                      "size; scale it to one size first")
    if source.pts[0] < 0:
        raise Refused(f"{source.path}: its first frame comes before its beginning: {remux}")
    leaps = "mpeg" in source.container
    for one, other in zip(source.pts, source.pts[1:]):
        step = (other - one) * source.tick
        if step <= 0 or (leaps and step > LARGEST_STEP_SECONDS):
            raise Refused(f"{source.path}: times jump at {float(one * source.tick):.3f} s, by "
                          f"{float(step):.3f} s: {remux}")


def read_keys(source):
    """The times of key frames, from packets."""
    lines = media.lines_of(
        [media.ffprobe(), "-v", "error", "-select_streams", str(source.stream), "-show_entries",
         "packet=pts,dts,flags", "-of", "csv=p=0", "-i", media.name_of(source.path)])
    keys = []
    for line in lines:
        words = line.split(",")
        if len(words) >= 3 and "K" in words[2] and (words[0], words[1]) != ("N/A", "N/A"):
            at = int(words[1] if words[0] == "N/A" else words[0])
            keys.append(at * source.tick - source.start)
    source.keys = sorted(keys)


def text_of(number):
    return f"{number.numerator}/{number.denominator}"


def encoder_time_base(source):
    """That of a whole run, 1/rate, if all times survive it, and otherwise the source's."""
    if source.rate:
        frame = 1 / source.rate
        if all(round(round(pts * source.tick / frame) * frame / source.tick) == pts
               for pts in source.pts):
            return text_of(frame)
    return text_of(source.tick)


# ---- slices -----------------------------------------------------------------


@dataclasses.dataclass
class Halo:
    before: int
    after: int
    seconds: Fraction
    forgets: bool = False  # a model remembers all frames since the last cut
    needs_cuts: bool = False  # no number of seconds can replace a cut
    behind: int = 0  # of `before`, what filters after that model look back
    timed: list = dataclasses.field(default_factory=list)  # filters that look for jumps of the times

    def range(self, source, first, count):
        """The numbers of the frames to decode."""
        pts, begin, end = source.pts, first - self.before, first + count + self.after
        if self.forgets and not self.seconds:
            # A cut shows itself by the frame before it.
            begin = last_cut(source, first - self.behind) - 1 - (self.before - self.behind)
        if self.seconds:
            ticks = self.seconds / source.tick
            begin = min(begin, bisect.bisect_left(pts, pts[first] - ticks))
            end = max(end, bisect.bisect_right(pts, pts[first + count - 1] + ticks))
        if source.out_rate and first + count < len(pts):
            # The filter holds its last frame back until it is sure that the stream goes on.
            ticks = 1 / source.out_rate / source.tick
            end = max(end, bisect.bisect_left(pts, pts[first + count] + ticks) + 1)
        return max(0, begin), min(len(pts), end)


def last_cut(source, number):
    """At the frame or before it; the source begins with one."""
    place = bisect.bisect_right(source.cuts, number)
    return source.cuts[place - 1] if place else 0


def seek_of(source, at):
    """One group of pictures earlier than needed: the pictures that lead the next one need it."""
    place = bisect.bisect_right(source.keys, at * source.tick) - 2
    return None if place <= 0 else max(0.0, int(source.keys[place] * 1000000) / 1000000)


def piece_of(source, halo, first, count, earlier=0):
    begin, end = halo.range(source, first, count)
    begin = max(0, begin - earlier)
    pts, total = source.pts, len(source.pts)
    return plans.Slice(
        first, count, pts[first], pts[first + count] if first + count < total else None,
        pts[begin], pts[end] if end < total else None, end - begin, seek_of(source, pts[begin]),
        begin, media.checksum(source.frames[begin:end]), *source.outputs(first, count))


def next_border(source, halo, first, length):
    """Models forget at cuts: the one nearest to where the slice should end.  Where there is none,
    the slice ends there and the next one begins with a warm-up, or at the next cut."""
    wanted, cuts, total = first + length, source.cuts, len(source.pts)
    place = bisect.bisect_left(cuts, wanted)
    near = [each for each in cuts[max(0, place - 1):place + 1] if 2 * abs(each - wanted) < length]
    if not halo.forgets or (not near and halo.seconds and not halo.needs_cuts):
        return min(wanted, total)
    return min(near or cuts[place:place + 1] or [total], key=lambda each: abs(each - wanted))


def cut(source, halo, length):
    borders = [0]
    while borders[-1] < len(source.pts):
        borders.append(next_border(source, halo, borders[-1], length))
    pieces = [piece_of(source, halo, first, end - first)
              for first, end in zip(borders, borders[1:])]
    if source.out_rate and not all(piece.out_count for piece in pieces):
        raise Refused(f"slices of {length} frames would be without a frame at a rate of "
                      f"{text_of(source.out_rate)}: give more, such as --slice-frames {10 * length}")
    return pieces


def length_of(options, source, seconds_a_frame, seconds_to_start):
    """Frames of a slice.  Machines are not counted: the result is the same for any number."""
    total = len(source.pts)
    if options.slice_frames:
        return options.slice_frames
    seconds = options.slice_seconds or max(LEAST_SECONDS, seconds_to_start / SHARE_OF_START)
    length = max(1, round(seconds / max(seconds_a_frame, 1e-6)), -(-total // MOST_SLICES))
    return -(-total // max(1, total // length))  # about equal, and not shorter


# ---- trying -----------------------------------------------------------------


def first_error(text):
    """The line that says most: the first error."""
    for line in text.splitlines():
        for level in ("[fatal] ", "[error] "):
            if level in line:
                return line.split(level, 1)[1]
    return text.strip().splitlines()[-1] if text.strip() else "no reason given"


class Trial:
    """A run of the chain on a few frames, until it ends or enough was measured."""

    def __init__(self, plan, piece, part, chain=None, limit=None, from_start=False):
        self.shown, self.began = slices.Shown(), time.monotonic()
        self.is_whole = self.is_source_right = False
        command = media.launched(slices.arguments(plan, piece, part, from_start, chain))
        with media.started(command, stderr=subprocess.PIPE, cwd=plan.folder,
                           env=slices.environment(plan)) as process:
            errors = media.Reader(process.stderr, self.shown.take)
            decoded = media.Reader(process.stdout, most=1 << 60)
            while process.poll() is None and not self.is_enough(limit):
                time.sleep(0.02)
            if process.poll() is not None:
                self.finish(process, errors.text(), decoded.text(), piece)

    def is_enough(self, limit):
        moments = self.shown.moments
        return limit and len(moments) > 4 and time.monotonic() - moments[0] > limit

    def finish(self, process, errors, decoded, piece):
        self.ended = time.monotonic()
        if process.returncode:
            raise Refused(f"the chain or the encoder does not work: {first_error(errors)}")
        frames = [each for each in media.frame_lines(decoded.splitlines())
                  if isinstance(each, tuple)]
        self.is_whole = True
        self.is_source_right = media.checksum(frames) == piece.source

    def seconds_a_frame(self):
        moments = self.shown.moments
        if len(moments) < 2:
            return max(1e-4, (moments or [time.monotonic()])[-1] - self.began)
        return max(1e-4, (moments[-1] - moments[0]) / (len(moments) - 1))

    def seconds_to_start(self):
        return self.shown.moments[0] - self.began if self.shown.moments else 0.0

    def seconds_to_end(self):
        """Of a run that ended."""
        return self.ended - self.shown.moments[-1]


def first_run(plan, source, halo, filters, folder):
    """Runs one frame into the result's own format: what the filters chose, and the stream's tags.
    Returns the file, and the time from the frame to ffmpeg's end."""
    ours = [i for i, each in enumerate(filters) if each.is_ours]
    stats = {i: {"stats": folder / f"stats{i}.json"} for i in ours}
    part = folder / ("first" + pathlib.Path(plan.output).suffix)
    asked = dataclasses.replace(plan, slice_format=plan.output_format)
    piece = piece_in_middle(source, halo)
    text = chains.with_options(plan.chain, filters, stats)
    trial = Trial(asked, piece, part, text)
    if len(trial.shown.frames) != (piece.out_count or 1):
        raise Refused(f"the chain makes {len(trial.shown.frames)} frames of one, and cannot be cut")
    plan.tags = tags_of(part)
    try_join(plan, folder, piece, part)
    facts = {i: statistics_in(each["stats"], filters[i].name) for i, each in stats.items()}
    plan.fixed_chain = chains.with_options(plan.chain, filters, {
        i: fixed(filters[i], facts[i], i, plan) for i in ours})
    look_around(plan, source, halo, filters, facts)
    if plan.rate and (halo.forgets or (halo.before, halo.after) != (0, 1)):
        raise Refused(f"--vf: {chains.INTERPOLATOR} and filters that look at frames around do not go "
                      "together: run one of them before")
    return part, trial.seconds_to_end()


def statistics_in(path, name):
    """What the filter chose."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        raise Refused(f"{name} left no statistics in {path}, although ffmpeg succeeded: is there space?"
                      ) from None


def look_around(plan, source, halo, filters, facts):
    """Models get frames around each frame, or remember those since the last cut."""
    halo.timed = [filters[i] for i in facts if filters[i].name == chains.INTERPOLATOR]
    facts = {i: each for i, each in facts.items() if filters[i].name != chains.INTERPOLATOR}
    looking = [i for i, each in facts.items() if any(
        each[name] for name in ("in_order", "segment_length", "frames_before", "frames_after"))]
    halo.timed += [filters[i] for i in looking]
    check_jumps(source, halo, [(0, len(source.pts))])
    back = chains.frames_before(filters)
    for i, each in facts.items():
        back[i] += each["frames_before"]
        halo.after += each["frames_after"]
    halo.before = sum(back)
    forgetting = [i for i in looking if facts[i]["in_order"] or facts[i]["segment_length"]]
    if not forgetting:
        return
    halo.forgets = True
    halo.needs_cuts = any(facts[i]["segment_length"] for i in forgetting)
    has_branches = any(each.inputs or each.outputs for each in filters)
    halo.behind = halo.before if has_branches else sum(back[forgetting[0] + 1:])
    source.cuts = find_cuts(plan, source, filters, forgetting)
    if not source.cuts and (halo.needs_cuts or not halo.seconds):
        name, remedy = filters[forgetting[0]].name, "--halo SECONDS gives slices a warm-up instead"
        raise Refused(f"--vf: {name}: the model depends on all frames since the last cut, and there "
                      f"is no cut at which the video can be cut into slices"
                      f"{'' if halo.needs_cuts else '; ' + remedy}")


def find_cuts(plan, source, filters, forgetting):
    """The filters themselves look for them, without their models."""
    text = chains.that_finds_cuts(plan.chain, filters, forgetting)
    # The formats between filters are those of the run.
    command = media.launched([
        "-hide_banner", "-nostdin", "-nostats", "-loglevel", "level+verbose", *media.OWN_TIMES,
        "-i", media.name_of(source.path), "-map", f"0:{source.stream}", "-fps_mode", "passthrough",
        "-vf", f"{text},format={plan.tags['pix_fmt']}", "-f", "null", "-"])
    found = collections.Counter()

    def take(line):
        if match := CUT.search(line):
            at = Fraction(match.group(1)) / source.tick
            place = bisect.bisect_left(source.pts, at)
            found[min(range(max(0, place - 1), min(place + 1, len(source.pts))),
                      key=lambda number: abs(source.pts[number] - at))] += 1
        return bool(match)

    media.output_of(command, take_error=take, cwd=plan.folder, env=slices.environment(plan))
    return sorted(number for number, times in found.items() if times == len(forgetting))


def piece_in_middle(source, halo):
    """One frame, or as many as make one."""
    first, count = len(source.pts) // 2, 1
    while source.out_rate and first + count < len(source.pts) and not source.outputs(first, count)[1]:
        count += 1
    return piece_of(source, halo, first, count)


def find_rate(plan, source, halo, filters, folder):
    """What a chain with dnn_torch_interpolate makes of the source's rate, and where it ends:
    there, as everywhere, as `fps` does."""
    place = chains.interpolator_of(filters)
    if place is None:
        return
    if plan.records:
        raise Refused("--vf: records of detections and another rate do not go together: run "
                      "dnn_torch_detect or dnn_torch_classify alone")
    halo.after += 1
    first = max(0, len(source.pts) // 2 - 8)
    piece = piece_of(source, Halo(0, 0, Fraction(0)), first, min(16, len(source.pts) - first))
    trial = Trial(plan, piece, folder / "rate.part")
    plan.rate, plan.anchor = text_of(1 / trial.shown.tick), text_of(source.pts[0] * source.tick)
    plan.encoder_time_base = text_of(trial.shown.tick)
    source.out_rate = 1 / trial.shown.tick
    source.out_begin = rounded(source.pts[0] * source.tick * source.out_rate)
    source.out_end = end_at_rate(plan, source)
    if source.out_end <= source.out_begin:
        raise Refused(f"{source.path} has no frame at a rate of {plan.rate}")


def rounded(number):
    """Halves go away from zero."""
    return math.floor(number + Fraction(1, 2)) if number >= 0 else -rounded(-number)


def end_at_rate(plan, source):
    count = min(16, len(source.pts))
    piece = piece_of(source, Halo(0, 0, Fraction(0)), len(source.pts) - count, count)
    trim = slices.graph(plan, dataclasses.replace(piece, out_count=0), "null").split(",")[0]
    command = [media.FFMPEG, *media.QUIET, *slices.source_arguments(plan, piece, False),
               *media.hashed_frames(f"0:{plan.stream}", "-enc_time_base", text_of(plan.out_tick),
                                    "-vf", f"{trim},fps={plan.rate}")]
    return max((frame[0] + 1 for frame in media.frame_lines(media.lines_of(command))
                if isinstance(frame, tuple)), default=source.out_begin)


def jumps_in(times, limit):
    """As the filters find them: each depends on the times of all frames before."""
    found, last, usual, count, was_far = set(), times[0], 0.0, 0, False
    for place, now in enumerate(times[1:], 1):
        interval, last = now - last, now
        if count < 2:
            usual, count = max(usual, interval), count + 1
            continue
        is_far = interval > limit * usual
        is_second, was_far = was_far and is_far, is_far
        if is_second:
            usual = interval
        elif not is_far:
            usual += 0.1 * (interval - usual)
        else:
            found.add(place)
    return found


def check_jumps(source, halo, parts):
    """A slice knows the times of its own frames alone."""
    times = [pts * float(source.tick) for pts in source.pts]
    for each in halo.timed:
        limit = chains.number_in(each.options.get("jump", "10"))
        for first, count in parts if limit > 0 else ():
            if found := jumps_in(times[first:first + count], limit):
                raise Refused(f"{source.path}: times jump at {times[first + min(found)]:.3f} s, and each "
                              f"slice knows its own times alone: give {each.name} jump=0")


def tags_of(part):
    stream = media.probe(part, "-select_streams", "v:0", "-show_streams")["streams"][0]
    names = [*joining.TAGS, "field_order", "sample_aspect_ratio", "display_aspect_ratio",
             "codec_name", "width", "height", "pix_fmt"]
    return {name: stream[name] for name in names if name in stream}


def fixed(each, statistics, number, plan):
    """Options that hold what the filter chose by measuring or by the number of cores."""
    words = statistics["form"].split(" (")[0].split(", ")
    options = {}
    if "optimize" not in each.options or each.options["optimize"] == "1":
        options["optimize"] = 0 if words[-1] == "as saved" else words[-1]
    if each.options.get("device", "cpu") != "cpu":
        options["precision"] = words[0] if len(words) > 1 else "auto"
    if each.options.get("threads", "0") == "0":
        options["threads"] = statistics["threads"]
    return options


def measure(plan, source, halo, folder, say):
    """Returns seconds a frame and to start.  The same frames must come of a later beginning."""
    total = len(source.pts)
    first = min(source.cuts or [total // 2], key=lambda each: abs(each - total // 2))
    count = min(TRIAL_FRAMES, total - first)
    piece = piece_of(source, halo, first, count)
    trial = Trial(plan, piece, folder / "trial.part", limit=TRIAL_SECONDS)
    if piece.seek is not None and not right(trial, plan, piece):
        say(f"{source.path} cannot be sought in exactly: each slice decodes from its beginning")
        source.keys = []
        piece = piece_of(source, halo, first, count)
        trial = Trial(plan, piece, folder / "trial.part", limit=TRIAL_SECONDS)
    if trial.is_whole and not trial.is_source_right:
        raise Refused(f"{source.path} gives other frames when it is decoded again")
    if first in source.cuts or not halo.forgets:
        compare(plan, source, halo, folder, piece, trial)
    share = piece.out_count / count if source.out_rate else 1
    return trial.seconds_a_frame() * share, trial.seconds_to_start()


def seconds_around(plan, part):
    """What each slice costs before its ffmpeg and after it, as `run` does it."""
    begun = time.monotonic()
    media.output_of([media.LAUNCHER, "farm", "--help"])
    media.check_files(plan)
    media.check_machine(plan)
    slices.packets_both_ways(part)
    slices.knows_start(part)
    return time.monotonic() - begun


def right(trial, plan, piece):
    """Whether the frames after a seek are the planned ones; those alone are decoded if need be."""
    if trial.is_whole:
        return trial.is_source_right
    command = [media.FFMPEG, *media.QUIET, *slices.source_arguments(plan, piece, False),
               *slices.decoded_output(plan, piece)]
    return media.checksum(each for each in media.frame_lines(media.lines_of(command))
                          if isinstance(each, tuple)) == piece.source


def compare(plan, source, halo, folder, piece, trial):
    """The chain may not know where a slice begins."""
    earlier = piece_of(source, halo, piece.first, piece.count, EARLIER)
    if earlier.decode_start == piece.decode_start:
        return
    wanted = len(trial.shown.frames)
    again = Trial(plan, earlier, folder / "again.part", limit=TRIAL_SECONDS)
    for (pts, one), (_, other) in zip(trial.shown.frames[:wanted], again.shown.frames):
        if one != other:
            at = float(pts * trial.shown.tick)
            raise Refused(f"the frame at {at:.3f} s is another if the chain begins {EARLIER} frames "
                          "earlier: a filter or a model counts, remembers or draws random numbers; "
                          "if it forgets after some time, give that with --halo SECONDS")


def compare_warm_up(plan, source, halo, folder, say):
    """States that a warm-up made are not quite those of one run."""
    warm = [each for each in plan.slices[1:] if each.first not in source.cuts]
    if not halo.forgets or not warm:
        return
    piece = warm[len(warm) // 2]
    count = min(WARM_FRAMES, piece.count)
    raw = dataclasses.replace(plan, encoder=["-c:v", "rawvideo"], slice_format="nut")
    parts = []
    for seconds in (halo.seconds, LONGER * halo.seconds):
        longer = dataclasses.replace(halo, seconds=seconds)
        parts += ["-i", folder / f"warm{len(parts)}.nut"]
        Trial(raw, piece_of(source, longer, piece.first, count), parts[-1],
              plan.fixed_chain + ",format=gbrp16le")
    measured = re.findall(r"psnr_avg:(\S+)", media.output_of(
        [media.FFMPEG, *media.QUIET, *parts, "-lavfi", "psnr=stats_file=-", "-f", "null", "-"]))
    at, last = float(piece.start * plan.tick), f", frame {count} {measured[-1]} dB"
    say(f"{len(warm)} slices begin with a warm-up of {float(halo.seconds):g} s. Compared with one of "
        f"{LONGER * float(halo.seconds):g} s, the first frame at {at:.3f} s has a PSNR of "
        f"{measured[0]} dB{last if count > 1 else ''} (inf: no difference)")


# ---- the plan ---------------------------------------------------------------


def folder_of(options, output):
    return pathlib.Path(options.dir) if options.dir else output.with_suffix(".farm")


def check_output(options, output):
    if output.suffix.lower() not in FORMATS:
        raise Refused(f"{output}: the result is .mkv, .mp4 or .mov")
    if not output.parent.is_dir():
        raise Refused(f"{output.parent} is no folder")
    if output.exists() and os.path.samefile(output, options.clip):
        raise Refused(f"{output} is the source")
    folder = folder_of(options, output)
    if (folder / "plan.json").exists():
        raise Refused(f"{folder} has a plan: run it, or remove it first")
    return folder


def draft(options, output, folder, source, given, halo, filters):
    where = os.getcwd()
    return plans.Plan(
        source=source.path, source_bytes=os.path.getsize(source.path), source_sha256="",
        source_ends=media.ends(source.path), stream=source.stream,
        time_base=text_of(source.tick), folder=where, chain=options.vf, fixed_chain=options.vf,
        encoder=given.encoder, encoder_time_base=encoder_time_base(source), slice_format="nut",
        tags={}, metadata=source.metadata, output=str(output), output_format=FORMATS[output.suffix.lower()],
        others=given.others, streams=["-map", "1", "-map", f"-1:{source.stream}", "-map", "-1:d?"],
        files={path: media.sha256(path) for path in chains.files_of(filters, where)},
        records=records.find(filters, where), moved="0", machine={}, environment={}, frames=len(source.pts), seconds_a_frame=0.0,
        seconds_to_start=0.0, cores=len(os.sched_getaffinity(0)), retries=options.retries,
        slices=[], where=folder)


def lower_ceiling(plan, asked, exact):
    """For machines that have less than this one."""
    here = plan.machine.get("instructions")
    if not asked or here is None:
        return
    if exact:
        raise Refused("--instructions: precision=bf16 and int8 need machines with all the same "
                      "instructions; leave it out")
    if not media.is_enough("instructions", here, asked):
        raise Refused(f"--instructions {asked}: this machine has {here} alone, so that the chain "
                      "cannot be tried here")
    plan.machine["instructions"] = asked


def fix_machine(plan, filters, ceiling):
    ours = [each for each in filters if each.is_ours]
    devices = {each.options.get("device", "cpu") for each in ours} - {"cpu"}
    if "auto" in devices or len(devices) > 1:
        raise Refused("--vf: device=auto may be another device elsewhere: name one, and the same "
                      "for all filters")
    exact = any(each.options.get("precision", "auto") not in ("auto", "fp32") for each in ours)
    device = next(iter(devices), "cpu")
    plan.machine = media.machine(bool(ours), exact, device)
    if device != "cpu":
        plan.machine["device_name"] = device
    lower_ceiling(plan, ceiling, exact)
    if ours and not exact:
        plan.environment = media.CEILINGS[plan.machine["instructions"]]


def has_side_data(part):
    """Of the stream: mastering display, content light and the like, which NUT does not hold."""
    stream = media.probe(part, "-select_streams", "v:0", "-show_streams")["streams"][0]
    return any(each.get("side_data_type") not in NOT_OF_SOURCE
               for each in stream.get("side_data_list", []))


def is_for_nut(plan, folder, first):
    """A copy would keep the other format's name of the codec."""
    words = ["-fps_mode", "passthrough", "-enc_time_base", plan.encoder_time_base, *plan.encoder]
    try:
        media.output_of([media.FFMPEG, *media.QUIET, "-copyts", "-i", media.name_of(first), "-map",
                         "0:v:0", *words, "-f", "nut", media.name_of(folder / "first.nut")])
    except Failure:
        return False
    return not has_side_data(first)


def try_join(plan, folder, piece, first):
    """Whether the other streams fit, and by how much the muxer moves all of them: Matroska does
    if sound begins before 0."""
    part = folder / ("joined" + pathlib.Path(plan.output).suffix)
    slice_ = folder / "first.nut"
    if not is_for_nut(plan, folder, first):
        plan.slice_format, slice_ = plan.output_format, first
    try:
        joining.write(plan, [piece], [slice_.name], [slices.knows_start(slice_)], folder,
                      part, ["-t", "0.2"])
        tick, *packets = slices.packets_of(part)
    except Failure as error:
        text = getattr(error, "log", str(error))
        raise Refused(f"the source's other streams do not fit into {plan.output}: "
                      f"{first_error(text)}; give -an, -sn, -c:a or -c:s after --, or another "
                      "name after -o") from None
    if not packets:
        raise Refused(f"{plan.output} has no frame after joining a slice of one: another encoder or "
                      "another name after -o is needed")
    plan.moved = str(packets[0][0] * tick)


def make(options, given, say, tell):
    """Writes the plan's folder and returns the plan."""
    output = pathlib.Path(os.path.abspath(options.output))
    path = os.path.abspath(options.clip)
    filters = chains.parse(options.vf)
    before, after = chains.check(filters, options.halo is not None)
    halo = Halo(before, after, Fraction(options.halo or 0))
    source = open_source(path)
    folder = check_output(options, output)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        hashing = pool.submit(media.sha256, path)
        decode(source, tell)
        read_keys(source)
        plan = draft(options, output, folder, source, given, halo, filters)
        fix_machine(plan, filters, options.instructions)
        plan.source_sha256 = hashing.result()
    with tempfile.TemporaryDirectory(prefix="dnn-torch-farm-") as scratch:
        attempt(plan, source, halo, filters, pathlib.Path(scratch), options, say)
    folder.mkdir(mode=0o700, parents=False, exist_ok=True)
    for name in ("slices", "logs"):
        (folder / name).mkdir(exist_ok=True)
    plan.write()
    return plan


def attempt(plan, source, halo, filters, scratch, options, say):
    say(f"trying the chain on frames from the middle, {TRIAL_SECONDS:.0f} s or a little longer")
    find_rate(plan, source, halo, filters, scratch)
    part, seconds_to_end = first_run(plan, source, halo, filters, scratch)
    plan.seconds_a_frame, plan.seconds_to_start = measure(plan, source, halo, scratch, say)
    plan.seconds_to_start += seconds_to_end + seconds_around(plan, part)
    length = length_of(options, source, plan.seconds_a_frame, plan.seconds_to_start)
    plan.slices = cut(source, halo, length)
    longest = max(each.count for each in plan.slices)
    if longest > 2 * length and not halo.needs_cuts:
        say(f"a slice has {longest} frames instead of {length}, because there is no cut in it; "
            "--halo SECONDS gives slices a warm-up instead")
    check_jumps(source, halo, [(each.decode_first, each.decode_count) for each in plan.slices])
    compare_warm_up(plan, source, halo, scratch, say)
