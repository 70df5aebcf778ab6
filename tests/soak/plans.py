# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a run does: options, faults and what has to come of them, all from one random number."""
import dataclasses
import pathlib
import random

import clips
import support

# How far from the end of a run a fault is at least, in frames.
MARGIN = 10

# What a script does to a marked picture, and words of the one line that has to say so.
ENDING_FAULTS = {
    "throws": ("fail_at", "the script says that this picture fails"),
    "wrong batch": ("wrong_batch_at", "pictures|batch"),
    "wrong size": ("wrong_size_at", r"\d+x\d+"),
    "wrong type": ("wrong_element_at", "type|element|float"),
    "out of memory": ("out_of_memory_at", "memory"),
    "hangs": ("hang_at", "timeout"),
}
NAN = "NaN"
DISK_FULL = "disk full"
NO_BEGINNING = "does not open"
OTHER_FILE = "another model"
# To the process that the model runs in.
KILLED, STOPPED = "killed", "stopped"
SIGNALLED = (KILLED, STOPPED)

STATISTICS = "stats.json"


def can_isolate():
    return pathlib.Path(support.MODULES, "engine-isolated.so").exists()


@dataclasses.dataclass
class Plan:
    """Frames are counted from 0."""

    seed: str
    count: int
    pixel_format: str
    model: clips.Model
    options: dict
    script: dict
    faults: list = dataclasses.field(default_factory=list)
    marked: list = dataclasses.field(default_factory=list)
    enable: str = ""
    second: dict = None  # the options of another filter behind the first, which inverts
    after_seconds: float = 0  # until a signal is sent, or the model's file is replaced

    def is_enabled(self, number):
        scope = {"n": number, "mod": lambda a, b: a % b, "gte": int.__ge__, "lt": int.__lt__}
        return not self.enable or bool(eval(self.enable, scope))

    def first_failure(self):
        """The frame that ends the run, or None."""
        if not set(self.faults) & set(ENDING_FAULTS):
            return None
        return next((number for number in self.marked if self.is_enabled(number)), None)

    @property
    def restarts(self):
        return self.options.get("on_crash", "error") != "error"


def run_options(dice):
    """How many frames are worked on at once."""
    options = {}
    if dice.random() < 0.15:
        options["async"] = 0
    if dice.random() < 0.7:
        options["workers"] = dice.choice([1, 2, 3, 4, 8])
    if dice.random() < 0.7:
        options["nireq"] = dice.choice([1, 2, 3, 8, 16, 64])
    if dice.random() < 0.3:
        options["batch_size"] = dice.choice([2, 3, 4, 7])
    if dice.random() < 0.5:
        options["threads"] = 1
    if dice.random() < 0.2:
        options["stats"] = STATISTICS
    if dice.random() < 0.3:  # for models that run in order
        options.update(cuts=dice.choice(["auto", "off", 0.1]), jump=dice.choice([0, 2, 10]), gaps=dice.choice([0, 1]))
    return options


def isolation(dice):
    if not can_isolate() or dice.random() < 0.5:
        return {"isolate": 0}
    on_crash = dice.choice(["error", "restart=3"])
    return {"isolate": 1, "on_crash": on_crash}


def script_of(dice, model):
    script = model.script()
    for key in ("takes_integers", "interleaved"):
        if dice.random() < 0.5:
            script[key] = 1
    if dice.random() < 0.1:
        script["in_order"] = 1
    if dice.random() < 0.5:
        script.update(latency_random_us=dice.choice([50, 100, 300]), seed=dice.randrange(1000))
    return script


def add_fault(dice, plan):
    kinds = [*ENDING_FAULTS, NAN, DISK_FULL, NO_BEGINNING, OTHER_FILE]
    if plan.options.get("isolate"):
        kinds += 2 * SIGNALLED
    fault = dice.choice(kinds)
    plan.faults.append(fault)
    if fault in ENDING_FAULTS or fault == NAN:
        plan.script["nan_at" if fault == NAN else ENDING_FAULTS[fault][0]] = clips.MARKED
        numbers = range(plan.count - MARGIN)
        plan.marked = sorted(dice.sample(numbers, dice.randrange(1, 20) if fault == NAN else 1))
    if fault in ("hangs", STOPPED):
        plan.options["timeout"] = 2
    if fault == DISK_FULL:
        plan.options["stats"] = "/dev/full"
    if fault == NO_BEGINNING:
        plan.script["fail_open"] = "the script says that this file is no model"
    if fault in (*SIGNALLED, OTHER_FILE):
        last_long_enough(plan)
        plan.after_seconds = dice.uniform(0.05, 1)
    if fault == OTHER_FILE:
        plan.options["watch"] = 1
        plan.after_seconds = 0.3


def last_long_enough(plan):
    """So that something can happen in the middle."""
    plan.count //= 10
    workers = 1 if plan.script.get("in_order") or plan.options.get("async") == 0 else 2
    plan.options["workers"] = workers
    at_once = workers * plan.options.get("batch_size", 1)
    plan.script["latency_us"] = 2_000_000 * at_once // plan.count
    plan.script.pop("latency_random_us", None)


def make_plan(seed, count):
    dice = random.Random(seed)
    scale = dice.choice(["1", "1", "2", "1/2"])
    names = [name for name, kind in clips.FORMATS.items() if scale == "1" or not kind.rest]
    pixel_format = dice.choice(names)
    model = clips.Model(inverts=dice.random() < 0.5, scale=scale)
    plan = Plan(seed, count, pixel_format, model, run_options(dice), script_of(dice, model))
    plan.options.update(isolation(dice))
    if scale == "1" and dice.random() < 0.2:
        plan.enable = dice.choice(["mod(n,2)", "gte(n,17)", f"lt(n,{count // 2})", "mod(n,50)"])
    if dice.random() < 0.2:
        plan.second = {**run_options(dice), "isolate": 0}
        plan.second.pop("stats", None)
    if dice.random() < 0.6:
        add_fault(dice, plan)
    return plan
