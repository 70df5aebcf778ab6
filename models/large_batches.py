# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trainings on a GPU: examples that are made there, many at once, and a schedule by time."""

import concurrent.futures
import math
import pathlib
import time
from typing import NamedTuple

import numpy as np
import torch
from PIL import Image
from torch.nn import functional as F

import training
from degradations import as_luma

# ----------------------------------------------------------------- pictures


def read(path):
    return torch.from_numpy(np.array(Image.open(path).convert("RGB"))).permute(2, 0, 1).contiguous()


def read_all(folder):
    """Each picture that packed_photographs.py wrote, by the name of its file."""
    paths = sorted(pathlib.Path(folder).glob("*.jpg"))
    if not paths:
        raise SystemExit(f"{folder} has no pictures: packed_photographs.py writes them")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return dict(zip([path.stem for path in paths], pool.map(read, paths)))


class Places(NamedTuple):
    """Where crops begin, in which pictures, and how they are turned."""

    which: torch.Tensor
    top: torch.Tensor
    left: torch.Tensor
    turns: torch.Tensor

    def of_doubles(self):
        """The same places of pictures of twice the size."""
        return self._replace(top=2 * self.top, left=2 * self.left)


class Pictures:
    """Bytes of pictures of several sizes on one device, of which crops are cut all at once."""

    def __init__(self, pictures, device):
        self.device = device
        self.samples = torch.cat([picture.to(device).flatten() for picture in pictures])
        sizes = torch.tensor([picture.shape[1:] for picture in pictures], device=device)
        self.heights, self.widths = sizes.unbind(1)
        ends = (3 * self.heights * self.widths).cumsum(0)
        self.starts = F.pad(ends[:-1], (1, 0))

    def places(self, count, side):
        """Random ones, at even rows and columns."""
        which = torch.randint(len(self.heights), (count,), device=self.device)
        begins = [2 * (torch.rand(count, device=self.device) * ((extents[which] - side) // 2 + 1)).long()
                  for extents in (self.heights, self.widths)]
        return Places(which, *begins, torch.rand(3, count, 1, 1, device=self.device) < 0.5)

    def crops(self, places, side, planes=None):
        """RGB in [0, 1]; planes[count, 3] puts them in another order."""
        along = torch.arange(side, device=self.device)
        swapped, upside_down, mirrored = places.turns
        rows, columns = along[:, None], along[None, :]
        rows, columns = (torch.where(swapped, columns, rows), torch.where(swapped, rows, columns))
        rows = torch.where(upside_down, side - 1 - rows, rows) + places.top[:, None, None]
        columns = torch.where(mirrored, side - 1 - columns, columns) + places.left[:, None, None]
        heights, widths = self.heights[places.which], self.widths[places.which]
        within = self.starts[places.which, None, None] + rows * widths[:, None, None] + columns
        if planes is None:
            planes = torch.arange(3, device=self.device).expand(len(places.which), 3)
        plane_starts = planes * (heights * widths)[:, None]
        return self.samples[within[:, None] + plane_starts[..., None, None]].float() / 255


def at_several_sizes(pictures, device):
    """Each as it is, and reduced to 0.7 and to half of its size: small details are sharp there."""
    sized = []
    for picture in (picture.to(device) for picture in pictures):
        for factor in (1, 2**-0.5, 0.5):
            height, width = (int(extent * factor) // 4 * 4 for extent in picture.shape[1:])
            reduced = picture[None].float() if factor == 1 else F.interpolate(
                picture[None].float(), size=(height, width), mode="bicubic", antialias=True)
            sized.append(reduced[0, :, :height, :width].round().clamp(0, 255).byte())
    return sized


def detail(images):
    """Of how much the rows of pictures differ."""
    return (images[..., 1:, :] - images[..., :-1, :]).abs().mean((1, 2, 3))


class Photographs:
    """Random crops of photographs at several sizes, their channels in random order.

    Of some places the one with most detail in its middle is taken: photographs are out of
    focus for the most part, and footage is not.
    """

    MIDDLE = 32

    def __init__(self, pictures, device, choices):
        self.pictures = Pictures(at_several_sizes(pictures, device), device)
        self.choices = choices

    def places(self, count, side):
        places = self.pictures.places(self.choices * count, side)
        margin = (side - self.MIDDLE) // 2
        middles = places._replace(top=places.top + margin, left=places.left + margin)
        details = detail(self.pictures.crops(middles, self.MIDDLE)).view(self.choices, count)
        best = details.argmax(0) * count + torch.arange(count, device=details.device)
        return Places(*(each[..., best] for each in places[:3]), places.turns[:, best])

    def crops(self, count, side):
        planes = torch.rand(count, 3, device=self.pictures.device).argsort(1)
        return self.pictures.crops(self.places(count, side), side, planes)


# ------------------------------------------------------------------- losses


def squares(result, wanted):
    """Mean squares of each picture's differences; luma's count three times."""
    square = (result - wanted).square().mean((1, 2, 3))
    if result.shape[1] == 1:
        return square
    return square + 2 * (as_luma(result) - as_luma(wanted)).square().mean((1, 2, 3))


def root_of_mean(result, wanted):
    """PSNR of a frame is that of its hardest parts."""
    return (squares(result, wanted).mean() + 1e-12).sqrt()


def mean_of_roots(result, wanted):
    """For pictures that differ in their noise: strong noise counts no more than its strength."""
    return (squares(result, wanted) + 1e-12).sqrt().mean()


# ----------------------------------------------------------------- training

SAVED_EVERY_SECONDS = 20
SHOWN_EVERY_SECONDS = 30
WARM_UP, FIRST_PART = 0.03, 0.4
"""Shares of the time: while the rate rises, and before differences are squared."""


class TimedTraining:
    """A net, what trains it, and the running mean of its weights, as training.Training has them."""

    def __init__(self, net, options):
        self.net, self.step, self.spent = net, 0, 0.0
        self.began = options.began or time.time()
        self.options, self.path = options, pathlib.Path(options.out).with_suffix(".state")
        self.weights = list(net.parameters())
        self.mean = {name: value.detach().clone() for name, value in net.state_dict().items()}
        self.means = [self.mean[name] for name, _ in net.named_parameters()]
        fused = {"fused": True} if options.device == "cuda" else {}
        self.optimizer = torch.optim.Adam([w for w in self.weights if w.requires_grad], **fused)
        if not options.anew and self.path.exists():
            self.go_on(torch.load(self.path, map_location=options.device))

    def seconds(self):
        return self.spent + time.time() - self.began

    def share(self):
        return self.seconds() / (60 * self.options.minutes)

    def go_on(self, state):
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["optimizer"])
        for name, value in state["mean"].items():
            self.mean[name].copy_(value)
        self.step, self.spent = state["step"], state["seconds"]
        print(f"goes on after {self.spent:.0f} seconds", flush=True)

    def save(self):
        training.keep_state({"net": self.net.state_dict(), "mean": self.mean, "step": self.step,
                             "optimizer": self.optimizer.state_dict(), "seconds": self.seconds()},
                            self.path)

    def set_rate(self, share):
        rate = self.options.rate * min(1, share / WARM_UP) * (1 + math.cos(math.pi * share)) / 2
        for group in self.optimizer.param_groups:
            group["lr"] = max(rate, 1e-7)

    @torch.no_grad()
    def follow(self):
        """A mean of about the last 500 steps, of fewer at the start."""
        share = max(0.002, 1 / self.step)
        torch._foreach_mul_(self.means, 1 - share)
        torch._foreach_add_(self.means, self.weights, alpha=share)

    def update(self, loss):
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.weights, 1.0)
        self.optimizer.step()


def prepare(net, options):
    """Shapes stay the same, so that the search for the quickest kernels pays."""
    torch.backends.cudnn.benchmark = True
    return net.to(options.device, memory_format=torch.channels_last)


def step(each, examples, loss_of):
    """TF32 for the net alone: degradations are of more bits than it has."""
    options = each.options
    torch.manual_seed(options.seed * 1_000_000 + each.step)
    torch.backends.cudnn.allow_tf32 = False
    given, wanted = examples(np.random.default_rng((options.seed, each.step)))
    torch.backends.cudnn.allow_tf32 = True
    given = given.contiguous(memory_format=torch.channels_last)
    with torch.autocast(torch.device(options.device).type, torch.bfloat16, enabled=options.bf16):
        result = each.net(given)
    loss = loss_of(result.float(), wanted)
    each.update(loss)
    return loss.detach()


def train(net, options, examples, constrain, loss_of, last_loss_of):
    """As training.train(), until the time is up; a GPU is asked for a number twice a minute alone."""
    each = TimedTraining(prepare(net, options), options)
    shown = saved = time.monotonic()
    total, first = 0.0, each.step
    while (share := each.share()) < 1:
        each.step += 1
        each.set_rate(share)
        total = total + step(each, examples, loss_of if share < FIRST_PART else last_loss_of)
        with torch.no_grad():
            constrain(each.net)
        each.follow()
        now = time.monotonic()
        if now - shown > SHOWN_EVERY_SECONDS:
            print(f"step {each.step:6}  {each.seconds():4.0f} s  loss {float(total) / (each.step - first):.5f}",
                  flush=True)
            total, first, shown = 0.0, each.step, now
        if now - saved > SAVED_EVERY_SECONDS:
            each.save()
            saved = now
    each.save()
    net.load_state_dict(each.mean)
    return net


def train_and_keep(net, options, examples, constrain, loss_of, last_loss_of):
    """Keeps the weights alone: an old PyTorch reads no TorchScript of a new one."""
    torch.set_num_threads(options.threads)
    net = train(net, options, examples, constrain, loss_of, last_loss_of)
    net.to("cpu", memory_format=torch.contiguous_format)
    torch.save({name: value.clone() for name, value in net.state_dict().items()}, options.out)
    print(f"{options.out} saved, to be given to --weights", flush=True)
