# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`calibration`: which pictures the engine gets to calibrate int8 with, and what becomes of it.

The scripted engine writes down the first sample of each picture that it gets, and that of a frame
from this file is its number times STEP.
"""
import os

import numpy
import pictures
import pytest
import support
import test_int8
import torch
from torch import Tensor, nn

WIDTH, HEIGHT, STEP = 48, 32, 5
MOST = 8  # as host/model/samples.h says
SHAPE = f"3x{HEIGHT}x{WIDTH}"


def numbered(count, width=WIDTH, height=HEIGHT, pixel_format="rgb24"):
    frames = pictures.make_frames(pixel_format, width, height, count)
    for number, frame in enumerate(frames):
        frame.image[:] = number * STEP
    return pictures.raw(frames, pixel_format)


@pytest.fixture
def calibrate(script, tmp_path):
    """Runs numbered frames; returns the lines that the engine wrote, and the result."""

    def run(calibration, frames=20, graph="{}", settings=(), wanted=None, **options):
        log = tmp_path / "samples"
        log.unlink(missing_ok=True)
        model = script(samples_log=log, gain=-1, offset=1, **dict(settings))
        filters = support.fake(
            model, **{"precision": "int8", "calibration": calibration, **options}
        )
        source = numbered(frames)
        result = support.ffmpeg(
            *pictures.raw_input("rgb24", WIDTH, HEIGHT),
            *("-vf", graph.format(filters), "-f", "rawvideo", "-"),
            stdin=source,
            fake_engine=True,
        )
        assert result.returncode == 0, result
        if wanted is None:
            wanted = bytes(255 - byte for byte in source)
        assert result.stdout == wanted
        return log.read_text().splitlines() if log.exists() else [], result

    return run


def line_of(numbers, shape=SHAPE):
    return " ".join([shape, *(str(number * STEP) for number in numbers)])


@pytest.fixture
def clip(tmp_path):
    """Writes numbered frames to a file; returns its path."""

    def write(frames, name="clip.mkv", size=(WIDTH, HEIGHT), coder=("-c:v", "ffv1")):
        path = tmp_path / name
        source = pictures.raw_input("rgb24", *size)
        support.succeed(
            *source, *coder, path, stdin=numbered(frames, *size), loglevel="error", plain=True
        )
        return path

    return write


def test_the_clip_is_not_overwritten(script, clip):
    path = clip(3)
    before = path.read_bytes()
    graph = support.fake(script(), precision="int8", calibration=path, stats=path)
    result = support.ffmpeg("-f", "lavfi", "-i", "color=s=48x32:d=0.1", "-vf", graph, "-f", "null",
                            "-", fake_engine=True)
    support.assert_fails_clearly(result, "stats=.* names the calibration's clip, which it would")
    assert path.read_bytes() == before


# ---- with the stream's first frames -----------------------------------------


@pytest.mark.parametrize("frames", [1, 2, MOST - 1, MOST, MOST + 1, 20])
@pytest.mark.parametrize("options", [{}, {"batch_size": 3}, {"workers": 4, "nireq": 8}], ids=str)
def test_first_frames(calibrate, frames, options):
    lines, _ = calibrate("first", frames, **options)
    assert lines == [line_of(range(min(frames, MOST)))]


def test_commands_come_before_frames_that_wait(calibrate):
    """What a command asks for that the model cannot have ends nothing."""
    wanted = bytes(255 - byte for byte in numbered(20))
    lines, result = calibrate(
        "first",
        graph="sendcmd=c='0.12 dnn_torch strength 0.5',{},scale=48:32:flags=neighbor",
        settings={"scale": 2},
        wanted=wanted,
    )
    assert lines == [line_of(range(MOST))]
    assert [line for line in result.filter_lines() if "strength mixes" in line], result


def test_nothing_is_kept_back_without_async(calibrate):
    lines, _ = calibrate("first", **{"async": 0})
    assert lines == [line_of([0])]


def test_frames_that_the_timeline_excludes_do_not_count(calibrate):
    source = numbered(20)
    size = len(source) // 20
    wanted = source[: 3 * size] + bytes(255 - byte for byte in source[3 * size :])
    lines, _ = calibrate("first", wanted=wanted, enable="gte(n,3)")
    assert lines == [line_of(range(3, MOST))]
    lines, _ = calibrate("first", wanted=source, enable="gte(n,30)")
    assert lines == [line_of(range(MOST))]


def test_each_size_of_frames_has_its_own(calibrate):
    """Those that came before a change, and the first one after it."""
    lines, _ = calibrate(
        "first",
        graph="scale=w='if(lt(n,3),48,24)':h='if(lt(n,3),32,16)':eval=frame:flags=neighbor,{},"
        f"scale={WIDTH}:{HEIGHT}:flags=neighbor",
        settings={},
    )
    # FFmpeg 9.0 counts the frame with which scale begins twice.
    assert lines in [
        [line_of(range(change)), line_of([change], "3x16x24")] for change in (2, 3)
    ], lines


@pytest.mark.parametrize("calibration", ["", "generated"])
def test_nothing_is_given_unless_it_is_asked_for(calibrate, calibration):
    lines, result = calibrate(calibration)
    assert not lines and not result.errors


@pytest.mark.parametrize("precision", ["auto", "bf16"])
def test_other_precisions_are_not_calibrated(calibrate, precision):
    lines, result = calibrate("first", precision=precision)
    assert not lines
    assert [line for line in result.filter_lines() if "precision=int8 alone" in line], result


def test_frames_in_tiles_are_seen_whole(calibrate):
    lines, _ = calibrate("first", tile="16x16", overlap=0)
    assert lines == [line_of(range(MOST))]


def test_of_large_frames_the_middle_is_seen(script, tmp_path):
    log = tmp_path / "samples"
    model = script(samples_log=log)
    support.succeed(
        *("-f", "lavfi", "-i", "color=gray:s=2048x1024:r=1:d=2,format=rgb24"),
        *("-vf", support.fake(model, precision="int8", calibration="first")),
        *("-f", "null", "-"),
        fake_engine=True,
    )
    channels, height, width = map(int, log.read_text().split()[0].split("x"))
    assert channels == 3 and abs(width - 2 * height) <= 2
    assert 0.99 * 2**19 < width * height <= 2**19


# ---- with a file ------------------------------------------------------------


def test_frames_of_a_file_lie_far_apart(calibrate, clip):
    """Each near the middle of an eighth of the file: where a seek for it leads."""
    lines, _ = calibrate(clip(48), frames=2)
    numbers = [int(word) / STEP for word in lines[0].split()[1:]]
    assert len(numbers) == MOST
    assert all(abs(number - wanted) <= 4 for number, wanted in zip(numbers, range(3, 48, 6)))


@pytest.mark.parametrize("frames", [1, 3, MOST])
def test_short_files(calibrate, clip, frames):
    lines, _ = calibrate(clip(frames), frames=2)
    assert len(lines) == 1
    numbers = [int(word) // STEP for word in lines[0].split()[1:]]
    assert numbers == sorted(set(numbers)) and len(numbers) >= min(frames, 3)


def test_files_of_another_size_and_format(calibrate, clip):
    coder = ("-c:v", "mpeg4", "-q:v", "1", "-g", "12", "-pix_fmt", "yuv420p")
    lines, _ = calibrate(clip(48, "clip.avi", (96, 64), coder), frames=2)
    shape, *numbers = lines[0].split()
    assert shape == "3x64x96" and len(numbers) == MOST
    assert [round(int(number) / STEP) for number in numbers] == sorted(
        round(int(number) / STEP) for number in numbers
    )


@pytest.mark.parametrize("name", ["picture.png", "picture.jpg", "picture", "p%d.png", "p%03d.jpg"])
def test_a_picture_will_do(calibrate, clip, tmp_path, name):
    """Whatever it is called: no pattern of other files."""
    picture = clip(1, "written.jpg" if "jpg" in name else "written.png", coder=("-frames:v", "1"))
    lines, _ = calibrate(picture.rename(tmp_path / name), frames=2)
    assert lines == [line_of([0])]


def test_of_large_pictures_smaller_ones_are_made(calibrate, clip):
    lines, _ = calibrate(clip(1, "large.png", (4096, 2048), ("-frames:v", "1")), frames=2)
    channels, height, width = map(int, lines[0].split()[0].split("x"))
    assert channels == 3 and abs(width - 2 * height) <= 2
    assert 0.99 * 2**19 < width * height <= 2**19


def test_files_of_unknown_length(calibrate, clip):
    lines, _ = calibrate(clip(48, "clip.y4m", coder=("-pix_fmt", "yuv444p")), frames=2)
    numbers = [int(word) for word in lines[0].split()[1:]]
    assert len(numbers) > 1 and numbers == sorted(set(numbers))


def fails(calibration, *phrases):
    result = support.ffmpeg(
        *("-f", "lavfi", "-i", f"testsrc2=s={WIDTH}x{HEIGHT}:d=0.2"),
        "-vf",
        support.dnn(support.REPOSITORY / "models/upscale2x.pt", calibration=calibration, precision="int8"),
        *("-f", "null", "-"),
    )
    support.assert_fails_clearly(result, *phrases)


def test_files_that_cannot_be_read(tmp_path):
    text = tmp_path / "text"
    text.write_text("no clip\n" * 100)
    empty = tmp_path / "empty"
    empty.touch()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    fails(tmp_path / "none", "calibration", "none", "No such file")
    fails(tmp_path, "calibration", "no regular file")
    fails(pipe, "calibration", "no regular file")
    fails(text, "calibration", "text", "cannot be read")
    fails(empty, "calibration", "empty", "cannot be read")


def test_playlists_open_no_other_files(tmp_path, clip):
    """A named pipe would be waited for without an end."""
    inner = clip(3, "inner.ts", coder=("-c:v", "mpeg2video"))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for name in [inner, pipe, "list"]:
        concat, hls = tmp_path / "list", tmp_path / "list.m3u8"
        concat.write_text(f"ffconcat version 1.0\nfile {name}\n")
        hls.write_text(f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{name}\n#EXT-X-ENDLIST\n")
        for playlist in [concat, hls]:
            fails(playlist, "calibration", playlist.name, "cannot be read")


def test_files_without_pictures(tmp_path):
    sound = tmp_path / "sound.wav"
    support.succeed("-f", "lavfi", "-i", "sine=d=0.1", sound, plain=True)
    fails(sound, "calibration", "sound.wav", "cannot be read")


# ---- what becomes of it -----------------------------------------------------


def frames_of(model, precision, **options):
    blurred = "gblur=sigma=3,hue=s=0.5,format=gbrp"
    return test_int8.frames(model, precision, blurred, **options)


def test_soft_clips_lose_less(tmp_path):
    """Pictures that are the same for all have hard edges, for which they leave room."""
    model = support.REPOSITORY / "models/compact2x.pth"
    soft = tmp_path / "soft.mkv"
    support.succeed(
        *("-f", "lavfi", "-i", f"testsrc2=s={test_int8.WIDTH}x{test_int8.HEIGHT}:d=0.4"),
        *("-vf", "gblur=sigma=3,hue=s=0.5", "-c:v", "ffv1", soft),
        plain=True,
    )
    plain, _ = frames_of(model, "fp32")
    losses = {}
    for calibration in ["generated", "first", soft]:
        made, result = frames_of(model, "int8", calibration=calibration)
        test_int8.said(result)
        assert ("in parts of the clip" in result.stderr) == (calibration != "generated"), result
        losses[calibration] = min(test_int8.decibels(plain, made))
    assert losses["first"] > losses["generated"] + 2 and losses[soft] > losses["generated"] + 2


def test_black_frames_tell_nothing(tmp_path):
    model = support.REPOSITORY / "models/compact2x.pth"
    usual, first = (
        test_int8.frames(
            model, "int8", "fade=in:20:2,format=gbrp", calibration=calibration
        )
        for calibration in ["generated", "first"]
    )
    test_int8.said(first[1])
    assert "the clip's pictures are flat" in first[1].stderr, first[1]
    assert (usual[0] == first[0]).all()


@pytest.mark.parametrize("isolate", [0, 1])
def test_results_do_not_depend_on_workers(isolate):
    model = support.REPOSITORY / "models/denoise.pt"
    made = [
        frames_of(model, "int8", calibration="first", isolate=isolate, **options)[0]
        for options in [{"workers": 1}, {"workers": 3}, {"batch_size": 2}]
    ]
    assert (made[0] == made[1]).all() and (made[0] == made[2]).all()


class SmallChroma(nn.Module):
    """Looks at differences between channels with small numbers, of which much becomes.

    Grey pictures have none, so that int8 has no code for them.
    """

    def __init__(self, small: float = 0.0018):
        super().__init__()
        self.first, self.second, self.third = (
            nn.Conv2d(*channels, 3, padding=1) for channels in [(3, 8), (8, 8), (8, 3)]
        )
        with torch.no_grad():
            for weights in self.parameters():
                weights.zero_()
            for channel in range(3):
                self.first.weight[channel, channel, 1, 1] = 1
                self.second.weight[channel, channel, 1, 1] = 1
                self.third.weight[channel, channel, 1, 1] = 0.5
                self.first.weight[3 + channel, channel, 1, 1] = small
                self.first.weight[3 + channel, (channel + 1) % 3, 1, 1] = -small
                self.second.weight[3 + channel, 3 + channel, 1, 1] = 0.6 / small
                self.third.weight[channel, 3 + channel, 1, 1] = 0.8

    def forward(self, x: Tensor) -> Tensor:
        return self.third(torch.relu(self.second(torch.relu(self.first(x)))))


def test_what_was_measured_with_another_clip_is_tried_again(tmp_path):
    """A record of the cache says nothing of what this clip calibrates."""
    model = tmp_path / "net.pt"
    torch.jit.script(SmallChroma().eval()).save(str(model))
    coloured, grey_at_first = "null", "hue=s='if(lt(t,0.5),0,1)'"

    def run(graph, precision, **options):
        result = support.succeed(
            *("-f", "lavfi", "-i", "testsrc2=s=160x96:d=1"),
            "-vf",
            f"{graph},format=gbrp,{support.dnn(model, precision=precision, **options)}",
            *("-pix_fmt", "rgb24", "-f", "rawvideo", "-"),
            env={"DNN_TORCH_CACHE": str(tmp_path / "cache")},
        )
        return numpy.frombuffer(result.stdout, numpy.uint8).astype(float) / 255, result

    plain, _ = run(grey_at_first, "fp32")
    _, result = run(coloured, "int8", calibration="first")
    assert "in parts of the clip" in result.stderr or "fused programs" in result.stderr, result
    made, _ = run(grey_at_first, "int8", calibration="first")
    frames = [each.reshape(25, -1) for each in (plain, made)]
    assert min(test_int8.decibels(*frames)) > 30
