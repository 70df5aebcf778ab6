# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The names of classes that come with the filters, in all three of them."""
import importlib
import json

import pytest
import support
import torch
from classifiers import Fixed, classify
from detectors import detect
from stand_ins import Halves, Rows, Torchvision
from torch import nn

CLIP = "color=white:size=64x48:rate=1:duration=1"


def scripted(folder, module, **contract):
    path = folder / "net.pt"
    torch.jit.script(module.eval()).save(str(path))
    if contract:
        (folder / "net.pt.json").write_text(json.dumps(contract))
    return path


def run(graph, *output):
    return support.ffmpeg("-f", "lavfi", "-i", CLIP, "-vf", graph, *(output or ("-f", "null", "-")))


def names_in(folder, graph):
    """What is found or said in the one frame."""
    path = folder / "found.jsonl"
    result = run(f"{graph}:destination={support.escape_graph(path)}")
    assert result.returncode == 0, result
    record = json.loads(path.read_text())
    return [each["label"] for each in record["things"] + record.get("classes", [])]


def test_person_in_torchvisions_detectors(tmp_path):
    """They count from 1; without labels the error names the way."""
    path = scripted(tmp_path, Torchvision(1))
    plain = detect(path, tune=0)
    assert names_in(tmp_path, plain) == ["1"]
    assert names_in(tmp_path, f"{plain}:labels=coco") == ["person"]
    assert names_in(tmp_path, f"{plain}:labels=coco:classes=person") == ["person"]
    assert names_in(tmp_path, f"{plain}:labels=coco:classes=dog") == []
    support.assert_fails_clearly(run(f"{plain}:classes=person"), "'person'", "labels=coco")


@pytest.mark.parametrize("classes,number,name", [
    (80, 0, "person"), (80, 79, "toothbrush"), (90, 0, "person"), (91, 1, "person"), (91, 12, "12"),
])
def test_length_follows_the_model(tmp_path, classes, number, name):
    path = scripted(tmp_path, Rows(classes, number))
    graph = detect(path, size=64, decoder="yolov8", tune=0, labels="coco")
    assert names_in(tmp_path, graph) == [name]


def test_another_number_of_classes_is_refused(tmp_path):
    path = scripted(tmp_path, Rows(7, 0))
    result = run(detect(path, size=64, decoder="yolov8", tune=0, labels="coco"))
    support.assert_fails_clearly(result, "labels=coco", "80, 90 or 91", "7")


def test_person_in_torchvisions_segmentations(tmp_path):
    path = scripted(tmp_path, Halves())
    graph = support.dnn(path, tune=0, classes="person")
    result = run(f"{graph}:labels=voc,format=rgba", "-f", "rawvideo", "-")
    assert result.returncode == 0, result
    alpha = result.stdout[3::4]
    assert [alpha[0], alpha[63]] == [255, 0]
    support.assert_fails_clearly(run(graph), "'person'", "labels=voc")


def test_labels_of_pictures_are_refused(tmp_path):
    result = run(support.dnn(scripted(tmp_path, nn.Identity()), tune=0, labels="voc"))
    support.assert_fails_clearly(result, "labels", "classes=NAMES")


def test_labels_of_a_file_for_a_segmentation(tmp_path):
    names = tmp_path / "names"
    names.write_text("\n" * 15 + "somebody\n")
    graph = support.dnn(scripted(tmp_path, Halves()), tune=0, classes="somebody", labels=names)
    result = run(f"{graph},format=rgba", "-f", "rawvideo", "-")
    assert result.returncode == 0, result
    assert result.stdout[3] == 255


@pytest.mark.parametrize("count,number,name", [
    (1000, 0, "tench"), (1000, 999, "toilet tissue"), (1001, 1, "tench"),
])
def test_classifiers(tmp_path, count, number, name):
    scores = [0.0] * count
    scores[number] = 9.0
    graph = classify(scripted(tmp_path, Fixed(scores)), tune=0, size=32, labels="imagenet")
    assert names_in(tmp_path, graph) == [name]


def test_a_contract_names_a_list(tmp_path):
    path = scripted(tmp_path, Torchvision(1), labels="coco")
    assert names_in(tmp_path, detect(path, tune=0)) == ["person"]
    result = support.execute([support.LAUNCHER, "inspect", path, "--json"])
    facts = json.loads(result.stdout)
    assert facts["detector"]["labels"][1] == "person", facts


def test_a_file_of_that_name_has_a_folder(tmp_path):
    """A list's name is the list, whatever lies in the folder; with a slash it is a file."""
    (tmp_path / "coco").write_text("none\nsomebody\n")
    path = scripted(tmp_path, Torchvision(1))
    for labels, name in ("coco", "person"), ("./coco", "somebody"):
        result = support.ffmpeg(
            "-f", "lavfi", "-i", CLIP,
            "-vf", detect(path, tune=0, labels=labels, destination="found.jsonl"),
            "-f", "null", "-", cwd=tmp_path)
        assert result.returncode == 0, result
        (thing,) = json.loads((tmp_path / "found.jsonl").read_text())["things"]
        assert thing["label"] == name


# ---- every name ---------------------------------------------------------------------------


@pytest.mark.parametrize("name,theirs", [
    ("coco", "_COCO_CATEGORIES"), ("voc", "_VOC_CATEGORIES"), ("imagenet", "_IMAGENET_CATEGORIES"),
])
def test_names_are_torchvisions(tmp_path, name, theirs):
    pytest.importorskip("torchvision", reason="the names are compared with torchvision's")
    names = list(getattr(importlib.import_module("torchvision.models._meta"), theirs))
    path = scripted(tmp_path, Fixed([0.0] * len(names)), labels=name)
    result = support.execute([support.LAUNCHER, "inspect", path, "--json"])
    ours = json.loads(result.stdout)["classifier"]["labels"]
    replaced = {"__background__": "background", "N/A": ""}
    assert ours == [replaced.get(each, each) for each in names]
