# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Frames keep their format and their colours: what an identity returns is the frame that came in,
and no model of luma costs colour."""
import itertools
import os
import re

import numpy
import pictures
import pytest
import support

WIDTH, HEIGHT = 71, 45
YUV = [name for name in pictures.FORMATS if pictures.has_chroma(name)]
WAYS = [{}, {"interleaved": 1}, {"takes_integers": 1}]
SITINGS = ["unspecified", "left", "center", "topleft", "top"]


def any_codes(pixel_format, seed, width=WIDTH, height=HEIGHT):
    """A frame of all codes that the format has, most of them out of gamut."""
    layout = pictures.FORMATS[pixel_format]
    random = numpy.random.default_rng(seed)
    frame = pictures.make_frame(pixel_format, width, height, 1)
    kind = layout.kind

    def codes(plane):
        return random.integers(0, layout.white + 1, plane.shape).astype(kind)

    frame.image = codes(frame.image)
    frame.chroma = [codes(plane) for plane in frame.chroma]
    if frame.rest is not None:
        frame.rest = codes(frame.rest)
    return frame


def run(graph, pixel_format, data, *output, width=WIDTH, height=HEIGHT, **options):
    return support.ffmpeg(
        *pictures.raw_input(pixel_format, width, height),
        *("-vf", graph, *(output or ("-f", "rawvideo", "-"))),
        stdin=data,
        fake_engine=True,
        **options,
    )


def formats_of(graph, pixel_format, *output):
    """What goes into each filter of ours, and what came out where `showinfo` stands."""
    data = pictures.raw([any_codes(pixel_format, 1, 64, 48)], pixel_format)
    result = run(graph, pixel_format, data, *output, width=64, height=48, loglevel="verbose")
    assert result.returncode == 0, result
    taken = re.findall(r"(\w+) 64x48 becomes 64x48", result.stderr)
    return taken, re.findall(r" fmt:(\w+) .*s:64x48", result.stderr)


# ---- what comes back ----------------------------------------------------------


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("pixel_format", YUV)
def test_an_identity_returns_the_frame(script, pixel_format, way):
    frames = [any_codes(pixel_format, seed) for seed in range(3)]
    data = pictures.raw(frames, pixel_format)
    graph = support.fake(script(channels=3, **way), batch_size=2)
    result = run(graph, pixel_format, data, *("-noauto_conversion_filters", "-f", "rawvideo", "-"))
    assert result.returncode == 0, result
    assert result.stdout == data


@pytest.mark.parametrize("siting", SITINGS)
@pytest.mark.parametrize("size", itertools.product([1, 2, 3, 4, 33, 64], repeat=2), ids=str)
def test_an_identity_of_any_size_and_siting(need, script, size, siting):
    need(filters=["setparams"])
    width, height = size
    graph = support.fake(script(channels=3))
    for pixel_format in ("yuv420p", "yuv422p10le", "yuv440p", "yuv410p"):
        data = pictures.raw([any_codes(pixel_format, 5, width, height)], pixel_format)
        tagged = graph if siting == "unspecified" else f"setparams=chroma_location={siting},{graph}"
        if siting != "unspecified" and not has_option("setparams", "chroma_location"):
            pytest.skip("this ffmpeg's setparams knows no chroma_location")
        result = run(tagged, pixel_format, data, width=width, height=height)
        assert result.returncode == 0, result
        assert result.stdout == data, pixel_format


def has_option(name, option):
    return option in support.succeed("-h", f"filter={name}").stdout.decode()


def test_tiles_and_mixtures_return_the_frame(script):
    path = script(channels=3)
    for pixel_format in ("yuv420p", "nv12", "p010le"):
        data = pictures.raw([any_codes(pixel_format, 9)], pixel_format)
        for options in ({"tile": 32}, {"strength": 0.5}, {"strength": 0}, {"tile": 32, "overlap": 4}):
            result = run(support.fake(path, **options), pixel_format, data)
            assert result.returncode == 0, result
            assert result.stdout == data, (pixel_format, options)


@pytest.mark.parametrize("pixel_format", ["rgb24", "rgba", "bgr0", "gbrp10le", "gbrap"])
def test_luma_models_of_rgb_frames(script, pixel_format):
    """Luma is made of the colours, and the colours come back around it."""
    data = pictures.raw(pictures.make_frames(pixel_format, WIDTH, HEIGHT, 3), pixel_format)
    same = run(support.fake(script(channels=1)), pixel_format, data)
    assert same.stdout == data, same
    dark = run(support.fake(script(channels=1, gain=0.5, offset=8 / 255)), pixel_format, data)
    (frame, *_), (made, *_) = (
        pictures.unpack(raw, pixel_format, WIDTH, HEIGHT) for raw in (data, dark.stdout)
    )
    luma, dimmed = (
        numpy.tensordot([0.299, 0.587, 0.114], pictures.to_unit(one.image, pictures.FORMATS[pixel_format].white), 1)
        for one in (frame, made)
    )
    inside = ((made.image > 0) & (made.image < pictures.FORMATS[pixel_format].white)).all(0)
    assert inside.mean() > 0.02
    assert abs(dimmed - luma / 2)[inside].max() < 0.005
    if pixel_format != "bgr0":
        assert frame.rest is None or (frame.rest == made.rest).all()


# ---- what formats there are ------------------------------------------------------


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("pixel_format", ["yuv420p", "nv12", "p010le", "yuv422p10le", "rgb24",
                                          "rgb48le", "bgra", "yuva420p", "yuv411p"])  # fmt: skip
def test_results_keep_the_format(script, pixel_format, channels):
    graph = support.fake(script(channels=channels))
    assert formats_of(f"{graph},showinfo", pixel_format) == ([pixel_format], [pixel_format])


@pytest.mark.parametrize(("frames", "behind", "made"), [
    ("yuv420p", "yuv444p", "yuv444p"),
    ("yuv420p", "yuv420p10le", "yuv420p10le"),
    ("yuv420p", "yuv422p|yuv444p", "yuv422p"),
    ("yuv420p", "nv12", "nv12"),
    ("yuv420p", "rgb24", "rgb24"),
    ("yuv422p10le", "rgb48le", "rgb48le"),
])  # fmt: skip
def test_what_stands_behind_a_model_of_rgb(script, frames, behind, made):
    graph = f"{support.fake(script(channels=3))},showinfo,format={behind}"
    assert formats_of(graph, frames) == ([frames], [made])


def test_finer_chroma_is_what_the_model_made(script):
    """Not what was made coarse and fine again."""
    data = pictures.raw([any_codes("yuv420p", 3)], "yuv420p")
    graph = support.fake(script(channels=3, gain=-1, offset=1))
    fine = run(f"{graph},format=yuv444p", "yuv420p", data)
    coarse = run(f"{graph},format=yuv420p,format=yuv444p", "yuv420p", data)
    (fine,), (coarse,) = (
        pictures.unpack(one.stdout, "yuv444p", WIDTH, HEIGHT) for one in (fine, coarse)
    )
    assert (fine.image == coarse.image).all()
    assert (fine.chroma[0] != coarse.chroma[0]).any()


CHAINS = [
    ("{a},{a}", 2),
    ("{a},crop=64:48,{a},null,{a}", 3),
    ("{a},split[x][y];[x]{a}[z];[y][z]hstack,crop=64:48,{a}", 3),
    ("hflip,{a},format=yuv420p,{a},vflip", 2),
]


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(("chain", "count"), CHAINS, ids=lambda value: str(value)[:20])
def test_filters_that_wait_for_one_another(need, script, chain, count, channels):
    need(filters=["crop", "split", "hstack", "hflip", "vflip"])
    graph = chain.format(a=support.fake(script(channels=channels)))
    taken, made = formats_of(f"{graph},showinfo", "yuv420p")
    assert taken == ["yuv420p"] * count and made == ["yuv420p"]


@pytest.mark.parametrize("source", ["color=red", "testsrc2", "color=red,scale=64:48"])
@pytest.mark.parametrize("channels", [1, 3])
def test_sources_that_leave_the_choice(need, script, source, channels):
    need(filters=["color", "testsrc2", "scale"])
    support.succeed(
        *("-filter_complex", f"{source},{support.fake(script(channels=channels))}[out]"),
        *("-map", "[out]", "-frames:v", "1", "-f", "null", "-"),
        fake_engine=True,
    )


# ---- colour, whatever the encoder takes ------------------------------------------

SIDES = (352, 288)  # H.261 and H.263 take few others
# By what it is that they take: RGB and gray, palettes, YUV of the full range, YUV alone, ...
ENCODERS = {
    "png": "png", "bmp": "bmp", "tiff": "tiff", "targa": "tga", "ppm": "ppm", "gif": "gif",
    "qtrle": "mov", "mjpeg": "jpg", "mpeg4": "avi", "ffv1": "avi", "huffyuv": "avi", "rawvideo": "nut",
    "jpeg2000": "jp2", "msrle": "avi", "sgi": "sgi", "zlib": "avi",
}  # fmt: skip
PLACES = list(ENCODERS.items())
if os.environ.get("DNN_TORCH_FARM_WHOLE") == "1":  # nightly: all that there are
    LISTING = support.execute([support.FFMPEG, "-hide_banner", "-encoders"]).stdout.decode()
    PLACES += [(name, "nut") for name in re.findall(r"^ V\S+ (\w\S*)", LISTING, re.MULTILINE)]
    PLACES += [
        ("apng", "apng"), ("libwebp", "webp"), ("libwebp_anim", "webp"), ("libjxl", "jxl"),
        ("libaom-av1", "avif"), ("mjpeg", "mjpeg"), ("ljpeg", "jpg"), ("jpegls", "jls"),
        ("libopenjpeg", "j2k"), ("jpeg2000", "j2c"), ("bmp", "ico"), ("png", "ico"), ("qoi", "qoi"),
        ("pam", "pam"), ("pbm", "pbm"), ("pgm", "pgm"), ("pgmyuv", "pgmyuv"), ("pfm", "pfm"),
        ("phm", "phm"), ("pcx", "pcx"), ("xbm", "xbm"), ("xwd", "xwd"), ("xface", "xface"),
        ("sunrast", "ras"), ("dpx", "dpx"), ("exr", "exr"), ("fits", "fits"), ("vbn", "vbn"),
        ("alias_pix", "pix"), ("hdr", "hdr"), ("wbmp", "wbmp"), ("rawvideo", "y"),
    ]  # fmt: skip


def coloured(pixel_format):
    """A picture of smooth colours."""
    size = f"{SIDES[0]}x{SIDES[1]}"
    return support.succeed(
        *("-f", "lavfi", "-i", f"testsrc=s={size}:d=0.04,gblur=8,format={pixel_format}"),
        *("-frames:v", "1", "-f", "rawvideo", "-pix_fmt", pixel_format, "-"),
    ).stdout


def rgb_of(path):
    result = support.ffmpeg("-i", path, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-")
    return numpy.frombuffer(result.stdout, "u1").astype(int)


@pytest.mark.parametrize("pixel_format", ["rgb24", "rgba", "gray", "yuv420p", "yuv444p10le"])
@pytest.mark.parametrize(("encoder", "ending"), PLACES)
def test_no_model_of_luma_costs_colour(need, script, tmp_path, encoder, ending, pixel_format):
    """What comes of one that changes nothing is as near to the source as what comes of `scale`."""
    need(filters=["testsrc", "gblur", "scale"])
    if support.lacks(encoders=[encoder]):
        pytest.skip(f"this ffmpeg has no encoder {encoder}")
    width, height = SIDES
    data = coloured(pixel_format)
    source = tmp_path / "source.nut"
    support.succeed(
        *pictures.raw_input(pixel_format, width, height),
        *("-c:v", "rawvideo", source),
        stdin=data,
    )
    wanted, far = rgb_of(source), {}
    for name, graph in (("scale", "scale"), ("model", support.fake(script(channels=1)))):
        path = tmp_path / f"{name}.{ending}"
        result = support.ffmpeg(
            *("-i", source, "-vf", graph, "-c:v", encoder, "-q:v", "2", "-frames:v", "1", path),
            fake_engine=True,
        )
        if name == "scale" and result.returncode:
            pytest.skip(f"{encoder} does not open with {pixel_format}")
        assert result.returncode == 0, result
        made = rgb_of(path)
        if name == "scale" and made.shape != wanted.shape:
            pytest.skip(f"{encoder} makes another size, or nothing that can be decoded")
        assert made.shape == wanted.shape
        far[name] = abs(made - wanted).mean()
    assert far["model"] <= far["scale"] + 0.05, far


# ---- depth -------------------------------------------------------------------------


def png_depth(data):
    assert data[1:4] == b"PNG"
    return data[24]


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(("pixel_format", "depth"), [("rgb48le", 16), ("rgba64le", 16), ("rgb24", 8),
                                                     ("gbrp10le", 16)])  # fmt: skip
def test_png_keeps_its_depth(need, script, pixel_format, depth, channels):
    need(encoders=["png"])
    data = pictures.raw([any_codes(pixel_format, 2)], pixel_format)
    output = ("-f", "image2pipe", "-c:v", "png", "-")
    result = run(support.fake(script(channels=channels)), pixel_format, data, *output)
    assert png_depth(result.stdout) == depth, result
    plain = run("null", pixel_format, data, *output)
    if pixel_format == "rgb48le" and channels == 3:
        assert result.stdout == plain.stdout


@pytest.mark.parametrize(("pixel_format", "names"), [
    ("gray", ("rgb24", "bgr24", "gbrp")),
    ("yuv420p", ("rgb24", "bgr24", "gbrp")),
    ("gray16le", ("rgb48le", "bgr48le", "gbrp16le")),
])  # fmt: skip
def test_colours_made_of_gray_keep_its_depth(script, pixel_format, names):
    graph = support.fake(script(channels=1, output_channels=3))
    _, (made,) = formats_of(f"{graph},showinfo", pixel_format)
    assert made in names
