# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains a net for a number of steps, or for some minutes, on any device.

What lets a training go on is kept beside the result, as OUT.state, with the running mean
of the weights, which is what is kept in the end.
"""

import argparse
import math
import pathlib
import time

import numpy as np
import torch

import training

TOLD_EVERY = 30
"""Seconds between two lines about the loss; the state is saved then as well."""


def options_of(description, out, steps, rate, batch, side):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", default=out)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--minutes", type=float, help="instead of --steps")
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--rate", type=float, default=rate, help="at which it learns, at most")
    parser.add_argument("--batch", type=int, default=batch)
    parser.add_argument("--side", type=int, default=side, help="of a frame")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--photographs", help="a folder of them, instead of photographs.py's")
    parser.add_argument("--state", type=pathlib.Path, help="OUT.state unless told")
    parser.add_argument("--exact", action="store_true", help="never computes in 16 bits")
    parser.add_argument("--anew", action="store_true",
                        help="does not go on with a training that was interrupted")
    parser.add_argument("--train-only", action="store_true",
                        help="leaves the state, and writes no OUT")
    return parser


def prepare(options):
    """Everything that is made without saying where is then made on the device."""
    torch.set_num_threads(options.threads)
    options.state = options.state or training.STATES / f"{pathlib.Path(options.out).name}.state"
    if hasattr(torch, "set_default_device"):  # since 2.0
        torch.set_default_device(options.device)
    if options.device == "cuda":
        torch.backends.cudnn.benchmark = True
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True


def sixteen_bits(options, until, progress):
    """They are exact enough at first."""
    on = options.device == "cuda" and not options.exact and progress < until
    return torch.autocast(options.device, torch.bfloat16, enabled=on)


class Timed:
    """A net, its optimiser, the running mean of its weights, and how far it has come."""

    def __init__(self, net, options):
        self.net, self.options = net, options
        # Otherwise each step waits for the device.
        faster = {"fused": True} if options.device == "cuda" else {}
        self.optimizer = torch.optim.AdamW(net.parameters(), weight_decay=1e-4, betas=(0.9, 0.99),
                                           **faster)
        self.mean = [parameter.detach().clone() for parameter in net.parameters()]
        self.step, self.spent, self.calm = 0, 0.0, 1.0
        if not options.anew and options.state.exists():
            self.go_on()

    def progress(self, now):
        """From 0 to 1."""
        if self.options.minutes:
            return (self.spent + now) / (60 * self.options.minutes)
        return self.step / self.options.steps

    def save(self, now):
        training.keep_state({"net": self.net.state_dict(), "optimizer": self.optimizer.state_dict(),
                             "mean": self.mean, "step": self.step, "spent": self.spent + now},
                            self.options.state)

    def load(self):
        state = torch.load(self.options.state, map_location=self.options.device)
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["optimizer"])
        with torch.no_grad():
            for kept, read in zip(self.mean, state["mean"]):
                kept.copy_(read)
        return state

    def go_on(self):
        state = self.load()
        self.step, self.spent = state["step"], state["spent"]
        print(f"goes on after step {self.step}, {self.spent:.0f} s", flush=True)

    def rate_at(self, progress):
        return (self.calm * self.options.rate * min(1, self.step / 200, progress * 25)
                * (0.5 + 0.5 * math.cos(math.pi * min(1, progress))) + 1e-7)

    def learn(self, loss, progress):
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate_at(progress)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimizer.step()
        pace = max(0.002, 1 / (1 + self.step))
        with torch.no_grad():
            for kept, now in zip(self.mean, self.net.parameters()):
                kept.lerp_(now, pace)

    def run(self, loss_of):
        """loss_of(net, rng, progress) is what is made small."""
        started, told, losses = time.monotonic(), time.monotonic(), []
        self.save(0)
        while (progress := self.progress(time.monotonic() - started)) < 1:
            self.step += 1
            torch.manual_seed(self.step)
            loss = loss_of(self.net, np.random.default_rng((1, self.step)), progress)
            self.learn(loss, progress)
            losses.append(loss.detach())
            if time.monotonic() - told > TOLD_EVERY:
                told = time.monotonic()
                self.tell(losses, progress, told - started)
                losses = []
        self.tell(losses, 1, time.monotonic() - started)

    def tell(self, losses, progress, now):
        """A net that was lost goes on from where it was last good, more calmly."""
        mean = torch.stack(losses).mean().item() if losses else 0.0
        print(f"step {self.step:6}  {100 * progress:5.1f} %  {now:5.0f} s  loss {mean:.5f}",
              flush=True)
        if math.isfinite(mean):
            self.save(now)
        elif self.options.state.exists():
            self.load()
            self.calm /= 2
            print(f"not a number: back to the last state, rate times {self.calm}", flush=True)

    def result(self):
        """The net with the mean of its weights, on the CPU."""
        with torch.no_grad():
            for parameter, kept in zip(self.net.parameters(), self.mean):
                parameter.copy_(kept)
        return self.net.cpu().eval()


def train(net, options, loss_of):
    timed = Timed(net.to(memory_format=torch.channels_last), options)
    timed.run(loss_of)
    return timed.result()
