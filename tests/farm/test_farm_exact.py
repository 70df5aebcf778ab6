# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Joined slices have the frames of one whole run, at the same times."""
import json
import struct

import pytest

import support
from farms import (NTSC, OPEN, clip, done, frames_of, judge, make, plan, plan_of, some,
                   whole_run)

SOUND = ["-f", "lavfi", "-i", "sine=r=48000"]


def h264(folder, name, *more, frames=60):
    return make(folder / name, *NTSC, "-frames:v", frames, "-c:v", "libx264", *more)


def b_frames(folder):
    return h264(folder, "b.mp4", "-g", "25", "-bf", "3")


def edit_list(folder):
    return make(folder / "edit.mp4", "-ss", "0.7", "-i", b_frames(folder), "-c", "copy")


def open_groups(folder):
    return h264(folder, "open.mkv", "-x264-params", OPEN)


def open_groups_in_ts(folder):
    return make(folder / "open.ts", "-i", open_groups(folder), "-c", "copy")


def open_groups_of_h265(folder):
    return make(folder / "open5.mkv", *NTSC, "-frames:v", 50, "-c:v", "libx265", "-x265-params",
                OPEN + ":log-level=none")


def mpeg2_in_ts(folder):
    return make(folder / "two.ts", *NTSC, *SOUND, "-t", 2, "-c:v", "mpeg2video", "-bf", 2, "-g",
                12, "-c:a", "mp2", "-output_ts_offset", 1000)


def changing_rate(folder):
    return make(folder / "vfr.mkv", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=50", "-vf",
                "select='not(mod(n,7))+not(mod(n,5))+lt(n,20)'", "-fps_mode", "vfr", "-frames:v",
                50, "-c:v", "libx264", "-g", 20, "-enc_time_base", "1/1000")


def without_times(folder):
    return make(folder / "raw.h264", "-i", b_frames(folder), "-c", "copy")


def packed_in_avi(folder):
    return make(folder / "b.avi", *NTSC, "-frames:v", 50, "-c:v", "mpeg4", "-bf", 2, "-g", 20)


def interlaced(folder):
    return make(folder / "fields.mkv", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=50", "-vf",
                "tinterlace=interleave_top,setfield=tff", "-frames:v", 40, "-c:v", "libx264",
                "-flags", "+ildct+ilme", "-g", 12)


def sound_first(folder):
    return make(folder / "early.mp4", *SOUND, "-itsoffset", "0.5", "-i", b_frames(folder), "-map",
                "1:v", "-map", "0:a", "-t", 2, "-c:v", "copy", "-c:a", "aac")


CLIPS = some([open_groups_in_ts, edit_list, changing_rate, without_times, sound_first, interlaced,
              b_frames, open_groups, open_groups_of_h265, mpeg2_in_ts, packed_in_avi], 6)


@pytest.mark.parametrize("source", CLIPS, ids=lambda each: each.__name__)
def test_a_clip(source, tmp_path):
    made = judge(source(tmp_path), tmp_path, 23)
    assert len(plan_of(made)["slices"]) > 1


@pytest.mark.parametrize("frames", some([7, 1, 2, 100, 500], 2))
def test_a_length(frames, tmp_path):
    source = h264(tmp_path, "in.mp4", "-g", 5, "-bf", 2, frames=12)
    made = judge(source, tmp_path, frames)
    assert len(plan_of(made)["slices"]) == -(-12 // frames)


@pytest.mark.parametrize("chain", some(
    ["yadif", "tmix=frames=5", "split[a][b];[a]vflip[c];[b][c]hstack", "atadenoise",
     "bwdif=mode=send_frame", "drawbox=enable='gt(t,1)':w=20"], 3))
def test_a_chain_that_looks_around(chain, tmp_path):
    judge(interlaced(tmp_path), tmp_path, 17, chain=chain)


def test_a_halo_is_needed(tmp_path):
    """The judge would see a halo that is too short."""
    made = plan(interlaced(tmp_path), tmp_path / "o.mkv", chain="tmix=frames=5", frames=17)
    values = plan_of(made)
    assert values["slices"][1][6] == 17 + 4
    assert values["slices"][0][6] == 17


def times_of(path):
    return [line.split(",")[2] for line in frames_of(path) if not line.startswith("#")]


@pytest.mark.parametrize("ending, encoder", some([
    ("mp4", ["-c:v", "libx264"]), ("mkv", ["-c:v", "libx264", "-bf", "3"]),
    ("mov", ["-c:v", "prores_ks"]), ("mp4", ["-c:v", "libx265", "-tag:v", "hvc1"])], 2))
def test_times_and_sound_in(ending, encoder, tmp_path):
    """Of a lossy encoder, slices differ from one run at their seams, and times do not."""
    source = sound_first(tmp_path)
    output = tmp_path / f"joined.{ending}"
    made = plan(source, output, frames=20, after=encoder)
    done("run", made)
    done("join", made)
    whole = tmp_path / f"whole.{ending}"
    whole_run(source, whole, plan_of(made), "hflip", encoder)
    assert times_of(output) == times_of(whole)
    assert frames_of(output, "0:a") == frames_of(whole, "0:a")
    done("verify", made, "--frames")


@pytest.mark.parametrize("encoder, ending", some([("qtrle", "mov"), ("exr", "mkv"),
                                                  ("tiff", "mov")], 2))
def test_codecs_that_nut_has_no_name_for(encoder, ending, tmp_path):
    made = judge(b_frames(tmp_path), tmp_path, 23, after=["-c:v", encoder], ending=ending)
    done("verify", made, "--frames")
    slice_ = made / "slices" / f"00001.{ending}"
    before = slice_.read_bytes()
    slice_.unlink()
    done("run", made, "--slice", "1")
    assert slice_.read_bytes() == before


def streams_of(path):
    text = support.execute([support.sibling("ffprobe"), "-v", "error", "-of", "json",
                            "-show_streams", "-show_chapters", "-show_format", path]).stdout
    return json.loads(text)


def test_tags_and_chapters(tmp_path):
    (tmp_path / "meta").write_text(
        ";FFMETADATA1\ntitle=a film\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=500\ntitle=one\n"
        "[CHAPTER]\nTIMEBASE=1/1000\nSTART=500\nEND=1600\ntitle=two\n")
    (tmp_path / "text.srt").write_text("1\n00:00:00,200 --> 00:00:01,000\nwords\n\n")
    source = make(
        tmp_path / "in.mkv", *NTSC, *SOUND, "-i", tmp_path / "text.srt", "-i", tmp_path / "meta",
        "-map", 0, "-map", 1, "-map", 2, "-map_metadata", 3, "-t", "1.6", "-aspect", "16:9",
        *support.colour_tags(color_range="tv", color_primaries="bt709", color_trc="bt709",
                             colorspace="bt709"),
        "-c:v", "libx264", "-c:a", "aac", "-metadata:s:a:0", "language=deu", "-attach",
        tmp_path / "meta", "-metadata:s:t:0", "mimetype=text/plain", "-metadata:s:t:0",
        "filename=meta.txt")
    output = tmp_path / "joined.mkv"
    made = plan(source, output, frames=20)
    done("run", made)
    done("join", made)
    found = streams_of(output)
    kinds = [each["codec_type"] for each in found["streams"]]
    assert kinds == ["video", "audio", "subtitle", "attachment"]
    video, audio = found["streams"][:2]
    assert video["sample_aspect_ratio"] == "4:3"
    assert (video["color_primaries"], video["color_transfer"], video["color_space"],
            video["color_range"]) == ("bt709", "bt709", "bt709", "tv")
    assert audio["tags"]["language"] == "deu"
    assert found["format"]["tags"]["title"] == "a film"
    assert [each["tags"]["title"] for each in found["chapters"]] == ["one", "two"]


MASTERING = struct.pack(">I4s8H2I", 32, b"mdcv", 13250, 34500, 7500, 3000, 34000, 16000, 15635,
                        16450, 10000000, 50)
LIGHT = struct.pack(">I4s2H", 12, b"clli", 1000, 400)


def grown(boxes, path, more):
    """MP4's boxes, with more of them in the box at that path."""
    made, place = b"", 0
    while place < len(boxes):
        size, kind = struct.unpack_from(">I4s", boxes, place)
        body = boxes[place + 8:place + size]
        if path and kind == path[0]:
            head = 8 if kind == b"stsd" else 0
            body = (body[:head] + grown(body[head:], path[1:], more) if path[1:] else body + more)
        made += struct.pack(">I4s", len(body) + 8, kind) + body
        place += size
    return made


def hdr(folder):
    plain = b_frames(folder).read_bytes()
    path = [b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd", b"avc1"]
    source = folder / "hdr.mp4"
    source.write_bytes(grown(plain, path, MASTERING + LIGHT))
    return source


@pytest.mark.parametrize("ending, encoder", some([
    ("mp4", ["-c:v", "libx264", "-bf", "3"]), ("mkv", ["-c:v", "ffv1"]),
    ("mkv", ["-c:v", "libx264", "-bf", "3"]), ("mov", ["-c:v", "qtrle"])], 2))
def test_mastering_display_and_content_light(ending, encoder, tmp_path):
    source, output = hdr(tmp_path), tmp_path / f"joined.{ending}"
    made = plan(source, output, frames=23, after=encoder)
    done("run", made)
    done("join", made)
    whole = whole_run(source, tmp_path / f"whole.{ending}", plan_of(made), "hflip", encoder)
    one, other = (streams_of(path)["streams"][0]["side_data_list"] for path in (output, whole))
    kinds = [each["side_data_type"] for each in one]
    assert "Mastering display metadata" in kinds and "Content light level metadata" in kinds
    assert one == other
    assert times_of(output) == times_of(whole)
    done("verify", made, "--frames")


def test_rotation_is_done_once(tmp_path):
    upright = clip(tmp_path, "upright.mp4")
    source = make(tmp_path / "turned.mp4", "-i", upright, "-c", "copy", "-metadata:s:v",
                  "rotate=90")
    judge(source, tmp_path, 20, ending="mkv")
    video = streams_of(tmp_path / "joined20.mkv")["streams"][0]
    assert (video["width"], video["height"]) in ((48, 64), (64, 48))
    assert not any("rotation" in each for each in video.get("side_data_list", []))


@pytest.mark.parametrize("frames, b_frames", some(
    [(3, 3), (6, 0), (1, 3), (2, 3), (15, 3), (24, 0)], 3))
def test_slices_whose_start_libavformat_does_not_know(frames, b_frames, tmp_path):
    source = clip(tmp_path, "in.mkv", 2 * frames if frames > 3 else 8, "24")
    after = ["-c:v", "libx264", "-bf", str(b_frames)]
    made = plan(source, tmp_path / "o.mp4", frames=frames, after=after)
    done("run", made)
    done("join", made)
    whole = whole_run(source, tmp_path / "whole.mp4", plan_of(made), "hflip", after)
    assert times_of(tmp_path / "o.mp4") == times_of(whole)


def test_colours_that_ffprobe_names_otherwise_than_options(tmp_path):
    source = clip(tmp_path)
    output = tmp_path / "o.mkv"
    made = plan(source, output, chain="format=gbrp", frames=20,
                after=("-c:v", "ffv1", "-color_trc", "gamma28", "-color_primaries", "bt470bg"))
    assert plan_of(made)["tags"]["color_space"] == "gbr"
    done("run", made)
    done("join", made)
    video = streams_of(output)["streams"][0]
    assert (video["color_space"], video["color_transfer"], video["color_primaries"]) == (
        "gbr", "bt470bg", "bt470bg")
