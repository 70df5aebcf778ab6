# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Another model while frames pass, by sendcmd and by watch=1; and models that filters share."""
import re
import shutil
import subprocess
import sys
import time

import pictures
import support

WIDTH, HEIGHT, FRAMES, RATE = 48, 32, 75, 25
DARK = 10


def run(graph, *options, frames=FRAMES, rate=RATE, **more):
    """In real time, for a model is opened beside the frames; the frames that came out."""
    source = pictures.raw(pictures.make_frames("rgb24", WIDTH, HEIGHT, 1), "rgb24") * frames
    result = support.succeed(
        *("-f", "rawvideo", "-pixel_format", "rgb24", "-video_size", f"{WIDTH}x{HEIGHT}"),
        *("-framerate", str(rate), "-i", "pipe:0", "-vf", graph, *options),
        *("-f", "rawvideo", "-"),
        stdin=source,
        **more,
    )
    size = WIDTH * HEIGHT * 3
    assert len(result.stdout) == frames * size, f"a frame is lost: {result}"
    whole = [result.stdout[at : at + size] for at in range(0, len(result.stdout), size)]
    return whole, source[:size], result


def commands(*timed):
    """A sendcmd, of (time, command, value)."""
    lines = [f"{time} dnn_torch {name} {value}" for time, name, value in timed]
    return f"sendcmd=c={support.escape_graph(';'.join(lines))},realtime"


def kinds(frames, same):
    """What the frames are, in order and without repetition, and where each kind begins."""
    inverse = bytes(255 - byte for byte in same)
    names = [{same: "same", inverse: "inverse"}.get(frame, "neither") for frame in frames]
    changes = [at for at, name in enumerate(names) if at == 0 or names[at - 1] != name]
    return [names[at] for at in changes], changes


def test_commands(model, tmp_path):
    """Every frame is one model's, and from one frame on all are the next one's."""
    garbage = tmp_path / "garbage.pt"
    garbage.write_bytes(b"no model at all")
    timed = [
        (0.4, "model", model("invert")),
        (1.0, "model", garbage),
        (1.4, "model", model("enlarge2")),
        (1.8, "optimize", "0"),
        (1.8, "model", model("identity")),
    ]
    # A process of its own is not yet there when the next command comes on a busy machine.
    graph = f"{commands(*timed)},{support.dnn(model('identity'), tune=0, isolate=0)}"
    frames, same, result = run(graph)
    names, (_, inverted, back) = kinds(frames, same)
    assert names == ["same", "inverse", "same"]
    assert inverted >= 0.4 * RATE and back >= 1.8 * RATE
    assert len(result.errors) == 2, result
    assert re.search(r"cannot change to model=\S+garbage.pt: .*goes on as before", result.errors[0])
    assert re.search(r"cannot change to .*enlarge2\S*: .* 96x64 of 48x32", result.errors[1])


def test_a_file_that_changes(model, tmp_path):
    """Another file in its place is taken, and garbage that is written over that one is not."""
    watched, other, out = tmp_path / "watched.pt", tmp_path / "other.pt", tmp_path / "out.raw"
    shutil.copy(model("identity"), watched)
    shutil.copy(model("invert"), other)
    source = f"color=c=black:s=16x16:r={RATE},format=gray,lut=c0={DARK},realtime"
    graph = f"{source},{support.dnn(watched, watch=1, tune=0)},format=gray"
    process = support.start(
        support.ffmpeg_command(
            *("-f", "lavfi", "-i", graph, "-f", "rawvideo", "-flush_packets", "1", out)
        ),
        stdin=subprocess.PIPE,
    )

    def wait_for(shade, more=1):
        """That many frames of it come, from now on."""
        start, deadline = frames_of(out), time.monotonic() + support.TIME_LIMIT
        while frames_of(out)[len(start) :].count(shade) < more:
            assert time.monotonic() < deadline and process.poll() is None, "it does not come"
            time.sleep(0.02)

    wait_for(DARK)
    other.rename(watched)
    wait_for(255 - DARK)
    watched.write_bytes(b"garbage")
    wait_for(255 - DARK, more=6 * RATE)  # opening takes its time on a busy machine
    result = support.finish(process, b"q")
    assert result.returncode == 0, result
    shades = frames_of(out)
    assert sorted(shades) == shades and set(shades) == {DARK, 255 - DARK}
    assert len(result.errors) == 1 and "watched.pt" in result.errors[0], result


def frames_of(path):
    """The first sample of each frame of 16x16."""
    return list(path.read_bytes()[::256]) if path.exists() else []


def test_many_changes_take_no_memory(model):
    """A hundred of them, of a model that each time is opened anew."""
    paths = [model("invert"), model("identity")]

    def peak(count):
        timed = [(0.02 * at, "model", paths[at % 2]) for at in range(1, count)]
        timed += [(0.02 * at, "precision", ("fp32", "auto")[at % 2]) for at in range(1, count)]
        graph = f"{commands(*timed)},{support.dnn(paths[0], tune=0, isolate=0)}"
        _, _, result = run(graph, "-benchmark", frames=110, rate=50)
        changes = result.filter_lines("info")
        assert sum(line.startswith("changed to") for line in changes) > count / 4, result
        return int(re.search(r"maxrss=(\d+)", result.stderr)[1])

    few, many = peak(10), peak(100)
    assert many - few < 60 << 10, "KiB more for ten times the changes"


def test_a_program_loads_a_model_once(script, tmp_path):
    """ffmpeg builds each graph twice, and here has two filters that run the same model."""
    loads = tmp_path / "loads"
    ours = support.fake(script(loads=loads))
    time.sleep(0.1)  # a file that was written a moment ago may change unseen, and is not shared
    run(f"{ours},{ours}", frames=5, fake_engine=True)
    assert loads.read_text().split().count("open") == 1


REMEMBERS = """
import sys, torch

class Remembers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(1))

    def forward(self, x):
        self.last = 0.5 * x + 0.5 * self.last
        return self.last

torch.jit.script(Remembers().eval()).save(sys.argv[1])
"""


def test_filters_that_share_a_model_remember_frames_of_their_own(tmp_path):
    """Two of them at once, of which one sees other frames, make what each makes alone."""
    path = tmp_path / "remembers.pt"
    script = tmp_path / "remembers.py"  # torch.jit.script() wants to read it
    script.write_text(REMEMBERS)
    subprocess.run([sys.executable, script, path], check=True, timeout=120)
    ours, source = support.dnn(path), f"testsrc2=s=32x16:r={RATE}:d=1,format=gbrp"

    def made(graph, outputs):
        maps = [("-map", name, "-f", "framemd5", tmp_path / name) for name in outputs]
        support.succeed("-filter_complex", graph, *[word for each in maps for word in each])
        return [support.digests((tmp_path / name).read_bytes()) for name in outputs]

    alone = made(f"{source},{ours}[a]", ["[a]"]) + made(f"{source},negate,{ours}[b]", ["[b]"])
    both = made(f"{source},split[x][y];[x]{ours}[a];[y]negate,{ours}[b]", ["[a]", "[b]"])
    assert both == alone and both[0] != both[1] and len(both[0]) == RATE
