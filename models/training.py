# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the scripts that train the nets of this folder share."""

import argparse
import io
import json
import math
import pathlib
import time
import zipfile

import numpy as np
import torch
from degradations import as_luma, to_bytes_and_back
from torch.nn import functional as F

HELD_OUT_SEED = 10_000_000
"""Of the first drawn scene that no net has learned from."""

STATES = pathlib.Path(__file__).parent.parent / "out" / "training"
"""Where trainings that were interrupted go on from."""

SAVED_EVERY = 500
"""Steps between two states."""


def options_of(description, out, steps):
    """A parser of what every training from photographs takes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", default=out)
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--rate", type=float, default=2e-3, help="at which it learns, at most")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--side", type=int, default=96, help="of a crop")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--anew", action="store_true",
                        help="does not go on with a training that was interrupted")
    parser.add_argument("--minutes", type=float,
                        help="ends then, instead of after --steps; made for a GPU")
    parser.add_argument("--began", type=float,
                        help="when the minutes begin, as date +%%s tells it; now, unless told")
    parser.add_argument("--device", default="cpu", help="with --minutes: cuda, for one")
    parser.add_argument("--bf16", action="store_true", help="with --minutes: layers in bf16")
    parser.add_argument("--data", help="with --minutes: the folder that packed_photographs.py wrote")
    parser.add_argument("--weights", help="keeps these: the result or the state of a training by --minutes")
    return parser


def psnr(result, wanted):
    error = (to_bytes_and_back(result) - wanted).square().mean().item()
    return -10 * math.log10(error)


def with_luma(result, wanted):
    """Differences of luma count twice: eyes see them more than those of colour."""
    loss = F.l1_loss(result, wanted)
    return loss if result.shape[1] == 1 else loss + F.l1_loss(as_luma(result), as_luma(wanted))


def random_crop(picture, side, rng):
    """Where it begins, at even rows and columns."""
    return [2 * int(rng.integers(0, (extent - side) // 2 + 1)) for extent in picture.shape[-2:]]


def cut(picture, top, left, side):
    return picture[..., top:top + side, left:left + side]


def turned(images, rng):
    """All of them turned and mirrored in the same way."""
    turns, mirrored = int(rng.integers(4)), rng.random() < 0.5
    images = [torch.rot90(image, turns, (-2, -1)) for image in images]
    return [image.flip(-1) for image in images] if mirrored else images


def crops(pictures, count, side, rng):
    """Random crops, turned, mirrored and with their channels in random order."""
    batch = torch.empty(count, 3, side, side)
    for i in range(count):
        picture = pictures[rng.integers(len(pictures))]
        crop = cut(picture, *random_crop(picture, side, rng), side)
        batch[i] = turned([crop[torch.from_numpy(rng.permutation(3))]], rng)[0]
    return batch.div_(255)


def running_mean(net):
    """Of its weights."""
    return torch.optim.swa_utils.AveragedModel(
        net, avg_fn=lambda kept, new, count: torch.lerp(kept, new, 0.005))


def keep_state(state, path):
    """The old one stays until the new one is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".new")
    torch.save(state, beside)
    beside.replace(path)


def state_of(options):
    return STATES / f"{pathlib.Path(options.out).name}.state"


class Training:
    """A net, what trains it, and the running mean of its weights, which is what is kept."""

    def __init__(self, net, options):
        self.net, self.step = net, 0
        self.mean = running_mean(net)
        self.optimizer = torch.optim.Adam(net.parameters())
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(
            self.optimizer, options.rate, options.steps, pct_start=0.1)
        self.told = {name: value for name, value in vars(options).items() if name != "anew"}
        self.path = state_of(options)
        if not options.anew and self.path.exists():
            self.go_on(torch.load(self.path))

    def parts(self):
        return {"net": self.net, "mean": self.mean, "optimizer": self.optimizer,
                "schedule": self.schedule}

    def go_on(self, state):
        if state["told"] != self.told:
            raise SystemExit(f"{self.path} is of a training with other options: --anew begins anew")
        for name, part in self.parts().items():
            part.load_state_dict(state[name])
        self.step = state["step"]
        print(f"goes on after step {self.step}", flush=True)

    def save(self):
        state = {name: part.state_dict() for name, part in self.parts().items()}
        keep_state({**state, "step": self.step, "told": self.told}, self.path)


def train(net, options, examples, constrain, loss_of=F.l1_loss):
    """Adam, with a rate that follows a cosine.

    examples(rng) gives what the net gets and what it is to return; constrain(net)
    mends its weights after each step; loss_of(result, wanted) is what is made small.
    Each step has random numbers of its own, so that an interrupted training ends as
    one that was not.
    """
    net.to(memory_format=torch.channels_last)  # twice as fast on a CPU
    training = Training(net, options)
    started, first, losses = time.monotonic(), training.step, []
    while training.step < options.steps:
        training.step += 1
        torch.manual_seed(options.seed * 1_000_000 + training.step)
        given, wanted = examples(np.random.default_rng((options.seed, training.step)))
        loss = loss_of(net(given), wanted)
        training.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        training.optimizer.step()
        with torch.no_grad():
            constrain(net)
        training.schedule.step()
        training.mean.update_parameters(net)
        losses.append(loss.item())
        if training.step % SAVED_EVERY == 0:
            training.save()
            left = (time.monotonic() - started) / (training.step - first)
            print(f"step {training.step:5}  loss {np.mean(losses):.5f}  "
                  f"{left * (options.steps - training.step) / 60:.1f} minutes left", flush=True)
            losses = []
    training.save()  # until the net is kept
    return training.mean.module


def save(net, path, contract=None):
    """Leaves out the debug records: they hold the paths of the machine that trained."""
    net.to(memory_format=torch.contiguous_format)
    whole = io.BytesIO()
    extra = {"dnn_torch.json": json.dumps(contract)} if contract else {}
    torch.jit.save(torch.jit.script(net.eval().requires_grad_(False)), whole, _extra_files=extra)
    with zipfile.ZipFile(whole) as records, zipfile.ZipFile(path, "w") as kept:
        for record in records.infolist():
            if not record.filename.endswith(".debug_pkl"):
                kept.writestr(record, records.read(record))


def train_and_save(make_net, options, make_examples, constrain, report, keep=save, loss_of=F.l1_loss):
    """Trains, saves by keep(net, path), and reports on photographs that were held out.

    make_examples() reads the photographs, unless the net has its weights already.
    """
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    torch.use_deterministic_algorithms(True)
    started, net = time.monotonic(), make_net()
    if options.weights:
        weights = torch.load(options.weights, map_location="cpu")
        net.load_state_dict(weights.get("mean", weights))
    else:
        net = train(net, options, make_examples(), constrain, loss_of)
    keep(net, options.out)
    state_of(options).unlink(missing_ok=True)
    with torch.no_grad():
        report(net)
    print(f"{options.out} saved, {sum(p.numel() for p in net.parameters())} weights, "
          f"{(time.monotonic() - started) / 60:.0f} minutes")
