# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""dnn-torch compare: what its page holds, and what ends it."""
import base64
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import time

import numpy
import pytest
import support
import torch

pytestmark = pytest.mark.skipif(support.PATCHED, reason="the patched ffmpeg needs no launcher")


@pytest.fixture
def clip(tmp_path):
    """Three seconds of 64x48, ten frames each."""
    return make_clip(tmp_path / "clip.mkv")


def make_clip(path, source="testsrc2=s=64x48:d=3:r=10", *arguments):
    support.succeed("-f", "lavfi", "-i", source, "-c:v", "ffv1", *arguments, path, plain=True)
    return path


def compare(folder, *arguments, **options):
    """In an empty folder for what is temporary, which is empty afterwards as well."""
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    result = support.execute([support.LAUNCHER, "compare", *arguments], cwd=folder,
                             env={"TMPDIR": str(temporary)}, **options)
    assert not list(temporary.iterdir()), "left behind"
    return result


def data_in(page):
    text = page.read_text(encoding="utf-8")
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert len(found) == 1 and not set(found[0]) & set("<>&\u2028\u2029")
    return json.loads(found[0])


def compared(folder, *arguments, **options):
    result = compare(folder, *arguments, **options)
    assert result.returncode == 0 and result.stderr == "", str(result)
    return data_in(folder / "compare.html")


def models_of(data):
    return [column for column in data["columns"] if column["kind"] == "model"]


def frame_of(clip, number):
    """As RGB."""
    graph = (f"select=gte(n\\,{number}),scale=flags=bicubic+accurate_rnd+full_chroma_int,"
             "format=rgb24")  # fmt: skip
    raw = support.succeed("-i", clip, "-vf", graph, "-frames:v", "1", "-f", "rawvideo", "-",
                          plain=True).stdout  # fmt: skip
    return numpy.frombuffer(raw, numpy.uint8).reshape(48, 64, 3).astype(float)


def head_of(png):
    """Width, height, bits of a sample and kind of samples (2: RGB)."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">IIBB", png[16:26])


def pixels(picture):
    assert picture["uri"].startswith("data:image/png;base64,")
    png = base64.b64decode(picture["uri"].split(",")[1])
    width, height, *kind = head_of(png)
    assert (width, height) == (picture["width"], picture["height"]) and kind == [8, 2]
    raw = support.succeed("-f", "png_pipe", "-i", "-", "-f", "rawvideo", "-", stdin=png, plain=True)
    return numpy.frombuffer(raw.stdout, numpy.uint8).reshape(height, width, 3).astype(float)


# ---- what the page holds ----------------------------------------------------


def test_data(quick_model, tmp_path):
    clip = make_clip(tmp_path / "clip.mkv", "testsrc2=s=64x48:d=3:r=10,format=gray")
    data = compared(tmp_path, clip, quick_model("enlarge2"), quick_model("invert"), "--frames", "2")
    assert data["clip"] == "clip.mkv" and data["program"].startswith("dnn-torch ")
    assert data["machine"] and data["options"] == "" and data["reference"] == ""
    assert len(data["frames"]) == 2
    first, second = (frame["seconds"] for frame in data["frames"])
    assert 0 <= first < 1.6 and 1.4 < second < 3
    for frame in data["frames"]:
        assert (frame["width"], frame["height"], frame["crop"]) == (128, 96, None)
    columns = data["columns"]
    assert [column["kind"] for column in columns] == ["source", "model", "model"]
    assert [column["name"] for column in columns] == ["clip.mkv", "enlarge2.pt", "invert.pt"]
    for column in columns:
        assert column["failure"] == "" and column["scores"] == [None, None]
        assert (column["seconds"] is None) == (column["kind"] == "source")
        assert all(len(fact) == 2 and all(fact) for fact in column["facts"])
    facts = dict(columns[1]["facts"])
    assert facts["licence"] == "unknown" and facts["size"] == "128x96" and facts["memory"]
    for source, inverted in zip(columns[0]["pictures"], columns[2]["pictures"]):
        assert abs(pixels(source) + pixels(inverted) - 255).mean() < 3


def test_architecture_and_licence(clip, tmp_path):
    """Of a real model, with the engine in a process of its own, whose memory counts."""
    shutil.copy(support.REPOSITORY / "models" / "compact2x.pth", tmp_path / "net.pth")
    (tmp_path / "net.pth.json").write_text('{"licence": "CC-BY-4.0"}')
    data = compared(tmp_path, clip, "net.pth", "--at", "1", "--filter", "isolate=1")
    column = models_of(data)[0]
    facts = dict(column["facts"])
    assert facts["architecture"] == "Compact, x2" and facts["licence"] == "CC-BY-4.0"
    assert data["options"] == "isolate=1" and column["seconds"] > 0
    number, unit = facts["memory"].split()
    assert unit == "GiB" or (unit == "MiB" and float(number) > 100)  # LibTorch alone
    assert re.fullmatch(r"[\d.]+ KiB", facts["file"])


def test_times_that_are_told(clip, quick_model, tmp_path):
    """The frame is the one that is shown from then on, or the next one."""
    data = compared(tmp_path, clip, quick_model("invert"), "--at", "2.9,0,1.2")
    assert [frame["seconds"] for frame in data["frames"]] == [2.9, 0, 1.2]
    for time_, picture in zip((2.9, 0, 1.2), data["columns"][0]["pictures"]):
        frame = frame_of(clip, round(10 * time_))
        assert abs(pixels(picture) - frame).mean() < 2


def test_a_clip_without_an_index(quick_model, tmp_path):
    """In which ffmpeg cannot seek."""
    make_clip(tmp_path / "clip.m4v", "color=s=64x48:d=2:r=25,format=gray,geq=lum='100*T'", "-c:v",
              "mpeg4", "-f", "m4v")  # fmt: skip
    data = compared(tmp_path, "clip.m4v", quick_model("invert"), "--at", "0.4,1.6")
    first, second = (pixels(picture) for picture in data["columns"][0]["pictures"])
    assert second.mean() - first.mean() == pytest.approx(120, abs=3)
    result = compare(tmp_path, "clip.m4v", quick_model("invert"), "--at", "2.5")
    assert result.returncode == 2 and "has no frame at 2.500" in result.stderr


def test_frames_of_detail_are_chosen(quick_model, tmp_path):
    """Black, but for a third of a second in each half."""
    source = ("testsrc2=s=64x48:d=4:r=10,eq=eval=frame:contrast='between(mod(t,2),1,1.35)':"
              "brightness='-1+between(mod(t,2),1,1.35)'")
    data = compared(tmp_path, make_clip(tmp_path / "dark.mkv", source), quick_model("invert"),
                    "--frames", "2")  # fmt: skip
    for number, frame in enumerate(data["frames"]):
        assert 1 <= frame["seconds"] - 2 * number <= 1.4


def test_names_with_any_characters(clip, quick_model, tmp_path):
    names = ["<img src=x onerror=alert(1)>.pt", "a'b,c;[d]:e\\f=g%d\".pt",
             "-dash\nline\u2028\u202e.pt"]  # fmt: skip
    for name in names:
        shutil.copy(quick_model("invert"), tmp_path / name)
    strange = tmp_path / "<b>&'clip:,.mkv"
    shutil.copy(clip, strange)
    result = compare(tmp_path, "--at=0", "--png=a%d.png", "--", strange.name, *names)
    assert result.returncode == 0 and result.stderr == "", str(result)
    data = data_in(tmp_path / "compare.html")
    assert [column["name"] for column in models_of(data)] == names
    assert data["clip"] == strange.name and not any(column["failure"] for column in data["columns"])
    assert str(tmp_path) not in (tmp_path / "compare.html").read_text()
    assert head_of((tmp_path / "a%d.png").read_bytes())[0] == 4 * 480
    assert "\u202e" not in result.stdout.decode() and b"line" in result.stdout


def test_facts_that_look_like_markup(clip, quick_model, tmp_path):
    model = shutil.copy(quick_model("invert"), tmp_path / "net.pt")
    (tmp_path / "net.pt.json").write_text('{"licence": "</script><script>alert(1)</script>"}')
    facts = dict(models_of(compared(tmp_path, clip, model, "--at", "0"))[0]["facts"])
    assert facts["licence"] == "</script><script>alert(1)</script>"


def test_properties_of_colours_reach_the_models(quick_model, tmp_path):
    """Full range, of a matrix other than the usual one; both would show in the pictures."""
    clip = make_clip(tmp_path / "c.mkv", "testsrc2=s=64x48:d=0.2:r=10", "-vf",
                     "scale=out_range=pc:out_color_matrix=bt709,format=yuv420p", "-colorspace",
                     "bt709", "-color_range", "pc")  # fmt: skip
    raw = support.succeed("-f", "lavfi", "-i", "testsrc2=s=64x48:d=0.1:r=10", "-vf", "format=rgb24",
                          "-f", "rawvideo", "-", plain=True).stdout
    wanted = numpy.frombuffer(raw, numpy.uint8).reshape(48, 64, 3).astype(float)
    quick_model("invert")  # takes the fake engine
    (tmp_path / "same.pt").write_text("gain 1\n")
    data = compared(tmp_path, clip, "same.pt", "--at", "0")
    shown = pixels(data["columns"][0]["pictures"][0])
    assert abs(shown.mean((0, 1)) - wanted.mean((0, 1))).max() < 2
    assert abs(pixels(data["columns"][1]["pictures"][0]) - shown).mean() < 2


# ---- scores -------------------------------------------------------------------


def luma(rgb):
    """In BT.601 of limited range, as ffmpeg converts RGB."""
    return numpy.round(16 + rgb @ numpy.array([65.481, 128.553, 24.966]) / 255)


def psnr_of(one, other):
    return 10 * numpy.log10(255**2 / ((one - other) ** 2).mean())


def ssim_of(one, other):
    """In windows of 8x8 at every fourth pixel, as ffmpeg does."""
    windows = [numpy.lib.stride_tricks.sliding_window_view(plane, (8, 8))[::4, ::4]
               for plane in (one, other)]  # fmt: skip
    a, b = (view.reshape(*view.shape[:2], 64) for view in windows)
    mean_a, mean_b = a.mean(-1), b.mean(-1)
    # The constants are those for 64 samples, the variances those of a sample.
    covariance = (a * b).sum(-1) / 63 - 64 / 63 * mean_a * mean_b
    variances = sum((p * p).sum(-1) / 63 - 64 / 63 * p.mean(-1) ** 2 for p in (a, b))
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    return ((2 * mean_a * mean_b + c1) * (2 * covariance + c2)
            / ((mean_a**2 + mean_b**2 + c1) * (variances + c2))).mean()  # fmt: skip


def test_scores(clip, quick_model, tmp_path):
    for number, gain in enumerate((0.9, 0.7)):
        (tmp_path / f"gain{number}.pt").write_text(f"gain {gain}\n")
    quick_model("invert")  # takes the fake engine
    data = compared(tmp_path, clip, "gain0.pt", "gain1.pt", "--frames", "2", "--reference", clip)
    assert data["reference"] == "clip.mkv" and data["columns"][1]["kind"] == "reference"
    assert "luma" in dict(data["columns"][1]["facts"])["scores"]
    for scores in data["columns"][0]["scores"]:
        assert scores["psnr"] is None and scores["ssim"] == 1
    reference = data["columns"][1]["pictures"]
    for column in models_of(data):
        for scores, picture, target in zip(column["scores"], column["pictures"], reference):
            planes = luma(pixels(picture)), luma(pixels(target))
            assert scores["psnr"] == pytest.approx(psnr_of(*planes), abs=0.15)
            assert scores["ssim"] == pytest.approx(ssim_of(*planes), abs=0.01)


def test_scores_at_the_size_of_the_reference(clip, quick_model, tmp_path):
    large = make_clip(tmp_path / "large.mkv", "testsrc2=s=128x96:d=3:r=10")
    result = compare(tmp_path, clip, quick_model("enlarge2"), "--at", "1", "--reference", large)
    assert result.returncode == 0, str(result)
    data = data_in(tmp_path / "compare.html")
    source, _, model = data["columns"]
    assert 10 < source["scores"][0]["psnr"] < 60 and 10 < model["scores"][0]["psnr"] < 60
    row = r"^enlarge2.pt +128x96 +[\d.]+ +[\d.]+ \w+ +[\d.]+ +[\d.]+"
    assert re.search(row, result.stdout.decode(), re.MULTILINE)


def test_a_reference_that_ends_too_early(clip, quick_model, tmp_path):
    short = make_clip(tmp_path / "short.mkv", "testsrc2=s=64x48:d=1:r=10")
    result = compare(tmp_path, clip, quick_model("invert"), "--at", "2", "--reference", short)
    assert result.returncode == 2 and "short.mkv' has no frame at 2.000 s" in result.stderr


def test_containers_that_round_times(quick_model, tmp_path):
    """Matroska has milliseconds; 1/30 s and 2/30 s are between them."""
    clip = make_clip(tmp_path / "clip.mkv", "testsrc2=s=64x48:d=1:r=30")
    wanted = make_clip(tmp_path / "wanted.nut", "testsrc2=s=64x48:d=1:r=30")
    data = compared(tmp_path, clip, quick_model("invert"), "--frames", "6", "--reference", wanted)
    assert [score["psnr"] for score in data["columns"][0]["scores"]] == [None] * 6
    data = compared(tmp_path, clip, quick_model("invert"), "--at", "0.06,0.067", "--reference", wanted)
    assert [round(frame["seconds"], 3) for frame in data["frames"]] == [0.067] * 2


def test_a_reference_of_another_rate(clip, quick_model, tmp_path):
    slower = make_clip(tmp_path / "slower.mkv", "testsrc2=s=64x48:d=3:r=4")
    result = compare(tmp_path, clip, quick_model("invert"), "--at", "0.3", "--reference", slower)
    assert result.returncode == 2 and "no frame at 0.300 s, its next one is at 0.500 s" in result.stderr


def test_an_infinite_psnr_hides_no_other(quick_model, tmp_path):
    graph = "color=black:s=64x48:d=1:r=10[a];testsrc2=s=64x48:d=1:r=10,negate[b];[a][b]concat"
    clip = make_clip(tmp_path / "clip.mkv", graph)
    wanted = make_clip(tmp_path / "wanted.mkv", graph.replace("negate", "eq=brightness=0.1"))
    result = compare(tmp_path, clip, quick_model("invert"), "--at", "0.5,1.5", "--reference", wanted)
    psnr = float(result.stdout.decode().splitlines()[1].split()[4])
    second = data_in(tmp_path / "compare.html")["columns"][0]["scores"][1]["psnr"]
    assert psnr == pytest.approx(second + 3.01, abs=0.02)


def test_vmaf_where_ffmpeg_has_it(clip, quick_model, tmp_path):
    program = tmp_path / "ffmpeg with vmaf"
    program.write_text(f"""#!/bin/sh
for word; do
    case $word in
    -filters) echo " ... libvmaf           VV->V      Calculate the VMAF."; exit ;;
    *libvmaf*)
        log=${{word##*log_path=}}
        echo '{{"frames": [{{"frameNum": 0, "metrics": {{"vmaf": 91.5}}}}]}}' >"${{log%%[*}}"
        exit ;;
    esac
done
exec '{shutil.which(support.FFMPEG)}' "$@"
""")
    program.chmod(0o755)
    data = compared(tmp_path, clip, quick_model("invert"), "--at", "1", "--reference", clip,
                    "--ffmpeg", program)  # fmt: skip
    assert [column["scores"][0].get("vmaf") for column in data["columns"] if column["scores"][0]
            ] == [91.5, 91.5]  # fmt: skip


# ---- sizes --------------------------------------------------------------------


def test_huge_frames_are_cropped_where_detail_is(quick_model, tmp_path):
    """The same part of each, although they have different sizes."""
    source = "color=black:s=1600x1200:d=0.2:r=10,drawbox=x=1300:y=900:w=200:h=200:t=4:color=white"
    clip = make_clip(tmp_path / "huge.mkv", source)
    data = compared(tmp_path, clip, quick_model("enlarge2"), "--frames", "1")
    crop = data["frames"][0]["crop"]
    assert (data["frames"][0]["width"], data["frames"][0]["height"]) == (3200, 2400)
    assert (crop["width"], crop["height"]) == (1280, 960)
    assert crop["left"] <= 2600 and crop["left"] + 1280 >= 3000
    assert crop["top"] <= 1800 and crop["top"] + 960 >= 2200
    source, model = (pixels(column["pictures"][0]) for column in data["columns"])
    assert source.shape == (480, 640, 3) and model.shape == (960, 1280, 3)
    assert abs(model.reshape(480, 2, 640, 2, 3).mean((1, 3)) - source).mean() < 2
    assert source.max() > 200


def test_a_page_has_thirty_megabytes_at_most(quick_model, tmp_path):
    """Noise cannot be compressed: eight pictures of 1280x960 would have 39 MB."""
    support.succeed("-f", "rawvideo", "-pix_fmt", "rgb24", "-video_size", "1280x960", "-framerate",
                    "10", "-i", "/dev/urandom", "-frames:v", "4", "-c:v", "rawvideo",
                    tmp_path / "noise.nut", plain=True)  # fmt: skip
    data = compared(tmp_path, "noise.nut", quick_model("invert"), "--at", "0,0.1,0.2,0.3")
    assert 15e6 < (tmp_path / "compare.html").stat().st_size < 30e6
    assert all(frame["crop"]["width"] < 1280 for frame in data["frames"])


def test_pixels_that_are_not_square(quick_model, tmp_path):
    """The page and the sheet have the shape that players show; the pictures' pixels stay."""
    clip = make_clip(tmp_path / "clip.mkv", "testsrc2=s=72x48:d=0.2:r=10,setsar=16/9")
    data = compared(tmp_path, clip, quick_model("enlarge2"), "--at", "0", "--png", "sheet.png")
    frame = data["frames"][0]
    assert (frame["width"], frame["height"]) == (144, 96)
    assert frame["pixel_aspect"] == pytest.approx(16 / 9, abs=1e-3)
    assert [picture["pictures"][0]["width"] for picture in data["columns"]] == [72, 144]
    height = 480 * 9 / 16 * 48 // 72
    assert head_of((tmp_path / "sheet.png").read_bytes())[:2] == (2 * 480, height + 28)
    square = make_clip(tmp_path / "square.mkv", "testsrc2=s=72x48:d=0.2:r=10")
    data = compared(tmp_path, square, quick_model("enlarge2"), "--at", "0")
    assert data["frames"][0]["pixel_aspect"] == 1


@pytest.mark.parametrize("curve,name", [("smpte2084", "PQ"), ("arib-std-b67", "HLG")])
def test_high_dynamic_range(quick_model, tmp_path, curve, name):
    """A line says what is shown; models get the frame with its tags."""
    tags = support.colour_tags(color_range="tv", color_primaries="bt2020", color_trc=curve,
                               colorspace="bt2020nc")  # fmt: skip
    clip = make_clip(tmp_path / "clip.mkv", "testsrc2=s=64x48:d=0.2:r=10,format=yuv420p10le",
                     *tags)  # fmt: skip
    program = tmp_path / "ffmpeg that keeps the cut"
    program.write_text(f"""#!/bin/sh
cp "$TMPDIR"/*/source0.mkv '{tmp_path}/cut.mkv' 2>/dev/null
exec '{shutil.which(support.FFMPEG)}' "$@"
""")
    program.chmod(0o755)
    result = compare(tmp_path, clip, quick_model("invert"), "--at", "0", "--ffmpeg", program)
    assert result.returncode == 0 and len(result.stderr.splitlines()) == 1, str(result)
    assert f"'clip.mkv' is HDR ({name})" in result.stderr and "tone mapping" in result.stderr
    source = data_in(tmp_path / "compare.html")["columns"][0]
    assert f"HDR ({name})" in dict(source["facts"])["colours"]
    told = support.execute([support.sibling("ffprobe"), "-v", "error", "-show_streams",
                            tmp_path / "cut.mkv"]).stdout.decode()  # fmt: skip
    for tag in (f"color_transfer={curve}", "color_primaries=bt2020", "color_space=bt2020nc",
                "color_range=tv", "pix_fmt=yuv420p10le"):  # fmt: skip
        assert tag in told, told


# ---- models that fail ---------------------------------------------------------


def test_failing_models_among_good_ones(quick_model, tmp_path):
    """One fails at once, and one at the last picture."""
    clip = make_clip(tmp_path / "clip.mkv", "color=s=64x48:d=3:r=10,format=gray,geq=lum='100*T'")
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "late.pt").write_text("fail_at 200\n")
    (folder / "bad.pt").write_text("nonsense\n")
    models = (quick_model("invert"), folder / "bad.pt", folder / "late.pt", quick_model("enlarge2"))
    result = compare(tmp_path, clip, *models, "--at", "0,1,2")
    assert result.returncode == 0 and result.stderr == "", str(result)
    data = data_in(tmp_path / "compare.html")
    assert [bool(column["failure"]) for column in models_of(data)] == [False, True, True, False]
    _, bad, late, _ = models_of(data)
    assert bad["pictures"] == [None] * 3 and bad["seconds"] is None
    assert "this picture fails" in late["failure"] and late["pictures"][2] is None
    assert str(folder) not in json.dumps(data)
    assert bad["failure"] in result.stdout.decode() and late["failure"] in result.stdout.decode()


def test_models_that_are_for_another_filter(clip, tmp_path):
    shapes = support.REPOSITORY / "models" / "shapes.pt"
    result = compare(tmp_path, clip, shapes, "--at", "0")
    assert result.returncode == 1
    column = models_of(data_in(tmp_path / "compare.html"))[0]
    assert "it is for dnn_torch_detect" in column["failure"] and column["seconds"] is None


def test_reasons_keep_their_slashes(clip, tmp_path):
    class Fails(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if x.numel() > 0:
                raise RuntimeError("needs and/or, see http://a/b")
            return x

    torch.jit.script(Fails()).save(str(tmp_path / "fails.pt"))
    compare(tmp_path, clip, "fails.pt", "--at", "0")
    assert "and/or, see http://a/b" in models_of(data_in(tmp_path / "compare.html"))[0]["failure"]


def test_what_is_transparent_is_black(quick_model, tmp_path):
    clip = make_clip(tmp_path / "clip.mkv", "color=gray:s=64x48:d=0.2:r=10,format=rgba,"
                     "geq=r=64:g=64:b=64:a=if(lt(X\\,32)\\,0\\,255)")  # fmt: skip
    data = compared(tmp_path, clip, quick_model("invert"), "--at", "0")
    for column, gray in zip(data["columns"], (64, 191)):
        picture = pixels(column["pictures"][0])
        assert picture[:, :32].max() == 0 and (picture[:, 32:] == gray).all()


def test_clips_that_change_their_size(quick_model, tmp_path):
    for size, name in (("64x48", "a.ts"), ("32x24", "b.ts")):
        support.succeed("-f", "lavfi", "-i", f"testsrc2=s={size}:d=1:r=10", "-c:v", "mpeg2video",
                        "-output_ts_offset", str(ord(name[0]) - ord("a")), tmp_path / name,
                        plain=True)
    both = tmp_path / "both.ts"
    both.write_bytes((tmp_path / "a.ts").read_bytes() + (tmp_path / "b.ts").read_bytes())
    result = compare(tmp_path, both, quick_model("invert"), "--at", "0,1.5")
    assert result.returncode == 2 and not (tmp_path / "compare.html").exists()
    assert re.search(r"changes: yuv420p 64x48 at 0.\d+ s, yuv420p 32x24 at 1.\d+ s", result.stderr)


def test_no_model_works(clip, quick_model, tmp_path):
    bad = quick_model("invert")
    bad.write_text("nonsense\n")
    result = compare(tmp_path, clip, bad)
    assert result.returncode == 1 and models_of(data_in(tmp_path / "compare.html"))[0]["failure"]


def test_a_hanging_model_has_a_limit(clip, quick_model, tmp_path):
    good, slow = quick_model("invert"), tmp_path / "slow.pt"
    slow.write_text("latency_us 100000000\n")
    started = time.monotonic()
    data = compared(tmp_path, clip, slow, good, "--at", "0", "--timeout", "2")
    assert time.monotonic() - started < 15
    failure, none = (column["failure"] for column in models_of(data))
    assert "more than 2 s" in failure and "--timeout" in failure and not none


def test_a_folder_is_sorted_by_speed(clip, quick_model, tmp_path):
    folder = tmp_path / "models"
    quick_model("invert")
    folder.mkdir()
    times = {"a.pt": 40, "b.pth": 0, "c.ckpt": 15}
    for name, milliseconds in times.items():
        (folder / name).write_text(f"latency_us {1000 * milliseconds}\n")
    (folder / "0.safetensors").write_text("nonsense\n")
    (folder / "notes.txt").write_text("of no use\n")
    data = compared(tmp_path, clip, "--models", folder, "--at", "1")
    names = [column["name"] for column in models_of(data)]
    assert names == ["b.pth", "c.ckpt", "a.pt", "0.safetensors"]
    assert models_of(data)[2]["seconds"] > 0.015


# ---- bad input ------------------------------------------------------------------


def test_a_folder_with_what_is_no_model(clip, quick_model, tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    shutil.copy(quick_model("invert"), folder / "invert.pt")
    (folder / "folder.pt").mkdir()
    (folder / "nowhere.pt").symlink_to("none")
    os.mkfifo(folder / "pipe.pt")
    data = compared(tmp_path, clip, "--models", folder, "--at", "0")
    assert [column["name"] for column in models_of(data)] == ["invert.pt"]


@pytest.mark.parametrize("png", ["./a.html", "link.png"])
def test_one_file_for_page_and_sheet(clip, quick_model, tmp_path, png):
    (tmp_path / "link.png").symlink_to("a.html")
    result = compare(tmp_path, clip, quick_model("invert"), "--html", "a.html", "--png", png)
    assert result.returncode == 2 and "is the page's file" in result.stderr


@pytest.mark.parametrize("arguments,phrase", [
    ([], "no model is given"),
    (["CLIP"], "no model is given"),
    (["CLIP", "none.pt"], "there is no file none.pt"),
    (["none.mkv", "MODEL"], "there is no file none.mkv"),
    (["CLIP", "."], "is a folder"),
    (["CLIP", "MODEL", "--at", "99"], "has no frame at 99"),
    (["CLIP", "MODEL", "--at", "1,x"], "--at x: give a number"),
    (["CLIP", "MODEL", "--at", "nan"], "--at nan: give a number"),
    (["CLIP", "MODEL", "--at", "1,"], "--at: give a number"),
    (["CLIP", "MODEL", "--frames", "21"], "from 1 to 20"),
    (["CLIP", "MODEL", "--frames"], "--frames needs a value"),
    (["CLIP", "MODEL", "--timeout", "0"], "from 1 to 86400"),
    (["CLIP", "MODEL", "--size", "4x4"], "--size is no option; there are --at, "),
    (["CLIP", "MODEL", "--html", "MODEL"], "is read; give another file"),
    (["CLIP", "--models", "none"], "--models none: "),
    (["CLIP", "--models", "."], "has no file that ends in"),
])  # fmt: skip
def test_bad_arguments(clip, quick_model, tmp_path, arguments, phrase):
    paths = {"CLIP": clip, "MODEL": quick_model("invert")}
    result = compare(tmp_path, *[paths.get(word, word) for word in arguments])
    assert result.returncode == 2 and result.stdout == b"", str(result)
    assert len(result.stderr.splitlines()) == 1 and phrase in result.stderr, result.stderr
    assert not (tmp_path / "compare.html").exists()


@pytest.mark.parametrize("options", [[], ["--at", "1"]])
def test_a_clip_that_cannot_be_decoded(quick_model, tmp_path, options):
    clip = tmp_path / "clip.mkv"
    clip.write_bytes(b"rubbish" * 1000)
    result = compare(tmp_path, clip, quick_model("invert"), *options)
    assert result.returncode == 1 and len(result.stderr.splitlines()) == 1, str(result)
    assert "'clip.mkv' cannot be decoded" in result.stderr
    assert not (tmp_path / "compare.html").exists()


def test_an_ffmpeg_that_is_not_there(clip, quick_model, tmp_path):
    result = compare(tmp_path, clip, quick_model("invert"), "--ffmpeg", "./none")
    assert result.returncode == 1 and "No such file" in result.stderr, str(result)


@pytest.mark.parametrize("option", ["--html", "--png"])
def test_a_full_disk(clip, quick_model, tmp_path, option):
    """The old page stays."""
    (tmp_path / "old").write_text("old")
    words = [support.LAUNCHER, "compare", clip, quick_model("invert"), "--at", "0", option, "old"]
    if option == "--png":
        words += ["--html", "compare.html"]
    blocks = 20 if option == "--html" else 60  # of 1024 bytes; the page has more
    limited = ["bash", "-c", f'ulimit -f {blocks}; exec "$@"', "bash", *words]
    result = support.execute(limited, cwd=tmp_path)
    assert result.returncode == 1 and "cannot be" in result.stderr, str(result)
    assert len(result.stderr.splitlines()) == 1 and (tmp_path / "old").read_text() == "old"
    result = compare(tmp_path, clip, quick_model("invert"), "--at", "0", option, "/dev/full")
    assert result.returncode == 1 and "cannot be written" in result.stderr


def children_of(number):
    text = pathlib.Path(f"/proc/{number}/task/{number}/children").read_text()
    found = [int(word) for word in text.split()]
    return found + [child for each in found for child in children_of(each)]


def start_of_a_slow_one(clip, quick_model, tmp_path):
    """A run of a model that takes long, which has begun, and where it keeps its files."""
    slow = quick_model("invert")
    slow.write_text("latency_us 100000000\n")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    process = support.start([support.LAUNCHER, "compare", clip, slow, "--at", "0"], cwd=tmp_path,
                            env={"TMPDIR": str(temporary)})
    deadline = time.monotonic() + 20
    while not list(temporary.glob("*/column0-0.png")) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(1)
    return process, temporary


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_at_once(clip, quick_model, tmp_path, number):
    """In the middle of a model's run, with nothing left."""
    process, temporary = start_of_a_slow_one(clip, quick_model, tmp_path)
    children = children_of(process.pid)
    assert children
    started = time.monotonic()
    process.send_signal(number)
    result = support.finish(process, timeout=10)
    assert time.monotonic() - started < (5 if support.SANITIZED else 0.5)
    assert result.returncode == -number and result.stderr == "" and result.stdout == b""
    assert not list(temporary.iterdir()) and not (tmp_path / "compare.html").exists()
    time.sleep(0.1)
    assert not any(os.path.exists(f"/proc/{child}") for child in children)


def test_what_it_starts_ends_with_it(clip, quick_model, tmp_path):
    """Even if SIGKILL ends it; and none of that may take all memory."""
    process, temporary = start_of_a_slow_one(clip, quick_model, tmp_path)
    children = children_of(process.pid)
    total = int(re.search(r"MemTotal: +(\d+)", pathlib.Path("/proc/meminfo").read_text())[1])
    for child in children:
        limits = pathlib.Path(f"/proc/{child}/limits").read_text()
        assert int(re.search(r"Max data size +(\d+)", limits)[1]) <= total * 1024 / 2
    process.kill()
    support.finish(process, timeout=10)
    deadline = time.monotonic() + 2
    while any(map(is_running, children)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert children and not any(map(is_running, children))


def is_running(number):
    """A zombie waits for whoever takes the place of its parent."""
    try:
        return ") Z " not in pathlib.Path(f"/proc/{number}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_clip_of_one_frame(quick_model, tmp_path):
    clip = make_clip(tmp_path / "one.mkv", "color=black:s=64x48:d=0.1:r=10")
    assert len(compared(tmp_path, clip, quick_model("invert"), "--frames", "5")["frames"]) == 1
