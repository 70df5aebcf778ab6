# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Models that find the same in every picture, as detectors and segmentations are exported."""
from typing import Dict, List

import torch
from torch import Tensor, nn


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


class Halves(nn.Module):
    """Says of the left half that it is class 15 of 21, which is a person in VOC, and 0 of the rest."""

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        scores = torch.zeros(x.size(0), 21, x.size(2), x.size(3)) + x[:, :1] * 0.0
        scores[:, 15, :, : x.size(3) // 2] = 20.0
        scores[:, 0, :, x.size(3) // 2 :] = 20.0
        return {"out": scores}
