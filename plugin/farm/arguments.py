# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What stands after --: ffmpeg's arguments for the encoder and for the result."""
import dataclasses
import re

from plan import Refused

# Options without a value.
FLAGS = {"an", "sn", "dn", "shortest", "bitexact", "hide_banner", "nostdin", "nostats", "y", "n",
         "copyts", "start_at_zero", "copyinkf", "vn"}

CUT = "the source is cut by dnn-torch farm: cut it before, ffmpeg -ss ... -c copy"
IN_CHAIN = "write it as a filter in --vf"
REFUSED = {
    "i": "there is one source, the first argument",
    "ss": CUT, "sseof": CUT, "t": CUT, "to": CUT, "fs": CUT, "frames": CUT, "vframes": CUT,
    "vf": "filters stand in --vf", "filter": "filters stand in --vf",
    "filter_complex": "filters stand in --vf", "lavfi": "filters stand in --vf",
    "filter_script": "filters stand in --vf", "filter_complex_script": "filters stand in --vf",
    "map": "all streams of the source are taken; -an, -sn and -dn leave some out",
    "map_channel": "all streams of the source are taken",
    "pass": "two passes need the whole film in one piece: use -crf",
    "passlogfile": "two passes need the whole film in one piece: use -crf",
    "r": "frames keep their times: use setpts or fps before planning",
    "fpsmax": "frames keep their times", "vsync": "frames keep their times",
    "fps_mode": "frames keep their times", "enc_time_base": "frames keep their times",
    "copyts": "frames keep their times", "start_at_zero": "frames keep their times",
    "itsoffset": "frames keep their times", "itsscale": "frames keep their times",
    "output_ts_offset": "frames keep their times", "muxdelay": "frames keep their times",
    "s": IN_CHAIN, "autorotate": IN_CHAIN, "noautorotate": IN_CHAIN,
    "f": "the name after -o decides", "vn": "the video is what is made here",
    "y": "an existing result is replaced only by `join`", "n": "leave it off",
    "progress": "`dnn-torch farm status` shows it", "report": "logs are in the plan's folder",
    "loglevel": "logs are in the plan's folder", "v": "logs are in the plan's folder",
    "vstats": "logs are in the plan's folder", "vstats_file": "logs are in the plan's folder",
    "attach": "attachments come from the source", "dump_attachment": "leave it off",
    "target": "write its options out", "pre": "write its options out",
    "shortest": "no stream of the source is cut", "vol": "use -filter:a volume",
    "stdin": "leave it off", "sdp_file": "leave it off", "timelimit": "leave it off",
    "vtag": "write -tag:v",
}
# These belong to the result, and not to slices.
OF_RESULT = {"metadata", "map_metadata", "map_chapters", "disposition", "movflags", "tag", "brand",
             "an", "sn", "dn", "ac", "ar", "acodec", "scodec", "dcodec", "ab", "af", "aspect",
             "max_interleave_delta", "cues_to_front", "reserve_index_space", "bsf", "title",
             "write_tmcd", "use_editlist", "default_mode", "chapters", "ch_layout",
             "channel_layout", "sample_fmt", "apad", "atag"}
OF_BOTH = {"strict", "bitexact", "fflags", "flags", "color_range", "colorspace", "color_trc",
           "color_primaries", "chroma_sample_location"}
RATES = {"b", "maxrate", "bufsize", "vb", "minrate"}


@dataclasses.dataclass
class Given:
    encoder: list
    others: list
    warnings: list
    encoder_name: str


def options_of(words):
    """Yields (option with its dash, its name, its stream or "", value or None)."""
    place = 0
    while place < len(words):
        option = words[place]
        match = re.fullmatch(r"-([A-Za-z_][\w-]*)(?::(.*))?", option)
        if not match:
            raise Refused(f"{option!r} is no option: the result is named by -o, and there is one")
        name, stream = match.group(1), match.group(2) or ""
        place += 1
        value = None
        if name not in FLAGS:
            if place == len(words):
                raise Refused(f"{option} has no value")
            value, place = words[place], place + 1
        yield option, name, stream, value


def for_video(stream):
    return stream in ("", "v", "v:0", "V", "V:0")


def check(option, name, stream, value):
    if name in REFUSED and not (name == "filter" and stream.startswith("a")):
        raise Refused(f"{option} cannot be given after --: {REFUSED[name]}")
    if name in ("c", "codec", "vcodec") and for_video(stream) and value == "copy":
        raise Refused(f"{option} copy: frames of a filter have to be encoded")
    if name.endswith("-params") and re.search(r"(^|:)(pass|stats)=", value):
        raise Refused(f"{option}: two passes need the whole film in one piece: use -crf")
    if name == "force_key_frames" and "n" in value and value.startswith("expr"):
        raise Refused(f"{option}: its n would begin anew in each slice; give times")


def read(words):
    given = Given([], [], [], "")
    for option, name, stream, value in options_of(words):
        check(option, name, stream, value)
        both = [option] if value is None else [option, value]
        if not for_video(stream) or name in OF_RESULT:
            given.others += both
            continue
        if name in OF_BOTH:
            given.others += both
        if name in ("c", "codec", "vcodec"):
            given.encoder_name = value
            both = ["-c:v", value]
        if name in RATES:
            given.warnings.append(f"{option} {value}: each slice has this rate by itself, so that "
                                  "it is less even than in one run; -crf has no such seams")
        given.encoder += both
    if not given.encoder_name:
        given.encoder_name = "libx264"
        given.encoder = ["-c:v", "libx264", *given.encoder]
    if "-threads" not in given.encoder and "-threads:v" not in given.encoder:
        # The bytes of some encoders depend on it.
        given.encoder += ["-threads", "4"]
    return given
