# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Classifiers that tests make themselves, and how they are run."""
import support
import torch
from torch import Tensor, nn


class Colour(nn.Module):
    """The shares of red, green and blue in the picture."""

    def __init__(self, logits: bool = False):
        super().__init__()
        self.logits = logits

    def forward(self, x: Tensor) -> Tensor:
        strength = x.flatten(2).mean(2)
        shares = (strength + 1e-6) / (strength + 1e-6).sum(1, keepdim=True)
        return torch.log(shares) + 3.0 if self.logits else shares


class Fixed(nn.Module):
    """The same scores for every picture."""

    def __init__(self, scores, shape=(-1,)):
        super().__init__()
        self.register_buffer("scores", torch.tensor(scores, dtype=torch.float32).reshape(shape))

    def forward(self, x: Tensor) -> Tensor:
        repeats = [x.size(0)] + [1] * self.scores.dim()
        return (self.scores + x.mean() * 0.0).unsqueeze(0).repeat(repeats)


class Counting(nn.Module):
    """Says how many pictures its run had: the class is their number."""

    def forward(self, x: Tensor) -> Tensor:
        scores = torch.zeros([x.size(0), 64])
        scores[:, x.size(0)] = 1.0
        return scores + x.mean() * 0.0


class Sized(nn.Module):
    """Colour of pictures of one size; it refuses others."""

    def __init__(self, width: int, height: int):
        super().__init__()
        self.width, self.height = width, height
        self.inner = Colour()

    def forward(self, x: Tensor) -> Tensor:
        assert x.size(3) == self.width and x.size(2) == self.height
        return self.inner(x)


class Alone(nn.Module):
    """Takes one picture in each run."""

    def __init__(self):
        super().__init__()
        self.inner = Colour()

    def forward(self, x: Tensor) -> Tensor:
        assert x.size(0) == 1
        return self.inner(x)


class Quadrants(nn.Module):
    """A detector: four boxes, [N,4,6], one in each quarter, with the classes 0, 1, 0, 1."""

    def forward(self, x: Tensor) -> Tensor:
        width, height = float(x.size(3)), float(x.size(2))
        boxes = torch.tensor(
            [
                [0.0, 0.0, 0.5, 0.5, 0.9, 0.0],
                [0.5, 0.0, 1.0, 0.5, 0.8, 1.0],
                [0.0, 0.5, 0.5, 1.0, 0.7, 0.0],
                [0.5, 0.5, 1.0, 1.0, 0.6, 1.0],
            ]
        )
        size = torch.tensor([width, height, width, height, 1.0, 1.0])
        return (boxes * size + x.mean() * 0.0).unsqueeze(0).repeat(x.size(0), 1, 1)


def classify(model, **options):
    """The graph string of one dnn_torch_classify."""
    return support.dnn(model, **options).replace("dnn_torch=", "dnn_torch_classify=", 1)


def said(thing):
    """Labels of a record's thing, or of the record itself."""
    return [each["label"] for each in thing.get("classes", [])]


def quadrants(colours, size=(64, 48), pixel_format="gbrp", frames=1, rate=25):
    """A lavfi source with four colours: above left, above right, below left, below right."""
    width, height = size[0] // 2, size[1] // 2
    boxes = ",".join(
        f"drawbox=x={x * width}:y={y * height}:w={width}:h={height}:t=fill:"
        f"color={colours[x + 2 * y]}"
        for y in range(2)
        for x in range(2)
    )
    return (
        f"color=black:size={size[0]}x{size[1]}:rate={rate}:duration={frames / rate},format=gbrp,"
        f"{boxes},format={pixel_format}"
    )
