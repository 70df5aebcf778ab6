# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Models for engine_torch_tensors_test.cpp, made by make_engine_models.py.

What their forward() returns is no picture, or more than one.
"""
import pathlib
import warnings
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor, nn


class Bare(nn.Module):
    """Rank 2, and NaN and infinities among its numbers."""

    def forward(self, x: Tensor) -> Tensor:
        odd = torch.tensor([float("nan"), float("inf"), -3.0, 7.0])
        return torch.cat([x.mean(dim=[1, 2, 3]).unsqueeze(1), odd.repeat(x.size(0), 1)], 1)


class Nested(nn.Module):
    """As torchvision's detectors do: losses, and a dict for each picture."""

    def forward(self, x: Tensor) -> Tuple[Dict[str, Tensor], List[Dict[str, Tensor]]]:
        losses: Dict[str, Tensor] = {}
        found: List[Dict[str, Tensor]] = []
        for i in range(x.size(0)):
            boxes = torch.arange(8.0).view(2, 4) + i
            found.append({"boxes": boxes, "labels": torch.tensor([3, 4 + i])})
        return losses, found


class Pair(NamedTuple):
    boxes: Tensor
    scores: Tensor


class Named(nn.Module):
    def forward(self, x: Tensor) -> Pair:
        return Pair(x.mean(dim=3), x.amax(dim=[2, 3]))


class Empties(nn.Module):
    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        none = torch.zeros([0, 4])
        return {"boxes": none, "labels": none.long()[:, 0], "one": x.sum()}


class WithNone(nn.Module):
    def forward(self, x: Tensor) -> Tuple[Optional[Tensor], Tensor, Optional[Tensor]]:
        nothing: Optional[Tensor] = None
        return nothing, x.mean(dim=[2, 3]), nothing


class Types(nn.Module):
    def forward(self, x: Tensor) -> List[Tensor]:
        mean = x.mean(dim=[2, 3])
        return [mean.half(), mean.to(torch.bfloat16), mean.double(), mean > 2.0, mean > -2.0, mean.add(7.9).byte(),
                mean.int() - 5, torch.full([1], 1 << 40)]


class Many(nn.Module):
    def forward(self, x: Tensor) -> List[Tensor]:
        many: List[Tensor] = []
        for i in range(70):
            many.append(x.mean() + i)
        return many


class LongNames(nn.Module):
    def __init__(self):
        super().__init__()
        self.name = "n" * 100

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        return {self.name: x.mean(), "second": x.amax()}


class Rank9(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.view([1, 1, 1, 1, 1, x.size(0), x.size(1), x.size(2), x.size(3)])


class Complex(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.complex(x, x)


class SamePicture(nn.Module):
    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        return {"picture": x, "half": x * 0.5}


class OneAtATime(nn.Module):
    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        if x.dim() != 3:
            raise ValueError("wants [channels, height, width]")
        return x.mean(dim=[1, 2]), x.amax(dim=[1, 2])


class Bytes(nn.Module):
    """Takes codes of 8 bits, with their channels last."""

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        if x.dtype != torch.uint8 or x.size(3) != 3:
            raise ValueError("wants bytes")
        return x.amax(dim=1).amax(dim=1), x.float().mean()


class PictureList(nn.Module):
    """One picture each, which may differ in size."""

    def forward(self, images: List[Tensor], scale: Optional[float] = None) -> List[Dict[str, Tensor]]:
        found: List[Dict[str, Tensor]] = []
        for image in images:
            assert image.dim() == 3
            found.append({"size": torch.tensor(image.shape), "mean": image.mean(dim=[1, 2])})
        return found


class PictureListToPicture(nn.Module):
    def forward(self, images: List[Tensor]) -> Tensor:
        return torch.stack([image * 2.0 for image in images])


class WritesPictureList(nn.Module):
    def forward(self, images: List[Tensor]) -> List[Tensor]:
        for image in images:
            image.mul_(0.5)
        return [image.mean() for image in images]


class WarnsOnce(nn.Module):
    """Its flag changes nothing but a warning, as that of torchvision's detectors."""

    def __init__(self):
        super().__init__()
        self._has_warned = False

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        if not self._has_warned:
            warnings.warn("said once")
            self._has_warned = True
        return x.mean(dim=[2, 3]), x.amax(dim=[2, 3])


class TakesTargets(nn.Module):
    """Writes to what only training gives, as torchvision's detectors do."""

    def forward(self, x: Tensor, targets: Optional[List[Dict[str, Tensor]]] = None) -> Tuple[Tensor, Tensor]:
        if targets is not None:
            for target in targets:
                target["boxes"].mul_(2.0)
        return x.mean(dim=[2, 3]), x.amax(dim=[2, 3])


class SeesFirst(nn.Module):
    """Such a flag too, but the first result is another one."""

    def __init__(self):
        super().__init__()
        self.seen = False

    def forward(self, x: Tensor) -> Tensor:
        if not self.seen:
            self.seen = True
            return x * 0.0
        return x


class SeesBright(nn.Module):
    """And one that depends on the picture."""

    def __init__(self):
        super().__init__()
        self.bright = False

    def forward(self, x: Tensor) -> Tensor:
        if x.mean().item() > 0.9:
            self.bright = True
        return x * 2.0 if self.bright else x


class ConvertsAnchors(nn.Module):
    """Keeps a list in the type of its pictures, as torchvision's AnchorGenerator does."""

    def __init__(self):
        super().__init__()
        self.anchors = [torch.ones(2, 4), torch.zeros(1, 4)]

    def convert(self, dtype: torch.dtype, device: torch.device):
        self.anchors = [anchor.to(dtype=dtype, device=device) for anchor in self.anchors]

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        self.convert(x.dtype, x.device)
        return self.anchors[0] + x.mean(), self.anchors[1]


class ChangesAnchors(ConvertsAnchors):
    """The same, but each run adds to them."""

    def convert(self, dtype: torch.dtype, device: torch.device):
        self.anchors = [(anchor + 1.0).to(dtype=dtype, device=device) for anchor in self.anchors]


class ConvertsToFeatures(ConvertsAnchors):
    """To the type of features, whose size is computed from tensors, as torchvision's RetinaNet does.
    Dictionaries come out of a list, and are changed."""

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        least = float(torch.tensor([x.size(2), x.size(3)]).min().item())
        features = nn.functional.interpolate(x, scale_factor=8.0 / least, recompute_scale_factor=True)
        self.convert(features.dtype, features.device)
        anchors: List[List[Tensor]] = [[self.anchors[0]]]
        found: List[Dict[str, Tensor]] = [{"boxes": anchors[0][0] + features.mean()}]
        found[0]["boxes"] = found[0]["boxes"] * 2.0
        return found[0]["boxes"], self.anchors[1]


class AppendsToAlias(ConvertsAnchors):
    """append() returns the list."""

    def convert(self, dtype: torch.dtype, device: torch.device):
        kept: List[Tensor] = []
        alias: List[Tensor] = []
        for anchor in self.anchors:
            alias = kept.append(anchor.to(dtype=dtype, device=device))
        self.anchors = kept
        alias.append(torch.ones(1, 4))


class WritesView(nn.Module):
    """einsum() may return what it gets."""

    def __init__(self):
        super().__init__()
        self.register_buffer("sum", torch.zeros(3, 3))

    def forward(self, x: Tensor) -> Tensor:
        view = torch.einsum("ij->ji", self.sum)
        view.add_(x.mean())
        return x + self.sum.mean() + 0.0 * view.mean()  # otherwise TorchScript removes the writing


class WritesThroughList(nn.Module):
    """cartesian_prod() may return an element of what it gets."""

    def __init__(self):
        super().__init__()
        self.register_buffer("sum", torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        view = torch.cartesian_prod([self.sum])
        view.add_(x.mean())
        return x + self.sum.mean() + 0.0 * view.mean()


class Segments(nn.Module):
    """As torchvision's: a map for each class, and an auxiliary one of the same size."""

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        classes = torch.arange(21.0).view(1, 21, 1, 1)
        flat = x[:, :1] * 0.0
        return {"aux": flat + classes + 1.0, "out": flat + classes}


class Indices(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return (x[:, 0] * 0.0).long() + 17


class IndexChannel(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return (x[:, :1] * 0.0).int() + 17


class ByteIndices(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return (x[:, 0] * 0.0 + 17.0).byte()


MODELS = (Bare, Nested, Named, Empties, WithNone, Types, Many, LongNames, Rank9, Complex, SamePicture, OneAtATime,
          Bytes, PictureList, PictureListToPicture, WritesPictureList, WarnsOnce, TakesTargets, SeesFirst, SeesBright,
          ConvertsAnchors, ConvertsToFeatures, AppendsToAlias, ChangesAnchors, WritesView, WritesThroughList, Segments,
          Indices, IndexChannel, ByteIndices)


def make(folder: pathlib.Path):
    for model in MODELS:
        words = "".join("_" + c.lower() if c.isupper() else c for c in model.__name__)
        torch.jit.script(model().eval()).save(str(folder / f"tensors{words}.pt"))
