# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyAV: a Python extension, which opens libavfilter with RTLD_LOCAL."""
import sys

import pytest
import support

# What every script begins with.
COMMON = """
import gc
import os
import sys
import threading
import time
from fractions import Fraction

import av
import numpy

END = (av.error.EOFError, av.error.BlockingIOError)


class Graph:
    def __init__(self, options, width=64, height=48):
        self.size = width, height
        self.found = []
        self.graph = av.filter.Graph()
        self.source = self.graph.add_buffer(
            width=width, height=height, format="rgb24", time_base=Fraction(1, 25)
        )
        ours = self.graph.add("dnn_torch", options)
        self.sink = self.graph.add("buffersink")
        self.source.link_to(ours)
        ours.link_to(self.sink)
        self.graph.configure()

    def push(self, *numbers):
        for number in numbers:
            image = numpy.full((self.size[1], self.size[0], 3), number, numpy.uint8)
            frame = av.VideoFrame.from_ndarray(image, format="rgb24")
            frame.pts = number
            self.source.push(frame)

    def end(self):
        self.source.push(None)

    def pull(self):
        "Adds (pts, width, height, first sample) of each frame that is there to what was found."
        while True:
            try:
                frame = self.sink.pull()
            except END:
                return self.found
            first = int(frame.to_ndarray()[0, 0, 0])
            self.found.append((frame.pts, frame.width, frame.height, first))


def inverse(numbers, width=64, height=48):
    return [(number, width, height, 255 - number) for number in numbers]

"""


@pytest.fixture
def run(tmp_path):
    """Runs a script on top of COMMON."""
    if support.execute([sys.executable, "-c", "import av"]).returncode != 0:
        pytest.skip("python3-av is not installed")

    def execute(text, *arguments, fake_engine=True):
        path = tmp_path / "script.py"
        path.write_text(COMMON + text)
        command = support.launched(sys.executable, path, *map(str, arguments))
        result = support.execute(command, fake_engine=fake_engine)
        assert result.returncode == 0, str(result)
        return result

    return execute


@pytest.fixture
def slow_inverse(script):
    """Options for a model whose frames are still under way when the next ones come."""
    return f"model={script(gain=-1, offset=1, latency_us=20000)}:engine=fake"


@pytest.mark.parametrize("torch_first", ["", "import torch\n"], ids=["alone", "beside torch"])
def test_libtorch(run, model, torch_first):
    """Also in a program that has LibTorch already, for purposes of its own."""
    text = """
assert "dnn_torch" in av.filter.filters_available
graph = Graph("model=" + sys.argv[1])
graph.push(*range(5))
graph.end()
assert graph.pull() == [(number, 128, 96, number) for number in range(5)]
"""
    run(torch_first + text, model("enlarge2"), fake_engine=False)


def test_a_model_that_never_comes_back_holds_up_no_other(run, model):
    """It is left to itself while it is tried and while it runs."""
    text = """
def fails(model, *numbers):
    try:
        graph = Graph("tune=0:timeout=1:model=" + model)
        graph.push(*numbers)
        graph.pull()
    except OSError as error:
        assert error.errno == 110, error
    else:
        raise AssertionError(model)

fails(sys.argv[2])
fails(sys.argv[3], *range(5, 12))
graph = Graph("timeout=30:model=" + sys.argv[1])
graph.push(*range(5))
graph.end()
assert graph.pull() == [(number, 128, 96, number) for number in range(5)]
"""
    names = ["enlarge2", "never_returns_everywhere", "never_returns_at_5"]
    run(text, *map(model, names), fake_engine=False)


def test_a_graph_that_is_built_again_in_between(run, slow_inverse):
    """What was in flight in the old one is lost, which is logged, and does not come out of the new."""
    text = """
av.logging.set_level(av.logging.INFO)
graph = Graph(sys.argv[1])
graph.push(0, 1, 2, 3, 4, 5)
before = graph.pull()
assert before == inverse(range(len(before))) and 0 < len(before) < 6, before
with av.logging.Capture() as lines:
    del graph
    gc.collect()
assert sum("in flight" in line[2] for line in lines) == 1, lines
graph = Graph(sys.argv[1], 32, 16)
graph.push(*range(10, 20))
graph.end()
assert graph.pull() == inverse(range(10, 20), 32, 16)
"""
    run(text, slow_inverse)


@pytest.mark.parametrize("pushed", [0, 1, 6])
def test_a_graph_that_is_dropped(run, slow_inverse, pushed):
    """Its threads end with it; and the last one is dropped by the end of the program."""
    text = f"""
def count_threads():
    # The kernel lists a thread for a moment after it was joined.
    time.sleep(0.3)
    return len(os.listdir("/proc/self/task"))

threads = []
for turn in range(5):
    graph = Graph(sys.argv[1])
    graph.push(*range({pushed}))
    del graph
    gc.collect()
    threads.append(count_threads())
assert threads == 5 * threads[:1], threads
left = Graph(sys.argv[1])
left.push(*range({pushed}))
"""
    run(text, slow_inverse)


def test_two_graphs_at_once(run, slow_inverse):
    text = """
results = {}

def work(name, numbers, size):
    graph = Graph(sys.argv[1], *size)
    for number in numbers:
        graph.push(number)
        graph.pull()
    graph.end()
    results[name] = graph.pull() == inverse(numbers, *size)

threads = [
    threading.Thread(target=work, args=("small", range(30), (16, 16))),
    threading.Thread(target=work, args=("large", range(100, 140), (64, 48))),
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert results == {"small": True, "large": True}, results
"""
    run(text, slow_inverse)


def test_a_model_that_fails(run, script):
    """An exception, and the reason in the log; frames before it have come."""
    text = """
av.logging.set_level(av.logging.ERROR)
with av.logging.Capture() as lines:
    graph = Graph(sys.argv[1])
    try:
        for number in range(20):
            graph.push(number)
            graph.pull()
        graph.end()
        graph.pull()
    except av.error.FFmpegError as error:
        print("raised", error)
assert graph.found == inverse(range(8)), graph.found
reasons = [line[2].strip() for line in lines if "the script says" in line[2]]
assert len(reasons) == 1, lines
print("logged", *reasons)
"""
    result = run(text, f"model={script(gain=-1, offset=1, fail_at=8)}:engine=fake")
    printed = result.stdout.decode()
    assert "raised" in printed, str(result)
    assert "logged frame at 0.320 s: the script says that this picture fails" in printed


def test_a_model_that_is_not_there(run):
    text = """
av.logging.set_level(av.logging.ERROR)
with av.logging.Capture() as lines:
    try:
        Graph("model=/nonexistent.pt:engine=fake")
        print("no error")
    except av.error.FileNotFoundError:
        pass
assert sum("/nonexistent.pt" in line[2] for line in lines) == 1, lines
"""
    assert run(text).stdout == b""
