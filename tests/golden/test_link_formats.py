# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Formats of results that differ from those of frames, with an engine that begins at once.
Channel c of its results is `gain` times channel c of the frame, or of the last one."""
import numpy
import pictures
import pytest
import support

WIDTH, HEIGHT = 71, 45
WAYS = [{}, {"interleaved": 1}, {"takes_integers": 1}, {"takes_integers": 1, "interleaved": 1}]

CASES = {
    (3, 1): ["rgb24 gray", "bgr24 gray16le", "rgba gray10le", "rgb0 gray", "gbrp10le gray12le",
             "gbrpf32le grayf32le", "rgb48le gray16le"],
    (1, 3): ["gray rgb24", "gray bgr24", "gray16le gbrp16le", "grayf32le gbrpf32le",
             "gray10le gbrp10le", "gray12le rgb48le"],
    (1, 4): ["gray rgba", "gray abgr", "gray16le gbrap16le", "grayf32le gbrapf32le"],
    (3, 4): ["rgba rgba", "argb argb", "bgra64le bgra64le", "gbrap10le gbrap10le"],
    (4, 4): ["rgba rgba", "abgr abgr", "rgba64le rgba64le", "gbrap gbrap", "gbrapf32le gbrapf32le"],
    (4, 3): ["rgba rgba", "bgra bgra", "gbrap12le gbrap12le"],
    (4, 1): ["rgba gray", "gbrap16le gray16le"],
}  # fmt: skip


def frames_of(pixel_format, count=3):
    frames = pictures.make_frames(pixel_format, WIDTH, HEIGHT, count, textured_chroma=True)
    for frame in frames:
        if pictures.has_alpha(pixel_format):
            alpha = pictures.picture(1, WIDTH, HEIGHT, 50)[0]
            frame.rest = pictures.coded(alpha, pixel_format, 7)
    return frames


def run(graph, pixel_format, frames, **options):
    return support.ffmpeg(
        *pictures.raw_input(pixel_format, WIDTH, HEIGHT),
        *("-noauto_conversion_filters", "-vf", graph, "-f", "rawvideo", "-"),
        stdin=pictures.raw(frames, pixel_format),
        fake_engine=True,
        **options,
    )


def results_of(graph, pixel_format, frames, result_format):
    result = run(f"{graph},format={result_format}", pixel_format, frames)
    assert result.returncode == 0, result
    return pictures.unpack(result.stdout, result_format, WIDTH, HEIGHT)


def made_of(frame, pixel_format, taken, made, gain=0.75):
    """What the fake engine makes of the channels that a model sees."""
    white = pictures.FORMATS[pixel_format].white
    planes = list(pictures.to_unit(frame.image, white))
    if taken == 4:
        planes.append(pictures.to_unit(frame.rest, white))
    return numpy.stack([planes[min(c, taken - 1)] for c in range(made)]) * numpy.float32(gain)


def assert_close(got, wanted, result_format):
    wanted = pictures.from_unit(wanted, result_format)
    if pictures.is_float(result_format):
        return numpy.testing.assert_allclose(got, wanted, atol=1e-6)
    assert abs(got.astype(int) - wanted.astype(int)).max() <= 1
    return None


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("channels", CASES, ids=str)
def test_every_format(script, channels, way):
    taken, made = channels
    path = script(channels=taken, output_channels=made, gain=0.75, **way)
    for formats in CASES[channels]:
        pixel_format, result_format = formats.split()
        frames = frames_of(pixel_format)
        results = results_of(support.fake(path, batch_size=2), pixel_format, frames, result_format)
        assert len(results) == len(frames), formats
        for frame, result in zip(frames, results):
            wanted = made_of(frame, pixel_format, taken, made)
            assert_close(result.image, wanted[:3], result_format)
            if made == 4:
                assert_close(result.rest, wanted[3], result_format)
            elif result.rest is not None:
                assert (result.rest == frame.rest).all(), formats


ALPHA = {
    3: ["rgba", "argb", "bgra64le", "gbrap", "gbrap10le", "gbrapf32le"],
    1: ["ya8", "ya16le", "yuva420p", "yuva422p10le", "yuva444p16le"],
}


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("strength", [1, 0.5])
@pytest.mark.parametrize("taken", ALPHA)
def test_alpha(script, taken, strength, way):
    path = script(channels=taken, output_channels=1, gain=0.75, **way)
    graph = support.fake(path, batch_size=2, strength=strength, **{"as": "alpha"})
    for pixel_format in ALPHA[taken]:
        frames = frames_of(pixel_format)
        for frame, result in zip(frames, results_of(graph, pixel_format, frames, pixel_format)):
            assert (result.image == frame.image).all(), pixel_format
            assert all((a == b).all() for a, b in zip(frame.chroma, result.chroma))
            before = pictures.to_unit(frame.rest, pictures.FORMATS[pixel_format].white)
            mask = made_of(frame, pixel_format, taken, 1)[0]
            assert_close(result.rest, before + (mask - before) * strength, pixel_format)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_strength(script, way):
    path = script(channels=3, gain=0.5, **way)
    for pixel_format in ("rgb24", "rgba", "gbrp12le", "gbrpf32le"):
        frames = frames_of(pixel_format)
        for strength in (0, 0.25, 1):
            graph = support.fake(path, batch_size=2, strength=strength)
            for frame, result in zip(frames, results_of(graph, pixel_format, frames, pixel_format)):
                wanted = made_of(frame, pixel_format, 3, 3, 1 - 0.5 * strength)
                assert_close(result.image, wanted, pixel_format)
                assert strength != 0 or (result.image == frame.image).all()
                assert frame.rest is None or (result.rest == frame.rest).all()


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("pixel_format", ["gray", "gray16le", "grayf32le"])
def test_depth(script, pixel_format, way):
    path = script(channels=3, output_channels=1, gain=50, offset=-7, **way)
    frames = frames_of("rgb24")
    for depth in ("auto", "0..40", "40..0"):
        graph = support.fake(path, batch_size=2, depth=depth)
        for frame, result in zip(frames, results_of(graph, "rgb24", frames, pixel_format)):
            numbers = made_of(frame, "rgb24", 3, 1, 50).astype(float) - 7
            limits = [numbers.min(), numbers.max()] if depth == "auto" else depth.split("..")
            low, high = map(float, limits)
            wanted = numpy.clip((numbers - low) / (high - low), 0, 1)
            assert_close(result.image, wanted, pixel_format)


@pytest.mark.parametrize("graph", ["dnn_torch,format=gray", "dnn_torch,negate,format=gray"])
def test_conversions_around_the_filter(script, graph):
    """ffmpeg puts them where the formats do not meet, on both sides."""
    path = script(channels=3, output_channels=1)
    frames = frames_of("yuv420p", 2)
    graph = graph.replace("dnn_torch", support.fake(path))
    result = support.succeed(
        *pictures.raw_input("yuv420p", WIDTH, HEIGHT),
        *("-vf", f"{graph},format=yuv420p", "-f", "rawvideo", "-"),
        stdin=pictures.raw(frames, "yuv420p"),
        fake_engine=True,
    )
    assert len(pictures.unpack(result.stdout, "yuv420p", WIDTH, HEIGHT)) == 2


def test_many_filters_of_differing_formats(script):
    """Lists of several filters are merged and freed."""
    gray = script(channels=3, output_channels=1)
    colours = script(channels=1, output_channels=3)
    chain = ",".join([support.fake(gray), support.fake(colours)] * 3)
    frames = frames_of("rgb24")
    for frame, result in zip(frames, results_of(chain, "rgb24", frames, "rgb24")):
        assert (result.image == frame.image[:1]).all()


def test_a_filter_that_nobody_can_take_from(script):
    """No format fits, conversions are off: ffmpeg says so, and nothing crashes."""
    path = script(channels=3, output_channels=1)
    result = run(f"{support.fake(path)},format=rgb24", "rgb24", frames_of("rgb24"))
    assert result.returncode > 0 and "common format" in result.stderr, result


@pytest.mark.parametrize("pixel_format", ["yuvj420p", "yuvj422p", "yuvj444p"])
@pytest.mark.parametrize("options", [{}, {"enable": "eq(n,1)"}], ids=str)
def test_full_range_is_not_made_rgb_for_an_encoder_without_its_formats(script, pixel_format, options, tmp_path):
    """Most encoders of YUV have none; results have the limited range then, as ffmpeg's scaler makes it."""
    made, path = tmp_path / "made.mkv", script(channels=3)
    source = ("-f", "lavfi", "-i", f"testsrc2=s={2 * WIDTH}x{2 * HEIGHT}:r=5:d=0.6,scale=iw/2:ih/2,gblur=3,"
              f"format={pixel_format}")
    support.succeed(*source, "-vf", support.fake(path, **options), "-c:v", "ffv1", made, fake_engine=True)
    told = support.execute([support.sibling("ffprobe"), "-v", "error", "-show_entries",
                            "stream=pix_fmt,color_range", "-of", "csv=p=0", made])
    limited = pixel_format.replace("j", "")
    assert told.stdout.decode().strip() == f"{limited},tv"
    results, wanted = (
        numpy.frombuffer(support.succeed(*given, "-f", "rawvideo", "-", plain=True).stdout, "u1").astype(int)
        for given in (["-i", made], [*source, "-vf", f"scale=out_range=tv,format={limited}"]))
    assert results.shape == wanted.shape and abs(results - wanted).max() <= 2
