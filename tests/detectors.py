# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Detectors that tests make themselves, and how they are run."""
import json

import support
import torch
from torch import Tensor, nn


class Bright(nn.Module):
    """One box around what is bright, [N,1,6], exact to fractions of a pixel.

    Its class is the strongest channel; black pictures have no box."""

    def forward(self, x: Tensor) -> Tensor:
        light = x.mean(1)
        across, down = light.sum(1), light.sum(2)
        total = across.sum(1).clamp(min=1e-3)
        width = total / across.amax(1).clamp(min=1e-3)
        height = total / down.amax(1).clamp(min=1e-3)
        columns = torch.arange(x.size(3), dtype=x.dtype, device=x.device) + 0.5
        rows = torch.arange(x.size(2), dtype=x.dtype, device=x.device) + 0.5
        middle_x = (across * columns).sum(1) / total
        middle_y = (down * rows).sum(1) / total
        score = light.flatten(1).amax(1).clamp(0.0, 1.0)
        label = x.sum(3).sum(2).argmax(1).to(x.dtype)
        return torch.stack(
            [
                middle_x - width / 2.0,
                middle_y - height / 2.0,
                middle_x + width / 2.0,
                middle_y + height / 2.0,
                score,
                label,
            ],
            1,
        ).unsqueeze(1)


class Same(nn.Module):
    """The same boxes for every picture, [N,n,6]."""

    def __init__(self, boxes):
        super().__init__()
        self.register_buffer("boxes", torch.tensor(boxes, dtype=torch.float32).reshape(-1, 6))

    def forward(self, x: Tensor) -> Tensor:
        nothing = x.mean() * 0.0
        return (self.boxes + nothing).unsqueeze(0).repeat(x.size(0), 1, 1)


class Sized(nn.Module):
    """Bright for pictures of one size; it refuses others."""

    def __init__(self, width: int, height: int):
        super().__init__()
        self.width, self.height = width, height
        self.inner = Bright()

    def forward(self, x: Tensor) -> Tensor:
        assert x.size(3) == self.width and x.size(2) == self.height
        return self.inner(x)


class Lists(nn.Module):
    """As torchvision's detectors: a list of pictures of any size, and a dictionary for each."""

    def __init__(self):
        super().__init__()
        self.inner = Bright()

    def forward(self, images: list[Tensor]) -> list[dict[str, Tensor]]:
        found: list[dict[str, Tensor]] = []
        for image in images:
            rows = self.inner(image.unsqueeze(0))[0]
            found.append(
                {
                    "boxes": rows[:, :4],
                    "labels": rows[:, 5].to(torch.int64) + 1,
                    "scores": rows[:, 4],
                }
            )
        return found


class Discs(nn.Module):
    """As Mask R-CNN: for each of these boxes the disc that fits into it."""

    def __init__(self, boxes):
        super().__init__()
        self.register_buffer("boxes", torch.tensor(boxes, dtype=torch.float32).reshape(-1, 6))

    def forward(self, images: list[Tensor]) -> list[dict[str, Tensor]]:
        found: list[dict[str, Tensor]] = []
        for image in images:
            rows = self.boxes + image.mean() * 0.0
            left, top, right, bottom = rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3]
            x = torch.arange(image.size(2)).to(image.dtype) + 0.5
            y = torch.arange(image.size(1)).to(image.dtype) + 0.5
            across = (x[None] - (left + right)[:, None] / 2) / ((right - left)[:, None] / 2)
            down = (y[None] - (top + bottom)[:, None] / 2) / ((bottom - top)[:, None] / 2)
            far = across[:, None, :] ** 2 + down[:, :, None] ** 2
            found.append(
                {
                    "boxes": rows[:, :4],
                    "labels": rows[:, 5].to(torch.int64),
                    "scores": rows[:, 4],
                    "masks": (far < 1.0).to(image.dtype).unsqueeze(1),
                }
            )
        return found


class Prototypes(nn.Module):
    """As YOLOv8's segmentation: one box in the middle; its pixels are the left half of it."""

    def forward(self, x: Tensor) -> list[Tensor]:
        width, height = float(x.size(3)), float(x.size(2))
        cells = (x.size(3) // 8) * (x.size(2) // 8)
        cells += (x.size(3) // 16) * (x.size(2) // 16) + (x.size(3) // 32) * (x.size(2) // 32)
        rows = torch.zeros(x.size(0), 4 + 2 + 32, cells) + x.mean() * 0.0
        rows[:, 0, 5], rows[:, 1, 5] = width / 2, height / 2
        rows[:, 2, 5], rows[:, 3, 5] = width / 2, height / 2
        rows[:, 5, 5] = 0.9
        rows[:, 6, 5] = 1.0
        planes = torch.zeros(x.size(0), 32, x.size(2) // 4, x.size(3) // 4) - 8.0
        planes[:, 0, :, : x.size(3) // 8] = 8.0
        return [rows, planes]


def save(module, path, contract=None):
    extra = {"dnn_torch.json": json.dumps(contract)} if contract else {}
    torch.jit.save(torch.jit.script(module.eval()), str(path), _extra_files=extra)
    return path


def detect(model, **options):
    """The graph string of one dnn_torch_detect."""
    return support.dnn(model, **options).replace("dnn_torch=", "dnn_torch_detect=", 1)


def records_of(chains, folder, *arguments, **options):
    """What is found in each of several (source, graph), one record a frame; and the run."""
    paths = [folder / f"found{number}.jsonl" for number in range(len(chains))]
    command, filters = list(arguments), []
    for number, ((source, graph), path) in enumerate(zip(chains, paths)):
        path.unlink(missing_ok=True)
        command += ["-f", "lavfi", "-i", source]
        target = f"destination={support.escape_graph(path)}:format=jsonl"
        filters.append(f"[{number}:v]{graph}:{target}")
    command += ["-filter_complex", ";".join(filters), "-f", "null", "-"]
    result = support.succeed(*command, **options)
    return [
        [json.loads(line) for line in path.read_text().splitlines()] for path in paths
    ], result


def records(graph, folder, source, *arguments, **options):
    """The same of one."""
    (found,), result = records_of([(source, graph)], folder, *arguments, **options)
    return found, result


def boxes(record):
    """[left, top, right, bottom] of each thing."""
    found = [thing["box"] for thing in record["things"]]
    return [[x, y, x + width, y + height] for x, y, width, height in found]


def bright_clip(size, box, pixel_format="rgb24", colour="white", frames=1, rate=25):
    """A black lavfi source with a bright rectangle: left, top, width, height."""
    left, top, width, height = box
    return (
        f"color=black:size={size[0]}x{size[1]}:rate={rate}:duration={frames / rate},format=gbrp,"
        f"drawbox=x={left}:y={top}:w={width}:h={height}:color={colour}:t=fill,"
        f"format={pixel_format}"
    )
