# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether a model that is local is faster in tiles: LibTorch alone, on one thread.

What counts is the processor's time, by turns, which holds also while others use the machine. The
filter pays for the tiles' conversions beside it, so that this is the most that tiles can gain.
"""
import importlib.util
import json
import os
import statistics
import sys
import time

from report import Table
from settings import HERE, Unavailable, progress, run_quietly

CASES = [
    ("espcn", (1920, 1080), "fp32"),
    ("espcn", (1920, 1080), "bf16"),
    ("espcn", (3840, 2160), "fp32"),
    ("srvgg", (640, 360), "fp32"),
    ("srvgg", (640, 360), "bf16"),
]
NETS = {"espcn": ("Espcn", 4), "srvgg": ("SrvggCompact", 18)}  # class, how far it looks
PARTS = (2, 4, 8)  # of the width, and of the height
# Memory stays with the process, as the engine's own allocator keeps it.
KEEPING = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 36)}


def tile_of(size, parts, reach):
    """Tiles that divide the frame without rest, beside what neighbours share."""
    return tuple(-(-(extent + (parts - 1) * 2 * reach) // parts) for extent in size)


def model_of(kind, precision, example):
    import make_models
    import torch

    torch.manual_seed(1)
    model = getattr(make_models, kind)().eval().to(example.dtype)
    if precision == "bf16":
        model = model.to(memory_format=torch.channels_last)
    model = torch.jit.freeze(torch.jit.trace(model, example))
    return model if precision == "bf16" else torch.jit.optimize_for_inference(model)


def seconds_of(name, size, precision, rounds):
    """The seconds of each round: {parts: [...]}."""
    import torch

    torch.set_num_threads(1)
    kind, reach = NETS[name]
    layout = torch.channels_last if precision == "bf16" else torch.contiguous_format
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    pictures = {
        parts: torch.rand(1, 3, *reversed(tile_of(size, parts, reach))).to(dtype, memory_format=layout)
        for parts in (1, *PARTS)
    }  # fmt: skip
    model = model_of(kind, precision, pictures[PARTS[-1]])
    seconds = {parts: [] for parts in pictures}
    with torch.no_grad():
        for number in range(rounds + 1):
            for parts, picture in pictures.items():
                start = time.process_time()
                for _ in range(parts * parts if number else 1):
                    model(picture)
                if number:  # the first run of each takes longer
                    seconds[parts].append(time.process_time() - start)
    return seconds


def measure(settings, *case):
    rounds = 1 if settings.quick else settings.rounds
    command = [sys.executable, __file__, json.dumps([*case, rounds])]
    found = run_quietly(command, timeout=1800, env={**os.environ, **KEEPING})
    return {int(parts): seconds for parts, seconds in json.loads(found).items()}


def run(settings):
    if not importlib.util.find_spec("torch"):
        raise Unavailable("python3-torch is not installed")
    table = Table(
        "tiles",
        "Tiles against whole frames: LibTorch alone, one thread",
        ["model", "frames", "precision", "tile", "cpu_s", "gain", "least", "most"],
    )
    for name, size, precision in CASES:
        if name not in [net.name for net in settings.nets]:
            continue
        size = [extent // (8 if settings.quick else 1) for extent in size]
        seconds = measure(settings, name, size, precision)
        progress(f"{name} {size} {precision}: {seconds}")
        for parts, times in seconds.items():
            gains = [whole / tiled for whole, tiled in zip(seconds[1], times)]
            table.add(
                model=name, frames="x".join(map(str, size)), precision=precision,
                tile="x".join(map(str, tile_of(size, parts, NETS[name][1]))),
                cpu_s=statistics.median(times), gain=statistics.median(gains), least=min(gains),
                most=max(gains),
            )  # fmt: skip
    table.remark("gain is the time of whole frames divided by that of tiles, of each round.")
    return table


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    print(json.dumps(seconds_of(*json.loads(sys.argv[1]))))
