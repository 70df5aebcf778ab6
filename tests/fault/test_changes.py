# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Frames that change while the graph stays, and graphs that change under the frames."""
import operator
import re

import pictures
import pytest
import support

WAYS_TO_RUN = {
    "synchronous": {"async": 0},
    "synchronous, batches": {"async": 0, "batch_size": 4},
    "in flight": {"nireq": 8, "workers": 2},
    "batches": {"batch_size": 4, "nireq": 3, "workers": 2},
}
AS_THEY_COME = ("-noautoscale", "-fps_mode", "passthrough", "-f", "framemd5", "-")

# crop changes the size of its frames at two times.
RESIZED = "sendcmd=c='0.36 crop w 40;0.72 crop w 24,crop h 16',crop=48:32:0:0"
PARTS = [("48:32", 0, 9), ("40:32", 9, 18), ("24:16", 18, 25)]


@pytest.fixture(params=WAYS_TO_RUN.values(), ids=WAYS_TO_RUN.keys())
def options(request):
    return {"threads": 1, **request.param}


def filtered(graph, **settings):
    source = "testsrc=s=64x48:r=25:d=1,format=gray"
    return support.ffmpeg(
        *("-f", "lavfi", "-i", source, "-vf", graph, *AS_THEY_COME),
        fake_engine=True,
        timeout=20,
        **settings,
    )


def doubled_parts():
    """What has to come, from graphs in which no size changes."""
    digests = []
    for size, first, end in PARTS:
        graph = f"crop={size}:0:0,scale=2*iw:2*ih:flags=neighbor"
        digests += support.digests(filtered(graph, plain=True).stdout)[first:end]
    return digests


def test_a_size_that_changes_in_the_graph(need, script, options):
    """What came before goes out before, and the model goes on with the new size."""
    need(filters=["crop", "sendcmd", "testsrc", "scale"])
    graph = support.fake(script(scale=2, latency_random_us=3000, seed=1), **options)
    got = filtered(f"{RESIZED},{graph}")
    assert got.returncode == 0, str(got)
    digests = support.digests(got.stdout)
    assert len(digests) == 25
    assert digests == doubled_parts()
    assert not got.errors and not got.warnings


def test_a_size_that_the_model_cannot_take(need, script, options):
    """One clear error, and the frames before it."""
    need(filters=["crop", "sendcmd", "testsrc"])
    result = filtered(f"{RESIZED},{support.fake(script(shrink=20, latency_us=3000), **options)}")
    support.assert_fails_clearly(result, "24x16")
    # ffmpeg itself may drop the latest ones when it gives up.
    assert 12 <= len(support.digests(result.stdout)) <= 18


def test_a_format_that_changes_in_the_graph(need, script, options):
    """-reinit_filter 0 hands over what the filters behind are not made for."""
    need(demuxers=["image2pipe"], decoders=["pgm", "ppm"])
    grey = b"".join(b"P5\n16 8\n255\n" + bytes([number]) * 128 for number in range(8))
    colour = b"P6\n16 8\n255\n" + bytes(384)
    result = support.ffmpeg(
        *("-f", "image2pipe", "-framerate", "25", "-c:v", "pgm", "-reinit_filter", "0"),
        *("-i", "pipe:0", "-vf", support.fake(script(latency_us=3000), **options)),
        *AS_THEY_COME,
        stdin=grey + colour.replace(b"P6", b"P5", 1).replace(b"255\n", b"65535\n"),
        fake_engine=True,
    )
    support.assert_fails_clearly(result, "gray", "format=gray before the filter")
    assert 6 <= len(support.digests(result.stdout)) <= 8


def sequence(sizes):
    frames = [pictures.make_frame("rgb24", *size, number) for number, size in enumerate(sizes, 1)]
    texts = (b"P6\n%d %d\n255\n" % frame.size + pictures.pack(frame, "rgb24") for frame in frames)
    return b"".join(texts)


def run_sequence(graph, sizes, before=(), behind=()):
    return support.ffmpeg(
        *("-f", "image2pipe", "-framerate", "25", "-c:v", "ppm", *before, "-i", "pipe:0"),
        *("-vf", graph, *behind, *AS_THEY_COME),
        stdin=sequence(sizes),
        fake_engine=True,
        timeout=20,
    )


@pytest.mark.parametrize("reinit", [(), ("-reinit_filter", "0")], ids=["new graphs", "one graph"])
@pytest.mark.parametrize("batch_size", [1, 4])
def test_nothing_is_lost_with_async_0(need, script, reinit, batch_size):
    need(demuxers=["image2pipe"], decoders=["ppm"])
    sizes = [(64, 48)] * 38 + [(40, 30)] * 37
    graph = support.fake(script(), **{"async": 0, "batch_size": batch_size})
    result = run_sequence(graph, sizes, before=reinit)
    assert result.returncode == 0, str(result)
    assert len(support.digests(result.stdout)) == 75
    assert not result.warnings


@pytest.mark.parametrize("behind", ["scale=32:24", "scale=64:48"])
def test_a_scale_behind_sees_the_new_size(need, script, options, behind):
    """It goes by the difference between frames and link, which must not be hidden from it."""
    need(filters=["scale"], demuxers=["image2pipe"], decoders=["ppm"])
    sizes = [(64, 48)] * 6 + [(96, 80)] * 6 + [(64, 48)] * 6
    ours = support.fake(script(latency_us=1000), **options)
    one_graph = ("-reinit_filter", "0")
    got, wanted = (run_sequence(f"{here},{behind}", sizes, one_graph) for here in (ours, "null"))
    assert wanted.returncode == 0 and len(support.digests(wanted.stdout)) == 18
    assert support.digests(got.stdout) == support.digests(wanted.stdout)


# ---- graphs that ffmpeg makes anew --------------------------------------------------------
# ffmpeg frees the old graph without asking for what it holds.  Whatever is behind the filter, the
# same must come as with ffmpeg's own null in its place: pictures, times and order.

SIZE_CHANGES = {
    "once": [(64, 48)] * 10 + [(40, 30)] * 10,
    "there and back": [(64, 48)] * 6 + [(40, 30)] * 6 + [(64, 48)] * 6,
    "at every frame": [(16 + 2 * number, 40 - 2 * number) for number in range(12)],
    "at every second frame": [(64 - 8 * (number // 2 % 3), 48) for number in range(14)],
    "at the second and the last": [(64, 48)] + [(40, 30)] * 8 + [(20, 50)],
}

BEHIND = {
    "nothing": "",
    "flip": ",hflip",
    "scale": ",scale=32:24",
    "more frames a second": ",fps=60",
    "fewer frames a second": ",fps=7",
    "padded in time": ",tpad=start=2:stop=3",
    "another time base": ",settb=1/1000,setpts=PTS+7",
}

SLOW = {"latency_us": 8000, "latency_random_us": 8000, "seed": 3}

RUNS_OF_SEVERAL = {
    "in flight": {"nireq": 8, "workers": 2},
    "many in flight": {"nireq": 16, "workers": 4},
    "batches": {"batch_size": 4, "nireq": 3, "workers": 2},
}


def by_stream(text):
    """Lines of framemd5 in the order of their streams, which ffmpeg mixes as it pleases."""
    return sorted(text.splitlines(), key=lambda line: line.split(b",")[0])


def is_within(made, wanted):
    """Whether all frames that are wanted were made, in their order."""
    frames = iter(support.digests(made))
    return all(frame in frames for frame in support.digests(wanted))


def assert_as_with_null(graph, filter_text, sizes, before=(), behind=AS_THEY_COME, seen=bytes,
                        may_refuse=False, compare=operator.eq):
    """`graph` has the filter as {}; of what comes out `seen` is compared."""
    words = [word.replace("{}", filter_text) for word in graph]
    plain = [word.replace("{}", "null") for word in graph]
    got, wanted = (
        support.ffmpeg(
            *("-f", "image2pipe", "-framerate", "25", "-c:v", "ppm", *before, "-i", "pipe:0"),
            *(*here, *behind),
            stdin=sequence(sizes),
            fake_engine=True,
            timeout=30,
        )
        for here in (words, plain)
    )
    assert wanted.stdout and (may_refuse or wanted.returncode == 0), str(wanted)
    assert got.returncode == wanted.returncode, str(got)
    if wanted.returncode != 0:
        return got
    assert compare(seen(got.stdout), seen(wanted.stdout)), str(got)
    assert not got.errors and not got.warnings, str(got)
    return got


@pytest.mark.parametrize("sizes", SIZE_CHANGES.values(), ids=SIZE_CHANGES.keys())
@pytest.mark.parametrize("several", RUNS_OF_SEVERAL.values(), ids=RUNS_OF_SEVERAL.keys())
def test_new_graphs_lose_nothing(need, script, sizes, several):
    need(demuxers=["image2pipe"], decoders=["ppm"])
    ours = support.fake(script(**SLOW), **several)
    got = assert_as_with_null(("-vf", "{}"), ours, sizes)
    assert len(support.digests(got.stdout)) == len(sizes)


@pytest.mark.parametrize("filters", BEHIND.values(), ids=BEHIND.keys())
def test_new_graphs_with_filters_behind(need, script, filters):
    need(
        filters=["scale", "fps", "tpad", "hflip", "settb"],
        demuxers=["image2pipe"],
        decoders=["ppm"],
    )
    ours = support.fake(script(**SLOW), nireq=8, workers=2)
    # FFmpeg 9.0 itself drops some of what a padded graph holds when the next one comes, and not
    # the same each time.
    compare = is_within if "tpad" in filters and support.ffmpeg_major() >= 9 else operator.eq
    for sizes in (SIZE_CHANGES["there and back"], SIZE_CHANGES["at every frame"]):
        assert_as_with_null(("-vf", "{}" + filters), ours, sizes, compare=compare)


ENCODED = {
    "raw": ("-f", "rawvideo", "-"),
    "raw, each of its size": ("-noautoscale", "-f", "rawvideo", "-"),
    "pictures": ("-c:v", "png", "-f", "image2pipe", "-"),
    "a container that keeps the aspect": ("-c:v", "ffv1", "-f", "matroska", "-bitexact", "-"),
}


@pytest.mark.parametrize("encoded", ENCODED.values(), ids=ENCODED.keys())
@pytest.mark.parametrize("sizes", SIZE_CHANGES.values(), ids=SIZE_CHANGES.keys())
def test_new_graphs_before_encoders(need, script, sizes, encoded):
    """The encoder is opened with the first frame's size and aspect, whichever graph is the last."""
    need(
        filters=["scale"],
        demuxers=["image2pipe"],
        decoders=["ppm"],
        encoders=["png", "ffv1"],
        muxers=["matroska"],
    )
    ours = support.fake(script(**SLOW), nireq=16, workers=2)
    exact = ("-fps_mode", "passthrough", "-fflags", "+bitexact")
    # FFmpeg 7.1's rawvideo refuses frames of another size.
    may_refuse = "-noautoscale" in encoded
    assert_as_with_null(
        ("-vf", "{}"), ours, sizes, behind=(*exact, *encoded), may_refuse=may_refuse
    )


@pytest.mark.parametrize(
    "graph,maps",
    {
        "in a row": ("{},{}", ()),
        "in a row, with others between": ("{},hflip,{},vflip,{}", ()),
        "two chains of the same text": (
            "split[a][b];[a]{}[x];[b]{},hflip[y]",
            ("-map", "[x]", "-map", "[y]"),
        ),
        "two chains, one without": ("split[a][b];[a]{}[x];[b]hflip[y]", ("-map", "[x]", "-map", "[y]")),
        "joined again": ("split[a][b];[a]{}[x];[x][b]hstack", ()),
    }.values(),
)
def test_new_graphs_with_several_filters(need, script, graph, maps):
    need(
        filters=["split", "hstack", "hflip", "vflip"], demuxers=["image2pipe"], decoders=["ppm"]
    )
    ours = support.fake(script(**SLOW), nireq=8, workers=2)
    for sizes in (SIZE_CHANGES["there and back"], SIZE_CHANGES["at every frame"]):
        assert_as_with_null(("-filter_complex", graph, *maps), ours, sizes, seen=by_stream)


def test_two_graphs_of_the_same_text(need, script, tmp_path):
    """Each takes up its own."""
    need(demuxers=["image2pipe"], decoders=["ppm"])
    ours = support.fake(script(**SLOW), nireq=8, workers=2)
    stdin = sequence(SIZE_CHANGES["there and back"])
    texts = {}
    for name, here in (("ours", ours), ("null", "null")):
        paths = [tmp_path / f"{name}{number}.md5" for number in range(2)]
        outputs = [
            word for path in paths for word in ("-vf", here, *AS_THEY_COME[:-1], str(path))
        ]
        result = support.ffmpeg(
            *("-f", "image2pipe", "-framerate", "25", "-c:v", "ppm", "-i", "pipe:0", *outputs),
            stdin=stdin,
            fake_engine=True,
            timeout=30,
        )
        assert result.returncode == 0 and not result.warnings, str(result)
        texts[name] = [path.read_text() for path in paths]
    assert texts["ours"] == texts["null"]


def test_new_graphs_beside_sound(need, script):
    """The sound has a graph of its own, which no picture changes, and is not held up."""
    need(filters=["sine", "anull"], demuxers=["image2pipe", "lavfi"], decoders=["ppm"])
    ours = support.fake(script(**SLOW), nireq=8, workers=2)
    words = ("-f", "lavfi", "-i", "sine=d=0.8", "-vf", "{}", "-af", "anull")
    got = assert_as_with_null(words, ours, SIZE_CHANGES["there and back"])
    assert b"\n1," in got.stdout


def test_new_graphs_with_other_pixel_formats(need, script):
    """A change of the format makes a new graph as well."""
    need(demuxers=["image2pipe"], decoders=["pgm", "ppm"])
    frames = []
    for number in range(15):
        is_grey = number // 4 % 2
        kind, samples = (b"P5", 1) if is_grey else (b"P6", 3)
        frames.append(kind + b"\n16 8\n255\n" + bytes([number * 9]) * 128 * samples)
    ours = support.fake(script(**SLOW), nireq=8, workers=2)
    results = [
        support.ffmpeg(
            *("-f", "image2pipe", "-framerate", "25", "-c:v", "ppm", "-i", "pipe:0"),
            *("-vf", here, *AS_THEY_COME),
            stdin=b"".join(frames),
            fake_engine=True,
        )
        for here in (ours, "null")
    ]
    times = [re.findall(r"^0, *(\d+), *(\d+),", got.stdout.decode(), re.M) for got in results]
    assert results[0].returncode == 0 and len(times[0]) == 15, str(results[0])
    assert times[0] == times[1]


def test_a_frame_of_the_old_graph_that_fails(need, script):
    """Those before it come out of the new graph, and then the failure is told once."""
    need(demuxers=["image2pipe"], decoders=["ppm"])
    graph = support.fake(script(latency_us=20000, fail_at_run=6), nireq=8, workers=1)
    result = run_sequence(graph, [(64, 48)] * 8 + [(40, 30)] * 8)
    support.assert_fails_clearly(result)
    assert len(support.digests(result.stdout)) <= 8


def test_an_early_end_is_no_loss(need, script):
    need(demuxers=["image2pipe"], decoders=["ppm"])
    graph = support.fake(script(latency_us=5000), nireq=8, workers=2)
    result = run_sequence(graph, [(64, 48)] * 20, behind=("-frames:v", "4"))
    assert result.returncode == 0 and not result.warnings, str(result)


# ---- the size that comes out ----------------------------------------------------------


SIZES = {
    "pads to 256": (dict(pad_to=256), (640, 360), (768, 512)),
    "pads to 256, and doubles": (dict(pad_to=256, scale=2), (270, 300), (1024, 1024)),
    "caps the longer side": (dict(longest=512), (640, 360), (512, 360)),
    "doubles up to a limit": (dict(scale=2, longest=1000), (640, 360), (1000, 720)),
    "turns": (dict(turn=1), (640, 360), (360, 640)),
    "turns a small one": (dict(turn=1), (64, 48), (48, 64)),
    "keeps": (dict(), (641, 361), (641, 361)),
}


@pytest.mark.parametrize("settings,size,wanted", SIZES.values(), ids=SIZES.keys())
def test_the_size_is_that_of_the_true_size(need, script, settings, size, wanted):
    """Small pictures would tell another one."""
    need(filters=["testsrc"])
    source = f"testsrc=s={size[0]}x{size[1]}:r=25:d=0.12,format=gray"
    result = support.ffmpeg(
        *("-f", "lavfi", "-i", source, "-vf", support.fake(script(**settings))),
        *("-f", "rawvideo", "-"),
        fake_engine=True,
    )
    assert result.returncode == 0, str(result)
    assert len(result.stdout) == 3 * wanted[0] * wanted[1]


ASPECTS = {
    "twice": (dict(scale=2), "8/9", "8:9"),
    "half of odd extents": (dict(scale="1/2", pad_to=2), "8/9", "8:9"),
    "cropped": (dict(shrink=8), "8/9", "8:9"),
    "turned": (dict(turn=1), "8/9", "9:8"),
    "squeezed": (dict(longest=64), "1/1", "2:1"),
    "unknown": (dict(longest=64), "0/1", "0:1"),
}


@pytest.mark.parametrize("settings,before,after", ASPECTS.values(), ids=ASPECTS.keys())
def test_the_shape_of_samples_follows(need, script, settings, before, after):
    """128x47 pictures; on the frames and on the link, which the encoder has it from."""
    need(filters=["testsrc", "setsar", "showinfo"])
    source = "testsrc=s=128x47:r=25:d=0.04,format=gray"
    graph = f"setsar={before},{support.fake(script(**settings))},showinfo"
    result = support.ffmpeg(
        *("-f", "lavfi", "-i", source, "-vf", graph, "-f", "framemd5", "-"), fake_engine=True
    )
    assert result.returncode == 0, str(result)
    assert f"sar:{after.replace(':', '/')}" in result.stderr
    assert f"#sar 0: {after.replace(':', '/')}".encode() in result.stdout, str(result.stdout)
