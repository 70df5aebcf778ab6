# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What may stand in --vf and after --."""
from fractions import Fraction

import pytest

import farms  # the package's folder
import arguments
import chain as chains
import planning
import slice as slices
import support
from plan import Refused


def options(text):
    return [each.options for each in chains.parse(text)]


@pytest.mark.parametrize("text, names", [
    ("hflip", ["hflip"]),
    ("scale=2*iw:-1 , vflip@x", ["scale", "vflip"]),
    ("split[a][b];[a]hflip[c];[b][c]hstack", ["split", "hflip", "hstack"]),
    ("drawtext=text='a,b;c[d]':x=1,null", ["drawtext", "null"]),
    (r"drawtext=text=a\,b,null", ["drawtext", "null"]),
])
def test_filters_are_found(text, names):
    assert [each.name for each in chains.parse(text)] == names


@pytest.mark.parametrize("path", ["a.pt", "with blank.pt", "a:b.pt", "it's.pt", "a,b;c[d].pt",
                                  "back\\slash.pt", "100%d{}.pt"])
def test_values_are_read_as_ffmpeg_does(path):
    text = f"{support.dnn(path)},hflip"
    assert options(text)[0]["model"] == path
    added = chains.with_options(text, chains.parse(text), {0: {"stats": path}})
    assert options(added)[0]["stats"] == path
    assert [each.name for each in chains.parse(added)] == ["dnn_torch", "hflip"]


@pytest.mark.parametrize("text, reason", [
    ("fps=30", "makes another number of frames"), ("minterpolate", "another number of frames"),
    ("setpts=2*PTS", "other times"), ("yadif=1", "mode=send_frame"), ("bwdif", "mode=send_frame"),
    ("hqdn3d", "--halo SECONDS"), ("unheard_of", "unheard_of is a filter of unknown memory"),
    ("noise=alls=9", "number of the frame"), ("showinfo", "prints lines"),
    ("sendcmd=c='1 x y z'", "number of the frame"),
    ("crop=x=n", "n in 'n' would begin anew"), ("hue=h=n*3", "begin anew"),
    ("rotate=random(1)", "begin anew"), ("hflip=enable='between(n,1,2)'", "begin anew"),
    ("drawtext=text='%{n}'", "would differ"), ("drawtext=text='%{localtime}'", "would differ"),
    ("movie=x.mp4[a];[in][a]overlay", "another source"), ("[in]hflip[out]", "label"),
    ("hflip;vflip", "label"), ("hflip,", "cannot be read"), ("", "cannot be read"),
    ("sws_flags=bilinear;hflip", "-sws_flags"), ("dnn_torch_detect=m.pt:every=2", "every="),
    ("dnn_torch=m.pt:deadline=40ms:late=drop", "deadline="),
])
def test_a_chain_is_refused(text, reason):
    with pytest.raises(Refused, match="^--vf: ") as refusal:
        chains.check(chains.parse(text), False)
    assert reason in str(refusal.value)


@pytest.mark.parametrize("text, halo", [
    ("hflip", (0, 0)), ("yadif=mode=0,tmix=frames=4", (5, 2)), ("atadenoise=s=5", (2, 2)),
    ("crop=w=in_w/2:x=t", (0, 0)), ("drawbox=enable='gt(t,1)'", (0, 0)),
])
def test_what_is_known_of_memory(text, halo):
    assert chains.check(chains.parse(text), False) == halo


def source_of(total, cuts):
    source = planning.Source("", 0, Fraction(1, 25), Fraction(25), "", Fraction(0), {})
    source.pts, source.cuts = list(range(total)), cuts
    source.frames = [(i, 1, "") for i in range(total)]
    return source


@pytest.mark.parametrize("cuts, length, seconds, needs_cuts, borders", [
    ([11, 15, 31, 34], 12, 0, False, [0, 11, 31]),
    ([11, 15, 31, 34], 12, 1, False, [0, 11, 23, 34, 46]),
    ([11, 15, 31, 34], 12, 1, True, [0, 11, 31]),
    ([], 10, 1, False, [0, 10, 20, 30, 40]), ([5], 100, 0, False, [0]), ([47], 24, 0, False, [0, 47]),
    ([1, 2, 3, 46, 47], 1, 0, False, [0, 1, 2, 3, 46, 47]),
])
def test_borders_of_models_that_forget_at_cuts(cuts, length, seconds, needs_cuts, borders):
    halo = planning.Halo(0, 0, Fraction(seconds), True, needs_cuts)
    made = planning.cut(source_of(48, cuts), halo, length)
    assert [each.first for each in made] == borders
    assert sum(each.count for each in made) == 48


@pytest.mark.parametrize("first, behind, wanted", [
    (11, 0, (8, 18)), (31, 0, (28, 38)), (31, 1, (13, 38)), (11, 1, (0, 18)), (0, 0, (0, 7)),
])
def test_decoding_begins_before_a_cut(first, behind, wanted):
    """At the cut before, if a filter behind the model looks at what the model made."""
    halo = planning.Halo(2, 1, Fraction(0), True, False, behind)
    assert halo.range(source_of(48, [11, 15, 31]), first, 6) == wanted


def test_a_filter_of_unknown_memory_is_the_users_to_know():
    assert chains.check(chains.parse("hqdn3d,unheard_of"), True) == (0, 0)


@pytest.mark.parametrize("words, reason", [
    (["-pass", "1"], "two passes"), (["-x264-params", "pass=1:stats=x"], "two passes"),
    (["-vf", "hflip"], "--vf"), (["-i", "x"], "one source"), (["-ss", "1"], "cut"),
    (["-r", "30"], "times"), (["-frames:v", "3"], "cut"), (["out.mkv"], "no option"),
    (["-c:v", "copy"], "have to be encoded"), (["-map", "0"], "all streams"),
    (["-crf"], "no value"), (["-f", "mp4"], "-o"), (["-s", "1x1"], "--vf"),
])
def test_arguments_are_refused(words, reason):
    with pytest.raises(Refused, match=reason):
        arguments.read(words)


def test_arguments_go_where_they_belong():
    given = arguments.read(["-c:v", "ffv1", "-level", "3", "-c:a", "aac", "-b:a", "96k", "-sn",
                            "-movflags", "+faststart", "-metadata", "title=a b", "-filter:a",
                            "volume=2"])
    assert given.encoder == ["-c:v", "ffv1", "-level", "3", "-threads", "4"]
    assert given.others == ["-c:a", "aac", "-b:a", "96k", "-sn", "-movflags", "+faststart",
                            "-metadata", "title=a b", "-filter:a", "volume=2"]
    assert not given.warnings


def test_a_rate_is_warned_of():
    assert "-b:v 1M" in arguments.read(["-b:v", "1M"]).warnings[0]


def test_lines_of_showinfo_that_stand_between_others():
    """As of FFmpeg 7, whose threads print at once."""
    shown, log = slices.Shown(), """\
[showinfo@farm @ 0x7f] [info] config in time_base: 1/25, frame_rate: 25/1
[showinfo@farm @ 0x7f] [info] n:   0 pts:      4 pts_time:0.16 fmt:gray checksum:07646800 plane_checksum:[AB
[out#0/nut @ 0x56] Output #0, nut, to 'x':
  Stream #0:0: Videon:   1 pts:     -5 pts_time:0.2 fmt:gray checksum:17646800 plane_checksum:[AB : ffv1
n:   2 pts: NOPTS pts_time:0.2 fmt:gray checksum:27646800 plane_checksum:[AB] mean:[1]
 25 fps, 25 tbn
[showinfo@farm @ 0x7f] [info] n:   3 pts:      7 pts_time:0.28 fmt:gray   Stream #0:1
[out#1/framehash @ 0x56] Output #1, framehash, to 'pipe:':
 checksum:37646800 plane_checksum:[AB] n:   4 pts:      8 pts_time:0.32 fmt:gray Metadata:
checksum:47646800 plane_checksum:[AB] mean:[1]
""".splitlines()
    left = [line for line in log if not shown.take(line)]
    assert shown.tick == Fraction(1, 25)
    assert shown.frames == [(4, "07646800"), (-5, "17646800"), (None, "27646800"),
                            (7, "37646800"), (8, "47646800")]
    assert left == [log[2], log[5], log[7]]


@pytest.mark.parametrize("numbers", [[5], [0, 1, 2, 3], [0, 33, 67, 100, 133, 500, 501], [3, 3, 3]])
def test_steps_say_all(numbers):
    assert list(slices.numbers_of(slices.steps(numbers))) == numbers
