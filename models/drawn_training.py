# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains a net with norms on pictures that are drawn from a seed."""

import argparse
import copy
import time

import numpy as np
import torch

import training
from units import fused

TOLD_EVERY, SAVED_EVERY = 100, 1000
"""Steps between two lines about the loss, and between two results."""


def options_of(description, out, steps, rate, batch):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", default=out)
    parser.add_argument("--pictures", type=int, default=1500)
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--rate", type=float, default=rate, help="at which it learns, at most")
    parser.add_argument("--batch", type=int, default=batch)
    parser.add_argument("--threads", type=int, default=1,
                        help="one by default, for sums taken in one order everywhere")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--score", action="store_true", help="train nothing: say how good --out is")
    return parser


def update(net, optimizer, loss, largest_gradient):
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    if largest_gradient:
        torch.nn.utils.clip_grad_norm_(net.parameters(), largest_gradient)
    optimizer.step()


def follow(mean, net):
    """Of the norms' running means the newest are the best."""
    mean.update_parameters(net)
    for kept, new in zip(mean.module.buffers(), net.buffers()):
        kept.copy_(new)


def train(net, options, loss_of, keep, largest_gradient=None):
    """Returns the mean of the net's weights, each norm within the convolution before it.

    loss_of(net, chosen, rng, step) is the loss on the pictures of those numbers; keep(net)
    is called now and then.
    """
    rng = np.random.default_rng(options.seed)
    net = net.to(memory_format=torch.channels_last).train()
    mean = training.running_mean(net)
    optimizer = torch.optim.AdamW(net.parameters(), weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, options.rate, options.steps, pct_start=0.1)
    losses, started = 0.0, time.monotonic()
    for step in range(1, options.steps + 1):
        chosen = torch.from_numpy(rng.integers(0, options.pictures, options.batch))
        loss = loss_of(net, chosen, rng, step)
        update(net, optimizer, loss, largest_gradient)
        schedule.step()
        follow(mean, net)
        losses += loss.item()
        if step % TOLD_EVERY == 0:
            print(f"step {step:5}  loss {losses / TOLD_EVERY:.4f}  {time.monotonic() - started:.0f} s",
                  flush=True)
            losses = 0.0
        if step % SAVED_EVERY == 0:
            keep(fused(copy.deepcopy(mean.module)))
    return fused(mean.module)


def train_and_save(make_net, options, draw_many, loss_with, contract, report, **how):
    """Or, with --score, reports alone.

    draw_many(first_seed, count) draws what loss_with(drawn) makes train()'s loss_of of.
    """
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    started = time.monotonic()
    if options.score:
        net = torch.jit.load(options.out)
    else:
        drawn = draw_many(options.seed * 100_000, options.pictures)
        print(f"{options.pictures} pictures drawn in {time.monotonic() - started:.0f} s", flush=True)

        def keep(result):
            training.save(result, options.out, contract)

        net = train(make_net(), options, loss_with(drawn), keep, **how)
        keep(net)
        print(f"{options.out} saved, {sum(p.numel() for p in net.parameters())} weights, "
              f"{time.monotonic() - started:.0f} s in all")
    report(net)
