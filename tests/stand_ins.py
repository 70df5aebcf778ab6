# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What stands for the files that pages name: small, and of the same kind."""
import inspect
import re
import shutil
import sys
from typing import Dict, List, Optional

import classifiers
import detectors
import support
import torch
from torch import Tensor, nn

MODELS = support.REPOSITORY / "models"


class Torchvision(nn.Module):
    """Returns what torchvision's scripted detectors do: one box, of a class that counts from 1."""

    def __init__(self, number: int):
        super().__init__()
        self.number = number

    def forward(self, images: List[Tensor]) -> List[Dict[str, Tensor]]:
        boxes = torch.tensor([[8.0, 8.0, 40.0, 40.0]])
        found = {"boxes": boxes, "labels": torch.tensor([self.number]), "scores": boxes[:, 0] / 9}
        return [found for _ in images]


class Rows(nn.Module):
    """Returns one box as YOLOv8 writes it."""

    def __init__(self, classes: int, number: int):
        super().__init__()
        self.classes, self.number = classes, number

    def forward(self, x: Tensor) -> Tensor:
        cells = x.size(2) * x.size(3) // 1024 * 21
        rows = torch.zeros(x.size(0), 4 + self.classes, cells) + x.mean() * 0.0
        rows[:, :4, 0] = torch.tensor([30.0, 30.0, 20.0, 20.0])
        rows[:, 4 + self.number, 0] = 0.9
        return rows


class Rows5(nn.Module):
    """Returns one box as YOLOv5 writes it, three to a cell."""

    def forward(self, x: Tensor) -> Tensor:
        rows = torch.zeros(x.size(0), x.size(2) * x.size(3) // 1024 * 63, 85) + x.mean() * 0.0
        rows[:, 0, :6] = torch.tensor([30.0, 30.0, 20.0, 20.0, 0.9, 0.9])
        return rows


class Colours(nn.Module):
    """Makes a and b of L."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x - 50, 50 - x], 1)


class Halves(nn.Module):
    """Says of the left half that it is class 15 of 21, which is a person in VOC, and 0 of the rest."""

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        scores = torch.zeros(x.size(0), 21, x.size(2), x.size(3)) + x[:, :1] * 0.0
        scores[:, 15, :, : x.size(3) // 2] = 20.0
        scores[:, 0, :, x.size(3) // 2 :] = 20.0
        return {"out": scores}


class Matte(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x[:, :1]


class WithPicture(nn.Module):
    def forward(self, x: Tensor, reference: Tensor) -> Tensor:
        return (x + reference) / 2.0


class FiveFrames(nn.Module):
    """Five frames, stacked along the channels."""

    def forward(self, x: Tensor) -> Tensor:
        return (x[:, 0:3] + x[:, 3:6] + x[:, 6:9] + x[:, 9:12] + x[:, 12:15]) / 5.0


class BothWays(nn.Module):
    """A segment of frames, each smoothed with those around it."""

    def forward(self, x: Tensor) -> Tensor:
        n, t, c, h, w = x.shape
        return x * 0.5 + x.mean(1, keepdim=True) * 0.5


class ThreeFrames(nn.Module):
    """Three frames as arguments."""

    def forward(self, x: Tensor, before: Tensor, after: Tensor) -> Tensor:
        return (x + before + after) / 3.0


class Recurrent(nn.Module):
    """Takes and returns what RobustVideoMatting does; its states are as the exported model's."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 8, 3, padding=1)

    def state(self, x: Tensor, before: Optional[Tensor]) -> Tensor:
        return x if before is None else x * 0.5 + before * 0.5

    def forward(self, src: Tensor, r1: Optional[Tensor] = None, r2: Optional[Tensor] = None,
                r3: Optional[Tensor] = None, r4: Optional[Tensor] = None, downsample_ratio: float = 1.0,
                segmentation_pass: bool = False) -> List[Tensor]:
        small = nn.functional.interpolate(src, scale_factor=downsample_ratio, mode="bilinear")
        r1 = self.state(self.layer(small), r1)
        r2 = self.state(nn.functional.avg_pool2d(r1, 2, ceil_mode=True), r2)
        r3 = self.state(nn.functional.avg_pool2d(r2, 2, ceil_mode=True), r3)
        r4 = self.state(nn.functional.avg_pool2d(r3, 2, ceil_mode=True), r4)
        alpha = nn.functional.interpolate(r1[:, :1], src.shape[2:], mode="bilinear").sigmoid()
        return [src, alpha, r1, r2, r3, r4]


class Between(nn.Module):
    """Takes what FILM does: two frames, and the time between them as a number."""

    def forward(self, x0: Tensor, x1: Tensor, batch_dt: Tensor) -> Tensor:
        if batch_dt.numel() != 1:
            raise ValueError("no number")
        return x0 * (1 - batch_dt) + x1 * batch_dt


class WithMask(nn.Module):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return x * mask


class WithNoise(nn.Module):
    def forward(self, x: Tensor, noise: float, steps: int) -> Tensor:
        return x * (1.0 - noise) / float(steps)


class WithSigma(nn.Module):
    def forward(self, x: Tensor, sigma: float) -> Tensor:
        return x * (1.0 - sigma)


class LastOf8Bits(nn.Module):
    """Takes and returns uint8 with the channels last."""

    def forward(self, x: Tensor) -> Tensor:
        return 255 - x


class OneOfHeights(nn.Module):
    """Takes a picture with the channels last, and returns one without."""

    def forward(self, x: Tensor) -> Tensor:
        return x.mean(2)


NET = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 3, 3, padding=1)

    def forward(self, x):
        return self.layer(x) * 0.0 + x
"""


def module(made, **contract):
    """A maker of a TorchScript file."""
    def write(path, *_):
        detectors.save(made, path, contract)

    return write


def copy_of(name):
    def write(path, *_):
        shutil.copyfile(MODELS / name, path)

    return write


def clip(source="testsrc2", frames=4):
    def write(path, *_):
        support.succeed("-f", "lavfi", "-i", f"{source}=size=64x48:rate=10", "-frames:v", frames,
                        *(("-update", 1) if path.suffix == ".png" else ()), path, plain=True)

    return write


def class_of(code, name):
    space = {"__name__": name}
    exec(code, space)  # noqa: S102
    return space


def code_of_net(path, *_):
    path.write_text(NET)


def weights_of_net(path, *_):
    torch.save(class_of(NET, "net")["Net"]().state_dict(), path)


def whole_net(path, *_):
    """As Python saves the module when net.py lies beside it."""
    (path.parent / "net.py").write_text(NET)
    code = "import sys; sys.path.insert(0, '.'); import torch, net; torch.save(net.Net(), 'whole.pt')"
    result = support.execute([sys.executable, "-c", code], cwd=path.parent)
    assert result.returncode == 0, result


def exported(path, *_):
    older = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
    torch.onnx.export(torch.nn.Conv2d(3, 3, 3, 1, 1).eval(), torch.rand(1, 3, 32, 32), str(path), opset_version=13,
                      input_names=["x"], output_names=["y"], dynamic_axes={"x": {2: "h", 3: "w"}}, **older)


def program(path, *_):
    """An older PyTorch cannot export one."""
    shutil.copy(support.TESTS / "fuzz" / "corpus" / "export" / "accepted-older.pt2", path)


def block_with(page, words):
    """The code of a page that has these words."""
    (block,) = [each for each in re.findall(r"(?:^(?:    .*)?\n)+", page, re.MULTILINE)
                if words in each]
    return re.sub(r"^    ", "", block, flags=re.MULTILINE)


def code_of_dncnn(path, page):
    path.write_text(block_with(page, "class DnCNN"))


def weights_of_dncnn(path, page):
    made = class_of(block_with(page, "class DnCNN"), "dncnn")["DnCNN"](depth=20)
    torch.save(made.state_dict(), path)


def weights_of(name):
    """Of a network that the tests of architectures have."""

    def write(path, *_):
        sys.path.insert(0, str(support.TESTS / "architectures"))
        import checkpoint_files
        torch.save(checkpoint_files.ALL[name].make().state_dict(), path)

    return write


COCO = {"labels": "coco"}

# File, words that the command has besides, and what writes it: the first row that fits.
STAND_INS = [
    ("*.mp4", "", clip()),
    ("in.mkv", "", clip()),
    ("*.png", "", clip(frames=1)),
    ("upscale.pt", "", copy_of("upscale2x.pt")),
    ("denoise.pt", "", copy_of("denoise.pt")),
    ("4x-UltraSharp.pth", "", copy_of("compact2x.pth")),
    ("yolo11n.torchscript", "", module(Rows(80, 0), **COCO)),
    ("yolo.torchscript", "", module(Rows(80, 0), **COCO)),
    ("yolov5s.torchscript", "", module(Rows5())),
    ("seg.torchscript", "", module(detectors.Prototypes(), labels=["car", "person"])),
    ("fasterrcnn.pt", "", module(Torchvision(1))),
    ("resnet18.pt", "", module(classifiers.Fixed([0.0] * 999 + [9.0]))),
    ("breeds.pt", "", module(classifiers.Fixed([0.0, 1.0, 0.0, 0.0]), labels=["tabby", "siamese", "pug", "corgi"])),
    ("deeplab.pt", "", module(Halves())),
    ("colours.pt", "", module(Colours())),
    ("matting.pt", "", module(Matte())),
    ("inpaint.pt", "", module(WithMask())),
    ("ffdnet.pth", "", module(WithSigma())),
    ("fastdvdnet.pth", "", weights_of("fastdvdnet-colour")),
    ("rvm_mobilenetv3.pth", "", weights_of("rvm-mobile")),
    ("2x-GameUpV2_TSCUNet.pth", "", weights_of("tscunet-x4")),
    ("five_frames.pt", "", module(FiveFrames())),
    ("flownet.pkl", "", weights_of("rife-4.25")),
    ("film_net_fp32.pt", "", module(Between())),
    ("both_ways.pt", "", module(BothWays())),
    ("rvm_mobilenetv3_fp32.torchscript", "", module(Recurrent())),
    ("net.onnx", "", exported),
    ("net.pt2", "", program),
    ("net.py", "", code_of_net),
    ("net.pth", "--from", weights_of_net),
    ("net.pth", "", copy_of("compact2x.pth")),
    ("whole.pt", "", whole_net),
    ("dncnn.py", "", code_of_dncnn),
    ("dncnn.pth", "", weights_of_dncnn),
    ("net.pt", "inputs=reference", module(WithPicture())),
    ("net.pt", "inputs=noise", module(WithNoise())),
    ("net.pt", "inputs=before=frame", module(ThreeFrames())),
    ("net.pt", "--frames=-2..2", module(FiveFrames())),
    ("net.pt", "layout=nhwc", module(LastOf8Bits())),
    ("net.pt", "layout=hwc|hw", module(OneOfHeights())),
    ("net.pt", "", copy_of("denoise.pt")),
]
