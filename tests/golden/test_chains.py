# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random chains: clips of several sizes in one stream, against numpy, bit for bit.

DNN_TORCH_CHAINS=N runs N chains, DNN_TORCH_CHAINS=FIRST-LAST those of these seeds.
"""
import dataclasses
import os
import random

import numpy
import pictures
import pytest
import support

# Few enough for each change; scripts/nightly.sh runs more.
USUAL = "40"
IN_ONE_TEST = 20

GRAY = ["gray", "gray10le", "gray16le", "grayf32le", "ya8", "ya16le", "yuv420p16le",
        "yuva444p10le"]  # fmt: skip
COLOUR = ["rgb24", "rgb48le", "gbrp", "gbrp10le", "gbrp16le", "gbrpf32le"]
WITH_ALPHA = ["rgba", "argb", "rgba64le", "gbrap", "gbrap10le", "gbrap16le", "gbrapf32le"]


@dataclasses.dataclass
class Chain:
    seed: int
    pixel_format: str
    clips: list  # of ((width, height), frames)
    script: dict
    options: dict
    numpy_random: numpy.random.Generator = None

    @property
    def enlarge(self):
        return self.script.get("scale", 1)


# ---- drawing one ------------------------------------------------------------


def side(dice, most):
    return dice.randint(1, 9) if dice.random() < 0.15 else dice.randint(10, most)


def draw_clips(dice):
    sizes = [(side(dice, 90), side(dice, 70)) for _ in range(dice.randint(1, 3))]
    return [(dice.choice(sizes), dice.randint(1, 5)) for _ in range(dice.randint(2, 5))]


def draw_script(dice, pixel_format):
    script = {"gain": dice.choice([1, -1, 0.75, 1.7]), "offset": dice.choice([0, 1, 0.1, -0.05])}
    script["overlap"] = dice.randint(0, 6) if dice.random() < 0.5 else 0
    for key in ("interleaved", "takes_integers"):
        if dice.random() < 0.3:
            script[key] = 1
    script["channels"] = pictures.channels_of(pixel_format)
    if pixel_format in WITH_ALPHA and dice.random() < 0.4:
        script["channels"] = 4
    if pictures.has_alpha(pixel_format) and dice.random() < 0.2:
        return script | {"output_channels": 1}
    if script["channels"] == 4 and dice.random() < 0.3:
        script["output_channels"] = 3
    if dice.random() < 0.25:
        script["scale"] = dice.choice([2, 3])
    return script


def draw_options(dice, script, overlap):
    options = {}
    if script.get("output_channels") == 1:
        options["as"] = "alpha"
    if dice.random() < 0.5:
        options["batch_size"] = dice.choice([2, 3, 4, 7])
    if dice.random() < 0.5:
        options |= {"workers": dice.choice([1, 2, 3]), "nireq": dice.choice([1, 2, 6])}
    elif dice.random() < 0.5:
        options["async"] = 0
    # Only what has the frame's size and channels is mixed.
    if dice.random() < 0.5 and "scale" not in script and script.get("output_channels") != 3:
        options["strength"] = dice.choice([0, 0.25, 0.3, 0.5, 0.99])
    if dice.random() < 0.5:
        options["tile"] = dice.choice([32, 40, 64, "48x32", "32x64"])
        # Results that are blended are rounded before they are mixed: which are, numpy does not know.
        if dice.random() < 0.3 and "strength" not in options:
            options["overlap"] = dice.choice([overlap, 8])
    if dice.random() < 0.3:
        options["multiple"] = dice.choice([2, 8, 16])
    return options


def draw(seed):
    dice = random.Random(seed)
    pixel_format = dice.choice(dice.choice([GRAY, COLOUR, WITH_ALPHA]))
    script = draw_script(dice, pixel_format)
    clips, overlap = draw_clips(dice), script.pop("overlap")
    return Chain(seed, pixel_format, clips, script, draw_options(dice, script, overlap),
                 numpy.random.default_rng(seed))


# ---- its frames, and what has to come ------------------------------------------


def any_samples(chain, shape):
    layout = pictures.FORMATS[chain.pixel_format]
    if not layout.is_float:
        return chain.numpy_random.integers(0, layout.white + 1, shape).astype(layout.kind)
    samples = chain.numpy_random.normal(0.5, 0.6, shape).astype(numpy.float32)
    if chain.numpy_random.random() < 0.2:
        samples[..., 1::7] = numpy.nan
    return samples


def any_frame(chain, width, height):
    frame = pictures.make_frame(chain.pixel_format, width, height, 1)
    frame.image = any_samples(chain, frame.image.shape)
    # Chroma and alpha that are enlarged are one number: numpy has no such scaler.
    if chain.enlarge == 1:
        frame.chroma = [any_samples(chain, plane.shape) for plane in frame.chroma]
        if frame.rest is not None:
            frame.rest = any_samples(chain, frame.rest.shape)
    return frame


def model_of(chain, unit):
    """What the fake engine makes of it, in the same order of roundings."""
    script = chain.script
    made = unit * numpy.float32(script["gain"]) + numpy.float32(script["offset"])
    made = made[: script.get("output_channels", len(made))]
    return made.repeat(chain.enlarge, 1).repeat(chain.enlarge, 2)


def passes_integers(chain):
    """Whether the model gets the frame's own samples, and returns such."""
    script, layout = chain.script, pictures.FORMATS[chain.pixel_format]
    return ("takes_integers" in script and "output_channels" not in script
            and script["channels"] < 4 and not layout.is_float
            and (len(layout.planes[0]) == 1 or chain.pixel_format in ("rgb24", "rgb48le")))


def mixed(chain, unit, made):
    strength = chain.options.get("strength", 1)
    if strength == 1:
        return made
    if passes_integers(chain):
        made = pictures.to_unit(pictures.from_unit(made, chain.pixel_format),
                                pictures.FORMATS[chain.pixel_format].white)
    return unit + (made - unit) * numpy.float32(strength)


def wanted_of(chain, frame):
    layout = pictures.FORMATS[chain.pixel_format]
    if chain.options.get("strength") == 0:
        return frame
    seen = [*frame.image, frame.rest] if chain.script["channels"] == 4 else frame.image
    unit = pictures.to_unit(numpy.stack(seen), layout.white)
    made = model_of(chain, unit)
    if chain.options.get("as") == "alpha":
        old = pictures.to_unit(frame.rest, layout.white)[None]
        rest = pictures.from_unit(mixed(chain, old, made), chain.pixel_format)[0]
        return pictures.Frame(frame.image, frame.chroma, rest)
    codes = pictures.from_unit(mixed(chain, unit[: len(made)], made), chain.pixel_format)
    width, height = (side * chain.enlarge for side in frame.size)
    if chain.enlarge == 1:
        chroma, rest = frame.chroma, frame.rest
    else:
        chroma = [numpy.full(pictures.chroma_size(chain.pixel_format, width, height)[::-1],
                             plane[0, 0]) for plane in frame.chroma]
        rest = None if frame.rest is None else numpy.full((height, width), frame.rest[0, 0])
    rest = codes[3] if len(codes) == 4 else rest
    return pictures.Frame(codes[: len(frame.image)], chroma, rest)


# ---- running it -------------------------------------------------------------


def run(folder, chain):
    """Returns the frames of all clips, and what ffmpeg made of them."""
    path = folder / "model.txt"
    path.write_text("".join(f"{key} {value}\n" for key, value in chain.script.items()))
    inputs, frames, labels = [], [], ""
    for number, (size, count) in enumerate(chain.clips):
        made = [any_frame(chain, *size) for _ in range(count)]
        clip = folder / f"{number}.raw"
        clip.write_bytes(pictures.raw(made, chain.pixel_format))
        inputs += pictures.raw_input(chain.pixel_format, *size, path=clip)
        labels += f"[{number}:v]"
        frames += made
    graph = f"{labels}concat=n={len(chain.clips)}:unsafe=1,{support.fake(path, **chain.options)}[o]"
    result = support.ffmpeg(
        *inputs,
        *("-filter_complex", graph, "-map", "[o]", "-noautoscale", "-fps_mode", "passthrough"),
        *("-pix_fmt", chain.pixel_format, "-f", "rawvideo", "-"),
        fake_engine=True,
    )
    return frames, result


def difference(chain, wanted, data, at):
    """Returns words, or "", and where the next frame begins."""
    text = pictures.pack(wanted, chain.pixel_format)
    got = data[at : at + len(text)]
    at += len(text)
    if got == text:
        return "", at
    if len(got) != len(text):
        return "it is not there", at
    (made,) = pictures.unpack(got, chain.pixel_format, *wanted.size)
    words = []
    for name in ("image", "rest"):
        one, other = getattr(made, name), getattr(wanted, name)
        if one is not None and (one != other).any():
            off = abs(one.astype(float) - other.astype(float))
            places = numpy.argwhere(one != other)
            words.append(f"{name}: {len(places)} of {one.size} differ, by {off.max()}, at "
                         f"{places[0]} to {places[-1]}")
    return "; ".join(words or ["chroma differs"]), at


def fault_of(folder, seed):
    """Returns words if a chain is not as numpy has it, or ""."""
    chain = draw(seed)
    frames, result = run(folder, chain)
    if result.returncode != 0 or result.errors:
        return f"{chain}: {result}"
    at = 0
    for number, frame in enumerate(frames):
        words, at = difference(chain, wanted_of(chain, frame), result.stdout, at)
        if words:
            return f"{chain}: frame {number}, {frame.size}: {words}"
    return "" if at == len(result.stdout) else f"{chain}: {len(result.stdout) - at} bytes too many"


def seeds():
    first, _, last = os.environ.get("DNN_TORCH_CHAINS", USUAL).rpartition("-")
    return range(int(first or 0), int(last) + (1 if first else 0))


PARTS = [seeds()[at : at + IN_ONE_TEST] for at in range(0, len(seeds()), IN_ONE_TEST)]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: f"{part[0]}-{part[-1]}")
def test_as_numpy_has_it(need, tmp_path, part):
    need(filters=["concat"])
    faults = [fault_of(tmp_path, seed) for seed in part]
    assert not any(faults), "\n".join(filter(None, faults))
