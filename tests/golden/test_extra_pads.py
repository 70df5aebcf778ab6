# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Models that take pictures beside the frame: from a second video, or from a mask's file."""
import json
import re

import numpy
import pytest
import support
import torch
from torch import Tensor, nn

WIDTH, HEIGHT = 64, 48


class Second(nn.Module):
    """Shows what came beside the frame."""

    def forward(self, x: Tensor, reference: Tensor) -> Tensor:
        return reference + 0 * x


class Both(nn.Module):
    """Takes the frame and so many channels beside it together; no picture takes it unchanged."""

    def __init__(self, beside: int = 3, first: int = 3):
        super().__init__()
        torch.manual_seed(5)
        self.one = nn.Conv2d(first + beside, 8, 5, padding=2)
        self.two = nn.Conv2d(8, first, 3, padding=1)

    def forward(self, x: Tensor, reference: Tensor) -> Tensor:
        y = torch.relu(self.one(torch.cat([x, reference], 1)))
        return torch.sigmoid(self.two(y) * 3)


class Three(nn.Module):
    def forward(self, x: Tensor, left: Tensor, mask: Tensor) -> Tensor:
        if left.size(1) != 3 or mask.size(1) != 1:
            raise ValueError("other channels are wanted")
        return x * mask + left * (1 - mask)


class Bytes(nn.Module):
    """Codes with their channels side by side; the reference comes before the frame."""

    def forward(self, x: Tensor, reference: Tensor) -> Tensor:
        if x.dtype != torch.uint8 or reference.dtype != torch.uint8 or x.size(3) != 3:
            raise TypeError("codes are wanted")
        return (x.float() * 0.25 + reference.float() * 0.75).round().to(torch.uint8)


class Writes(nn.Module):
    """Changes what it is given; the next frame has the same reference."""

    def forward(self, x: Tensor, reference: Tensor) -> Tensor:
        reference.mul_(0.5)
        return x * 0.5 + reference


def save(model, path):
    torch.jit.script(model.eval()).save(str(path))
    return path


def clip(name, rate, seconds, start=0.0, size=f"{WIDTH}x{HEIGHT}"):
    """A source of a graph, whose first frame has the time `start`."""
    return f"{name}=s={size}:r={rate}:d={seconds},setpts=PTS+{start}/TB"


def graph_of(first, second, last, pixel_format="rgb24"):
    return (
        f"{first},format=rgb24[a];{second},format={pixel_format}[b];[a][b]{last},format=rgb24[out]"
    )


def run(graph, **options):
    return support.ffmpeg(
        *("-filter_complex", graph, "-map", "[out]", "-fps_mode", "passthrough"),
        *("-f", "rawvideo", "-"),
        **options,
    )


def frames_of(graph, width=WIDTH, height=HEIGHT, channels=3, **options):
    result = run(graph, **options)
    assert result.returncode == 0, str(result)
    assert not result.warnings, result.warnings
    return numpy.frombuffer(result.stdout, numpy.uint8).reshape(-1, height, width, channels)


def stock(source, pixel_format="rgb24", **shape):
    """The frames of one source alone."""
    return frames_of(f"{source},format={pixel_format}[out]", plain=True, **shape)


def fractions(frames):
    return torch.from_numpy(frames.astype(numpy.float32) / 255).permute(0, 3, 1, 2)


def codes(pictures):
    scaled = (pictures.clamp(0, 1) * 255).round().permute(0, 2, 3, 1)
    return scaled.detach().numpy().astype(int)


def expect(made, wanted, most=1, share=0.01):
    """Rounding may move few samples by one code."""
    assert made.shape == wanted.shape
    difference = abs(made.astype(int) - wanted)
    assert difference.max() <= most, difference.max()
    assert (difference > 0).mean() <= share


FIRST, SECOND = clip("testsrc2", 10, 0.8), clip("testsrc", 10, 0.8)


@pytest.mark.parametrize("async_", [0, 1])
@pytest.mark.parametrize(
    "rates, seconds, starts",
    [
        ((25, 25), (0.6, 0.6), (0, 0)),
        ((25, 10), (0.8, 0.8), (0, 0)),
        ((10, 30), (0.8, 0.8), (0, 0)),
        (("30000/1001", "24000/1001"), (0.8, 0.8), (0, 0)),
        ((25, 12), (0.8, 0.3), (0, 0)),  # the second one ends early
        ((25, 12), (0.3, 1.5), (0, 0)),  # and late
        ((25, 15), (0.8, 0.8), (0.21, 0)),
        ((25, 15), (0.8, 0.8), (0, 0.21)),
        ((25, 25), (0.2, 0.2), (0, 5)),  # only later
    ],
)
def test_times_are_those_of_overlay(tmp_path, rates, seconds, starts, async_):
    """overlay shows nothing before its second input begins; that begins at once here."""
    first = clip("testsrc2", rates[0], seconds[0], starts[0])
    second = clip("testsrc", rates[1], seconds[1], starts[1])
    path = save(Second(), tmp_path / "net.pt")
    model = support.dnn(path, inputs="reference", **{"async": async_})
    made = frames_of(graph_of(first, second, model))
    count = len(stock(first))
    assert len(made) == count, "the first input says how long it takes"
    times = [starts[0] + i / float(eval(str(rates[0]))) for i in range(count)]  # noqa: S307
    wanted = frames_of(graph_of(first, second, "overlay=format=gbrp"), plain=True)[:count].copy()
    earlier = [i for i, time in enumerate(times) if time < starts[1] - 1e-6]
    wanted[earlier] = stock(second)[0]
    assert (made[: len(wanted)] == wanted).all()
    assert len({frame.tobytes() for frame in made}) > 1 or starts[1] == 5


def test_a_mask_of_one_picture(tmp_path):
    """From movie=, and as an input of ffmpeg's; the model wants one channel."""
    model = Both(1)
    net = support.dnn(save(model, tmp_path / "net.pt"), inputs="reference")
    shape = f"testsrc=s={WIDTH}x{HEIGHT},format=gray"
    support.succeed("-f", "lavfi", "-i", shape, "-frames:v", "1", tmp_path / "mask.png", plain=True)
    mask = stock(f"movie={tmp_path}/mask.png", "gray", channels=1)
    assert len(mask) == 1 and mask.std() > 10
    first = stock(FIRST)
    beside = fractions(mask).expand(len(first), -1, -1, -1)
    wanted = codes(model(fractions(first), beside))
    by_movie = frames_of(f"movie={tmp_path}/mask.png[m];{FIRST},format=rgb24[a];[a][m]{net}[out]")
    expect(by_movie, wanted)
    by_input = support.succeed(
        *("-f", "lavfi", "-i", f"{FIRST},format=rgb24", "-i", tmp_path / "mask.png"),
        *("-filter_complex", f"[0:v][1:v]{net}", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"),
    )
    assert by_input.stdout == by_movie.tobytes()
    simple = support.succeed(
        *("-f", "lavfi", "-i", f"{FIRST},format=rgb24"),
        *("-vf", f"movie={tmp_path}/mask.png[m];[in][m]{net}", "-f", "rawvideo", "-"),
    )
    assert simple.stdout == by_movie.tobytes()


@pytest.mark.parametrize("isolate", [0, 1])
@pytest.mark.parametrize(
    "options",
    [{}, {"batch_size": 3}, {"workers": 2, "batch_size": 2}, {"tune": 0.2}, {"tile": "32x32"}],
)
def test_any_way_of_running_gives_pytorchs_pictures(tmp_path, options, isolate):
    model = Both()
    path = save(model, tmp_path / "net.pt")
    net = support.dnn(path, inputs="reference", isolate=isolate, **options)
    made = frames_of(graph_of(FIRST, SECOND, net))
    wanted = codes(model(fractions(stock(FIRST)), fractions(stock(SECOND))))
    expect(made, wanted)
    assert abs(wanted - codes(model(fractions(stock(FIRST)), fractions(stock(FIRST))))).max() > 20


@pytest.mark.parametrize("options", [{}, {"tile": "48x32"}])
def test_both_are_padded_alike(tmp_path, options):
    model = Both()
    size = {"width": 53, "height": 37}
    first = clip("testsrc2", 10, 0.3, size="53x37")
    second = clip("testsrc", 10, 0.3, size="53x37")
    net = support.dnn(save(model, tmp_path / "net.pt"), inputs="reference", multiple=16, **options)
    made = frames_of(graph_of(first, second, net), **size)
    padded = [
        nn.functional.pad(fractions(stock(source, **size)), (0, 11, 0, 11), "reflect")
        for source in (first, second)
    ]
    expect(made, codes(model(*padded)[:, :, :37, :53]))


def test_several_pads_in_their_order(tmp_path):
    """The order of the names, and not that of forward()."""
    path = save(Three(), tmp_path / "net.pt")
    net = support.dnn(path, inputs="mask|left")
    mask = clip("testsrc2", 10, 0.8) + ",negate"
    graph = (
        f"{FIRST},format=rgb24[a];{mask},format=gray[m];{SECOND},format=rgb24[l];"
        f"[a][m][l]{net}[out]"
    )
    made = frames_of(graph)
    x, left = fractions(stock(FIRST)), fractions(stock(SECOND))
    grey = fractions(stock(mask, "gray", channels=1))
    expect(made, codes(x * grey + left * (1 - grey)))


def test_the_frame_goes_to_the_argument_that_is_not_named(tmp_path):
    path = save(Second(), tmp_path / "net.pt")
    made = frames_of(graph_of(FIRST, SECOND, support.dnn(path, inputs="x")))
    assert (made == stock(FIRST)).all()
    fails(graph_of(FIRST, SECOND, support.dnn(path, inputs="x", input="x")), "the filter gives x")


def test_codes_with_channels_side_by_side(tmp_path):
    net = support.dnn(save(Bytes(), tmp_path / "net.pt"), inputs="reference", batch_size=2)
    made = frames_of(graph_of(FIRST, SECOND, net))
    first, second = stock(FIRST).astype(float), stock(SECOND).astype(float)
    expect(made, (first * 0.25 + second * 0.75).round().astype(int))


def test_a_contract_says_what_the_second_pictures_numbers_are(tmp_path):
    path = save(Both(), tmp_path / "net.pt")
    fields = {"channels": 3, "order": "bgr", "range": [-1, 1], "mean": [0.1, 0.2, 0.3], "std": 0.5}
    (tmp_path / "net.pt.json").write_text(json.dumps({"inputs": {"reference": fields}}))
    made = frames_of(graph_of(FIRST, SECOND, support.dnn(path)))
    mean = torch.tensor([0.1, 0.2, 0.3])[None, :, None, None]
    second = (fractions(stock(SECOND)).flip(1) * 2 - 1 - mean) / 0.5
    expect(made, codes(Both()(fractions(stock(FIRST)), second)))


def test_a_model_that_changes_its_reference(tmp_path):
    """The reference of all frames is one picture, and stays as it was."""
    net = support.dnn(save(Writes(), tmp_path / "net.pt"), inputs="reference")
    second = clip("testsrc", 10, 0.1)
    made = frames_of(graph_of(FIRST, second, net))
    expect(made, codes(fractions(stock(FIRST)) * 0.5 + fractions(stock(second))[:1] * 0.5))


def test_timeline_and_commands(tmp_path):
    path = save(Second(), tmp_path / "net.pt")
    first, second = stock(FIRST), stock(SECOND)
    late = support.dnn(path, inputs="reference", enable="gte(t,0.35)")
    made = frames_of(graph_of(FIRST, SECOND, late))
    expect(made, numpy.concatenate([first[:4], second[4:]]).astype(int))
    command = "sendcmd=c='0.45 dnn_torch strength 0.5'"
    net = support.dnn(path, inputs="reference")
    made = frames_of(graph_of(f"{FIRST},{command}", SECOND, net))
    half = (first.astype(float) + second) / 2
    expect(made[5:], half[5:].astype(int), share=1)
    assert (made[:5] == second[:5]).all()


def test_nobody_waits_for_an_endless_second_input(tmp_path):
    net = support.dnn(save(Second(), tmp_path / "net.pt"), inputs="reference")
    endless = f"testsrc=s={WIDTH}x{HEIGHT}:r=50"
    made = frames_of(graph_of(FIRST, endless, net))
    assert len(made) == 8
    cut = support.succeed(
        *("-filter_complex", graph_of(f"testsrc2=s={WIDTH}x{HEIGHT}", endless, net)),
        *("-map", "[out]", "-frames:v", "5", "-f", "rawvideo", "-"),
    )
    assert len(cut.stdout) == 5 * WIDTH * HEIGHT * 3


def test_both_from_one_source(tmp_path):
    """The second one is ahead of the first: split must not wait for either."""
    net = support.dnn(save(Second(), tmp_path / "net.pt"), inputs="reference")
    graph = (
        f"testsrc2=s={WIDTH}x{HEIGHT}:r=10:d=3,format=rgb24,split[a][c];"
        f"[c]trim=start=1,setpts=PTS-STARTPTS[b];[a][b]{net}[out]"
    )
    made = frames_of(graph)
    frames = stock(f"testsrc2=s={WIDTH}x{HEIGHT}:r=10:d=3")
    assert (made == frames[[*range(10, 30), *[29] * 10]]).all()


# ---- faults -------------------------------------------------------------------------


def run_files(first, second, graph):
    """FFmpeg 5.1 builds a graph without inputs twice, and forgets its failure."""
    return support.ffmpeg(
        *("-f", "lavfi", "-i", first, "-f", "lavfi", "-i", second),
        *("-filter_complex", graph, "-f", "null", "-"),
    )


def fails(graph, *phrases):
    return support.assert_fails_clearly(run(graph), *phrases)


def test_other_sizes(tmp_path):
    net = support.dnn(save(Second(), tmp_path / "net.pt"), inputs="reference")
    other = clip("testsrc", 10, 0.8, size="32x24")
    result = run_files(FIRST, other, f"[0:v][1:v]{net}")
    phrases = ["64x48", "'reference'", "32x24", "scale=64:48"]
    support.assert_fails_clearly(result, *phrases)


def test_a_second_input_without_frames(tmp_path):
    net = support.dnn(save(Second(), tmp_path / "net.pt"), inputs="reference")
    result = run_files(FIRST, SECOND, f"[1:v]trim=end_frame=0[b];[0:v][b]{net}")
    support.assert_fails_clearly(result, "'reference' ended without a frame")


@pytest.mark.parametrize(
    "inputs, phrases",
    [
        ("mask", ["2 inputs", "inputs=reference=VALUE", "a name alone is a picture"]),
        ("reference|mask", ["inputs=mask", "no such input"]),
        ("reference|reference", ["reference twice"]),
        ("reference|reference=0.5", ["reference twice"]),
        ("reference=picture=2", ["1, 3 or 4 channels"]),
        ("reference=", ["NAME=VALUE"]),
        ("|reference", ["NAME=VALUE"]),
    ],
)
def test_wrong_names(tmp_path, inputs, phrases):
    path = save(Second(), tmp_path / "net.pt")
    fails(graph_of(FIRST, SECOND, support.dnn(path, inputs=inputs)), *phrases)


def test_a_pad_without_a_link(tmp_path):
    net = support.dnn(save(Second(), tmp_path / "net.pt"), inputs="reference")
    result = support.ffmpeg("-f", "lavfi", "-i", FIRST, "-vf", net, "-f", "null", "-")
    assert result.returncode > 0 and not result.errors, str(result)
    assert "expected to have exactly 1 input" in result.stderr or re.search(
        "not connected|unconnected", result.stderr
    ), str(result)


def test_another_model_keeps_the_pads(tmp_path):
    """A command that wants other pads is refused, and the stream goes on."""
    path = save(Second(), tmp_path / "net.pt")
    command = "sendcmd=c='0.2 dnn_torch inputs reference=0.5'"
    slow = "realtime=speed=0.5"
    first = f"{clip('testsrc2', 10, 1.5)},{slow},{command}"
    result = run(graph_of(first, SECOND, support.dnn(path, inputs="reference")))
    assert result.returncode == 0, str(result)
    assert any("0 extra pictures with each frame" in line for line in result.errors), str(result)
