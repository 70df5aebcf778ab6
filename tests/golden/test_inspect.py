# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""dnn-torch inspect: what it says of a model is so, and the command line that it gives runs."""
import json
import pathlib
import re
import shutil

import pictures
import pytest
import support
import torch

pytestmark = pytest.mark.skipif(support.PATCHED, reason="the patched ffmpeg needs no launcher")

ODD_NAME = "a b'c:d,e[f];g\\h%i.pt"


def inspect(path, *arguments, **options):
    return support.execute([support.LAUNCHER, "inspect", path, *arguments], **options)


def facts(path, *arguments):
    result = inspect(path, "--json", *arguments)
    assert result.returncode == 0, str(result)
    assert result.stderr == ""
    return json.loads(result.stdout)


def text_of(path):
    """The report as {name: text}; the command's own last."""
    result = inspect(path)
    assert result.returncode == 0, str(result)
    return dict(re.findall(r"^(\w+) +(.*)$", result.stdout.decode(), re.MULTILINE))


# ---- what the file holds ------------------------------------------------------


@pytest.mark.parametrize("name", ["espcn_rgb", "espcn_traced", "espcn_luma", "denoiser"])
def test_parameters(model, name):
    found = facts(model(name))["parameters"]
    tensors = list(torch.jit.load(str(model(name))).parameters())
    count = sum(tensor.numel() for tensor in tensors)
    assert found == {"count": count, "bytes": 4 * count, "precision": "fp32"}


def test_parameters_of_a_frozen_model(model):
    """They stand in its code."""
    assert facts(model("espcn_frozen"))["parameters"] == facts(model("espcn_rgb"))["parameters"]


def test_precision(model):
    found = facts(model("bfloat16"))["parameters"]
    assert (found["precision"], found["bytes"]) == ("bf16", 2 * found["count"])


def test_no_parameters(model):
    assert text_of(model("identity"))["parameters"] == "none"


@pytest.mark.parametrize(
    "name,inputs,outputs",
    [
        ("espcn_rgb", [("x", "Tensor")], [(None, "Tensor")]),
        ("default_argument", [("x", "Tensor"), ("strength", "float, optional")], None),
        ("tuple2", None, [("0", "Tensor"), ("1", "Tensor")]),
    ],
)
def test_schema(model, name, inputs, outputs):
    found = facts(model(name))
    for wanted, key in ((inputs, "inputs"), (outputs, "outputs")):
        values = [(value["name"], value["type"]) for value in found[key]]
        assert wanted is None or values == wanted


def test_where_it_comes_from(model):
    found = facts(model("espcn_rgb"))
    assert found["origin"].split(".")[-1] == "Espcn"
    assert re.fullmatch(r"TorchScript, file format \d+", found["format"])
    assert found["engine"]["name"] == "LibTorch"


@pytest.mark.parametrize("name,options,kept", [
    ("invert", {"input": "zz", "output": "y", "order": "bgr"}, "order"),
    ("invert", {"input": "x", "order": "bgr"}, "input"),
    ("dict2", {"output": "image"}, "output"),
])  # fmt: skip
def test_the_command_has_no_options_that_the_model_ignores(model, name, options, kept):
    found = facts(model(name), *[f"--{name}={value}" for name, value in options.items()])
    assert f":{kept}={options[kept]}" in found["command"]
    for option in ("input", "output"):
        assert option == kept or f":{option}=" not in found["command"], found["command"]


# ---- what it takes and gives --------------------------------------------------


@pytest.mark.parametrize(
    "name,channels,sizes,scale",
    [
        ("enlarge2", [3, 1], "any, from 1x1", "2 (64x64 becomes 128x128)"),
        ("espcn_luma", [1], "any, from 1x1", "2 (64x64 becomes 128x128)"),
        ("rgb_identity", [3], "any, from 1x1", "1 (64x64 becomes 64x64)"),
        ("crop", [3, 1], "any, from 5x5", "1, less 4 (64x64 becomes 60x60)"),
        ("halve", [3, 1], "any, from 1x1", "1/2, rounded (64x64 becomes 32x32)"),
        ("even_only", [3, 1], "even ones only, from 2x2", "1 (64x64 becomes 64x64)"),
        ("multiples_of_4", [3, 1], "multiples of 4, from 4x4", "1 (64x64 becomes 64x64)"),
        ("one_more_than_8n", [3, 1], "multiples of 8 and 1 more, from 1x1",
         "1 (65x65 becomes 65x65)"),
        ("needs16", [3, 1], "any, from 16x16", "1 (64x64 becomes 64x64)"),
        ("fixed_input", [3, 1], "64x48 only, as far as was tried", "64x48 becomes 64x48"),
        ("fixed_output", [3, 1], "any, from 1x1", "always 32x24"),
    ],
)  # fmt: skip
def test_sizes(model, name, channels, sizes, scale):
    found = facts(model(name))
    assert found["accepted"] and found["error"] is None
    assert found["channels"] == channels
    assert (found["sizes"]["words"], found["scale"]["words"]) == (sizes, scale)


def test_a_size_that_is_named(model):
    found = facts(model("fixed_100x76"), "--size", "100x76")
    assert found["sizes"]["words"] == "100x76 only, as far as was tried"
    assert "scale=100:76," in found["command"]
    result = inspect(model("fixed_100x76"))
    assert result.returncode == 1 and "made for 100x76 alone" in result.stderr
    assert result.stderr.endswith("name one with --size\n")


def test_text(model):
    said = text_of(model("espcn_luma"))
    assert said["input"] == "x: Tensor"
    assert said["channels"].startswith("1 (luma")
    assert re.fullmatch(r"\d+, [\d.]+ KiB, fp32", said["parameters"])
    assert said["use"].startswith("dnn-torch run ffmpeg -i in.mp4 -vf dnn_torch=model=")


def test_notice(model):
    """input=NAME that is none is the engine's to remark on."""
    assert "nosuch" in facts(model("identity"), "--input", "nosuch")["notice"]


# ---- how frames come to it -----------------------------------------------------------


@pytest.mark.parametrize(
    "name,padding,tiles",
    [
        ("multiples_of_4", "to multiples of 4 (probe), by reflection (default)", r"^local \(probe\)"),
        ("needs16", "none, for any size", r"^local \(probe\)"),
        ("fixed_input", "the model takes 64x48 alone: frames are cut into tiles of it (probe)",
         r"^local \(probe\)"),
        ("one_more_than_8n", "to 8n + 1 (probe), by reflection (default)", r"^none: made for 8n \+ 1$"),
        ("first_pixel_everywhere", "none, for any size",
         r"^not local \(probe\): tiles are blended$"),
    ],
)  # fmt: skip
def test_padding_and_tiles(model, name, padding, tiles):
    found = facts(model(name))
    assert found["padding"]["words"] == padding
    assert re.search(tiles, found["tiles"]["words"]), found["tiles"]


def test_padding_and_tiles_in_the_text(model):
    found, text = facts(model("multiples_of_4")), text_of(model("multiples_of_4"))
    assert text["padding"] == found["padding"]["words"]
    assert text["tiles"] == found["tiles"]["words"]


def test_how_far_it_looks(model):
    """ESPCN's convolutions are of 5, 3 and 3: 2 + 1 + 1 pixels."""
    found = facts(model("espcn_rgb"))["tiles"]
    assert found["local"] == {"value": True, "origin": "probe"}
    assert found["reach"] == {"width": 4, "height": 4}
    assert found["step"] == {"width": 1, "height": 1}


def test_who_says_how_frames_come_to_it(model, tmp_path):
    path = shutil.copy(model("espcn_rgb"), tmp_path / "net.pt")
    said = {"tiling": "global", "input": {"multiple": 16, "minimum": [64, 32]}}
    (tmp_path / "net.pt.json").write_text(json.dumps(said))
    found = facts(path)
    assert found["padding"]["multiple"] == {"value": 16, "origin": "net.pt.json"}
    assert found["padding"]["minimum"] == {"value": {"width": 64, "height": 32},
                                           "origin": "net.pt.json"}  # fmt: skip
    assert found["tiles"]["local"] == {"value": False, "origin": "net.pt.json"}
    assert found["padding"]["words"] == (
        "to multiples of 16 (net.pt.json), at least 64x32 (net.pt.json), by reflection (default)"
    )
    given = facts(path, "--multiple", "8", "--padding", "replicate", "--overlap", "12")
    assert given["padding"]["words"] == (
        "to multiples of 8 (option), at least 64x32 (net.pt.json), by replication (option)"
    )
    assert given["tiles"]["words"] == "overlap by 12 (option), and are blended"
    assert ":multiple=8:padding=replicate:overlap=12" in given["command"]
    assert facts(path, "--tile", "0")["tiles"]["words"] == "never (option)"


def test_what_the_result_becomes(tmp_path):
    """A mask of RGB as alpha: without --as it is a gray picture."""

    class Mask(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x[:, :1] * 0.5 + x[:, 2:] * 0.25

    path = tmp_path / "mask.pt"
    torch.jit.script(Mask()).save(str(path))
    found = facts(path, "--as", "alpha")
    assert found["accepted"] and found["contract"]["output"]["as"]["value"] == "alpha"
    assert ":as=alpha" in found["command"]
    bad = inspect(path, "--as", "nosuch")
    assert bad.returncode == 1 and "as takes picture, gray, alpha, lab, depth, index or colors" in bad.stderr
    for option in (("--as", "index"), ("--classes", "1")):
        classes = inspect(path, *option)
        assert classes.returncode == 1 and "which the filter tries and this program does not" in classes.stderr


# ---- the command line that it gives --------------------------------------------


def run_in_shell(command, folder, size):
    """As one who pastes it where in.mp4 lies; the size of out.mp4."""
    support.succeed(
        *("-f", "lavfi", "-i", f"testsrc2=s={size}:d=0.2", "-c:v", "mpeg4", folder / "in.mp4"),
        plain=True,
    )
    path = f"{pathlib.Path(support.LAUNCHER).parent}:/usr/bin:/bin"
    result = support.execute(["sh", "-c", command], cwd=folder, env={"PATH": path})
    assert result.returncode == 0, str(result)
    probe = [support.sibling("ffprobe"), "-v", "error", "-show_entries", "stream=width,height"]
    return support.execute([*probe, "-of", "csv=p=0", folder / "out.mp4"]).stdout.decode().strip()


@pytest.mark.parametrize(
    "name,size,expected",
    [
        ("enlarge2", "64x48", "128,96"),
        ("espcn_luma", "64x48", "128,96"),
        ("multiples_of_4", "66x50", "66,50"),
        ("fixed_input", "320x240", "320,240"),
        ("crop", "66x50", "62,46"),
    ],
)
def test_command_runs(model, tmp_path, name, size, expected):
    assert run_in_shell(facts(model(name))["command"], tmp_path, size) == expected


def test_command_runs_with_an_odd_path(model, tmp_path):
    path = tmp_path / ODD_NAME
    shutil.copy(model("enlarge2"), path)
    command = text_of(path)["use"]
    assert command == facts(path)["command"]
    assert run_in_shell(command, tmp_path, "64x48") == "128,96"


def test_command_names_what_was_asked_for(model, tmp_path):
    command = facts(model("dict2"), "--output", "image")["command"]
    assert ":output=image" in command
    assert run_in_shell(command, tmp_path, "64x48") == "64,48"


# ---- models that the filter refuses ---------------------------------------------


def filter_says(path):
    result = support.ffmpeg(
        *pictures.raw_input("rgb24", 64, 64),
        *("-vf", support.dnn(path), "-f", "null", "-"),
        stdin=pictures.raw(pictures.make_frames("rgb24", 64, 64, 1), "rgb24"),
    )
    assert len(result.errors) == 1, str(result)
    return result.errors[0]


def assert_says(result, text):
    assert result.returncode == 1, str(result)
    assert len(result.stderr.splitlines()) == 1, str(result)
    assert result.stderr.startswith(f"dnn-torch: {text}")


def test_refused_operators_are_listed(model, tmp_path):
    with support.no_new_files(tmp_path):
        result = inspect(model("reads_and_writes"), "--json", cwd=tmp_path)
    found = json.loads(result.stdout)
    assert sorted(found["refused"]) == ["aten::from_file", "aten::save"]
    assert found["inputs"] == [{"name": "x", "type": "Tensor"}]
    assert not found["accepted"] and found["command"] is None
    assert found["error"] == filter_says(model("reads_and_writes"))
    assert_says(result, found["error"])


def test_refused_operators_in_the_text(model):
    result = inspect(model("writes_file"))
    assert re.search(r"^refused +aten::save$", result.stdout.decode(), re.MULTILINE)
    assert_says(result, filter_says(model("writes_file")))


@pytest.mark.parametrize(
    "name", ["throws", "two_inputs", "returns_string", "more_channels", "wants2", "rank5"]
)
def test_what_the_filter_cannot_use(model, name):
    """What is known is told all the same.  The filter says what other filters are for, too."""
    result = inspect(model(name))
    assert b"TorchScript, file format" in result.stdout
    assert b"\nuse " not in result.stdout
    assert_says(result, filter_says(model(name)).partition("; detectors are for")[0])


@pytest.mark.parametrize(
    "name", ["state_dict", "pickled_module", "truncated", "garbage", "text", "empty", "pickle"]
)
def test_files_that_are_no_models(model, name):
    path = model(f"file_{name}")
    result = inspect(path)
    assert result.stdout == b""
    assert_says(result, filter_says(path))


@pytest.mark.parametrize("name", ["absent.pt", "."])
def test_paths_that_are_no_files(tmp_path, name):
    result = inspect(tmp_path / name)
    assert result.stdout == b""
    assert_says(result, filter_says(tmp_path / name))


@pytest.mark.parametrize("arguments", [
    ["absent.pt"], ["."], ["net.pt", "--device=nosuch"], ["net.pt", "--engine=nosuch"],
    ["damaged.pt"], ["net.pt", "--range=5..5"],
])
@pytest.mark.parametrize("command", ["inspect", "bench"])
def test_json_has_each_failure(model, tmp_path, command, arguments):
    (tmp_path / "net.pt").symlink_to(model("identity"))
    (tmp_path / "damaged.pt").write_bytes(b"PK\x03\x04" + bytes(60))
    result = support.execute([support.LAUNCHER, command, "--json", *arguments], cwd=tmp_path)
    found = json.loads(result.stdout)
    assert result.returncode == 1 and found["model"] == arguments[0]
    assert found["error"] and result.stderr == f"dnn-torch: {found['error']}\n"
    assert not found.get("accepted") and not found.get("rows")


@pytest.mark.parametrize("option,value", [("device", "nosuch"), ("engine", "nosuch")])
def test_places_that_are_none(model, option, value):
    result = inspect(model("identity"), f"--{option}", value)
    assert result.returncode == 1 and result.stdout == b""
    assert len(result.stderr.splitlines()) == 1 and value in result.stderr


@pytest.mark.parametrize(
    "arguments,phrase",
    [
        ([], "no model"),
        (["a.pt", "b.pt"], "b.pt"),
        (["a.pt", "--nosuch"], "--nosuch"),
        (["a.pt", "--device"], "--device needs a value"),
        (["a.pt", "--seconds=3"], "--seconds"),
        (["a.pt", "--size=64"], "--size 64"),
    ],
)
def test_command_lines_that_make_no_sense(arguments, phrase):
    result = support.execute([support.LAUNCHER, "inspect", *arguments])
    assert result.returncode == 2 and result.stdout == b""
    assert len(result.stderr.splitlines()) == 1 and phrase in result.stderr


@pytest.mark.parametrize("command", ["inspect", "bench"])
def test_help(command):
    result = support.execute([support.LAUNCHER, command, "--help"])
    assert result.returncode == 0 and f"dnn-torch {command} MODEL" in result.stdout.decode()


class Slow(torch.nn.Module):
    """Doubles small pictures in half a second or more, on one core: others may be busy."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mean = x.mean()
        for _ in range(400000):
            mean = mean * 0.5
        return torch.nn.functional.interpolate(x + 0.0 * mean, scale_factor=2.0, mode="nearest")


def test_a_slow_model_needs_no_size(tmp_path):
    """Of which there was no time to try more sizes than one."""
    torch.jit.script(Slow()).save(str(tmp_path / "slow.pt"))
    found = facts(tmp_path / "slow.pt")
    assert not found["sizes"]["complete"], found
    assert found["sizes"]["width"] is None and found["sizes"]["height"] is None
    assert "scale=" not in found["command"] and "crop=" not in found["command"]


def test_two_frames_and_the_time_between_them():
    found = facts(support.REPOSITORY / "models" / "interpolate.pt")
    assert "-vf dnn_torch_interpolate=" in found["command"]


# ---- another engine -----------------------------------------------------------


def test_an_engine_that_tells_nothing(script):
    path = script(scale=2, channels=1)
    result = inspect(path, "--engine", "fake", "--json", fake_engine=True)
    assert result.returncode == 0, str(result)
    found = json.loads(result.stdout)
    assert found["parameters"] is None and found["inputs"] == []
    assert (found["channels"], found["scale"]["across"]["numerator"]) == ([1], 2)
    assert ":engine=fake" in found["command"]
