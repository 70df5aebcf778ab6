# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""enable=, and its command: frames that it leaves out pass, at the size of all the others."""
import numpy
import pictures
import pytest
import support

WIDTH, HEIGHT, FRAMES = 48, 32, 12

WAYS_TO_RUN = [{"async": 0}, {"nireq": 8, "workers": 2}, {"batch_size": 4}]

EXPRESSIONS = {
    "one stretch": "between(n,3,6)",
    "every other": "mod(n,2)",
    "first alone": "eq(n,0)",
    "never": "0",
    "always": "1",
    "by time": "gte(t,0.2)",
    "none but the last": f"eq(n,{FRAMES - 1})",
}


@pytest.fixture
def model(quick_model):
    return quick_model


def run(graph, pixel_format="rgb24", **options):
    frames = pictures.make_frames(pixel_format, WIDTH, HEIGHT, FRAMES)
    return support.succeed(
        *pictures.raw_input(pixel_format, WIDTH, HEIGHT),
        *("-noauto_conversion_filters", "-vf", graph, "-f", "rawvideo", "-"),
        stdin=pictures.raw(frames, pixel_format),
        **options,
    ).stdout


@pytest.mark.parametrize("expression", EXPRESSIONS.values(), ids=EXPRESSIONS.keys())
@pytest.mark.parametrize("options", WAYS_TO_RUN, ids=str)
def test_same_size(model, expression, options):
    """Bit for bit what ffmpeg's negate does, which has a timeline, too."""
    ours = run(f"{support.dnn(model('invert'), **options)}:enable='{expression}'")
    assert ours == run(f"negate=enable='{expression}'", plain=True)


@pytest.mark.parametrize("pixel_format", ["yuv420p", "gbrpf32le"])
def test_disabled_frames_are_untouched(model, pixel_format):
    ours = run(f"{support.dnn(model('stretch'))}:enable=0", pixel_format)
    assert ours == pictures.raw(
        pictures.make_frames(pixel_format, WIDTH, HEIGHT, FRAMES), pixel_format
    )


@pytest.mark.parametrize("pixel_format", ["rgb24", "gbrp", "gray", "yuv420p", "yuv444p"])
@pytest.mark.parametrize("name,factor", [("enlarge2", 2), ("enlarge3", 3), ("halve", 0.5)])
def test_disabled_frames_are_scaled(model, pixel_format, name, factor):
    """To the size that all frames of the link have, into the same picture."""
    size = int(WIDTH * factor), int(HEIGHT * factor)
    ours = run(f"{support.dnn(model(name))}:enable='between(n,3,6)'", pixel_format)
    whole = run(support.dnn(model(name)), pixel_format)
    scaled = run(f"scale={size[0]}:{size[1]}:flags=bicubic", pixel_format, plain=True)
    got, enabled, disabled = (
        [frame.image.astype(int) for frame in pictures.unpack(data, pixel_format, *size)]
        for data in (ours, whole, scaled)
    )
    assert len(got) == FRAMES
    for number in range(FRAMES):
        if 3 <= number <= 6:
            assert (got[number] == enabled[number]).all()
        else:
            # Which scaling is the filter's own choice; it may not move or tint the picture.
            difference = got[number] - disabled[number]
            assert abs(difference).mean() < 6 and abs(difference.mean()) < 0.5, number


@pytest.mark.parametrize("options", WAYS_TO_RUN, ids=str)
def test_command(need, model, options):
    """sendcmd switches it off at 0.2 s and on again at 0.32 s."""
    need(filters=["sendcmd"])
    graph = "sendcmd=c='0.2 NAME enable 0;0.32 NAME enable 1',FILTER"
    own = graph.replace("NAME", "dnn_torch").replace(
        "FILTER", support.dnn(model("invert"), **options)
    )
    theirs = graph.replace("NAME", "negate").replace("FILTER", "negate")
    assert run(own) == run(theirs, plain=True)


def test_every_frame_is_disabled_and_the_model_never_runs(script):
    ours = run(f"{support.fake(script(fail_at=3, gain=1))}:enable='not(eq(n,2))'", fake_engine=True)
    source = pictures.make_frames("rgb24", WIDTH, HEIGHT, FRAMES)
    got = pictures.unpack(ours, "rgb24", WIDTH, HEIGHT)
    assert len(got) == FRAMES
    assert all(numpy.array_equal(frame.image, wanted.image) for frame, wanted in zip(got, source))
