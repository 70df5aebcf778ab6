# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""torchvision's detectors, as torch.jit.script() saves them: they need no permission, and find what
they find in Python."""
import json

import pictures
import pytest
import support
import torch
from detectors import boxes, detect

torchvision = pytest.importorskip(
    "torchvision", reason="detectors are made by it: install python3-torchvision")

WIDTH, HEIGHT, FRAMES = 112, 80, 3

# Without thresholds, so that seeded weights find something, and with small pictures.
SMALL = {"min_size": 96, "max_size": 160}
OF_REGIONS = {**SMALL, "box_score_thresh": 0.0, "box_detections_per_img": 10,
              "rpn_post_nms_top_n_test": 40}
OF_ANCHORS = {**SMALL, "score_thresh": 0.0, "detections_per_img": 10, "topk_candidates": 50}
OF_SSD = {"score_thresh": 0.0, "detections_per_img": 10, "topk_candidates": 50}

# One of each family; the others have the same code.
DETECTORS = {
    "fasterrcnn_mobilenet_v3_large_320_fpn": OF_REGIONS,
    "fcos_resnet50_fpn": OF_ANCHORS,
    "keypointrcnn_resnet50_fpn": {**OF_REGIONS, "num_keypoints": 5},
    "maskrcnn_resnet50_fpn": OF_REGIONS,
    "retinanet_resnet50_fpn": OF_ANCHORS,
    "ssd300_vgg16": OF_SSD,
    "ssdlite320_mobilenet_v3_large": OF_SSD,
}


@pytest.fixture(scope="module", params=DETECTORS)
def detector(request, tmp_path_factory):
    """A detector and its file, which is removed afterwards, for it is large."""
    torch.manual_seed(1)
    make = getattr(torchvision.models.detection, request.param)
    model = make(weights=None, weights_backbone=None, num_classes=7, **DETECTORS[request.param])
    path = tmp_path_factory.mktemp("detector") / f"{request.param}.pt"
    torch.jit.script(model.eval()).save(str(path))
    yield model, path
    path.unlink()


def test_opens_without_permission(detector):
    result = support.execute([support.LAUNCHER, "inspect", detector[1], "--json"])
    assert result.returncode == 0, result.stderr
    facts = json.loads(result.stdout)
    assert not facts["refused"] and facts["accepted"]
    assert facts["detector"]["decoder"] == "torchvision"
    assert facts["inputs"][0]["type"] == "List[Tensor]"


def found_by_torchvision(model, frame):
    picture = torch.from_numpy(pictures.to_unit(frame.image))
    with torch.no_grad():
        found = model([picture])[0]
    return sorted(zip(found["scores"].tolist(), found["boxes"].tolist(), found["labels"].tolist()),
                  reverse=True)


def inside(box):
    left, top, right, bottom = box
    return [min(max(left, 0), WIDTH), min(max(top, 0), HEIGHT),
            min(max(right, 0), WIDTH), min(max(bottom, 0), HEIGHT)]


def is_like(thing, box, wanted):
    score, corners, label = wanted
    return (thing["class"] == label and abs(thing["confidence"] - score) <= 0.002
            and all(abs(a - b) <= 0.1 for a, b in zip(box, inside(corners))))


def test_finds_what_torchvision_finds(detector, tmp_path):
    model, path = detector
    frames = pictures.make_frames("rgb24", WIDTH, HEIGHT, FRAMES)
    target = tmp_path / "found.jsonl"
    graph = detect(path, confidence=0, tune=0, destination=target)
    result = support.ffmpeg(*pictures.raw_input("rgb24", WIDTH, HEIGHT), "-vf", graph,
                            *("-f", "rawvideo", "-"), stdin=pictures.raw(frames, "rgb24"))
    assert result.returncode == 0, result
    assert result.stdout == pictures.raw(frames, "rgb24"), "frames pass bit for bit"
    records = [json.loads(line) for line in target.read_text().splitlines()]
    assert len(records) == FRAMES
    for frame, record in zip(frames, records):
        wanted = [each for each in found_by_torchvision(model, frame)
                  if min(inside(each[1])[2] - inside(each[1])[0],
                         inside(each[1])[3] - inside(each[1])[1]) >= 0.5]
        assert len(record["things"]) == len(wanted) > 0
        for thing, box in zip(record["things"], boxes(record)):
            assert any(is_like(thing, box, each) for each in wanted), (thing, wanted)
