# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""torchvision's detectors, as torch.jit.script() saves them, are models that need no permission."""
import json

import pytest
import support
import torch

torchvision = pytest.importorskip(
    "torchvision", reason="detectors are made by it: install python3-torchvision")

# One of each family; the others have the same code.
DETECTORS = (
    "fasterrcnn_mobilenet_v3_large_320_fpn",
    "fcos_resnet50_fpn",
    "keypointrcnn_resnet50_fpn",
    "maskrcnn_resnet50_fpn",
    "retinanet_resnet50_fpn",
    "ssd300_vgg16",
    "ssdlite320_mobilenet_v3_large",
)


@pytest.fixture(scope="module", params=DETECTORS)
def detector(request, tmp_path_factory):
    """A scripted detector; its folder is removed afterwards, for they are large."""
    torch.manual_seed(1)
    make = getattr(torchvision.models.detection, request.param)
    path = tmp_path_factory.mktemp("detector") / f"{request.param}.pt"
    torch.jit.script(make(weights=None, weights_backbone=None).eval()).save(str(path))
    yield path
    path.unlink()


def test_opens_without_permission(detector):
    result = support.execute([support.LAUNCHER, "inspect", detector, "--json"])
    assert result.returncode == 0, result.stderr
    facts = json.loads(result.stdout)
    assert not facts.get("refused"), facts["refused"]
    assert facts["inputs"][0]["type"] == "List[Tensor]"
