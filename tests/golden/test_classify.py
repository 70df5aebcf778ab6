# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""dnn_torch_classify: what frames and boxes show, that frames pass untouched, what is refused."""
import json
import re

import numpy
import pictures
import pytest
import support
import torch
from classifiers import (
    Alone, Colour, Counting, Fixed, Quadrants, Sized, classify, quadrants, said
)
from detectors import Same, detect, records, save

NAMES = ["red", "green", "blue"]
COLOURS = ["red", "lime", "blue", "red"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classifiers")

    def model(module, name, contract=None):
        path = folder / f"{name}.pt"
        return path if path.exists() else save(module, path, contract)

    return model


@pytest.fixture
def names(tmp_path):
    path = tmp_path / "names.txt"
    path.write_text("\n".join(NAMES) + "\n")
    return path


@pytest.fixture
def things(tmp_path):
    path = tmp_path / "things.txt"
    path.write_text("cat\ndog\n")
    return path


@pytest.fixture
def colour(made):
    return made(Colour(), "colour")


@pytest.fixture
def found(made, things):
    """A filter that finds four boxes: cat, dog, cat, dog."""
    return detect(made(Quadrants(), "quadrants"), decoder="boxes", size="frame", labels=things,
                  tune=0)


def plain(colour="black", size="64x48", frames=1):
    return f"color={colour}:size={size}:rate=25:duration={frames / 25}"


# ---- the frame as a whole -----------------------------------------------------------------


@pytest.mark.parametrize("logits", [False, True], ids=["shares", "logits"])
@pytest.mark.parametrize(
    "pixel_format", ["yuv420p", "nv12", "yuv444p10le", "gbrpf32le", "bgra", "rgb24"]
)
def test_frame_of_every_kind_of_format(made, tmp_path, names, pixel_format, logits):
    """Labels are those of the file, and confidences the model's own."""
    model = made(Colour(logits), f"colour{logits}")
    graph = classify(model, labels=names, tune=0, size=32)
    source = f"{plain('0x0000FF', '70x50')},format={pixel_format}"
    (record,), _ = records(graph, tmp_path, source, "-noauto_conversion_filters")
    assert said(record) == ["blue"]
    assert record["classes"][0]["confidence"] > 0.97
    assert record["things"] == []


def test_top_and_confidence(made, tmp_path):
    model = made(Fixed([0.1, 0.4, 0.2, 0.25, 0.05]), "fixed")

    def kept(options):
        (record,), _ = records(classify(model, tune=0, size=8) + options, tmp_path, plain())
        return said(record)

    assert kept("") == ["1"]
    assert kept(":top=4") == ["1", "3", "2", "0"]
    assert kept(":top=4:confidence=0.2") == ["1", "3", "2"]
    assert kept(":confidence=0.5") == []


@pytest.mark.parametrize(
    "scores, kind, expected",
    [
        ([0.0, 1.0986123], "auto", 0.75),
        ([0.0, 1.0986123], "softmax", 0.75),
        ([0.0, 1.0986123], "sigmoid", 0.75),
        ([1.0986123, 1.0986123], "sigmoid", 0.75),
        ([0.75, 0.25], "auto", 0.75),
        ([0.75, 0.75], "plain", 0.75),
        ([0.75, 0.75], "auto", 0.5),
        ([0.75], "auto", 0.75),
        ([-1.0986123], "auto", 0.25),
    ],
    ids=str,
)
def test_what_scores_are(made, tmp_path, scores, kind, expected):
    model = made(Fixed(scores), f"scores{scores}")
    graph = classify(model, tune=0, size=8, scores=kind)
    (record,), _ = records(graph, tmp_path, plain())
    assert abs(record["classes"][0]["confidence"] - expected) < 1e-3


@pytest.mark.parametrize("shape", [(3,), (3, 1, 1), (1, 3), (1, 1, 3)], ids=str)
def test_shapes(made, tmp_path, shape):
    model = made(Fixed([0.2, 0.1, 0.7], shape), f"shape{shape}")
    (record,), _ = records(classify(model, tune=0, size=8), tmp_path, plain())
    assert said(record) == ["2"]


def test_scores_that_are_no_numbers(made, tmp_path):
    model = made(Fixed([float("nan"), 1.0, float("inf"), 0.5]), "nan")
    (record,), _ = records(classify(model, tune=0, size=8, top=4), tmp_path, plain())
    assert said(record) == ["1", "3"]
    model = made(Fixed([float("nan")] * 3), "all_nan")
    (record,), _ = records(classify(model, tune=0, size=8, top=4), tmp_path, plain())
    assert said(record) == []


def test_metadata_of_the_frame(need, colour, names, tmp_path):
    """What is said of a frame has no other place."""
    need(filters=["metadata"])
    graph = classify(colour, labels=names, tune=0, size=32, top=2)
    result = support.succeed(
        *("-f", "lavfi", "-i", plain("0xFF0000")),
        *("-vf", f"{graph},metadata=print:file=-", "-f", "null", "-"),
    )
    keys = dict(line.split("=", 1) for line in result.stdout.decode().splitlines() if "=" in line)
    assert keys["lavfi.dnn_torch.class.0.label"] == "red"
    assert float(keys["lavfi.dnn_torch.class.0.confidence"]) > 0.98
    assert "lavfi.dnn_torch.class.1.label" in keys


def test_fit(made, tmp_path, names):
    """Of a wide frame with red edges, a crop sees the middle alone."""
    model = made(Colour(), "colour")
    source = (
        f"{plain('0xFF0000', '96x32')},format=gbrp,drawbox=x=32:y=0:w=32:h=32:color=blue:t=fill"
    )

    def blue(options):
        graph = classify(model, labels=names, tune=0, size=32, top=3) + options
        (record,), _ = records(graph, tmp_path, source)
        return {each["label"]: each["confidence"] for each in record["classes"]}["blue"]

    assert blue("") > 0.98
    assert blue(":fit=crop") > 0.98
    assert abs(blue(":fit=stretch") - 1 / 3) < 0.03
    assert abs(blue(":fit=letterbox") - 1 / 3) < 0.03


def test_contract_says_size_and_labels(made, tmp_path):
    contract = {
        "task": "classify", "input": {"size": [40, 24]}, "labels": NAMES,
    }
    model = made(Sized(40, 24), "sized40", contract)
    (record,), _ = records(classify(model, tune=0), tmp_path, plain("lime"))
    assert said(record) == ["green"]


def test_contract_says_what_scores_are(made, tmp_path):
    contract = {"task": "classify", "scores": "sigmoid"}
    model = made(Fixed([1.0986123, 1.0986123]), "sigmoid", contract)

    def confidence(**options):
        (record,), _ = records(classify(model, tune=0, size=8, **options), tmp_path, plain())
        return record["classes"][0]["confidence"]

    assert abs(confidence() - 0.75) < 1e-3
    assert abs(confidence(scores="softmax") - 0.5) < 1e-3


@pytest.mark.parametrize("extent", [299, 28])
def test_size_is_found(made, tmp_path, extent):
    model = made(Sized(extent, extent), f"sized{extent}")
    (record,), result = records(
        classify(model, tune=0), tmp_path, plain("lime"), loglevel="verbose"
    )
    assert said(record) == ["1"]
    assert f"{extent}x{extent}" in result.stderr, result


def test_fewer_labels_than_classes(made, tmp_path, names):
    model = made(Fixed([0.1, 0.1, 0.1, 0.6, 0.1]), "five")
    (record,), result = records(classify(model, tune=0, size=8, labels=names), tmp_path, plain())
    assert said(record) == ["3"]
    (warning,) = set(result.warnings)  # FFmpeg 5.1 builds such a graph twice
    assert "5 classes" in warning, result


# ---- commands -----------------------------------------------------------------------------


def commanded(graph, folder, commands, source, before="null"):
    """What is said of each frame while sendcmd gives commands, behind another filter."""
    path = folder / "found.jsonl"
    path.unlink(missing_ok=True)
    target = f"destination={support.escape_graph(path)}"
    graph = f"{before},sendcmd=c='{commands}',{graph}:{target}"
    result = support.succeed("-f", "lavfi", "-i", source, "-vf", graph, "-f", "null", "-")
    return [json.loads(line) for line in path.read_text().splitlines()], result


def test_commands(need, made, tmp_path):
    """Each frame has what was set when it came in."""
    need(filters=["sendcmd"])
    model = made(Fixed([0.1, 0.4, 0.2, 0.25, 0.05]), "fixed")
    found, _ = commanded(
        classify(model, tune=0, size=8), tmp_path,
        "0.08 dnn_torch_classify top 3; 0.16 dnn_torch_classify confidence 0.22", plain(frames=6))
    expected = [["1"]] * 2 + [["1", "3", "2"]] * 2 + [["1", "3"]] * 2
    assert [said(record) for record in found] == expected


def test_command_of_the_target(need, colour, found, tmp_path, names):
    need(filters=["sendcmd"])
    graph = classify(colour, labels=names, tune=0, size=16, target="cat")
    records_found, _ = commanded(graph, tmp_path, "0.04 dnn_torch_classify target dog",
                                 quadrants(COLOURS, frames=3), found)
    said_of = [[said(thing) for thing in record["things"]] for record in records_found]
    assert said_of[0] == [["red"], [], ["blue"], []]
    assert len(said_of) == 3 and said_of[1] == said_of[2] == [[], ["green"], [], ["red"]]


@pytest.mark.parametrize("command, phrase", [("target cat", "on=frame"), ("top 9", None)])
def test_bad_commands_change_nothing(need, made, tmp_path, command, phrase):
    need(filters=["sendcmd"])
    model = made(Fixed([0.1, 0.4, 0.2, 0.25, 0.05]), "fixed")
    found, result = commanded(classify(model, tune=0, size=8, on="frame"), tmp_path,
                              f"0.04 dnn_torch_classify {command}", plain(frames=3))
    assert [said(record) for record in found] == [["1"]] * 3
    assert not phrase or phrase in result.stderr, result


# ---- boxes --------------------------------------------------------------------------------


def test_boxes_are_classified(colour, found, tmp_path, names):
    graph = f"{found},{classify(colour, labels=names, tune=0, size=16)}"
    (record,), _ = records(graph, tmp_path, quadrants(COLOURS))
    assert [said(thing) for thing in record["things"]] == [["red"], ["green"], ["blue"], ["red"]]
    assert [thing["label"] for thing in record["things"]] == ["cat", "dog", "cat", "dog"]
    assert [thing["box"] for thing in record["things"]] == [
        [0, 0, 32, 24], [32, 0, 32, 24], [0, 24, 32, 24], [32, 24, 32, 24]
    ]
    assert "classes" not in record


@pytest.mark.parametrize("pixel_format", ["yuv420p", "nv12", "yuv410p", "gbrp10le", "rgba"])
def test_boxes_of_every_kind_of_format(colour, found, tmp_path, names, pixel_format):
    graph = f"{found},{classify(colour, labels=names, tune=0, size=16)}"
    source = quadrants(COLOURS, (66, 50), pixel_format)
    (record,), _ = records(graph, tmp_path, source, "-noauto_conversion_filters")
    assert [said(thing) for thing in record["things"]] == [["red"], ["green"], ["blue"], ["red"]]


@pytest.mark.parametrize(
    "target, expected",
    [
        ("cat", [["red"], [], ["blue"], []]),
        ("dog", [[], ["green"], [], ["red"]]),
        ("cat|dog", [["red"], ["green"], ["blue"], ["red"]]),
        ("horse", [[], [], [], []]),
        ("ca", [[], [], [], []]),
    ],
)
def test_target(colour, found, tmp_path, names, target, expected):
    graph = f"{found},{classify(colour, labels=names, tune=0, size=16, target=target)}"
    (record,), _ = records(graph, tmp_path, quadrants(COLOURS))
    assert [said(thing) for thing in record["things"]] == expected


def test_target_of_numbered_things(colour, found, tmp_path, names):
    graph = f"{found}:track=label,{classify(colour, labels=names, tune=0, size=16, target='dog')}"
    (record,), _ = records(graph, tmp_path, quadrants(COLOURS))
    assert [len(said(thing)) for thing in record["things"]] == [0, 1, 0, 1]


def test_two_classifiers(colour, made, found, tmp_path, names):
    """What is said second stands behind what was said first."""
    other = made(Fixed([0.1, 0.6, 0.3]), "other")
    graph = (
        f"{found},{classify(colour, labels=names, tune=0, size=16)},"
        f"{classify(other, tune=0, size=8, top=2, target='cat')}"
    )
    (record,), _ = records(graph, tmp_path, quadrants(COLOURS))
    assert [said(thing) for thing in record["things"]] == [
        ["red", "1", "2"], ["green"], ["blue", "1", "2"], ["red"]
    ]


def test_two_classifiers_of_frames(colour, made, tmp_path, names):
    """The record has what the frame's metadata has."""
    other = made(Fixed([0.1, 0.6, 0.3]), "other")
    graph = (
        f"{classify(colour, labels=names, tune=0, size=16)},"
        f"{classify(other, tune=0, size=8, top=2)}"
    )
    (record,), _ = records(graph, tmp_path, plain("red"))
    assert said(record) == ["red", "1", "2"]


def test_showinfo_reads_it(colour, found, names):
    graph = f"{found},{classify(colour, labels=names, tune=0, size=16, top=2)},showinfo"
    result = support.succeed(
        "-f", "lavfi", "-i", quadrants(COLOURS), "-vf", graph, "-f", "null", "-"
    )
    assert len(re.findall(r"label: cat", result.stderr)) == 2, result
    for name in NAMES:
        assert re.search(rf"classify: +label: {name}", result.stderr), result


def test_on_frame_keeps_boxes(colour, found, tmp_path, names):
    graph = f"{found},{classify(colour, labels=names, tune=0, size=16, on='frame')}"
    (record,), _ = records(graph, tmp_path, quadrants(["blue"] * 4))
    assert said(record) == ["blue"]
    assert [thing["label"] for thing in record["things"]] == ["cat", "dog", "cat", "dog"]
    assert all(said(thing) == [] for thing in record["things"])


@pytest.mark.parametrize("options", [{"on": "boxes"}, {"target": "cat"}], ids=str)
def test_frames_without_boxes_pass(need, colour, tmp_path, options):
    """Nothing is run, and the frame gets no side data."""
    graph = classify(colour, tune=0, size=16, **options)
    (record,), _ = records(graph, tmp_path, plain("red"))
    assert said(record) == [] and record["things"] == []
    result = support.succeed(
        "-f", "lavfi", "-i", plain("red"), "-vf", f"{graph},showinfo", "-f", "null", "-"
    )
    assert "detection" not in result.stderr, result


def test_nothing_found_stays_nothing(made, colour, tmp_path):
    """A detector that found nothing leaves an empty header, and the frame is not classified."""
    nothing = detect(made(Same([[0, 0, 0, 0, 0, 0]]), "nothing"), decoder="boxes", size="frame",
                     tune=0)
    graph = f"{nothing},{classify(colour, tune=0, size=16)}"
    (record,), _ = records(graph, tmp_path, plain("red"))
    assert said(record) == [] and record["things"] == []


# ---- batches ------------------------------------------------------------------------------


def counts(graph, folder, source):
    found, _ = records(graph, folder, source)
    return [[int(name) for thing in record["things"] for name in said(thing)] for record in found]


@pytest.mark.parametrize(
    "options, expected",
    [
        ({}, [[4] * 4] * 5),
        ({"crops": 1}, [[1] * 4] * 5),
        ({"crops": 3}, [[3, 3, 3, 1]] * 5),
        ({"batch_size": 2, "crops": 8}, [[8] * 4] * 4 + [[4] * 4]),
        ({"batch_size": 5, "crops": 16}, [[16] * 4] * 4 + [[4] * 4]),
        ({"target": "dog"}, [[2] * 2] * 5),
    ],
    ids=str,
)
def test_boxes_in_one_run(made, found, tmp_path, options, expected):
    """No run has pictures that nobody asked for."""
    model = made(Counting(), "counting")
    graph = f"{found},{classify(model, tune=0, size=8, scores='plain', **options)}"
    source = quadrants(COLOURS, frames=5)
    assert counts(graph, tmp_path, source) == expected


def test_frames_in_one_run(made, tmp_path):
    model = made(Counting(), "counting")
    graph = classify(model, tune=0, size=8, scores="plain", on="frame", batch_size=3)
    found, _ = records(graph, tmp_path, plain(frames=7))
    assert [said(record) for record in found] == [["3"]] * 6 + [["1"]]


def test_model_of_one_picture(made, found, tmp_path, names):
    model = made(Alone(), "alone")
    graph = f"{found},{classify(model, labels=names, tune=0, size=16, batch_size=2)}"
    found_, result = records(graph, tmp_path, quadrants(COLOURS, frames=3), loglevel="verbose")
    for record in found_:
        assert [said(thing) for thing in record["things"]] == [
            ["red"], ["green"], ["blue"], ["red"]
        ]
    assert "one picture in each run" in result.stderr, result


@pytest.mark.parametrize("options", [{"async": 0}, {"workers": 2, "nireq": 6}], ids=str)
def test_order(colour, tmp_path, names, options):
    """Each frame has the class of its own picture."""
    source = (
        "color=red:size=32x32:rate=25:duration=0.2,format=gbrp[a];"
        "color=lime:size=32x32:rate=25:duration=0.2,format=gbrp[b];[a][b]interleave"
    )
    graph = classify(colour, labels=names, tune=0, size=16, **options)
    found, _ = records(graph, tmp_path, source)
    assert [said(record)[0] for record in found] == ["red", "green"] * 5


def test_every_nth(colour, found, tmp_path, names):
    graph = f"{found},{classify(colour, labels=names, tune=0, size=16, every=3)}"
    found_, _ = records(graph, tmp_path, quadrants(COLOURS, frames=5))
    for record in found_:
        assert [said(thing) for thing in record["things"]] == [
            ["red"], ["green"], ["blue"], ["red"]
        ]


def test_every_nth_of_frames_with_boxes_and_without(colour, found, tmp_path, names):
    """What was said of a frame as a whole is not said of one with boxes."""
    graph = (
        f"{found}:enable='mod(n,2)',{classify(colour, labels=names, tune=0, size=16, every=2)}"
    )
    found_, _ = records(graph, tmp_path, quadrants(["red"] * 4, frames=6))
    for number, record in enumerate(found_):
        assert len(said(record)) == (number + 1) % 2
        assert [said(thing) for thing in record["things"]] == [["red"]] * 4 * (number % 2)


def test_timeline(colour, found, names):
    graph = f"{found},{classify(colour, labels=names, tune=0, size=16)}:enable='gte(n,2)',showinfo"
    result = support.succeed(
        "-f", "lavfi", "-i", quadrants(COLOURS, frames=5), "-vf", graph, "-f", "null", "-"
    )
    assert len(re.findall(r"classify: +label: green", result.stderr)) == 3, result


# ---- frames pass --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pixel_format",
    ["yuv420p", "yuv422p10le", "nv12", "rgb24", "bgra", "gbrpf32le", "gray", "ya8", "yuva444p"],
)
def test_frames_pass_bit_for_bit(colour, pixel_format):
    frames = pictures.raw(pictures.make_frames(pixel_format, 50, 38, 3), pixel_format)
    result = support.succeed(
        *pictures.raw_input(pixel_format, 50, 38),
        *("-noauto_conversion_filters", "-vf", classify(colour, tune=0, size=16)),
        *("-f", "rawvideo", "-"),
        stdin=frames,
    )
    assert result.stdout == frames


@pytest.mark.parametrize("reinit", [0, 1])
def test_size_changes(need, colour, names, reinit):
    """In one graph, or with a new graph for each size: ffmpeg drops what the old one still has."""
    need(filters=["metadata"])
    frames = b""
    for width, height, green in [(64, 48, 255), (100, 40, 128), (7, 5, 90)]:
        for _ in range(2):
            frames += b"P6\n%d %d\n255\n" % (width, height) + bytes([0, green, 0]) * width * height
    options = {"async": 0} if reinit else {}
    graph = f"{classify(colour, labels=names, tune=0, size=16, **options)},metadata=print"
    result = support.succeed(
        *("-reinit_filter", reinit, "-f", "image2pipe", "-c:v", "ppm", "-i", "-"),
        *("-noautoscale", "-vf", graph, "-f", "null", "-"),
        stdin=frames,
    )
    assert result.stderr.count("class.0.label=green") == 6, result


@pytest.mark.parametrize("size", [(1, 1), (3, 5), (1, 7), (4096, 1)], ids=str)
@pytest.mark.parametrize("pixel_format", ["rgb24", "yuv420p"])
def test_tiny_frames_and_boxes(colour, found, tmp_path, names, size, pixel_format):
    source = f"{plain('lime', f'{size[0]}x{size[1]}')},format=rgb24,format={pixel_format}"
    for fit in ("auto", "letterbox", "crop", "stretch"):
        graph = classify(colour, labels=names, tune=0, size=16, fit=fit)
        (record,), _ = records(graph, tmp_path, source)
        assert said(record) == ["green"]
        (record,), _ = records(f"{found},{graph}", tmp_path, source)
        assert all(said(thing) == ["green"] for thing in record["things"]), record


# ---- the nets of torchvision ----------------------------------------------------------------


# Those of all layers differ from it in their number alone, and take a minute.
SMALL_VIT = {"image_size": 224, "patch_size": 16, "num_layers": 2, "num_heads": 3,
             "hidden_dim": 192, "mlp_dim": 768}


@pytest.mark.parametrize("way", ["script", "trace"])
@pytest.mark.parametrize("net, options", [("resnet18", {}), ("mobilenet_v3_small", {}),
                                          ("VisionTransformer", SMALL_VIT)],
                         ids=["resnet18", "mobilenet_v3_small", "vit"])
def test_torchvision_as_exported(tmp_path, net, options, way):
    """Held to PyTorch's own results, with the numbers of ImageNet."""
    torchvision = pytest.importorskip("torchvision")
    torch.manual_seed(5)
    model = getattr(torchvision.models, net)(**options).eval()
    with torch.no_grad():
        for last in (module for module in model.modules() if isinstance(module, torch.nn.Linear)):
            last_layer = last
        last_layer.weight.normal_(0, 0.3)  # so that classes differ
        example = torch.rand(1, 3, 224, 224)
        saved = torch.jit.script(model) if way == "script" else torch.jit.trace(model, example)
    path = tmp_path / f"{net}.pt"
    torch.jit.save(saved, str(path))
    frames = pictures.make_frames("rgb24", 224, 224, 3)
    raw = pictures.raw(frames, "rgb24")
    inputs = numpy.frombuffer(raw, numpy.uint8).reshape(3, 224, 224, 3).astype(numpy.float32) / 255
    mean, std = numpy.array([0.485, 0.456, 0.406]), numpy.array([0.229, 0.224, 0.225])
    inputs = torch.from_numpy(((inputs - mean) / std).astype(numpy.float32)).permute(0, 3, 1, 2)
    with torch.no_grad():
        expected = torch.softmax(model(inputs), 1)
    found = tmp_path / "found.jsonl"
    graph = classify(path, tune=0, top=4, on="frame", batch_size=2, mean="0.485|0.456|0.406",
                     std="0.229|0.224|0.225", destination=found)
    support.succeed(
        *pictures.raw_input("rgb24", 224, 224), "-vf", graph, "-f", "null", "-", stdin=raw
    )
    lines = [json.loads(line) for line in found.read_text().splitlines()]
    assert len(lines) == 3
    for line, row in zip(lines, expected):
        assert len(line["classes"]) == 4
        best = torch.topk(row, 4)
        for got, confidence in zip(line["classes"], best.values):
            assert abs(got["confidence"] - float(confidence)) < 1e-3, (line, best)
            assert abs(float(row[int(got["label"])]) - got["confidence"]) < 1e-3, (line, best)


# ---- what is refused ----------------------------------------------------------------------


@pytest.mark.parametrize("contract", [None, {"task": "classify", "labels": NAMES}])
def test_inspect(tmp_path, contract):
    path = save(Fixed([0.1, 0.2, 0.7]), tmp_path / "fixed.pt", contract)
    result = support.execute([support.LAUNCHER, "inspect", path, "--json"])
    assert result.returncode == 0, result
    facts = json.loads(result.stdout)
    assert facts["accepted"] and facts["detector"] is None and facts["error"] is None
    assert facts["classifier"]["classes"] == 3
    assert facts["classifier"]["labels"] == (NAMES if contract else [])
    assert f"dnn_torch_classify=model={path}" in facts["command"]
    text = support.execute([support.LAUNCHER, "inspect", path]).stdout.decode()
    assert re.search(r"^has +3 classes$", text, re.MULTILINE), text


def refusal(graph):
    return support.ffmpeg("-f", "lavfi", "-i", plain(), "-vf", graph, "-f", "null", "-")


@pytest.mark.parametrize(
    "options, phrases",
    [
        ({"labels": "/nonexistent/names.txt"}, ["labels", "names.txt"]),
        ({"size": "0x0"}, ["size", "640x640"]),
        ({"size": "large"}, ["size", "large"]),
        ({"size": "frame"}, ["size", "frame"]),
        ({"on": "frame", "target": "cat"}, ["target", "on=frame"]),
        ({"format": "csv"}, ["format", "destination"]),
    ],
    ids=str,
)
def test_bad_options(colour, options, phrases):
    support.assert_fails_clearly(refusal(classify(colour, tune=0, **options)), *phrases)


@pytest.mark.parametrize("options", [{"top": 5}, {"top": 0}, {"confidence": 2}, {"crops": 0},
                                     {"scores": "sure"}, {"track": 1}, {"strength": 1}], ids=str)
def test_options_out_of_range(colour, options):
    result = refusal(classify(colour, tune=0, **options))
    assert result.returncode > 0 and next(iter(options)) in result.stderr, result


def test_no_model():
    support.assert_fails_clearly(refusal("dnn_torch_classify"), "dnn_torch_classify=model=FILE")


def test_picture_models_are_for_dnn_torch(model):
    support.assert_fails_clearly(
        refusal(classify(model("invert"), tune=0)), "pictures", "use dnn_torch for"
    )


def test_detectors_are_for_dnn_torch_detect(made):
    grid = [[8.0 * i, 8.0, 8.0 * i + 4, 20.0, 0.9, 0.0] for i in range(4)]
    path = made(Same(grid), "detector")
    support.assert_fails_clearly(refusal(classify(path, tune=0)), "dnn_torch_detect")


@pytest.mark.parametrize(
    "task, other", [("detect", "dnn_torch_detect"), ("picture", "dnn_torch "), ("pose", "detect")]
)
def test_contracts_of_other_tasks(made, task, other):
    path = made(Colour(), f"task_{task}", {"task": task})
    support.assert_fails_clearly(refusal(classify(path, tune=0)), f"task {task}", other)


def test_classifiers_are_for_dnn_torch_classify(made, colour):
    path = made(Colour(), "task_classify", {"task": "classify"})
    support.assert_fails_clearly(refusal(support.dnn(path, tune=0)), "dnn_torch_classify")
    support.assert_fails_clearly(refusal(detect(colour, tune=0)), "dnn_torch_classify")


def test_size_that_the_model_refuses(made):
    model = made(Sized(40, 24), "refuses")
    support.assert_fails_clearly(refusal(classify(model, size="100x100", tune=0)), "100x100")
    support.assert_fails_clearly(refusal(classify(model, tune=0)), "size=WxH")


def test_options_of_dnn_classify(colour, found, tmp_path, names):
    """A command line of dnn_classify changes its filter's name alone."""
    path = tmp_path / "found.jsonl"
    graph = (
        f"{found},dnn_torch_classify=dnn_backend=torch:model={support.escape_graph(colour)}:"
        f"confidence=0.5:labels={support.escape_graph(names)}:target=cat:nireq=2:async=1:"
        f"backend_configs=threads=1:size=16:destination={support.escape_graph(path)}"
    )
    support.succeed("-f", "lavfi", "-i", quadrants(COLOURS), "-vf", graph, "-f", "null", "-")
    (record,) = [json.loads(line) for line in path.read_text().splitlines()]
    assert [said(thing) for thing in record["things"]] == [["red"], [], ["blue"], []]
