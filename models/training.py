# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the scripts that train the nets of this folder share."""

import argparse
import io
import json
import math
import time
import zipfile

import numpy as np
import torch
from drawn_pictures import PICTURE, draw_many
from torch.nn import functional as F

HELD_OUT_SEED = 10_000_000
"""Of the first picture that no net has learned from."""


def options_of(description, out, steps):
    """A parser of what every training takes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", default=out)
    parser.add_argument("--pictures", type=int, default=1500)
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--rate", type=float, default=2e-3, help="at which it learns, at most")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--side", type=int, default=96, help="of a crop")
    parser.add_argument("--threads", type=int, default=1,
                        help="one by default, for sums taken in one order everywhere")
    parser.add_argument("--seed", type=int, default=1)
    return parser


def to_bytes_and_back(images):
    return images.mul(255).round_().clamp_(0, 255).div_(255)


def as_luma(images):
    """One channel, weighted as BT.601 has it."""
    return (images * torch.tensor([0.299, 0.587, 0.114]).view(3, 1, 1)).sum(-3, keepdim=True)


def psnr(result, wanted):
    error = (to_bytes_and_back(result) - wanted).square().mean().item()
    return -10 * math.log10(error)


def crops(pictures, count, side, rng):
    """Random crops, turned, mirrored and with their channels in random order."""
    batch = torch.empty(count, 3, side, side)
    for i in range(count):
        top, left = rng.integers(0, PICTURE - side + 1, 2)
        crop = pictures[rng.integers(len(pictures)), :, top:top + side, left:left + side]
        crop = crop[torch.from_numpy(rng.permutation(3))]
        crop = torch.rot90(crop, int(rng.integers(4)), (1, 2))
        batch[i] = crop.flip(2) if rng.random() < 0.5 else crop
    return batch.div_(255)


def train(net, pictures, options, example, constrain, loss_of=F.l1_loss):
    """Adam down a cosine; what is kept is the running mean of the weights.

    example(crops, rng) gives what the net gets and what it is to return;
    constrain(net) mends its weights after each step; loss_of(result, wanted)
    is what is made small.
    """
    rng = np.random.default_rng(options.seed)
    mean = torch.optim.swa_utils.AveragedModel(
        net, avg_fn=lambda kept, new, count: torch.lerp(kept, new, 0.005))
    optimizer = torch.optim.Adam(net.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, options.rate, options.steps, pct_start=0.1)
    started, losses = time.monotonic(), 0.0
    for step in range(1, options.steps + 1):
        given, wanted = example(crops(pictures, options.batch, options.side, rng), rng)
        loss = loss_of(net(given), wanted)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            constrain(net)
        schedule.step()
        mean.update_parameters(net)
        losses += loss.item()
        if step % 500 == 0:
            print(f"step {step:5}  loss {losses / 500:.5f}  {time.monotonic() - started:.0f} s",
                  flush=True)
            losses = 0.0
    return mean.module


def save(net, path, contract=None):
    """Leaves out the debug records: they hold the paths of the machine that trained."""
    whole = io.BytesIO()
    extra = {"dnn_torch.json": json.dumps(contract)} if contract else {}
    torch.jit.save(torch.jit.script(net.eval().requires_grad_(False)), whole, _extra_files=extra)
    with zipfile.ZipFile(whole) as records, zipfile.ZipFile(path, "w") as kept:
        for record in records.infolist():
            if not record.filename.endswith(".debug_pkl"):
                kept.writestr(record, records.read(record))


def train_and_save(make_net, options, example, constrain, report, roughest=0.6, keep=save,
                   loss_of=F.l1_loss):
    """The whole of a script: draws, trains, saves by keep(net, path), reports on pictures held out."""
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    torch.use_deterministic_algorithms(True)
    started = time.monotonic()
    held_out = draw_many(HELD_OUT_SEED, 48, roughest)
    pictures = draw_many(options.seed * 100_000, options.pictures, roughest)
    print(f"{options.pictures} pictures drawn in {time.monotonic() - started:.0f} s", flush=True)
    net = train(make_net(), pictures, options, example, constrain, loss_of)
    keep(net, options.out)
    with torch.no_grad():
        report(net, held_out.float() / 255)
    print(f"{options.out} saved, {sum(p.numel() for p in net.parameters())} weights, "
          f"{time.monotonic() - started:.0f} s in all")
