# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Models for engine_torch_states_test.cpp, made by make_engine_models.py.

They get what they returned before, and numbers that change with each run.
"""
import pathlib
from typing import Dict, List, Optional, Tuple

import torch
from torch import Tensor, nn


class Sum(nn.Module):
    """All pictures so far, exactly."""

    def forward(self, x: Tensor, r: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
        total = x if r is None else r + x
        return total, total


class Difference(nn.Module):
    """The picture less the one before.  The state may be memory of the picture."""

    def forward(self, x: Tensor, before: Tensor) -> Dict[str, Tensor]:
        return {"image": x - before, "before": x}


class Hidden(nn.Module):
    """Counts runs in a state of 8 channels at half the size, as recurrent networks have them."""

    def forward(self, x: Tensor, h: Tensor) -> Tuple[Tensor, Tensor]:
        next = h + nn.functional.interpolate(x[:, :1], scale_factor=0.5) * 0.0 + torch.ones(1, 8, 1, 1)
        return x * 0.0 + next[:, 7:8, :1, :1], next


class Enlarged(nn.Module):
    """The previous result, four times the size."""

    def forward(self, x: Tensor, previous: Tensor) -> Tensor:
        return nn.functional.interpolate(x, scale_factor=4.0) + previous


class Stretches(nn.Module):
    """A state that begins as one number."""

    def forward(self, x: Tensor, r: Tensor) -> Tuple[Tensor, Tensor]:
        if r.size(3) != 1 and r.size(3) != x.size(3) // 2:
            raise ValueError("wants one number, or half the size")
        total = r + x[:, :, ::2, ::2]
        return x * 0.0 + total.mean(), total


class Grows(nn.Module):
    """A state that no memory would hold."""

    def forward(self, x: Tensor, r: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
        return x, x if r is None else torch.cat([r, x], 1)


class WritesState(nn.Module):
    """Doubles its state in place."""

    def forward(self, x: Tensor, r: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
        if r is None:
            return x, x * 1.0
        r.mul_(2.0)
        return r * 1.0, r


class Convolved(nn.Module):
    """Layers that variants compute in other ways."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.first = nn.Conv2d(6, 16, 3, padding=1)
        self.last = nn.Conv2d(16, 3, 3, padding=1)

    def forward(self, x: Tensor, r: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
        before = torch.zeros_like(x) if r is None else r
        y = self.last(self.first(torch.cat([x, before], 1)).relu())
        return y, y


class Timed(nn.Module):
    def forward(self, x: Tensor, t: Tensor, gain: float = 1.0) -> Tensor:
        return x * t * gain


class Masked(nn.Module):
    """Wants a plane."""

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        if t.dim() != 4:
            raise ValueError("wants a plane")
        return x * t


class Table(nn.Module):
    """A small tensor with a shape of its own."""

    def forward(self, x: Tensor, weights: Tensor) -> List[Tensor]:
        return [(x.mean(dim=[2, 3]) * 0.0 + 1.0) * weights.sum(), weights]


MODELS = (Sum, Difference, Hidden, Enlarged, Stretches, Grows, WritesState, Convolved, Timed, Masked, Table)


def make(folder: pathlib.Path):
    for model in MODELS:
        words = "".join("_" + c.lower() if c.isupper() else c for c in model.__name__)
        torch.jit.script(model().eval()).save(str(folder / f"states{words}.pt"))
