# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Models that keep state, draw random numbers, branch on samples, or only look as if they did."""
import pathlib
from typing import Any, Dict, List, Optional, Tuple

import torch
import torch.nn.functional as functional
from torch import Tensor, nn

# ---- state: each counts its runs and adds the count to the picture --------------


class InTensor(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        self.count.add_(1.0)
        return x * 0.0 + self.count


class InView(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("counts", torch.zeros(2, 2))

    def forward(self, x: Tensor) -> Tensor:
        self.counts[0].view(2)[:1].add_(1.0)
        return x * 0.0 + self.counts[0, 0]


class InOut(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        torch.add(self.count, torch.ones(1), out=self.count)
        return x * 0.0 + self.count


class InParameter(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = nn.Parameter(torch.zeros(1), requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        self.count.add_(1.0)
        return x * 0.0 + self.count


class InList(nn.Module):
    def __init__(self):
        super().__init__()
        self.counts: List[Tensor] = [torch.zeros(1)]

    def forward(self, x: Tensor) -> Tensor:
        self.counts[0].add_(1.0)
        return x * 0.0 + self.counts[0]


class InDict(nn.Module):
    def __init__(self):
        super().__init__()
        self.counts: Dict[str, Tensor] = {"runs": torch.zeros(1)}

    def forward(self, x: Tensor) -> Tensor:
        self.counts["runs"].add_(1.0)
        return x * 0.0 + self.counts["runs"]


class InTuple(nn.Module):
    def __init__(self):
        super().__init__()
        self.counts: Tuple[Tensor, Tensor] = (torch.zeros(1), torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        count, _ = self.counts
        count.add_(1.0)
        return x * 0.0 + self.counts[0]


class InOptional(nn.Module):
    count: Optional[Tensor]

    def __init__(self):
        super().__init__()
        self.count = torch.zeros(1)

    def forward(self, x: Tensor) -> Tensor:
        count = self.count
        if count is not None:
            count.add_(1.0)
            return x * 0.0 + count
        return x


class InNumber(nn.Module):
    def __init__(self):
        super().__init__()
        self.count: int = 0

    def forward(self, x: Tensor) -> Tensor:
        self.count += 1
        return x * 0.0 + float(self.count)


class InLength(nn.Module):
    runs: List[int]

    def __init__(self):
        super().__init__()
        self.runs = []

    def forward(self, x: Tensor) -> Tensor:
        self.runs.append(1)
        return x * 0.0 + float(len(self.runs))


class InKeys(nn.Module):
    def __init__(self):
        super().__init__()
        self.runs: Dict[int, int] = {0: 0}

    def forward(self, x: Tensor) -> Tensor:
        self.runs[0] = self.runs[0] + 1
        return x * 0.0 + float(self.runs[0])


class InPart(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Sequential(InTensor())

    def forward(self, x: Tensor) -> Tensor:
        return self.part(x)


class InBranch(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        if x.size(2) > 1:
            for _ in range(x.size(0)):
                self.count.add_(1.0)
        return x * 0.0 + self.count


class InFreshList(nn.Module):
    """The list is of the run, what lies in it is not."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        parts = [x]
        parts.append(self.count)
        parts[1].add_(1.0)
        return x * 0.0 + self.count


def count_in(counts: List[Tensor]) -> Tensor:
    return counts[0].add_(1.0)


class InFork(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        future = torch.jit.fork(count_in, [self.count])
        return x * 0.0 + torch.jit.wait(future)


@torch.jit.interface
class Step(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class ThroughInterface(nn.Module):
    step: Step

    def __init__(self):
        super().__init__()
        self.step = InTensor()

    def forward(self, x: Tensor) -> Tensor:
        return self.step.forward(x)


@torch.jit.script
class Counting:
    def __init__(self, count: Tensor):
        self.count = count

    def __enter__(self):
        self.count.add_(1.0)

    def __exit__(self, type: Any, value: Any, traceback: Any):
        pass


class InWith(nn.Module):
    """The count is changed by code that only the begin of a block names."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        with Counting(self.count):
            x = x * 0.0
        return x + self.count


class Constant(nn.Module):
    """Not a buffer: a trace makes a constant of it."""

    def __init__(self):
        super().__init__()
        self.count = torch.zeros(1)

    def forward(self, x: Tensor) -> Tensor:
        return x * 0.0 + self.count.add_(1.0)


class Denoiser(nn.Module):
    """Mixes each picture with what it returned before; the first one starts it."""

    before: Optional[Tensor]

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(6, 3, 3, padding=1)
        self.before = None

    def forward(self, x: Tensor) -> Tensor:
        before = self.before
        if before is None:
            before = x
        result = x * 0.6 + before * 0.3 + self.conv(torch.cat([x, before], 1)) * 0.1
        self.before = result
        return result


class ConvRnn(nn.Module):
    """Takes no picture of another size than its first one."""

    def __init__(self):
        super().__init__()
        self.input = nn.Conv2d(3, 4, 3, padding=1)
        self.recurrent = nn.Conv2d(4, 4, 3, padding=1)
        self.output = nn.Conv2d(4, 3, 1)
        self.hidden = torch.zeros(0)

    def forward(self, x: Tensor) -> Tensor:
        if self.hidden.numel() == 0:
            self.hidden = torch.zeros([x.size(0), 4, x.size(2), x.size(3)])
        self.hidden = torch.tanh(self.input(x) + self.recurrent(self.hidden))
        return x + self.output(self.hidden)


# ---- no state, though some of it looks so -----------------------------------------


class Espcn(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 8, 5, padding=2),
            nn.Tanh(),
            nn.Conv2d(8, 12, 3, padding=1),
            nn.PixelShuffle(2),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class Srvgg(nn.Module):
    def __init__(self):
        super().__init__()
        body = [nn.Conv2d(3, 8, 3, padding=1), nn.PReLU(8)]
        for _ in range(3):
            body += [nn.Conv2d(8, 8, 3, padding=1), nn.PReLU(8)]
        self.body = nn.ModuleList(body + [nn.Conv2d(8, 12, 3, padding=1)])

    def forward(self, x: Tensor) -> Tensor:
        out = x
        for layer in self.body:
            out = layer(out)
        out = functional.pixel_shuffle(out, 2)
        out += functional.interpolate(x, scale_factor=2.0, mode="nearest")
        return out


class Normal(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 4, 3, padding=1),
            nn.BatchNorm2d(4),
            nn.ReLU(inplace=True),
            nn.InstanceNorm2d(4),
            nn.InstanceNorm2d(4, affine=True, track_running_stats=True),
            nn.GroupNorm(2, 4),
            nn.Dropout2d(0.5),
            nn.Dropout(0.5, inplace=True),
            nn.Conv2d(4, 3, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2, dropout=0.1, batch_first=True)
        self.norm = nn.LayerNorm(4)
        self.down = nn.Conv2d(3, 4, 8, stride=8)
        self.up = nn.ConvTranspose2d(4, 3, 8, stride=8)

    def forward(self, x: Tensor) -> Tensor:
        y = self.down(x)
        tokens = y.flatten(2).transpose(1, 2)
        tokens = tokens + self.attention(self.norm(tokens), tokens, tokens, need_weights=False)[0]
        return self.up(tokens.transpose(1, 2).reshape(y.shape))


class Window(nn.Module):
    """As Swin has it: a table of positions, read by indices that are a buffer."""

    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.rand(9, 1))
        self.register_buffer("index", torch.arange(16) % 9)
        self.qkv = nn.Linear(3, 9)

    def forward(self, x: Tensor) -> Tensor:
        b, c, h, w = x.shape
        pad_h, pad_w = (4 - h % 4) % 4, (4 - w % 4) % 4
        y = functional.pad(x, (0, pad_w, 0, pad_h), "reflect")
        q, k, v = self.qkv(y.permute(0, 2, 3, 1).reshape(-1, 4, 3)).chunk(3, -1)
        bias = self.table[self.index.view(-1)].view(4, 4)
        attended = ((q @ k.transpose(1, 2) + bias).softmax(-1) @ v).reshape(b, h + pad_h, w + pad_w, 3)
        return attended.permute(0, 3, 1, 2)[:, :, :h, :w] + x


class Temporaries(nn.Module):
    """Writes to what it has made, in every way."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)
        self.register_buffer("scale", torch.ones(3, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        y = self.conv(x).mul_(self.scale).add_(self.scale).relu_()
        y[:, 0] = 0.5
        parts: List[Tensor] = []
        for part in y.split(1, 1):
            parts.append(part.clamp_(0.0, 1.0))
        sizes: Dict[str, int] = {}
        sizes["parts"] = len(parts)
        z = torch.cat(parts, 1)
        z[z > 0.9] = 0.9
        return torch.add(z, x, out=z) / sizes["parts"]


class OnInput(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.mul_(0.5).add_(0.1)


class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([nn.Conv2d(3, 4, 3, 2, 1), nn.Conv2d(4, 4, 3, 2, 1)])
        self.up = nn.ModuleList([nn.Conv2d(8, 4, 3, 1, 1), nn.Conv2d(7, 3, 3, 1, 1)])

    def forward(self, x: Tensor) -> Tensor:
        skips = [x]
        for layer in self.down:
            skips.append(functional.leaky_relu(layer(skips[-1]), 0.1, inplace=True))
        y = skips.pop()
        for layer in self.up:
            skip = skips.pop()
            y = functional.interpolate(y, size=[skip.size(2), skip.size(3)], mode="bilinear")
            y = layer(torch.cat([y, skip], 1))
        return y


class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(3 + 2 * i, 2, 3, padding=1) for i in range(3)])
        self.last = nn.Conv2d(9, 3, 1)

    def forward(self, x: Tensor) -> Tensor:
        features = [x]
        for conv in self.convs:
            features.append(torch.relu(conv(torch.cat(features, 1))))
        return self.last(torch.cat(features, 1)) * 0.2 + x


class Flags(nn.Module):
    """Counts only if it is told to, and is not."""

    extra: Optional[Tensor]

    def __init__(self):
        super().__init__()
        self.counts = False
        self.mode = 1
        self.register_buffer("count", torch.zeros(1))
        self.extra = None

    def forward(self, x: Tensor) -> Tensor:
        if self.counts or self.mode == 2:
            self.count.add_(1.0)
        if self.extra is not None and self.training:
            self.count.add_(1.0)
        return x + self.count


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = nn.LSTM(3, 3, batch_first=True, num_layers=2, dropout=0.1)

    def forward(self, x: Tensor) -> Tensor:
        rows = x.mean(3).transpose(1, 2)
        return x + self.rows(rows)[0].transpose(1, 2).unsqueeze(3)


class Unrolled(nn.Module):
    """Its hidden state begins and ends in one run."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(6, 3, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        hidden = torch.zeros_like(x)
        for _ in range(3):
            hidden = torch.tanh(self.conv(torch.cat([x, hidden], 1)))
        return hidden


# ---- random numbers ---------------------------------------------------------------


class Rand(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.rand([x.size(0), x.size(1), x.size(2), x.size(3)]) + x * 0.0


class RandLike(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 0.0 + torch.randn_like(x)


class Normals(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return (x * 0.0).normal_(0.5, 0.1)


class Bernoulli(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.bernoulli(torch.full_like(x, 0.5))


class Randperm(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x[:, :, :, torch.randperm(x.size(3))]


class Multinomial(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        places = torch.multinomial(torch.ones(x.size(3)), x.size(3), True)
        return x.index_select(3, places)


class MonteCarlo(nn.Module):
    """Dropout that its author wants, after a net that has forms."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return functional.dropout(torch.relu(self.conv(x)), 0.5, training=True)


class Trained(nn.Module):
    """To be traced without eval()."""

    def __init__(self, part: nn.Module):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)
        self.part = part

    def forward(self, x: Tensor) -> Tensor:
        return self.part(self.conv(x))


# ---- branches ---------------------------------------------------------------------


class Hardswish(nn.Module):
    """Which LibTorch 1.13's optimize_for_inference gets wrong at 24 channels."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 24, 3, padding=1)
        self.last = nn.Conv2d(24, 3, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(functional.hardswish(self.first(x))) + 0.5


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Hardswish()


class BesideInfinity(Inner):
    """Its first sample is none that can be compared."""

    def forward(self, x: Tensor) -> Tensor:
        y = self.inner(x)
        y[:, :, 0, 0] = float("inf")
        y[:, :, 0, 1] = float("nan")
        y[:, :, 0, 2] = 1e30
        return y


class BehindContent(Inner):
    def forward(self, x: Tensor) -> Tensor:
        if bool(x.mean() > 0.999):
            return self.inner(x)
        return x


class BehindItem(Inner):
    def forward(self, x: Tensor) -> Tensor:
        if x.max().item() < 0.001:
            return self.inner(x)
        return x


class BehindLoop(Inner):
    def forward(self, x: Tensor) -> Tensor:
        for _ in range(int(x.amin() * 1.001)):
            x = self.inner(x)
        return x


class BehindCount(Inner):
    def forward(self, x: Tensor) -> Tensor:
        if x[x > 2.0].numel() > 0:
            return self.inner(x)
        return x


class BehindSize(Inner):
    def forward(self, x: Tensor) -> Tensor:
        if x.size(2) == 320:
            return self.inner(x)
        return x


class BehindNoise(Inner):
    """No branch, and nothing to be seen before there is a picture like that."""

    def forward(self, x: Tensor) -> Tensor:
        among = ((x - 0.123).abs().amax() < 0.001).to(x.dtype)
        return x + (self.inner(x) - x) * among


class WithoutGrad(Inner):
    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            return self.inner(x)


class TwoTasks(Inner):
    def forward(self, x: Tensor) -> Tensor:
        first = torch.jit.fork(self.inner, x)
        second = torch.jit.fork(self.inner, 1 - x)
        return torch.jit.wait(first) - torch.jit.wait(second)


STATEFUL = [InTensor, InView, InOut, InParameter, InList, InDict, InTuple, InOptional, InNumber]
STATEFUL += [InLength, InKeys, InPart, InBranch, InFreshList, InFork, InWith, ThroughInterface]
PURE = [Espcn, Srvgg, Normal, Attention, Window, Temporaries, OnInput, Unet, Dense, Flags, Lstm]
PURE += [Unrolled, Hardswish, WithoutGrad, TwoTasks]
RANDOM = [Rand, RandLike, Normals, Bernoulli, Randperm, Multinomial, MonteCarlo]
BRANCHING = [BesideInfinity, BehindContent, BehindItem, BehindLoop, BehindCount, BehindSize]
BRANCHING += [BehindNoise]


def name_of(prefix: str, model: type) -> str:
    return prefix + "".join("_" + c.lower() if c.isupper() else c for c in model.__name__)


def make(folder: pathlib.Path):
    torch.manual_seed(1)
    example = torch.rand(1, 3, 16, 16)
    kinds = {"state": STATEFUL + [Denoiser, ConvRnn], "pure": PURE, "random": RANDOM, "form": BRANCHING}
    for kind, models in kinds.items():
        for model in models:
            scripted = torch.jit.script(model().eval())
            scripted.save(str(folder / f"{name_of(kind, model)}.pt"))

    def trace(name: str, model: nn.Module):
        torch.jit.trace(model, example, check_trace=False).save(str(folder / f"{name}.pt"))

    constant = Constant()
    traced = torch.jit.trace(constant, example, check_trace=False)
    constant.count.zero_()  # tracing was a run as well
    traced.save(str(folder / "state_constant.pt"))
    for model in [Espcn, Srvgg, Normal, Attention, Window, OnInput, Unet]:
        trace(name_of("pure_traced", model), model().eval())
    trace("training_dropout", Trained(nn.Dropout(0.5)).train())
    trace("training_norm", Trained(nn.BatchNorm2d(3)).train())
    trace("random_traced", RandLike())
