# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is no picture is never shown as one: tables of numbers, rows taken for channels, and numbers
of another range."""
import json
import re

import pytest
import support
import torch
from torch import Tensor, nn


class Yolo(nn.Module):
    """As YOLOv8 without its metadata: a row of values for each cell of the grids."""

    def __init__(self, classes: int = 80, finest: int = 8, coarsest: int = 32, turned: bool = False):
        super().__init__()
        self.classes, self.finest, self.coarsest, self.turned = classes, finest, coarsest, turned

    def forward(self, x: Tensor) -> Tensor:
        rows: list[Tensor] = []
        stride = self.finest
        while stride <= self.coarsest:
            rows.append(torch.nn.functional.avg_pool2d(x.mean(1, keepdim=True), stride).flatten(2))
            stride *= 2
        made = torch.cat(rows, 2).repeat(1, 4 + self.classes, 1)
        return made.transpose(1, 2) if self.turned else made


class WindowOfThree(nn.Module):
    """Three pictures in one tensor.  With channels last it finds rows in place of them."""

    def forward(self, x: Tensor) -> Tensor:
        return (x[:, 0:3] + x[:, 3:6] + x[:, 6:9]) / 3.0


class WindowOfFive(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(15, 3, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)


class Queries(nn.Module):
    """As a transformer: as many rows for every picture."""

    def __init__(self, rows: int, values: int):
        super().__init__()
        self.rows, self.values = rows, values

    def forward(self, x: Tensor) -> Tensor:
        return x.mean() + torch.zeros(x.size(0), self.rows, self.values)


class Cells(nn.Module):
    """A grid of cells, whose columns look like channels in small pictures."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.nn.functional.avg_pool2d(x.mean(1, keepdim=True), 16).repeat(1, 24, 1, 1)


class Score(nn.Module):
    """One number for a picture as a whole."""

    def __init__(self, rank: int):
        super().__init__()
        self.rank = rank

    def forward(self, x: Tensor) -> Tensor:
        mean = x.mean(dim=[1, 2, 3])
        return mean.reshape(-1, 1) if self.rank == 2 else mean.reshape(-1, 1, 1, 1)


class Plane(nn.Module):
    """A picture without a dimension for channels, at a scale."""

    def __init__(self, divisor: int):
        super().__init__()
        self.divisor = divisor

    def forward(self, x: Tensor) -> Tensor:
        return torch.nn.functional.avg_pool2d(x.mean(1, keepdim=True), self.divisor)[:, 0]


class Fixed(nn.Module):
    """The same of a model that takes one size alone."""

    def __init__(self, width: int, height: int):
        super().__init__()
        self.width, self.height = width, height

    def forward(self, x: Tensor) -> Tensor:
        assert x.size(3) == self.width and x.size(2) == self.height
        return x.mean(1)


class Quantised(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.empty_like(torch.quantize_per_tensor(x, 0.1, 0, torch.quint8)).dequantize()


class TableFirst(nn.Module):
    """A table that is square at 64x64, and then a picture."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return x.mean() + torch.zeros(x.size(0), 64, 64), 1.0 - x


def save(model, path):
    torch.jit.script(model.eval()).save(str(path))
    return path


def inspect(path, *options):
    command = [support.LAUNCHER, "inspect", str(path), "--json", *options]
    result = support.execute(command)
    return json.loads(result.stdout), result


def run(graph, size="64x48", source="testsrc2", count=1):
    source += f"{':' if '=' in source else '='}size={size}"
    return support.ffmpeg("-f", "lavfi", "-i", source, *("-frames:v", count),
                          *("-vf", graph, "-pix_fmt", "rgb24", "-f", "rawvideo", "-"))


# ---- detectors and classifiers are no pictures -------------------------------------------------


@pytest.mark.skipif(support.PATCHED, reason="the patched ffmpeg needs no launcher")
@pytest.mark.parametrize("coarsest", [32, 64])
def test_a_detector_is_no_picture(tmp_path, coarsest):
    """84 or 85 boxes of 84 values are nearly square at 64x64."""
    path = save(Yolo(coarsest=coarsest), tmp_path / "net.pt")
    facts, _ = inspect(path)
    assert facts["accepted"] and facts["scale"] is None
    assert facts["detector"]["decoder"] == "yolov8" and facts["detector"]["classes"] == 80


MISTAKEN = {
    "boxes": Yolo(),
    "boxes-p6": Yolo(coarsest=64),
    "boxes-turned": Yolo(turned=True),
    "queries": Queries(100, 92),
    "cells": Cells(),
    "score": Score(2),
    "score-map": Score(4),
}


@pytest.mark.parametrize("name", MISTAKEN)
@pytest.mark.parametrize("size", ["64x64", "350x262"])
def test_the_filter_refuses_what_is_no_picture(tmp_path, name, size):
    path = save(MISTAKEN[name], tmp_path / "net.pt")
    result = run(support.dnn(path), size)
    assert result.stdout == b""
    support.assert_fails_clearly(result, "dnn_torch_detect", "dnn_torch_classify")


def test_what_was_seen_is_told(tmp_path):
    """And the option that settles it, which then holds."""
    path = save(Queries(100, 92), tmp_path / "net.pt")
    result = run(support.dnn(path), "64x64")
    support.assert_fails_clearly(result, "92x100 of 64x64", r"92x100 of \d+x\d+", r"layout=IN\|OUT")
    told = run(support.dnn(path, layout="nchw|nhw"), "64x64")
    assert told.returncode == 0, str(told)
    assert len(told.stdout) == 92 * 100 * 3


# ---- rows are no channels -----------------------------------------------------------------------


@pytest.mark.parametrize("model,channels", [(WindowOfThree(), 9), (WindowOfFive(), 15)])
def test_a_window_of_frames_is_refused(tmp_path, model, channels):
    path = save(model, tmp_path / "net.pt")
    result = run(support.dnn(path))
    assert result.stdout == b""
    support.assert_fails_clearly(result, f"takes {channels} channels", "inputs=")
    if not support.PATCHED:
        facts, told = inspect(path)
        assert not facts["accepted"] and f"takes {channels} channels" in facts["error"]


# ---- pictures of an unusual layout still are some -----------------------------------------------


@pytest.mark.parametrize("divisor", [1, 2, 3])
def test_a_plane_is_a_picture(tmp_path, divisor):
    path = save(Plane(divisor), tmp_path / "net.pt")
    result = run(support.dnn(path), "60x48")
    assert result.returncode == 0, str(result)
    assert len(result.stdout) == 3 * (60 // divisor) * (48 // divisor)


def test_a_plane_of_one_size_is_a_picture(tmp_path):
    path = save(Fixed(160, 96), tmp_path / "net.pt")
    result = run(support.dnn(path), "160x96")
    assert result.returncode == 0, str(result)
    assert len(result.stdout) == 3 * 160 * 96


def test_the_picture_behind_a_table_is_taken(tmp_path):
    path = save(TableFirst(), tmp_path / "net.pt")
    result = run("format=rgb24," + support.dnn(path), "64x64", "color=c=white")
    assert result.returncode == 0, str(result)
    assert len(result.stdout) == 3 * 64 * 64 and max(result.stdout) == 0


# ---- numbers of another range -------------------------------------------------------------------


class Ranged(nn.Module):
    """A blur whose numbers are of another range on each side."""

    def __init__(self, low: float, high: float, takes: bool = False):
        super().__init__()
        self.low, self.width, self.takes = low, high - low, takes

    def forward(self, x: Tensor) -> Tensor:
        if self.takes:  # as EDSR does: what it was taught is added, whatever comes in
            middle = self.low + self.width / 2.0
            return (x - middle) * 0.8 + middle
        made = torch.nn.functional.avg_pool2d(x, 3, 1, 1)
        return made * self.width + self.low


RANGES = {
    "codes": (Ranged(0, 255), "1|255"),
    "codes-in-and-out": (Ranged(0, 255, True), "255"),
    "signed": (Ranged(-1, 1), "1|-1..1"),
}
SOURCE = "testsrc2"


def warnings_of_range(result):
    return [line for line in result.warnings if "are cut off" in line]


@pytest.mark.parametrize("options", [{}, {"tile": 40}], ids=["whole", "tiles"])
@pytest.mark.parametrize("name", RANGES)
def test_another_range_is_told_once(tmp_path, name, options):
    model, option = RANGES[name]
    path = save(model, tmp_path / "net.pt")
    result = run(support.dnn(path, **options), "96x80", count=6)
    assert result.returncode == 0, str(result)
    (line,) = warnings_of_range(result)
    assert line.endswith(f"range={option} seems to be right")
    mended = run(support.dnn(path, range=option, **options), "96x80", count=6)
    assert mended.returncode == 0 and not warnings_of_range(mended), str(mended)
    plain = run("null", "96x80", count=6)
    wanted = torch.frombuffer(bytearray(pictures_of(plain)), dtype=torch.uint8).float()
    made = torch.frombuffer(bytearray(mended.stdout), dtype=torch.uint8).float()
    assert (wanted - made).abs().mean() < 20, "the option does not mend the picture"


def pictures_of(result):
    assert result.returncode == 0, str(result)
    return result.stdout


def test_black_frames_first(tmp_path):
    """They tell nothing, and those behind them do."""
    path = save(Ranged(0, 255), tmp_path / "net.pt")
    graph = f"drawbox=t=fill:c=black:enable=lt(n\\,20),{support.dnn(path)}"
    result = run(graph, "96x80", count=24)
    assert len(warnings_of_range(result)) == 1, str(result)


@pytest.mark.parametrize("source", ["color=c=black", "color=c=white", "color=c=gray", "testsrc2"])
def test_nothing_is_told_of_usual_numbers(tmp_path, source):
    path = save(Ranged(0, 1), tmp_path / "net.pt")
    result = run(support.dnn(path), "96x80", source, 4)
    assert result.returncode == 0 and not result.warnings, str(result)


def test_formats_of_codes(tmp_path):
    """A net that runs as a fused program is given codes, and gives such."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(2)
            self.a = nn.Conv2d(3, 16, 3, padding=1)
            self.b = nn.Conv2d(16, 3, 3, padding=1)
            nn.init.dirac_(self.a.weight)
            nn.init.dirac_(self.b.weight)
            nn.init.zeros_(self.a.bias)
            nn.init.zeros_(self.b.bias)
            self.b.weight.data *= 255.0

        def forward(self, x: Tensor) -> Tensor:
            return self.b(torch.relu(self.a(x)))

    path = save(Net(), tmp_path / "net.pt")
    for optimize in (0, "fused"):
        result = run(support.dnn(path, optimize=optimize), "96x80", count=3)
        assert result.returncode == 0, str(result)
        (line,) = warnings_of_range(result)
        assert line.endswith("range=1|255 seems to be right")


@pytest.mark.skipif(support.PATCHED, reason="the patched ffmpeg needs no launcher")
def test_inspect_offers_the_range(tmp_path):
    for name, (model, option) in RANGES.items():
        facts, _ = inspect(save(model, tmp_path / f"{name}.pt"))
        assert facts["range_warning"].endswith(f"range={option} seems to be right")
        assert f"range={option}" in facts["command"]
        facts, _ = inspect(tmp_path / f"{name}.pt", "--range", option)
        assert facts["range_warning"] is None
    facts, _ = inspect(save(Ranged(0, 1), tmp_path / "usual.pt"))
    assert facts["range_warning"] is None and "range=" not in facts["command"]


# ---- interlaced frames --------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"tile": 40}], ids=["whole", "tiles"])
def test_interlaced_frames_are_told_once(tmp_path, options):
    path = save(Ranged(0, 1), tmp_path / "net.pt")
    told = [
        [line for line in result.warnings if "bwdif" in line]
        for result in (
            run("setfield=tff," + support.dnn(path, **options), "96x80", count=5),
            run("setfield=prog," + support.dnn(path, **options), "96x80", count=5),
            run("setfield=bff,bwdif," + support.dnn(path, **options), "96x80", count=5),
        )
    ]
    assert [len(lines) for lines in told] == [1, 0, 0], told


# ---- sizes that a model rounds ------------------------------------------------------------------


class Rounded(nn.Module):
    """Keeps a picture's size but for rounding it, up by padding or down by leaving out."""

    def __init__(self, multiple: int, up: bool):
        super().__init__()
        self.multiple, self.up = multiple, up

    def forward(self, x: Tensor) -> Tensor:
        m = self.multiple
        if self.up:
            x = torch.nn.functional.pad(x, [0, (m - x.size(3) % m) % m, 0, (m - x.size(2) % m) % m])
        return 1.0 - x[:, :, : x.size(2) // m * m, : x.size(3) // m * m]


@pytest.mark.parametrize("options", [{}, {"tile": 96}], ids=["whole", "tiles"])
@pytest.mark.parametrize("size", ["350x262", "352x264", "77x45", "200x96"])
@pytest.mark.parametrize("multiple,up", [(8, True), (8, False), (32, True), (6, True)])
def test_a_rounded_size_is_kept(tmp_path, multiple, up, size, options):
    path = save(Rounded(multiple, up), tmp_path / "net.pt")
    result = run(f"format=rgb24,{support.dnn(path, **options)},format=rgb24", size)
    assert result.returncode == 0, str(result)
    frame = pictures_of(run("format=rgb24", size))
    assert result.stdout == bytes(255 - code for code in frame)


class Cut(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x[:, :, 5:-5, 5:-5]


def test_a_size_that_cannot_be_kept_is_told(tmp_path):
    path = save(Cut(), tmp_path / "net.pt")
    result = run(support.dnn(path), "350x262")
    assert result.returncode == 0 and len(result.stdout) == 3 * 340 * 252
    assert any("340x252 of 350x262" in line for line in result.filter_lines("info")), str(result)


def test_an_operator_that_takes_no_quantised_tensors(tmp_path):
    found, result = inspect(save(Quantised(), tmp_path / "quantised.pt"))
    assert result.returncode == 1
    assert "takes no quantised tensors; export the model before" in found["error"]
    assert "Could not run" not in found["error"] and "backend" not in found["error"]
