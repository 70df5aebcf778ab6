# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who says what a model's tensors mean: options, files, the model's file, its architecture."""
import json

import classifiers
import detectors
import numpy
import pictures
import pytest
import support
import torch
from torch import Tensor, nn

WIDTH, HEIGHT = 50, 38
ULTRALYTICS = {
    "description": "Ultralytics YOLO model", "author": "Ultralytics", "version": "8.3.0",
    "license": "AGPL-3.0", "stride": 32, "task": "detect", "batch": 1, "imgsz": [480, 640],
    "names": {"0": "person", "1": "bicycle", "2": "car"}, "args": {"half": False},
    "channels": 3, "end2end": False,
}


class Halves(nn.Module):
    """Half of each sample: what white is shows."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.clamp(x, 0.0, 100.0) / 2


class Doubles(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.nn.functional.interpolate(x, scale_factor=2.0, mode="nearest")


class Colours(nn.Module):
    """Takes 3 channels and no other number."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 3, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)


def save(path, module=None, **extras):
    files = {name.replace("_json", ".json").replace("_txt", ".txt"):
             text if isinstance(text, (str, bytes)) else json.dumps(text)
             for name, text in extras.items()}
    torch.jit.script((module or Halves()).eval()).save(str(path), _extra_files=files)
    return path


def picture():
    return pictures.raw(pictures.make_frames("rgb24", WIDTH, HEIGHT, 1), "rgb24")


def run(path, options="", **others):
    graph = support.dnn(path, tune=0) + (f":{options}" if options else "")
    return support.ffmpeg(*pictures.raw_input("rgb24", WIDTH, HEIGHT), "-vf", graph,
                          *("-f", "rawvideo", "-"), stdin=picture(), **others)


def tool(*arguments, **options):
    return support.execute([support.LAUNCHER, *arguments], **options)


def facts(path, *arguments):
    result = tool("inspect", "--json", path, *arguments)
    assert result.returncode == 0, str(result)
    return json.loads(result.stdout)["contract"]


def origins(path, *arguments):
    return {name: fact["origin"] for name, fact in facts(path, *arguments)["input"].items()}


# ---- the order of the sources -----------------------------------------------------------


@pytest.mark.parametrize("isolate", [0, "auto"])
def test_the_file_says_it_itself(tmp_path, isolate):
    plain = save(tmp_path / "plain.pt")
    wanted = run(plain, "range=255").stdout
    told = save(tmp_path / "told.pt", dnn_torch_json={"input": {"range": [0, 255]}})
    made = run(told, f"isolate={isolate}", loglevel="verbose")
    assert made.stdout == wanted != run(plain).stdout
    assert "input.range 0..255 (dnn_torch.json in the file)" in made.stderr


def test_each_source_overrules_the_next(tmp_path):
    path = save(tmp_path / "net.pt", dnn_torch_json={"input": {"range": 255, "order": "bgr",
                                                               "mean": 3}})
    (tmp_path / "net.pt.json").write_text(json.dumps({"input": {"range": 255, "order": "rgb"}}))
    found = facts(path, "--range", "-1..1")["input"]
    assert found["range"] == {"value": [-1, 1], "origin": "option"}
    assert found["order"] == {"value": "rgb", "origin": "net.pt.json"}
    assert found["mean"] == {"value": 3, "origin": "dnn_torch.json in the file"}
    assert found["std"] == {"value": 1, "origin": "default"}


def test_what_is_probed(tmp_path):
    path = save(tmp_path / "net.pt", Doubles())
    assert facts(path)["scale"] == {"value": 2, "origin": "probe"}
    colours = facts(save(tmp_path / "colours.pt", Colours()))
    assert colours["input"]["channels"] == {"value": 3, "origin": "probe"}
    assert colours["output"]["channels"] == {"value": 3, "origin": "probe"}


def test_all_that_a_model_can_say(tmp_path):
    said = {"task": "picture", "scale": 1, "tiling": "local", "alignment": 8, "batch": 2,
            "end2end": True, "scores": "sigmoid", "key_points": [17, 3], "labels": ["a", "b"],
            "author": "Me", "licence": "MIT"}
    found = facts(save(tmp_path / "net.pt", dnn_torch_json=said))
    assert {name: found[name]["value"] for name in said} == said
    text = tool("inspect", tmp_path / "net.pt").stdout.decode()
    assert "labels a, b (dnn_torch.json in the file)" in text


@pytest.mark.parametrize("isolate", [0, 1])
def test_many_labels(tmp_path, isolate):
    """More than one message between two processes holds."""
    labels = [f"thing number {i}, which has a long name: \u00e9" for i in range(2000)]
    path = save(tmp_path / "net.pt", dnn_torch_json={"labels": labels})
    assert facts(path, "--isolate", str(isolate))["labels"]["value"] == labels


# ---- Ultralytics ------------------------------------------------------------------------


def test_what_ultralytics_writes(tmp_path):
    path = save(tmp_path / "yolo.pt", config_txt=ULTRALYTICS)
    result = tool("inspect", "--json", path)
    found = json.loads(result.stdout)["contract"]
    wanted = {"task": "detect", "author": "Ultralytics", "licence": "AGPL-3.0", "batch": 1,
              "end2end": False, "labels": ["person", "bicycle", "car"]}
    for name, value in wanted.items():
        assert found[name] == {"value": value, "origin": "config.txt in the file"}
    assert found["input"]["channels"]["value"] == 3
    assert found["input"]["size"]["value"] == [640, 480]
    assert found["input"]["multiple"]["value"] == 32
    assert result.returncode == 1 and "finds nothing" in json.loads(result.stdout)["error"]
    support.assert_fails_clearly(run(path), r"task detect \(config.txt in the file\)", "pictures")


class OneSize(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.dim() != 4 or x.size(1) != 3 or x.size(2) != 64 or x.size(3) != 96:
            raise RuntimeError("64x96 only")
        return x / 2


@pytest.mark.parametrize("record", ["config_txt", "dnn_torch_json"])
def test_inspect_tries_the_size_that_the_file_tells(tmp_path, record):
    said = {"config_txt": {"task": "segment", "imgsz": [64, 96]},
            "dnn_torch_json": {"input": {"size": [96, 64]}}}
    path = save(tmp_path / "net.pt", OneSize(), **{record: said[record]})
    result = tool("inspect", "--json", path)
    assert result.returncode == 0, str(result)
    assert json.loads(result.stdout)["contract"]["input"]["size"]["value"] == [96, 64]


@pytest.mark.parametrize("text", ["", "{", "[]", "nothing", '{"task": 5, "names": {"x": 1}}',
                                  '{"task": "swim", "imgsz": "wide", "batch": -1, "args": 7}',
                                  '{"names": {"0": 1, "7": "b"}, "task": "detect "}', "[" * 9000])
def test_what_others_wrote_is_no_fault(tmp_path, text):
    """The record is not ours, so a file that has another such record runs as before."""
    path = save(tmp_path / "net.pt", config_txt=text)
    assert run(path).stdout == run(save(tmp_path / "plain.pt")).stdout


# ---- contracts that are wrong -----------------------------------------------------------


@pytest.mark.parametrize(
    "module,contract,words",
    [
        (Doubles, {"scale": 4}, ["scale 4", "100x76 of 50x38"]),
        (Halves, {"scale": 2}, ["scale 2", "50x38 of 50x38"]),
        (Colours, {"input": {"channels": 1}}, ["input.channels 1", "takes 3"]),
        (Colours, {"input": {"channels": 4}}, ["input.channels 4", "takes 3"]),
        (Halves, {"task": "classify"}, ["task classify"]),
    ],
)
def test_contradictions_name_the_field(tmp_path, module, contract, words):
    path = save(tmp_path / "net.pt", module())
    (tmp_path / "net.pt.json").write_text(json.dumps(contract))
    support.assert_fails_clearly(run(path), r"\(net\.pt\.json\)", *words)
    result = tool("inspect", path)
    assert result.returncode == 1 and "(net.pt.json)" in result.stderr


def test_channels_settle_what_the_model_leaves_open(tmp_path):
    path = save(tmp_path / "net.pt", dnn_torch_json={"input": {"channels": 1}})
    assert "the model takes luma" in run(path, loglevel="verbose").stderr


@pytest.mark.parametrize(
    "text,words",
    [
        ('{"scale": 0}', "scale takes"),
        ('{"scale": [1, 2]}', "scale takes"),
        ('{"scale": "2"}', "scale takes"),
        ('{"tiling": "yes"}', "tiling takes"),
        ('{"task": "Picture"}', "task takes"),
        ('{"labels": "a"}', "labels takes"),
        ('{"labels": [1]}', "labels takes"),
        ('{"batch": 1.5}', "batch takes"),
        ('{"batch": 1e300}', "batch takes"),
        ('{"end2end": 1}', "end2end takes"),
        ('{"scores": "sure"}', "scores takes"),
        ('{"author": null}', "author takes"),
        ('{"input": {"channels": 0}}', "channels takes"),
        ('{"inputs": 5}', "inputs"),
        ("nothing", "no JSON from line 1"),
        ("", "no JSON from line 1"),
        ("[1]", "no JSON object"),
        ("[" * 9000, "nested too deeply"),
        ('{"scale": 1, "scale": 1}', "twice"),
        pytest.param('{"author": "' + "x" * 600000 + '"}', "too long", id="long"),
        ('{"input": {"size": 64, "multiple": 7}}', "no multiple"),
        ('{"input": {"size": 1, "minimum": 8}}', "below"),
    ],
)
def test_faults_in_the_models_file(tmp_path, text, words):
    path = save(tmp_path / "net.pt", dnn_torch_json=text)
    support.assert_fails_clearly(run(path), r"dnn_torch\.json", words)


# ---- dnn-torch contract -----------------------------------------------------------------


def write_contract(path, *options):
    """As a shell does it: the file is there, and empty, before the program starts."""
    beside = path.with_name(path.name + ".json")
    result = tool("contract", path, *options)
    assert result.returncode == 0, str(result)
    beside.write_bytes(result.stdout)
    return json.loads(result.stdout)


OPTIONS = ["", "range=255", "range=-1..1:order=bgr",
           "order=bgr:mean=0.485|0.456|0.406:std=0.229|0.224|0.225"]


@pytest.mark.parametrize("options", OPTIONS)
def test_a_contract_that_is_read_back_changes_nothing(tmp_path, options):
    path = save(tmp_path / "net.pt", Doubles(), dnn_torch_json={"author": "Me \u00e9"})
    wanted = run(path, options)
    assert wanted.returncode == 0, wanted
    words = [word for each in options.split(":") if each
             for word in ("--" + each.partition("=")[0], each.partition("=")[2])]
    before = facts(path, *words)
    written = write_contract(path, *words)
    assert run(path).stdout == wanted.stdout
    after = facts(path)
    values = [{name: fact["value"] for name, fact in found["input"].items()}
              for found in (before, after)]
    assert values[0] == values[1] and after["input"]["range"]["origin"] == "net.pt.json"
    assert write_contract(path) == written, "once more"
    assert written["author"] == "Me \u00e9" and written["scale"] == 2


class Noisy(nn.Module):
    """Takes a number, a mask and a reference beside the frame."""

    def forward(self, x: Tensor, noise: float, mask: Tensor, reference: Tensor) -> Tensor:
        return x * noise + mask * reference


def test_further_inputs_are_written(tmp_path):
    path = save(tmp_path / "net.pt", Noisy())
    inputs = {"noise": "0.5", "mask": {"channels": 1},
              "reference": {"channels": 3, "order": "bgr", "range": [0, 255], "mean": [1, 2.5, 3]}}
    beside = tmp_path / "net.pt.json"
    beside.write_text(json.dumps({"inputs": inputs}))
    written = json.loads(tool("contract", path).stdout)
    assert written["inputs"] == inputs
    beside.write_text(json.dumps(written))
    assert json.loads(tool("contract", path).stdout) == written, "once more"


def test_a_contract_written_to_its_place(tmp_path):
    path = save(tmp_path / "net.pt")
    command = f"'{support.LAUNCHER}' contract '{path}' > '{path}.json'"
    result = support.execute(["sh", "-c", command])
    assert result.returncode == 0, str(result)
    written = json.loads((tmp_path / "net.pt.json").read_text())
    assert written["input"]["range"] == [0, 1] and "output" not in written
    assert run(path).returncode == 0


def test_a_contract_of_what_makes_no_pictures(tmp_path):
    """It cannot be tried, and says so; what is known is written all the same."""

    class Flat(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.flatten(1)

    path = save(tmp_path / "net.pt", Flat(), config_txt=ULTRALYTICS)
    result = tool("contract", path)
    assert result.returncode == 0 and "could not be tried" in result.stderr
    assert json.loads(result.stdout)["labels"] == ["person", "bicycle", "car"]


@pytest.mark.parametrize("module,size,task", [
    (detectors.Bright(), [], "detect"), (classifiers.Sized(96, 64), ["--size=96x64"], "classify")])
def test_a_contract_of_what_finds_or_tells(tmp_path, module, size, task):
    """Without a word of complaint, and with what it is for."""
    path = save(tmp_path / "net.pt", module)
    result = tool("contract", path, *size)
    assert result.returncode == 0 and result.stderr == "", str(result)
    assert json.loads(result.stdout)["task"] == task
    (tmp_path / "net.pt.json").write_bytes(result.stdout)
    assert facts(path, *size)["task"] == {"value": task, "origin": "net.pt.json"}


def test_an_edited_contract_counts_for_both_sides(tmp_path):
    """What the output has from the input is not written, so that one change is enough."""
    path = save(tmp_path / "net.pt")
    wanted = run(path, "range=255").stdout
    written = write_contract(path)
    written["input"]["range"] = [0, 255]
    (tmp_path / "net.pt.json").write_text(json.dumps(written))
    assert run(path).stdout == wanted
    assert numpy.frombuffer(wanted, "u1").max() > 0
