# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Models that use torchvision's operators, with torchvision installed and without."""
import numpy
import pictures
import pytest
import support
import torch
from torch import Tensor, nn

torchvision = pytest.importorskip(
    "torchvision", reason="models with torchvision's operators are made by it: "
                          "install python3-torchvision")

# torchvision has it from 0.27 on.
IS_TORCHVISIONS = hasattr(torch.ops.torchvision, "box_iou_rotated")
if not IS_TORCHVISIONS:
    # torch.library of LibTorch 1.13 adds to no space that there is.
    FURTHER = torch._C._dispatch_library("FRAGMENT", "torchvision", "")
    FURTHER.define("box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor", "")

WIDTH, HEIGHT = 48, 40
ABSENT = {"DNN_TORCH_TORCHVISION": "/nonexistent/_C.so"}
COUNT = 256


class Detects(nn.Module):
    """Boxes and scores are of the picture; the first samples become each box's rank, or 0."""

    def __init__(self, count: int, threshold: float):
        super().__init__()
        self.count, self.threshold = count, threshold

    def forward(self, x: Tensor) -> Tensor:
        numbers = x.flatten()[: 5 * self.count].reshape(self.count, 5) * 100.0
        boxes = torch.cat([numbers[:, :2], numbers[:, :2] + numbers[:, 2:4] / 2.0], 1)
        scores = torch.floor(numbers[:, 4] / 10.0)  # many are the same
        kept = torch.ops.torchvision.nms(boxes, scores, self.threshold)
        ranks = torch.zeros([self.count])
        ranks[kept] = torch.arange(1, kept.numel() + 1, dtype=torch.float32) / 255.0
        y = x.flatten().clone()
        y[: self.count] = torch.clamp(ranks, 0.0, 1.0)
        return y.reshape(x.size(0), x.size(1), x.size(2), x.size(3))


class Turns(nn.Module):
    """Shows how much boxes of all angles overlap with one another."""

    def __init__(self, boxes: Tensor):
        super().__init__()
        self.register_buffer("boxes", boxes)

    def forward(self, x: Tensor) -> Tensor:
        overlaps = torch.ops.torchvision.box_iou_rotated(self.boxes, self.boxes)
        y = x.flatten().clone() * 0.0
        y[: overlaps.numel()] = overlaps.flatten()
        return y.reshape(x.size(0), x.size(1), x.size(2), x.size(3))


class Deforms(nn.Module):
    def __init__(self, masked: bool):
        super().__init__()
        torch.manual_seed(3)
        self.masked = masked
        self.offsets = nn.Conv2d(3, 18, 3, padding=1)
        self.mask = nn.Conv2d(3, 9, 3, padding=1)
        self.layer = torchvision.ops.DeformConv2d(3, 3, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        offsets = self.offsets(x) * 3.0
        y = self.layer(x, offsets, torch.sigmoid(self.mask(x)) if self.masked else None)
        return torch.sigmoid(y)


class Aligns(nn.Module):
    """Each frame of a segment with the result before it, moved to fit as BasicVSR++ does."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(4)
        self.offsets = nn.Conv2d(6, 18, 3, padding=1)
        self.layer = torchvision.ops.DeformConv2d(3, 3, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        assert x.dim() == 5 and x.size(2) == 3, "no segment"
        last = x[:, 0]
        results = [last]
        for i in range(1, x.size(1)):
            offsets = self.offsets(torch.cat([x[:, i], last], 1)) * 3.0
            last = torch.sigmoid(self.layer(last, offsets)) * 0.5 + x[:, i] * 0.5
            results.append(last)
        return torch.stack(results, 1)


class Pools(nn.Module):
    """Parts of the picture, made as large as the picture again."""

    def __init__(self, operator: str, first: float = 0.0, far: float = 1.0):
        super().__init__()
        self.operator = operator
        self.register_buffer("boxes", torch.tensor([[first, 3.0, 4.0, 30.5 * far, 21.25]]))

    def forward(self, x: Tensor) -> Tensor:
        h, w = x.size(2), x.size(3)
        if self.operator == "roi_align":
            y = torch.ops.torchvision.roi_align(x, self.boxes, 0.5, h, w, 2, False)
        else:
            y = torch.ops.torchvision.roi_pool(x, self.boxes, 0.5, h, w)[0]
        return y.reshape(1, 3, h, w)


class NoNumbers(nn.Module):
    """Offsets that lie nowhere."""

    def __init__(self, offset: float):
        super().__init__()
        self.offset = offset
        self.register_buffer("weight", torch.ones(3, 3, 3, 3) / 27.0)
        self.register_buffer("nothing", torch.zeros(0))

    def forward(self, x: Tensor) -> Tensor:
        offsets = torch.full([1, 18, x.size(2), x.size(3)], self.offset)
        return torch.ops.torchvision.deform_conv2d(
            x, self.weight, offsets, torch.ones([1, 9, x.size(2), x.size(3)]), torch.zeros([3]),
            1, 1, 1, 1, 1, 1, 1, 1, False)


def save(folder, module):
    path = folder / "net.pt"
    torch.jit.script(module.eval()).save(str(path))
    return path


def picture(count=1):
    return pictures.raw(pictures.make_frames("rgb24", WIDTH, HEIGHT, count), "rgb24")


def run(path, *, env=(), count=1, **options):
    return support.ffmpeg(
        *pictures.raw_input("rgb24", WIDTH, HEIGHT),
        *("-vf", support.dnn(path, tune=0, **options), "-f", "rawvideo", "-"),
        stdin=picture(count), env=env)


def difference(result, module, count=1):
    """From what PyTorch makes, in steps of 8 bits; several frames are a segment."""
    assert result.returncode == 0, str(result)
    samples = numpy.frombuffer(picture(count), "u1").reshape(count, HEIGHT, WIDTH, 3)
    x = torch.from_numpy(samples.copy()).permute(0, 3, 1, 2).float() / 255
    with torch.no_grad():
        y = module.eval()(x if count == 1 else x[None]).reshape(x.shape)
    wanted = (y.clamp(0, 1) * 255).round().permute(0, 2, 3, 1).numpy()
    made = numpy.frombuffer(result.stdout, "u1").reshape(wanted.shape)
    assert wanted.std() > 1, "too flat to show a fault"
    return numpy.abs(made.astype(float) - wanted).max()


@pytest.mark.parametrize("isolate", [0, 1])
@pytest.mark.parametrize("env", [{}, ABSENT], ids=["torchvision", "built-in"])
def test_nms(tmp_path, env, isolate):
    for threshold in (0.0, 0.3, 0.9):
        module = Detects(COUNT, threshold)
        assert difference(run(save(tmp_path, module), env=env, isolate=isolate), module) == 0


def overlaps_by_counting(boxes):
    """Of points of a fine grid, those in both of two boxes by those in any."""
    ys, xs = numpy.mgrid[-16:16:0.04, -16:16:0.04]
    inside = []
    for x, y, width, height, degrees in boxes.double().tolist():
        sine, cosine = numpy.sin(numpy.radians(degrees)), numpy.cos(numpy.radians(degrees))
        along = (xs - x) * cosine - (ys - y) * sine
        across = (xs - x) * sine + (ys - y) * cosine
        inside.append((abs(along) < width / 2) & (abs(across) < height / 2))
    return numpy.array([[(a & b).sum() / max((a | b).sum(), 1) for b in inside] for a in inside])


@pytest.mark.parametrize("isolate", [0, 1])
@pytest.mark.parametrize("env", [{}, ABSENT], ids=["torchvision", "built-in"])
def test_overlaps_of_rotated_boxes(tmp_path, env, isolate):
    numbers = numpy.random.default_rng(5)
    boxes = numpy.concatenate([numbers.uniform(-6, 6, (16, 2)), numbers.uniform(1, 12, (16, 2)),
                               numbers.uniform(-400, 400, (16, 1))], 1)
    boxes[1:4] = boxes[0]              # the same, further by half a turn, and of no extent
    boxes[2, 4] += 180
    boxes[3, 2] = 0
    boxes[4:6] = (1, 2, 4, 4, 0), (1, 2, 2, 2, 45)  # one in another
    boxes = torch.from_numpy(boxes).float()
    result = run(save(tmp_path, Turns(boxes)), env=env, isolate=isolate)
    assert result.returncode == 0, str(result)
    samples = numpy.frombuffer(result.stdout, "u1").reshape(HEIGHT, WIDTH, 3).transpose(2, 0, 1)
    made = samples.flatten()[: 16 * 16].reshape(16, 16) / 255
    wanted = overlaps_by_counting(boxes)
    assert abs(made - wanted).max() < 0.012 and 0.2 < (made > 0.05).mean() < 0.8
    assert made[0, 1] == made[0, 2] == 1 and made[0, 3] == made[3, 3] == 0
    if IS_TORCHVISIONS:
        by_torchvision = torch.ops.torchvision.box_iou_rotated(boxes, boxes).numpy()
        assert abs(made - by_torchvision).max() <= 0.51 / 255


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -3e38])
def test_rotated_boxes_that_are_none(tmp_path, number):
    boxes = torch.rand([64, 5]) * 10
    boxes[::3] = number
    assert run(save(tmp_path, Turns(boxes)), isolate=0).returncode == 0


@pytest.mark.parametrize("isolate", [0, 1])
@pytest.mark.parametrize("masked", [False, True])
def test_deform_conv2d(tmp_path, masked, isolate):
    module = Deforms(masked)
    assert difference(run(save(tmp_path, module), isolate=isolate), module) <= 1


def test_a_segment_with_deform_conv2d(tmp_path):
    module = Aligns()
    options = {"length": 4, "layout": "ntchw", "cuts": "off", "isolate": 0}
    assert difference(run(save(tmp_path, module), count=4, **options), module, 4) <= 1


@pytest.mark.parametrize("operator", ["roi_align", "roi_pool"])
def test_regions(tmp_path, operator):
    module = Pools(operator)
    assert difference(run(save(tmp_path, module), isolate=0), module) <= 1


@pytest.mark.parametrize("isolate", [0, 1])
def test_without_torchvision(tmp_path, isolate):
    """One line that names the package."""
    result = run(save(tmp_path, Deforms(False)), env=ABSENT, isolate=isolate)
    support.assert_fails_clearly(result, "torchvision::deform_conv2d", "python3-torchvision",
                                 "/nonexistent/_C.so")


def test_a_library_of_something_else(tmp_path):
    other = tmp_path / "_C.so"
    other.write_bytes(b"no library \0libtorch_cpu.so.0.1\0")
    result = run(save(tmp_path, Deforms(False)), env={"DNN_TORCH_TORCHVISION": str(other)},
                 isolate=0)
    support.assert_fails_clearly(result, "python3-torchvision", "another LibTorch")


@pytest.mark.parametrize("first,far", [(1.0, 1.0), (-1.0, 1.0), (float("nan"), 1.0),
                                       (0.0, float("nan")), (0.0, 1e9)])
@pytest.mark.parametrize("operator", ["roi_align", "roi_pool"])
def test_regions_of_no_picture(tmp_path, operator, first, far):
    """torchvision would read beyond the picture."""
    result = run(save(tmp_path, Pools(operator, first, far)), isolate=0, multiple=1)
    support.assert_fails_clearly(result, "box")


class PoolsOfNothing(nn.Module):
    """Parts of a picture without rows."""

    def __init__(self, operator: str):
        super().__init__()
        self.operator = operator
        self.register_buffer("boxes", torch.tensor([[0.0, 0.0, -0.5, 16384.0, 0.0]]))

    def forward(self, x: Tensor) -> Tensor:
        empty = torch.zeros([1, 3, 1, 16384])[:, :, :0]
        if self.operator == "roi_align":
            y = torch.ops.torchvision.roi_align(empty, self.boxes, 1.0, 1, 64, 1, True)
        else:
            y = torch.ops.torchvision.ps_roi_align(empty, self.boxes, 1.0, 1, 1, 1)[0]
        return x + y.sum() * 0.0


@pytest.mark.parametrize("operator", ["roi_align", "ps_roi_align"])
def test_regions_of_an_empty_picture(tmp_path, operator):
    """torchvision would read what lies before it."""
    result = run(save(tmp_path, PoolsOfNothing(operator)), isolate=0)
    support.assert_fails_clearly(result, "boxes should be of pictures that are not empty")


@pytest.mark.parametrize("offset", [float("nan"), float("inf"), -1e30])
def test_offsets_to_nowhere(tmp_path, offset):
    assert run(save(tmp_path, NoNumbers(offset)), isolate=0).returncode == 0


def detector(kind):
    """A small one of torchvision's, whose own code is around the network."""
    from torchvision.models.detection import FasterRCNN, RetinaNet
    from torchvision.models.detection.anchor_utils import AnchorGenerator

    torch.manual_seed(2)
    backbone = nn.Sequential(nn.Conv2d(3, 16, 3, 4, 1), nn.ReLU())
    backbone.out_channels = 16
    anchors = AnchorGenerator(((16,),), ((0.5, 1.0, 2.0),))
    if kind == "retinanet":
        return RetinaNet(backbone, 3, min_size=40, max_size=64, anchor_generator=anchors, score_thresh=0.0)
    regions = torchvision.ops.MultiScaleRoIAlign(["0"], 3, 2)
    return FasterRCNN(backbone, 3, min_size=40, max_size=64, rpn_anchor_generator=anchors, box_roi_pool=regions)


@pytest.mark.parametrize("is_frozen", [False, True])
@pytest.mark.parametrize("kind,is_in_order", [("retinanet", False), ("fasterrcnn", True)])
def test_detectors_that_remember(kind, is_in_order, is_frozen, tmp_path):
    """Both convert their anchors in place.  Faster R-CNN takes its scales from the first picture."""
    network = torch.jit.script(detector(kind).eval())
    path = tmp_path / "detector.pt"
    (torch.jit.freeze(network) if is_frozen else network).save(str(path))
    notice = support.inspect(path)["notice"] or ""
    assert ("remembers earlier pictures" in notice) == is_in_order
    results = []
    for workers in (1, 2):
        records = tmp_path / f"{workers}.jsonl"
        graph = support.dnn(path, confidence=0.001, workers=workers, destination=records)
        support.succeed("-f", "lavfi", "-i", f"testsrc2=s={WIDTH}x{HEIGHT}:d=0.5", "-vf",
                        graph.replace("dnn_torch", "dnn_torch_detect", 1), "-f", "null", "-")
        results.append(records.read_text())
    assert results[0] == results[1] and results[0].count('"confidence"') > 12
