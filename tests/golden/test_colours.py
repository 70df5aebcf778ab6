# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A model of RGB between YUV and YUV: colours and what is said of them stay as they came."""
import itertools
import re

import numpy
import pytest
import support

# The shares of red and blue in luma, and ffmpeg's names of what goes with them.
MATRICES = {
    "bt601": (0.299, 0.114, "smpte170m", "smpte170m", "smpte170m"),
    "bt709": (0.2126, 0.0722, "bt709", "bt709", "bt709"),
    "bt2020": (0.2627, 0.0593, "bt2020nc", "bt2020", "bt2020-10"),
    "smpte240m": (0.212, 0.087, "smpte240m", "smpte240m", "smpte240m"),
    "unnamed": (0.299, 0.114, "unknown", "unknown", "unknown"),
}
RANGES = {"limited": "tv", "full": "pc"}
FORMATS = {"yuv420p": 8, "yuv422p10le": 10, "yuv444p": 8, "yuv444p12le": 12, "nv12": 8}
SIDE = 16

# Corners of the cube, and colours between them.
RGB = [*itertools.product([0.02, 0.98], repeat=3), (0.5, 0.5, 0.5), (0.8, 0.3, 0.1)]


def codes_of(rgb, matrix, full, depth):
    """Y, U and V of a colour."""
    red_share, blue_share = MATRICES[matrix][:2]
    red, green, blue = rgb
    luma = red_share * red + (1 - red_share - blue_share) * green + blue_share * blue
    chroma = ((blue - luma) / (2 - 2 * blue_share), (red - luma) / (2 - 2 * red_share))
    step, middle = 2 ** (depth - 8), 2 ** (depth - 1)
    if full:
        white = 2**depth - 1
        return [round(luma * white)] + [round(middle + value * white) for value in chroma]
    return [round((16 + 219 * luma) * step)] + [round(middle + 224 * step * c) for c in chroma]


def patches(matrix, full, depth):
    """A picture of squares, one for each colour, as planes without subsampling."""
    codes = numpy.array([codes_of(rgb, matrix, full, depth) for rgb in RGB])
    return numpy.kron(codes.T[:, None, :], numpy.ones((SIDE, SIDE), int))


def planes_of(raw, pixel_format):
    """Y, U and V at the middle of each square."""
    depth, width, count = FORMATS[pixel_format], SIDE * len(RGB), len(RGB)
    samples = numpy.frombuffer(raw, "u1" if depth == 8 else "<u2").astype(int)
    luma, rest = samples[: SIDE * width].reshape(SIDE, width), samples[SIDE * width :]
    down, across = {"yuv420p": (2, 2), "nv12": (2, 2), "yuv422p10le": (1, 2)}.get(
        pixel_format, (1, 1)
    )
    shape = (SIDE // down, width // across)
    if pixel_format == "nv12":
        chroma = rest.reshape(*shape, 2).transpose(2, 0, 1)
    else:
        chroma = rest.reshape(2, *shape)
    middles = [SIDE // 2 + SIDE * number for number in range(count)]
    return [luma[SIDE // 2, middles]] + [
        plane[shape[0] // 2, [middle // across for middle in middles]] for plane in chroma
    ]


def through(graph, pixel_format, matrix, range_name, **options):
    """The picture behind the graph, and the last that showinfo says of it."""
    depth = FORMATS[pixel_format]
    picture = patches(matrix, range_name == "full", depth)
    same_depth = "yuv444p" if depth == 8 else f"yuv444p{depth}le"
    space, primaries, transfer = MATRICES[matrix][2:]
    tags = f"range={RANGES[range_name]}:colorspace={space}:color_primaries={primaries}"
    chain = f"setparams={tags}:color_trc={transfer},format={pixel_format},{graph}"
    result = support.succeed(
        *("-f", "rawvideo", "-pix_fmt", same_depth, "-s", f"{picture.shape[2]}x{SIDE}"),
        *("-i", "pipe:", "-vf", f"{chain},format={pixel_format},showinfo", "-f", "rawvideo", "-"),
        stdin=picture.astype("u1" if depth == 8 else "<u2").tobytes(),
        fake_engine=True,
        **options,
    )
    said = re.findall(r"color_range:\S+ color_space:\S+ color_primaries:\S+ color_trc:\S+", str(result))
    return planes_of(result.stdout, pixel_format), said[-1]


@pytest.mark.parametrize("codes", [0, 1], ids=["floats", "codes"])
@pytest.mark.parametrize("range_name", RANGES)
@pytest.mark.parametrize("matrix", MATRICES)
def test_colours_come_back(need, script, matrix, range_name, codes):
    need(filters=["setparams", "format", "showinfo", "scale"])
    wanted, said = through("null", "yuv420p", matrix, range_name)
    graph = support.fake(script(channels=3, takes_integers=codes))
    got, said_after = through(graph, "yuv420p", matrix, range_name)
    assert said_after == said
    for plane, wanted_plane in zip(got, wanted):
        assert numpy.abs(plane - wanted_plane).max() <= 1 + codes


@pytest.mark.parametrize("pixel_format", FORMATS)
def test_colours_come_back_in_format(need, script, pixel_format):
    need(filters=["setparams", "format", "showinfo", "scale"])
    graph = support.fake(script(channels=3))
    wanted, said = through("null", pixel_format, "bt709", "limited")
    got, said_after = through(graph, pixel_format, "bt709", "limited")
    assert said_after == said
    for plane, wanted_plane in zip(got, wanted):
        assert numpy.abs(plane - wanted_plane).max() <= 1


@pytest.mark.parametrize("range_name", RANGES)
@pytest.mark.parametrize("matrix", MATRICES)
def test_the_model_sees_those_colours(need, script, matrix, range_name):
    """One that inverts gives the inverse colours."""
    need(filters=["setparams", "format", "showinfo", "scale"])
    graph = support.fake(script(channels=3, gain=-1, offset=1))
    got, _ = through(graph, "yuv444p", matrix, range_name)
    inverse = [[1 - value for value in rgb] for rgb in RGB]
    full = range_name == "full"
    wanted = numpy.array([codes_of(rgb, matrix, full, 8) for rgb in inverse]).T
    assert numpy.abs(numpy.array(got) - wanted).max() <= 1


def test_alpha_goes_past_the_model(need, script):
    need(filters=["geq", "format", "testsrc"])
    source = "testsrc=s=32x16:r=25:d=0.04,format=yuva444p,geq=lum=lum(X\\,Y):a=8*X"
    graphs = (f"{source},alphaextract", f"{source},{support.fake(script(channels=3))},alphaextract")
    alphas = [
        support.succeed(
            *("-f", "lavfi", "-i", graph, "-f", "rawvideo", "-"), fake_engine=True
        ).stdout
        for graph in graphs
    ]
    assert alphas[0] == alphas[1] and len(set(alphas[0])) == 32


@pytest.mark.parametrize("pixel_format", ["rgb24", "gray", "gbrp10le", "pal8"])
def test_what_is_no_yuv_stays_rgb(need, script, pixel_format):
    need(filters=["format", "testsrc"])
    source = f"testsrc=s=32x16:r=25:d=0.04,format={pixel_format}"
    result = support.succeed(
        *("-f", "lavfi", "-i", source, "-vf", support.fake(script(channels=3)), "-f", "null", "-"),
        fake_engine=True,
        loglevel="verbose",
    )
    (line,) = {line for line in result.filter_lines() if "becomes" in line}
    assert re.match(r"(rgb|gbr)", line), line
