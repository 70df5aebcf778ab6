# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What stands in --vf: which filters may be cut into slices, and how far they look in time."""
import dataclasses
import os
import re

from plan import Refused

# One frame in, one frame out, from that frame alone.
STATELESS = set("""
alphaextract alphamerge avgblur bbox bilateral blend boxblur cas chromahold chromakey
chromanr chromashift colorbalance colorchannelmixer colorcontrast colorcorrect colorhold colorize
colorkey colorlevels colormatrix colorspace colortemperature convolution copy crop curves dblur
dctdnoiz deband deblock delogo derain despill dilation dnn_torch dnn_torch_classify
dnn_torch_detect drawbox drawgrid drawtext edgedetect epx eq erosion exposure extractplanes field
fieldorder fillborders floodfill format geq gblur gradfun greyedge hflip hqx hstack hsvhold hsvkey
hue huesaturation il inflate deflate kirsch lenscorrection limiter lumakey lut lut1d lut3d lutrgb
lutyuv maskedmax maskedmerge maskedmin median mergeplanes metadata monochrome morpho negate nlmeans
noformat null oscilloscope owdenoise pad perspective pixelize premultiply prewitt pseudocolor
realtime removelogo rgbashift roberts rotate sab scale scharr setdar setfield setparams setrange setsar
shear shuffleplanes sidedata smartblur sobel split spp super2xsai swaprect swapuv
tiltshift tonemap transpose unpremultiply unsharp v360 vaguedenoiser vflip vibrance vignette vstack
xbr xmedian xstack zscale
""".split())

# Filters that look at frames before and after: how many, by their options.
REMEMBER = {
    "yadif": lambda options: (2, 2),
    "bwdif": lambda options: (2, 2),
    "kerndeint": lambda options: (1, 0),
    "tmix": lambda options: (whole(options, "frames", 0, 3) - 1, 0),
    "tmedian": lambda options: (2 * whole(options, "radius", 0, 1),) * 2,
    "atadenoise": lambda options: (whole(options, "s", None, 9) // 2,) * 2,
    "deflicker": lambda options: (whole(options, "size", 0, 5),) * 2,
    "fftdnoiz": lambda options: (whole(options, "prev", None, 0), whole(options, "next", None, 0)),
    "scdet": lambda options: (2, 0),
}

# Makes another rate.  The frame behind a slice is the one that its last frames move towards.
INTERPOLATOR = "dnn_torch_interpolate"

# Of the deinterlacers that may make two frames of one.
DEFAULT_MODES = {"yadif": "send_frame", "bwdif": "send_field"}

# Why the rest of what is common cannot be cut.
COUNTS = "makes another number of frames, or other times"
ENDLESS = "remembers all frames before"
NUMBERS = "depends on the number of the frame"
REASONS = {
    COUNTS: """decimate dejudder detelecine fieldmatch fps framepack framerate framestep freezeframes
        interlace loop minterpolate mpdecimate phase pullup reverse select separatefields sequence
        setpts settb shuffleframes telecine thumbnail thistogram tile tinterlace tpad trim untile
        w3fdif weave doubleweave estdif tblend concat segment random zoompan repeatfields""",
    ENDLESS: """deshake hqdn3d lagfun mcdeint mestimate normalize palettegen paletteuse
        photosensitivity vidstabdetect vidstabtransform bm3d fade amplify backgroundkey tlut2 elbg""",
    NUMBERS: "noise cellauto life sendcmd zmq perms",
    "reads another source": "movie amovie color testsrc testsrc2 nullsrc haldclutsrc",
    "prints lines that farm would take for those of its own showinfo": "showinfo",
}
REFUSED = {name: why for why, names in REASONS.items() for name in names.split()}

# In an expression: the number of the frame, chance, what was stored at an earlier frame, and where
# the frame lies in the file.
NUMBERED = re.compile(r"(?<![\w.%])(n|N|in|on|random|randomi|st|pos)(?!\w)(?!\s*=)")
DRAWN = re.compile(r"%\{\s*(n|frame_num|rand|localtime|gmtime|pict_type|expr[^}]*\bn\b)")
EXPRESSIONS = set("""blend crop drawbox drawgrid eq geq hue lut lutrgb lutyuv overlay pad
    perspective rotate scale v360 vignette zscale""".split())
# Their options that count frames, or that make the result depend on when it was made.
OUR_REFUSED = {
    "stats": "each slice would write it anew",
    "watch": "the model must not change while slices run",
    "on_crash": "a frame must not pass without the model",
    "deadline": "no frame is late that waits for its slice, and none may be left out",
    "start_number": "each slice has its own",
    "anchor": "each slice gets it",
}


@dataclasses.dataclass
class Filter:
    name: str
    options: dict  # as the filter gets them; those without a name have their place: 0, 1, ...
    end: int  # where its text ends in the chain
    inputs: list  # labels
    outputs: list
    begins: bool  # a chain of the graph
    ends: bool

    @property
    def is_ours(self):
        return self.name.startswith("dnn_torch")


def token(text, place, ends):
    """As av_get_token(): returns the text without its quotes, and where it ends."""
    while text[place:place + 1] in tuple(" \n\t\r"):
        place += 1
    found, kept = "", 0
    while place < len(text) and text[place] not in ends:
        letter = text[place]
        place += 1
        if letter == "\\" and place < len(text):
            found += text[place]
            place += 1
            kept = len(found)
        elif letter == "'":
            close = text.find("'", place)
            close = len(text) if close < 0 else close
            found += text[place:close]
            place = close + 1
            kept = len(found)
        else:
            found += letter
    tail = found[kept:].rstrip(" \n\t\r")
    return found[:kept] + tail, min(place, len(text))


def labels(text, place):
    found = []
    while True:
        blank = re.compile(r"\s*").match(text, place).end()
        if text[blank:blank + 1] != "[":
            return found, blank
        close = text.find("]", blank)
        if close < 0:
            raise Refused(f"--vf: there is no ] after {text[blank:]!r}")
        found.append(text[blank + 1:close])
        place = close + 1


def options_of(arguments):
    options, place, unnamed = {}, 0, 0
    while place < len(arguments):
        named = re.compile(r"\s*(\w+)\s*=").match(arguments, place)
        if named:
            key, place = named.group(1), named.end()
        else:
            key, unnamed = unnamed, unnamed + 1
        options[key], place = token(arguments, place, ":")
        place += 1
    return options


def parse(text):
    """The filters of a graph, in their order."""
    filters, place, begins = [], 0, True
    if re.match(r"\s*sws_flags\s*=", text):
        raise Refused("--vf: write the scaler's flags after --: -sws_flags FLAGS")
    while True:
        inputs, place = labels(text, place)
        name, place = token(text, place, "=,;[")
        arguments = ""
        if text[place:place + 1] == "=":
            arguments, place = token(text, place + 1, "[],;")
        end = place
        outputs, place = labels(text, place)
        separator = text[place:place + 1]
        if not name or separator not in ("", ",", ";"):
            raise Refused(f"--vf: cannot be read at {text[place:] or 'its end'!r}")
        filters.append(Filter(name.split("@")[0].strip(), options_of(arguments), end, inputs,
                              outputs, begins, separator != ","))
        if not separator:
            return filters
        begins, place = separator == ";", place + 1


def whole(options, name, place, default):
    text = options.get(name, options.get(place, default))
    try:
        return int(text)
    except ValueError:
        raise Refused(f"--vf: {name}={text} is no number") from None


def number_in(text):
    try:
        return float(text)
    except ValueError:
        raise Refused(f"--vf: {text} is no number") from None


def check_graph(filters):
    """Filters of our own go before the first filter and after the last."""
    loose = [each for each in filters if (each.begins and not each.inputs and each != filters[0])
             or (each.ends and not each.outputs and each != filters[-1])]
    if filters[0].inputs or filters[-1].outputs or loose:
        raise Refused("--vf: write the filter that takes the video first, without a label before "
                      "it, and the one that gives the result last, without a label after it")


def check_options(each):
    values = each.options
    for key, value in values.items():
        as_expression = key == "enable" or each.name in EXPRESSIONS
        if as_expression and (found := NUMBERED.search(value)):
            raise Refused(f"--vf: {each.name} {NUMBERS}: {found.group(1)} in {value!r} would "
                          "begin anew in each slice; use t, the time in seconds")
        if each.name == "drawtext" and (found := DRAWN.search(value)):
            raise Refused(f"--vf: drawtext's {found.group(0)}... would differ between slices; use "
                          "%{pts}")
    if each.name in DEFAULT_MODES:
        mode = values.get("mode", values.get(0, DEFAULT_MODES[each.name]))
        if mode not in ("0", "send_frame", "2", "send_frame_nospatial"):
            raise Refused(f"--vf: {each.name} with mode={mode} {COUNTS}; use mode=send_frame")
    if each.is_ours:
        check_ours(each)


def check_ours(each):
    for key, why in OUR_REFUSED.items():
        if each.options.get(key, "0") not in ("0", "error"):
            raise Refused(f"--vf: {each.name}: leave {key}= off: {why}")
    if each.options.get("every", "1") != "1":
        raise Refused(f"--vf: {each.name}: leave every= off: it counts frames from a slice's "
                      "beginning")
    if each.options.get("duplicates", "keep") not in ("0", "keep"):
        raise Refused(f"--vf: {each.name}: leave duplicates= off: a run of equal frames that begins "
                      "in another slice is not known")
    if each.options.get("calibration") == "first":
        raise Refused(f"--vf: {each.name}: calibration=first would differ between slices; name a "
                      "file")
    if {"backend_configs", "options"} & set(each.options):
        raise Refused(f"--vf: {each.name}: write options by their names, not in backend_configs=")


def interpolator_of(filters):
    """Its place in the chain, or None."""
    return next((i for i, each in enumerate(filters) if each.name == INTERPOLATOR), None)


def check_rate(filters, halo_is_given):
    place = interpolator_of(filters)
    if place is None:
        return
    if halo_is_given:
        raise Refused(f"--vf: {INTERPOLATOR} and --halo do not go together: run one of them before")
    if any(each.begins for each in filters[1:]):
        raise Refused(f"--vf: {INTERPOLATOR} stands in a plain chain, without labels")
    for each in filters[place + 1:]:
        if each.name not in STATELESS:
            raise Refused(f"--vf: {each.name} behind {INTERPOLATOR} cannot be cut into slices: put it "
                          "before that filter, or run it after")


def check(filters, halo_is_given):
    """Returns the frames that the chain looks back and ahead; refuses what cannot be cut."""
    before = after = 0
    check_graph(filters)
    check_rate(filters, halo_is_given)
    for each in filters:
        check_options(each)
        if REFUSED.get(each.name, ENDLESS) != ENDLESS:
            raise Refused(f"--vf: {each.name} {REFUSED[each.name]}, and cannot be cut into slices")
        if each.name == INTERPOLATOR:
            continue
        if each.name in REMEMBER:
            back, ahead = REMEMBER[each.name](each.options)
            before, after = before + back, after + ahead
        elif each.name not in STATELESS and each.name != "overlay" and not halo_is_given:
            why = REFUSED.get(each.name, "is a filter of unknown memory")
            raise Refused(f"--vf: {each.name} {why}: if it forgets them after some time, give that "
                          "with --halo SECONDS")
    return before, after


def frames_before(filters):
    """How far each filter looks back."""
    return [REMEMBER[each.name](each.options)[0] if each.name in REMEMBER else 0
            for each in filters]


def that_finds_cuts(text, filters, forgetting):
    """The chain in which our filters pass frames on, and those that forget look for cuts."""
    for each in filters[:forgetting[-1]]:
        if each.name == "scdet":
            break
        if each.name == "dnn_torch":
            raise Refused(f"--vf: {filters[forgetting[-1]].name} looks for cuts in what the model "
                          "before it makes, which would take as long as the whole run: put scdet "
                          "before both")
    ours = [i for i, each in enumerate(filters) if each.is_ours]
    return with_options(text, filters, {
        i: {"enable": 0} | ({} if i in forgetting else {"cuts": "off"}) for i in ours})


def files_of(filters, folder):
    """The files that options name, absolute, with the contracts and weights beside models."""
    found = set()
    for each in filters:
        for key, value in each.options.items():
            if key in ("destination", "stats"):
                continue
            path = os.path.join(folder, value)
            if value and os.path.isfile(path):
                found.add(path)
                found.update(filter(os.path.isfile, (path + ".json", path + ".data", path + "_data")))
    return sorted(found)


def with_options(text, filters, further):
    """The chain with more options: further is {number of a filter: {name: value}}."""
    for number in sorted(further, reverse=True):
        end = filters[number].end
        added = "".join(f":{key}={escaped(value)}" for key, value in further[number].items())
        text = text[:end].rstrip() + added + text[end:]
    return text


def escaped(value):
    value = re.sub(r"([\\':])", r"\\\1", str(value))
    return re.sub(r"([\\'\[\],;])", r"\\\1", value)
