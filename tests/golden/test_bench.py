# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""dnn-torch bench: it measures what it says, gives settings that run, and ends in time."""
import json
import os
import pathlib
import re
import shutil
import signal
import time
import xml.etree.ElementTree

import classifiers
import detectors
import pytest
import support
import torch

pytestmark = pytest.mark.skipif(support.PATCHED, reason="the patched ffmpeg needs no launcher")

SMALL = ("--seconds", "1", "--size", "64x48")


def bench(path, *arguments, **options):
    return support.execute([support.LAUNCHER, "bench", path, *arguments], **options)


def facts(path, *arguments, **options):
    result = bench(path, "--json", *arguments, **options)
    assert result.returncode == 0, str(result)
    return json.loads(result.stdout)


def fake_facts(path, *arguments):
    return facts(path, "--engine", "fake", *arguments, fake_engine=True)


def assert_command_runs(command, folder):
    """As one who pastes it."""
    support.succeed(
        *("-f", "lavfi", "-i", "testsrc2=s=64x48:d=0.2", "-c:v", "mpeg4", folder / "in.mp4"),
        plain=True,
    )
    path = f"{pathlib.Path(support.LAUNCHER).parent}:/usr/bin:/bin"
    result = support.execute(["sh", "-c", command], cwd=folder, env={"PATH": path})
    assert result.returncode == 0, str(result)


def assert_rows_make_sense(found):
    settings = [(row["precision"], row["workers"], row["threads"]) for row in found["rows"]]
    assert len(settings) == len(set(settings))
    assert all(row["fps"] > 0 for row in found["rows"])
    assert [row for row in found["rows"] if row["chosen"]] == found["rows"][:1]
    assert found["rows"][0]["precision"] == "fp32"
    for row in found["rows"]:  # LibTorch's form runs in its place, but for int8
        assert row["threads"] == 1 or not re.match("(fp32|bf16), fused", row["form"])
    for precision in ("bf16", "fp16", "int8"):
        words = [text for text in found["left_out"] if text.startswith(precision)]
        assert words or any(row["precision"] == precision for row in found["rows"])
    assert all(len(text) > len("bf16: ") for text in found["left_out"])


def test_rows(model):
    found = facts(model("espcn_rgb"), *SMALL)
    assert_rows_make_sense(found)
    assert found["size"] == {"width": 64, "height": 48}
    fastest = max(row["fps"] for row in found["rows"])
    assert found["best"]["fps"] >= 0.97 * fastest
    assert found["best_fp32"]["precision"] == "fp32"


# Trying out and measuring both takes a while.
DETECTORS = {
    "Bright": (detectors.Bright, []),
    "Sized": (lambda: detectors.Sized(96, 64), ["--size", "96x64"]),
    "Lists": (detectors.Lists, []),
}


@pytest.mark.parametrize("name", DETECTORS)
def test_detectors(tmp_path, name):
    make, arguments = DETECTORS[name]
    torch.jit.script(make().eval()).save(str(tmp_path / "net.pt"))
    found = facts("net.pt", "--seconds", "2", *arguments, cwd=tmp_path)
    assert_rows_make_sense(found)
    assert found["filter"] == "dnn_torch_detect"
    assert_command_runs(found["best"]["command"], tmp_path)


@pytest.mark.parametrize("name", ["Colour", "Sized"])
def test_classifiers(tmp_path, name):
    arguments = ["--size", "96x64"] if name == "Sized" else []
    module = classifiers.Sized(96, 64) if name == "Sized" else classifiers.Colour()
    torch.jit.script(module.eval()).save(str(tmp_path / "net.pt"))
    (tmp_path / "net.pt.json").write_text('{"task": "classify"}')
    found = facts("net.pt", "--seconds", "2", *arguments, cwd=tmp_path)
    assert_rows_make_sense(found)
    assert found["filter"] == "dnn_torch_classify"
    assert_command_runs(found["best"]["command"], tmp_path)


def test_what_no_filter_takes_is_said_as_for_pictures(model):
    result = bench(model("returns_string"), "--json", *SMALL)
    assert result.returncode == 1 and json.loads(result.stdout)["error"] in result.stderr


def test_int8(model):
    """With what the engine says of it, in each of its rows; no bar's label has that."""
    for seconds in ("20", "100"):
        text = bench(
            model("espcn_luma"), "--seconds", seconds, "--size", "64x48", timeout=200
        ).stdout.decode()
        if "int8: the time is up" not in text:
            break
    if "fused" not in text:
        pytest.skip("no fused programs here")
    rows = re.findall(r"^int8 .*$", text, re.MULTILINE)
    assert any(re.search(r"of \d+ layers, \d+\.\d dB PSNR from fp32", row) for row in rows), text
    assert re.search(r"^int8, fused, \d+ x \d+ ", text, re.MULTILINE), text


def test_every_division_of_the_cores(script):
    found = fake_facts(script(), "--seconds", "2", "--size", "64x48")
    settings = {(row["workers"], row["threads"]) for row in found["rows"]}
    cores = found["cores"]
    assert {(1, cores), (1, 1)} <= settings
    assert all(workers * threads <= cores for workers, threads in settings)


def test_the_best_setting_runs(model, tmp_path):
    command = facts(model("espcn_rgb"), *SMALL)["best"]["command"]
    assert re.search(r":workers=\d+:threads=\d+:precision=\w+ out.mp4$", command)
    assert_command_runs(command, tmp_path)
    assert (tmp_path / "out.mp4").stat().st_size > 0


def test_table(model):
    result = bench(model("espcn_luma"), *SMALL)
    assert result.returncode == 0, str(result)
    assert result.stderr == ""
    text = result.stdout.decode()
    assert re.search(r" at 64x48, luma of YUV 4:2:0, on .*; takes about 1 s at most\n", text)
    rows = re.findall(r"^(\w+) +(\d+) +(\d+) +([\d.]+)(.*)$", text, re.MULTILINE)
    assert rows and all(float(row[3]) > 0 for row in rows)
    assert rows[0][4].strip() == "the filter's own choice"
    bars = re.findall(
        r"^(\S.*?) {2,}([#█-▏]*) +([\d.]+) frames/s +([\d.]+) ms$", text, re.MULTILINE
    )
    assert [bar[2] for bar in bars[: len(rows)]] == [row[3] for row in rows]
    for _, _, rate, milliseconds in bars:  # both have two digits
        assert float(milliseconds) == pytest.approx(1000 / float(rate), rel=0.02, abs=0.006)
    longest = max(bars, key=lambda bar: float(bar[2]))
    assert all(len(bar[1]) <= len(longest[1]) for bar in bars)
    assert bars[0][0].endswith(f", {rows[0][1]} x {rows[0][2]}") and "fp32" in bars[0][0]
    assert re.search(r"^fastest, [\d.]+ frames/s:\n  dnn-torch run ffmpeg ", text, re.MULTILINE)


def test_other_forms_and_tiles_are_bars_and_no_rows(model):
    """With the filter's own workers and threads, in fp32."""
    for seconds in ("25", "100"):  # a busy machine takes seconds to open a model
        result = bench(model("espcn_luma"), "--seconds", seconds, "--size", "400x96", timeout=200)
        text = result.stdout.decode()
        assert result.returncode == 0 and result.stderr == "", str(result)
        if "comparisons of forms and tiles: the time is up" not in text:
            break
    rows = re.findall(r"^(\w+) +(\d+) +(\d+) +([\d.]+)", text, re.MULTILINE)
    bars = re.findall(r"^(\S.*?) {2,}[#█-▏]* +([\d.]+) frames/s", text, re.MULTILINE)
    labels = [label for label, _ in bars[len(rows) :]]
    own = f", {rows[0][1]} x {rows[0][2]}"
    forms = {label.split(", ")[1] for label in labels if label.endswith(own)}
    forms.add(bars[0][0].split(", ")[1])
    wanted = {"as saved", "frozen", "channels_last"}
    if "ONEDNN_MAX_CPU_ISA" not in os.environ:  # see tests/sound_torch.py
        wanted.add("inference")
    assert forms >= wanted, text
    assert bars[0][0] + ", tile=256" in labels, text
    assert len(labels) == len(set(labels)) and not any("tile=512" in label for label in labels)
    assert all(label.startswith("fp32, ") for label in labels)
    assert not re.search(r"^(fp32|bf16), fused, \d+ x ([2-9]|\d\d+)\b", text, re.MULTILINE), text


def bars_in(path):
    """Label and width of each bar."""
    root = xml.etree.ElementTree.parse(path).getroot()
    name = "{http://www.w3.org/2000/svg}"
    labels = [text.text for text in root.iter(f"{name}text") if text.get("class") == "label"]
    widths = [float(rect.get("width")) for rect in root.iter(f"{name}rect")
              if rect.get("class").startswith("bar")]  # fmt: skip
    assert len(labels) == len(widths)
    return list(zip(labels, widths))


def test_a_picture_of_the_bars(script, tmp_path):
    """Beside the JSON, of a model with a hostile name, in the place of an older file."""
    model = tmp_path / "<text>&amp;\"']]>.fake"
    shutil.copy(script(latency_us=5000, tuned_us=5000), model)
    picture = tmp_path / "bars.svg"
    picture.write_text("old")
    found = fake_facts(model, "--seconds", "2", "--size", "8x8", "--svg", picture)
    bars, rows = bars_in(picture), found["rows"]
    assert len(bars) == len(rows)
    longest, fastest = max(width for _, width in bars), max(row["fps"] for row in rows)
    for (label, width), row in zip(bars, rows):
        assert label.endswith(f", {row['workers']} x {row['threads']}")
        assert width / longest == pytest.approx(row["fps"] / fastest, abs=2e-3)
    root = xml.etree.ElementTree.parse(picture).getroot()
    assert root.find("{http://www.w3.org/2000/svg}title").text == str(model)
    assert sorted(tmp_path.glob("bars*")) == [picture]


@pytest.mark.parametrize("command", ["bench", "inspect", "contract", "bench --help", "doctor", "devices"])
def test_an_output_that_cannot_be_written(model, command):
    about_model = command in ("bench", "inspect", "contract")
    words = [support.LAUNCHER, *command.split(), *([model("espcn_luma")] if about_model else [])]
    words += SMALL if command == "bench" else ()
    result = support.execute(["sh", "-c", 'exec "$@" >/dev/full', "sh", *words])
    assert result.returncode == 1
    assert result.stderr == "dnn-torch: the output cannot be written\n"


@pytest.mark.parametrize("name,fault", [("none/bars.svg", "No such file"), (".", "directory")])
def test_a_picture_that_cannot_be_written(script, tmp_path, name, fault):
    """It is said before anything is measured."""
    result = bench(script(), "--engine", "fake", "--svg", tmp_path / name, fake_engine=True)
    assert result.returncode == 1 and result.stdout == b""
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert "cannot be written" in result.stderr and fault in result.stderr


def test_a_picture_never_takes_the_place_of_the_model(script):
    path = script()
    before = pathlib.Path(path).read_bytes()
    result = bench(path, "--engine", "fake", "--svg", path, fake_engine=True)
    assert result.returncode == 2 and "is the model" in result.stderr
    assert pathlib.Path(path).read_bytes() == before


def test_rate_is_that_of_the_workers(script):
    """Of runs that take a known time, and take no processor.  Other work on the machine may slow
    them once, but hardly three times."""
    model = script(latency_us=50000, tuned_us=50000)
    for _ in range(3):
        found = fake_facts(model, "--seconds", "4", "--size", "8x8")
        assert_rows_make_sense(found)
        shares = [row["fps"] / (20 * row["workers"]) for row in found["rows"]]
        assert max(shares) <= 1
        if min(shares) > 0.4:
            return
    raise AssertionError(f"three times too slow: {shares}")


def test_sizes_that_the_model_takes(model):
    size = facts(model("multiples_of_4"), "--seconds", "1")["size"]
    assert size["width"] % 4 == 0 and size["height"] % 4 == 0
    assert facts(model("fixed_input"), "--seconds", "1")["size"] == {"width": 64, "height": 48}


def test_sizes_that_the_model_does_not_take(model):
    """As the filter runs them: padded, and the result cut."""
    found = facts(model("multiples_of_4"), "--seconds", "1", "--size", "66x50")
    assert found["size"] == found["result"] == {"width": 66, "height": 50}
    assert found["rows"] and "padded to 68x52" in found["notes"][0]
    found = facts(model("fixed_input"), "--seconds", "1", "--size", "130x90")
    assert found["result"] == {"width": 130, "height": 90} and found["rows"]
    assert any("64x48 alone" in note for note in found["notes"])


def test_tiles(script):
    """The rate is that of whole frames: so many runs of 20 ms are one."""
    path = script(latency_us=20000, tuned_us=20000)
    found = fake_facts(path, "--seconds", "2", "--size", "300x200", "--tile", "128")
    count = max(int(number) for note in found["notes"]
                for number in re.findall(r"(\d+) tiles of", note))  # fmt: skip
    assert count >= 6 and found["size"] == {"width": 300, "height": 200}
    assert all(row["fps"] <= 50 * row["workers"] / count for row in found["rows"])
    assert ":tile=128:" in found["best"]["command"]
    whole = fake_facts(path, "--seconds", "1", "--size", "300x200", "--tile", "0")
    assert whole["notes"] == [] and whole["best"]["fps"] > 2 * found["best"]["fps"]


def test_what_the_result_becomes(model):
    found = facts(model("espcn_luma"), *SMALL, "--as", "gray", "--range", "255")
    assert found["rows"] and ":range=255:as=gray:" in found["best"]["command"]


def test_slow_models_get_smaller_frames(script):
    """A run of the fake engine takes its time at any size: 96x54 is the least."""
    found = fake_facts(script(latency_us=100000), "--seconds", "1")
    assert found["size"] == {"width": 96, "height": 54}


def test_it_ends_in_time(script):
    """Ten rounds of half a second each would take longer."""
    path = script(latency_us=500000, tuned_us=500000, scale=1)
    started = time.monotonic()
    found = fake_facts(path, "--seconds", "2", "--size", "64x48")
    # Trying small pictures takes 8 s at most, two rounds of a setting 1 s.
    assert time.monotonic() - started < 8 + 2 + 2 + 5
    assert found["rows"]


def test_what_does_not_fit_into_memory_is_left_out(script):
    found = fake_facts(script(tuned_bytes=1 << 50), *SMALL)
    assert not found["rows"] and found["best"] is None
    assert any("memory" in text for text in found["left_out"])


def test_ctrl_c_keeps_what_is_known(script):
    process = support.start(
        [support.LAUNCHER, "bench", script(), "--engine", "fake", "--size", "64x48"],
        fake_engine=True,
    )
    head = b""
    while b"own choice" not in head:
        line = process.stdout.readline()
        assert line, "ended too early"
        head += line
    process.send_signal(signal.SIGINT)
    assert support.finish(process, timeout=10).returncode == -signal.SIGINT


@pytest.mark.parametrize(
    "name,phrase",
    [("throws", "this model never works"), ("writes_file", "aten::save"), ("file_text", "TorchS")],
)
def test_models_that_the_filter_refuses(model, name, phrase):
    result = bench(model(name), *SMALL)
    assert result.returncode == 1 and result.stdout == b""
    assert len(result.stderr.splitlines()) == 1 and phrase in result.stderr


def test_a_size_that_the_model_refuses(model):
    result = bench(model("fixed_100x76"), "--size", "80x80")
    assert result.returncode == 1
    assert "80x80" in result.stderr and "made for 100x76 alone" in result.stderr


@pytest.mark.parametrize("arguments", ["--size 64", "--size 0x4", "--seconds 0", "--seconds soon"])
def test_command_lines_that_make_no_sense(arguments):
    result = bench("a.pt", *arguments.split())
    assert result.returncode == 2 and result.stdout == b""
    assert len(result.stderr.splitlines()) == 1 and arguments.split()[1] in result.stderr
