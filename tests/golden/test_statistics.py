# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the filter says of its own work: at the end, in a file, and on command."""
import json
import re

import pytest
import support

SOURCE = ("-f", "lavfi", "-i", "testsrc=s=64x48:r=25:d=4")
LINE = re.compile(
    r"(\d+) frames? in ([\d.]+) s, ([\d.]+) fps; latency ([\d.]+) ms, 99 % within ([\d.]+) ms; "
    r"a frame: wait ([\d.]+), convert in ([\d.]+), model ([\d.]+), convert out ([\d.]+) ms; "
    r"workers busy (\d+) %; limited by ([\w ]+)(?:; [\d.]+ GFLOP/s, \d+ % of the cores' peak in fp32)?"
)


def run(graph, *more, **options):
    arguments = (*SOURCE, "-vf", graph, *more, "-f", "null", "-")
    return support.ffmpeg(*arguments, fake_engine=True, **options)


def final_line(result):
    lines = [line for line in result.filter_lines("info") if LINE.fullmatch(line)]
    assert len(lines) == 1, str(result)
    found = LINE.fullmatch(lines[0]).groups()
    return [float(number) for number in found[:-1]] + [found[-1]]


@pytest.fixture
def stats(tmp_path):
    path = tmp_path / "stats.json"

    def read():
        return json.loads(path.read_text())

    read.path = path
    return read


def test_line_and_file_say_the_same(script, stats):
    model = script(latency_us=5000)
    result = run(support.fake(model, workers=2, threads=1, stats=stats.path))
    assert result.returncode == 0, str(result)
    frames, seconds, fps, latency, latency_99, wait, _, forward, _, busy, limit = final_line(result)
    told = stats()
    assert frames == told["frames"] == 100
    assert fps == pytest.approx(frames / seconds, rel=0.01) == pytest.approx(told["fps"], rel=0.01)
    assert latency == pytest.approx(told["latency_ms"]["mean"], abs=0.06)
    assert latency_99 == pytest.approx(told["latency_ms"]["p99"], abs=0.06) and latency_99 >= 5
    assert 5 <= forward == pytest.approx(told["frame_ms"]["forward"], abs=0.006)
    assert wait + forward <= latency + 0.1
    assert busy == pytest.approx(100 * told["workers_busy"], abs=1)
    assert limit == told["limit"] == "the model"
    expected = {"state": "stopped", "workers": 2, "threads": 1, "nireq": 3, "batch_size": 1}
    expected.update(input="64x48", output="64x48", format="rgb24", form="scripted", in_flight=0)
    assert {key: told[key] for key in expected} == expected
    assert told["model"] == str(model)


@pytest.mark.parametrize("workers,threads", [(1, 1), (3, 1), (1, 3)])
def test_workers_and_threads_are_as_given(script, stats, workers, threads):
    result = run(support.fake(script(), workers=workers, threads=threads, stats=stats.path))
    assert result.returncode == 0, str(result)
    assert (stats()["workers"], stats()["threads"]) == (workers, threads)


# The filter `realtime` sleeps, before ours as a slow decoder does, or behind as a slow encoder does.
@pytest.mark.parametrize(
    "before,latency_us,behind,limit",
    [
        ("", 30000, "", "the model"),
        ("realtime,", 0, "", "decoding"),
        ("", 0, ",realtime", "encoding"),
    ],
    ids=["model", "decoding", "encoding"],
)
def test_limit_is_named(need, script, before, latency_us, behind, limit):
    need(filters=["realtime"])
    graph = support.fake(script(latency_us=latency_us), workers=2, threads=1)
    result = run(before + graph + behind)
    assert final_line(result)[-1] == limit, str(result)


def test_a_failure_is_told_too(script, stats):
    """The frames before it went out."""
    result = run(support.fake(script(fail_at_run=40), **{"async": 0, "stats": stats.path}))
    assert result.returncode > 0, str(result)
    assert stats()["state"] == "failed" and 0 < stats()["frames"] < 100


def test_progress_is_told_on_command(need, script):
    need(filters=["sendcmd"])
    commands = r"sendcmd=c='2 dnn_torch@mine progress x\; 3 dnn_torch@mine stats x'"
    graph = f"{commands},{support.fake(script(), instance='mine', nireq=1)}"
    result = run(graph, loglevel="verbose")
    replies = re.findall(r"Command reply for command #\d+: ret:(.*?) res:(.*)", result.stderr)
    assert len(replies) == 2, str(result)
    count = re.fullmatch(r"frames (\d+) fps [\d.]+ in_flight (\d+)", replies[0][1])
    assert count and 40 <= int(count[1]) <= 50, replies
    told = json.loads(replies[1][1])
    assert told["state"] == "running" and 65 <= told["frames"] <= 75


@pytest.mark.parametrize("skip", [{"enable": "gte(t,1)"}, {"enable": "lt(mod(t,1),0.5)"},
                                  {"strength": 0}])
def test_frames_that_pass_by_the_model_do_not_count(script, stats, skip):
    model = script(latency_us=20000)
    options = dict(skip, workers=1, threads=1, nireq=1, stats=stats.path)
    result = run(support.fake(model, **options) + ",realtime")  # the rest takes its time, too
    assert result.returncode == 0, str(result)
    told = stats()
    counts = {"gte(t,1)": 75, "lt(mod(t,1),0.5)": 52}
    wanted = counts.get(skip.get("enable"), 0)
    assert told["frames"] == wanted and told["excluded"] == 100 - wanted
    assert told["frame_ms"]["forward"] == pytest.approx(20, rel=0.3) if wanted else True
    assert told["fps"] == 0 if wanted == 0 else told["fps"] == pytest.approx(25, rel=0.3), told
    assert f"; {100 - wanted} frames bypassed the model" in result.stderr


def test_statistics_that_cannot_be_written_are_an_error(script):
    """All frames have gone out, and the program says that something is missing."""
    arguments = (*SOURCE, "-vf", support.fake(script(), stats="/dev/full"), "-f", "framemd5", "-")
    result = support.ffmpeg(*arguments, fake_engine=True, loglevel="error")
    support.assert_fails_clearly(result, "stats=/dev/full cannot be written: No space left on device")
    if support.ffmpeg_major() >= 6:  # before, it drops what is on its way when a stream's end fails
        assert len(support.digests(result.stdout)) == 100


def test_a_stream_without_frames_has_statistics(script, stats):
    graph = f"trim=start=9,{support.fake(script(), stats=stats.path)}"
    result = run(graph)
    assert result.returncode == 0 and stats()["frames"] == 0, str(result)
    result = run(f"trim=start=9,{support.fake(script(), stats='/dev/full')}", loglevel="error")
    support.assert_fails_clearly(result, "stats=/dev/full cannot be written")


def test_two_graphs_of_ffmpeg_write_two_files(script, stats):
    """One that is made anew because frames change writes on to its own."""
    ours = support.fake(script(), stats=stats.path)
    output = ("-vf", ours, "-f", "null", "-")
    result = support.ffmpeg(*SOURCE, *output, *output, fake_engine=True)
    support.assert_fails_clearly(result, "stats=.* is written by another filter; name another one")
    result = support.ffmpeg(*IMAGES, *output, stdin=images_of_two_sizes(), fake_engine=True)
    assert result.returncode == 0, str(result)
    assert stats()["frames"] >= 1


IMAGES = ("-f", "image2pipe", "-framerate", "25", "-c:v", "ppm", "-i", "pipe:0")


def images_of_two_sizes():
    """For each of the ten a graph is made anew."""
    return b"".join(b"P6 %d 24 255\n" % width + bytes(width * 24 * 3) for width in (32, 40) * 5)


def test_graphs_made_anew_tell_once_that_statistics_cannot_be_written(script):
    """And the last one once more, because it fails."""
    graph = support.fake(script(), stats="/dev/full")
    result = support.ffmpeg(*IMAGES, "-vf", graph, "-f", "null", "-", stdin=images_of_two_sizes(),
                            fake_engine=True)  # fmt: skip
    assert result.returncode > 0 and len(result.errors) == 2, str(result)
    assert all("stats=/dev/full cannot be written" in line for line in result.errors)


def test_unwritable_file_is_refused_at_once(script, tmp_path):
    result = run(support.fake(script(), stats=tmp_path))
    support.assert_fails_clearly(result, "stats=.*cannot be written: Is a directory", "name a file")


@pytest.mark.parametrize("form", ["", "frozen", "fused"])
def test_arithmetic_of_the_model(model, stats, form):
    """Of a network whose convolutions are counted by hand, in whatever form it runs: programs of
    our own, which LibTorch does not see into, count as what they stand for."""
    size, frames = (96, 64), 40
    options = {"optimize": form} if form else {}
    graph = support.dnn(model("counted"), workers=1, threads=1, tune=1, stats=stats.path, **options)
    result = support.succeed(
        *("-f", "lavfi", "-i", f"testsrc=s={size[0]}x{size[1]}:r=25:d={frames / 25}"),
        *("-vf", graph, "-f", "null", "-"),
    )
    assert f"fp32, {form}" in result.stderr or not form
    found = final_line(result)
    told = stats()
    pixels = size[0] * size[1]
    # 3 to 8 by 3x3, 8 to 16 by 3x3 at every other pixel, 16 to 3 by 4x4 transposed from there.
    products = pixels * 3 * 8 * 9 + pixels / 4 * (8 * 16 * 9 + 16 * 3 * 16)
    assert told["gflops"] == pytest.approx(2 * products * found[2] / 1e9, rel=0.05)
    assert 0 < told["share_of_peak"] < 1
    logged = float(re.search(r"([\d.]+) GFLOP/s", result.stderr)[1])
    assert logged == pytest.approx(told["gflops"], abs=0.06)  # each is rounded by itself


@pytest.mark.parametrize("isolate", [0, 1])
@pytest.mark.parametrize(
    "form,threads,told",
    [
        ("fused", 1, "fp32, fused"),
        ("fused", 2, "fp32, frozen (fused programs use one thread)"),
        ("frozen", 2, "fp32, frozen"),
    ],
)
def test_form_is_the_one_that_runs(model, stats, form, threads, told, isolate):
    options = dict(optimize=form, threads=threads, isolate=isolate, workers=1, tune=0)
    result = support.succeed(
        *("-f", "lavfi", "-i", "testsrc=s=64x48:r=25:d=0.2"),
        *("-vf", support.dnn(model("counted"), stats=stats.path, **options), "-f", "null", "-"),
    )
    plural = "" if threads == 1 else "s"
    line = f"1 worker of {threads} thread{plural}, 2 requests of 1 frame in flight; {told}"
    assert line in result.filter_lines("info"), str(result)
    assert stats()["form"] == told
