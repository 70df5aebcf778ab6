# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What all benchmarks are told, and where they find and keep things."""
import dataclasses
import importlib.util
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent
CORES = len(os.sched_getaffinity(0))


class Unavailable(Exception):
    """What a benchmark needs is not here; the text says what."""


PRECISIONS = ("fp32", "bf16", "int8")


@dataclasses.dataclass
class Settings:
    build: pathlib.Path
    work: pathlib.Path
    ffmpeg: str = "ffmpeg"
    upstream_ffmpeg: str = ""
    nets: tuple = ()
    precisions: tuple = PRECISIONS
    rounds: int = 5
    seconds: float = 12.0
    memory_frames: int = 5000
    quick: bool = False

    @property
    def coarse_seconds(self):
        return min(self.seconds, 3.0)

    def program(self, name):
        path = self.build / "benchmarks" / name
        if not path.exists():
            raise Unavailable(f"{name} is not built: no {path}")
        return str(path)

    def launched(self, *command):
        """The command line by which a program finds our filter."""
        return [str(self.build / "plugin" / "dnn-torch"), "run", *command]

    def engine_environment(self, fake=False):
        folder = self.build / ("tests/fake_engine" if fake else "plugin")
        return {"DNN_TORCH_MODULE_PATH": str(folder)}


@dataclasses.dataclass(frozen=True)
class Net:
    """A model and the pictures that it is run on."""

    name: str
    width: int
    height: int
    pixel_format: str
    channels: int
    scale: int
    products: int = 0  # multiplications for a pixel of the input; 0: not known

    @property
    def output_size(self):
        return self.width * self.scale, self.height * self.scale


NETS = {
    "espcn": Net("espcn", 640, 360, "rgb24", 3, 2, products=26_688),
    "srvgg": Net("srvgg", 320, 180, "rgb24", 3, 4, products=619_200),
    "dncnn": Net("dncnn", 1280, 720, "yuv420p", 1, 1, products=111_744),
    "dncnn17": Net("dncnn17", 1280, 720, "yuv420p", 1, 1, products=554_112),
    "rrdb": Net("rrdb", 160, 90, "rgb24", 3, 4, products=17_926_848),
}
USUAL_NETS = ("espcn", "srvgg", "dncnn")  # the others take minutes: only where they are named


def quick_net(net):
    """Small enough that a frame is a matter of milliseconds."""
    return dataclasses.replace(net, width=net.width // 10 * 2, height=net.height // 10 * 2)


def progress(text):
    print(f"    {text}", file=sys.stderr, flush=True)


class Failed(Exception):
    """A program that should have run did not; the text says how it ended."""


def run_quietly(command, timeout=60, **options):
    """Runs to the end and returns what it printed; Failed has the last of what it said."""
    command = [str(word) for word in command]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, **options
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"no end after {timeout} s: {' '.join(command)}") from None
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-3:]
        raise Failed(f"exit {done.returncode} of {' '.join(command)}: {' / '.join(last)}")
    return done.stdout


def model_path(settings, name):
    """The same file for every side that runs it; made where there is none, or an old one.

    A name without an ending is that of TorchScript.
    """
    file_name = name if "." in name else f"{name}.pt"
    shipped = REPOSITORY / "models" / file_name
    if shipped.exists():
        return str(shipped)
    maker = HERE / "make_models.py"
    folder = settings.work / "models"
    path = folder / file_name
    if not path.exists() or path.stat().st_mtime < maker.stat().st_mtime:
        if not importlib.util.find_spec("torch"):
            raise Unavailable("python3-torch, which makes the models, is not installed")
        run_quietly([sys.executable, maker, folder, path.stem], timeout=300)
    return str(path)


def model_file(settings, net):
    return model_path(settings, net.name)


def frames_file(settings, pixel_format, width, height, count=24):
    """A raw video in which something moves and all is a little noisy."""
    path = settings.work / f"frames-{pixel_format}-{width}x{height}.raw"
    if not path.exists():
        part = path.with_suffix(".part")
        source = f"testsrc2=size={width}x{height}:rate=25,noise=alls=8:allf=t"
        run_quietly(
            [settings.ffmpeg, "-nostdin", "-loglevel", "error", "-y", "-f", "lavfi", "-i", source]
            + ["-frames:v", str(count), "-pix_fmt", pixel_format, "-f", "rawvideo", part],
            timeout=120,
        )
        part.rename(path)
    return str(path)


def raw_input(settings, pixel_format, width, height, loop=True):
    """ffmpeg's options for reading those frames, for ever unless told otherwise."""
    path = frames_file(settings, pixel_format, width, height)
    return (["-stream_loop", "-1"] if loop else []) + [
        "-f", "rawvideo", "-pixel_format", pixel_format, "-video_size", f"{width}x{height}",
        "-framerate", "25", "-i", path,
    ]  # fmt: skip


def net_input(settings, net, loop=True):
    return raw_input(settings, net.pixel_format, net.width, net.height, loop)


def graph_escaped(path):
    """A path as an option's value inside a filter graph."""
    text = str(path)
    for special in "\\':":
        text = text.replace(special, "\\" + special)
    for special in "\\'[],;":
        text = text.replace(special, "\\" + special)
    return text


def dnn_graph(model, **options):
    words = [f"model={graph_escaped(model)}"]
    words += [f"{key}={graph_escaped(str(value))}" for key, value in options.items()]
    return "dnn_torch=" + ":".join(words)
