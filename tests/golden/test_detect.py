# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""dnn_torch_detect: where things are, that frames pass untouched, and what is refused."""
import json
import re

import pictures
import pytest
import support
import torch
from detectors import Bright, Lists, Same, Sized, boxes, bright_clip, detect, records, records_of, save
from torch import Tensor, nn

SIZES = [
    *((1280, 720), (720, 1280), (640, 640), (641, 359), (100, 1000)),
    *((97, 53), (1000, 60), (320, 240), (66, 64), (1366, 768)),
]

INF = float("inf")
NAN = float("nan")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("detectors")

    def model(module, name, contract=None):
        path = folder / f"{name}.pt"
        return path if path.exists() else save(module, path, contract)

    return model


@pytest.fixture
def bright(made):
    return made(Bright(), "bright")


def bright_box(size):
    """A rectangle that a crop to a square holds as well."""
    width, height = size
    least = min(size)
    return (
        *(width // 2 - least * 3 // 10, height // 2 - least // 5),
        *(least * 2 // 5, least * 3 // 10),
    )


def assert_near(found, expected, within=0.5):
    assert len(found) == 4
    for got, wanted in zip(found, expected):
        assert abs(got - wanted) <= within, f"{found} is not {expected}"


def corners(box):
    left, top, width, height = box
    return left, top, left + width, top + height


# ---- where things are ---------------------------------------------------------------------


@pytest.mark.parametrize("way", ["letterbox", "stretch", "crop", "any"])
def test_boxes_come_back(bright, tmp_path, way):
    """Exact to half a pixel of the frame, at every size and aspect."""
    options = {"size": "frame"} if way == "any" else {"size": "320x256", "fit": way}
    graph = detect(bright, decoder="boxes", border=0, tune=0, workers=1, **options)
    chains = [(bright_clip(size, bright_box(size)), graph) for size in SIZES]
    found, _ = records_of(chains, tmp_path)
    for size, (record,) in zip(SIZES, found):
        assert_near(boxes(record)[0], corners(bright_box(size)))
        assert (record["width"], record["height"]) == size


def test_boxes_of_every_kind_of_format(bright, tmp_path):
    formats = ["yuv420p", "nv12", "yuv444p10le", "gray", "gbrpf32le", "bgra", "yuva422p"]
    size = (322, 182)
    graph = detect(bright, decoder="boxes", border=0, tune=0, size="320x256", workers=1)
    chains = [(bright_clip(size, bright_box(size), name), graph) for name in formats]
    found, _ = records_of(chains, tmp_path, "-noauto_conversion_filters")
    for name, (record,) in zip(formats, found):
        assert record["things"], name
        assert_near(boxes(record)[0], corners(bright_box(size)), 0.75)


def test_lists_of_pictures_have_the_frames_size(made, tmp_path):
    model = made(Lists(), "lists")
    box = (31, 17, 40, 22)
    (record,), result = records(
        detect(model, tune=0), tmp_path, bright_clip((160, 90), box), loglevel="verbose"
    )
    assert_near(boxes(record)[0], corners(box))
    assert "any size" in result.stderr, result


def test_model_of_one_size_is_found(made, tmp_path):
    """320 is one of those that are tried."""
    model = made(Sized(320, 320), "sized320")
    box = bright_box((200, 100))
    graph = detect(model, decoder="boxes", border=0, tune=0)
    (record,), _ = records(graph, tmp_path, bright_clip((200, 100), box))
    assert_near(boxes(record)[0], corners(box))


def test_contract_says_size_and_labels(made, tmp_path):
    contract = {
        "task": "detect",
        "input": {"size": [272, 144]},
        "labels": ["red", "green", "blue"],
    }
    model = made(Sized(272, 144), "sized272", contract)
    box = bright_box((200, 100))
    source = bright_clip((200, 100), box, colour="lime")
    (record,), _ = records(
        detect(model, decoder="boxes", border=0, tune=0), tmp_path, source
    )
    assert record["things"][0]["label"] == "green"
    assert_near(boxes(record)[0], corners(box))


# ---- frames pass ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pixel_format",
    [
        *("yuv420p", "yuv422p10le", "nv12", "p010le", "rgb24", "bgra", "gbrp12le", "gbrpf32le"),
        *("gray", "gray16le", "ya8", "yuva444p", "yuv410p"),
    ],
)
def test_frames_pass_bit_for_bit(bright, pixel_format):
    frames = pictures.raw(pictures.make_frames(pixel_format, 50, 38, 3), pixel_format)
    result = support.succeed(
        *pictures.raw_input(pixel_format, 50, 38),
        *("-noauto_conversion_filters", "-vf", detect(bright, decoder="boxes", tune=0)),
        *("-f", "rawvideo", "-"),
        stdin=frames,
    )
    assert result.stdout == frames


@pytest.mark.parametrize("options", [{"async": 0}, {"workers": 2, "nireq": 6}, {"batch_size": 4}],
                         ids=str)
def test_order_and_batches(bright, tmp_path, options):
    """Each frame has the box of its own picture, in whatever batch it was."""
    moving = (
        "color=black:size=128x64:rate=25:duration=0.4,format=gbrp,split[a][b];"
        "[b]crop=16:12:0:0,negate[c];[a][c]overlay=x='t*200':y=20:format=gbrp"
    )
    graph = detect(bright, decoder="boxes", size="frame", tune=0, **options)
    found, _ = records(graph, tmp_path, moving)
    assert [record["frame"] for record in found] == list(range(10))
    for number, record in enumerate(found):
        assert_near(boxes(record)[0], corners((number * 8, 20, 16, 12)))


def test_timeline_and_every(bright, tmp_path):
    source = bright_clip((64, 48), (8, 8, 16, 16), frames=8)
    graph = detect(bright, decoder="boxes", size="frame", tune=0)
    result = support.succeed(
        *("-f", "lavfi", "-i", source, "-vf", f"{graph}:enable='gte(n,4)',showinfo@out"),
        *("-f", "null", "-"),
    )
    assert result.stderr.count("index: 0,") == 4, result
    found, _ = records(f"{graph}:every=3", tmp_path, source)
    assert [len(record["things"]) for record in found] == [1] * 8


def test_size_changes(bright, tmp_path):
    """Frames of another size in mid-stream: boxes are in the pixels of each."""
    sizes = [(64, 48), (100, 40)]
    frames = b""
    for width, height in sizes:
        for _ in range(2):
            image = bytearray(width * height)
            for y in range(10, 20):
                image[y * width + 12 : y * width + 32] = b"\xff" * 20
            frames += b"P5\n%d %d\n255\n" % (width, height) + bytes(image)
    path = tmp_path / "found.jsonl"
    graph = detect(bright, decoder="boxes", size="128x128", border=0, tune=0, destination=path)
    support.succeed(
        *("-f", "image2pipe", "-c:v", "pgm", "-reinit_filter", "0", "-i", "-"),
        *("-noautoscale", "-fps_mode", "passthrough", "-vf", graph, "-f", "null", "-"),
        stdin=frames,
    )
    found = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(found) == 4
    for record in found:
        assert_near(boxes(record)[0], (12, 10, 32, 20))


# ---- what comes of strange results ----------------------------------------------------------


def test_nothing_found_is_an_empty_header(need, bright):
    """drawbox warns of each frame without a header, and of none with an empty one."""
    need(filters=["drawbox"])
    graph = detect(bright, decoder="boxes", size="frame", tune=0)
    result = support.succeed(
        *("-f", "lavfi", "-i", "color=black:size=64x48:rate=5:duration=1"),
        *("-vf", f"{graph},drawbox=box_source=side_data_detection_bboxes", "-f", "null", "-"),
    )
    assert not re.search(r"drawbox.*\[(warning|error)\]", result.stderr), result


def test_ten_thousand_boxes(made, tmp_path):
    """All of them with max_boxes and iou that say so; 300 otherwise."""
    grid = [
        [x * 4.0, y * 4.0, x * 4 + 3.0, y * 4 + 3.0, 0.5 + (x + y) / 1000, 0.0]
        for x in range(100)
        for y in range(100)
    ]
    model = made(Same(grid), "grid")
    graph = detect(model, decoder="boxes", size="400x400", tune=0)
    source = "color=black:size=400x400:rate=1:duration=1"
    (record,), _ = records(graph, tmp_path, source)
    assert len(record["things"]) == 300
    assert min(thing["confidence"] for thing in record["things"]) > 0.66
    (record,), _ = records(f"{graph}:max_boxes=100000", tmp_path, source)
    assert len(record["things"]) == 10000


def test_what_is_no_box_is_left_out(made, tmp_path):
    rows = [
        [10, 10, 20, 20, NAN, 0],
        [NAN, 10, 20, 20, 0.9, 0],
        [10, 10, INF, 20, 0.9, 0],
        [20, 10, 10, 20, 0.9, 0],
        [-50, -50, -10, -10, 0.9, 0],  # outside
        [63.8, 10, 90, 20, 0.9, 0],  # too thin within the frame
        [-5, 40, 6, 90, 0.8, 1],  # cut off at the edges
        [10, 10, 20, 20, 0.9, NAN],
        [10, 10, 20, 20, 0.1, 0],  # not sure enough
        [30, 10, 40, 20, 0.7, 2],
    ]
    model = made(Same(rows), "strange")
    source = "color=black:size=64x48:rate=1:duration=1"
    (record,), _ = records(
        detect(model, decoder="boxes", size="frame", tune=0), tmp_path, source
    )
    assert boxes(record) == [[0, 40, 6, 48], [30, 10, 40, 20]]


def test_tiny_frames(bright, tmp_path):
    sizes = [(1, 1), (3, 5), (1, 7), (2000, 1)]
    ways = [(size, name, fit) for size in sizes for name in ("rgb24", "yuv420p")
            for fit in ("letterbox", "stretch", "crop")]
    graph = detect(bright, decoder="boxes", size="64x64", border=0, tune=0, workers=1)
    chains = [
        (f"color=white:size={width}x{height}:rate=1:duration=1,format=gbrp,format={name}", f"{graph}:fit={fit}")
        for (width, height), name, fit in ways
    ]
    found, _ = records_of(chains, tmp_path)
    for (size, _, fit), (record,) in zip(ways, found):
        assert (record["width"], record["height"]) == size
        if fit != "crop":
            assert_near(boxes(record)[0], (0, 0, *size), 0.5 + size[0] / 64)


def test_overlaps(made, tmp_path):
    rows = [
        [10, 10, 30, 30, 0.9, 0],
        [11, 10, 31, 30, 0.8, 0],
        [10, 11, 30, 31, 0.7, 1],
        [40, 10, 50, 20, 0.6, 1],
    ]
    model = made(Same(rows), "overlapping")
    graph = detect(model, decoder="boxes", size="frame", tune=0)
    source = "color=black:size=64x48:rate=1:duration=1"

    expected = {
        "iou=0.45": [0.9, 0.7, 0.6],
        "agnostic=1": [0.9, 0.6],
        "iou=1": [0.9, 0.8, 0.7, 0.6],
        "confidence=0.75": [0.9],
        "max_boxes=2": [0.9, 0.7],
        "classes=1": [0.7, 0.6],
        "classes=0|1": [0.9, 0.7, 0.6],
    }
    found, _ = records_of([(source, f"{graph}:{each}") for each in expected], tmp_path)
    for (record,), (options, kept) in zip(found, expected.items()):
        scores = [round(thing["confidence"], 2) for thing in record["things"]]
        assert scores == kept, options


# ---- names ----------------------------------------------------------------------------------


class Scores(nn.Module):
    """As YOLOv8: [N,4+3,A], with one box of the class 2."""

    def __init__(self):
        super().__init__()
        rows = torch.zeros(1, 7, 40)
        rows[:, :4] = 16.0
        rows[:, 6, 0] = 0.9
        self.register_buffer("rows", rows)

    def forward(self, x: Tensor) -> Tensor:
        return self.rows.repeat(x.size(0), 1, 1) + x.mean() * 0.0


def coloured(tmp_path, graph, **options):
    source = bright_clip((64, 48), (8, 8, 16, 16), colour="blue")
    (record,), result = records(graph, tmp_path, source, **options)
    return [thing["label"] for thing in record["things"]], result


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_labels_file(bright, tmp_path, ending):
    names = tmp_path / "names, of: things.txt"
    names.write_bytes(ending.join(["rouge", "vert", "bleu é", ""]).encode())
    graph = detect(bright, decoder="boxes", size="frame", tune=0, labels=names)
    assert coloured(tmp_path, graph)[0] == ["bleu é"]
    assert coloured(tmp_path, graph + ":classes=bleu é")[0] == ["bleu é"]
    assert coloured(tmp_path, graph + ":classes=rouge|vert")[0] == []


def test_numbers_without_labels(bright, tmp_path):
    graph = detect(bright, decoder="boxes", size="frame", tune=0)
    assert coloured(tmp_path, graph)[0] == ["2"]


def test_fewer_labels_than_classes(made, tmp_path):
    """One warning, and numbers for the others."""
    names = tmp_path / "names.txt"
    names.write_text("one\n")
    model = made(Scores(), "scores")
    graph = detect(model, decoder="yolov8", size="frame", tune=0, labels=names)
    labels, result = coloured(tmp_path, graph)
    assert labels == ["2"]
    # ffmpeg builds the graph twice.
    (warning,) = set(result.warnings)
    assert "3 classes" in warning and "for 1" in warning, result


class Three(nn.Module):
    """As YOLOv8: a box of each of three classes."""

    def forward(self, x: Tensor) -> Tensor:
        rows = torch.zeros(x.size(0), 7, 84) + x.mean() * 0.0
        for number in range(3):
            rows[:, 0, number], rows[:, 1, number] = 8.0 + 20.0 * number, 20.0
            rows[:, 2, number], rows[:, 3, number] = 10.0, 12.0
            rows[:, 4 + number, number] = 0.9 - 0.1 * number
        return rows


@pytest.mark.parametrize("count,turned", [(2, True), (3, False)])
def test_labels_tell_turned_boxes_from_one_class_more(made, tmp_path, count, turned):
    """Three values behind a box are three classes, or two and an angle; and a line says which."""
    labels = ["one", "two", "three"][:count]
    names = tmp_path / "names.txt"
    names.write_text("".join(f"{label}\n" for label in labels))
    graph = detect(made(Three(), "three"), size=64, tune=0, labels=names)
    (record,), result = records(graph, tmp_path, bright_clip((64, 64), (8, 8, 16, 16)))
    assert [thing["label"] for thing in record["things"]] == labels
    assert all(("turned" in thing) == turned for thing in record["things"])
    assert ("turned boxes" in result.stderr) == turned, result


def test_a_label_too_few_is_told(made, tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("one\n")
    graph = detect(made(Three(), "three"), size=64, tune=0, labels=names)
    (record,), result = records(graph, tmp_path, bright_clip((64, 64), (8, 8, 16, 16)))
    assert [thing["label"] for thing in record["things"]] == ["one", "1", "2"]
    assert "3 classes" in result.warnings[0], result


@pytest.mark.parametrize("decoder", ["yolov8", None])
def test_another_number_of_classes_is_refused(made, decoder):
    """nb_classes contradicts the tensors: every label would be another one's."""
    options = {"decoder": decoder} if decoder else {}
    graph = detect(made(Three(), "three"), size=64, tune=0, nb_classes=99, **options)
    result = support.ffmpeg("-f", "lavfi", "-i", bright_clip((64, 64), (8, 8, 16, 16)), "-vf",
                            graph, "-f", "null", "-")  # fmt: skip
    support.assert_fails_clearly(result, "nb_classes=99", "3 classes", "nb_classes=3")


def test_the_number_of_classes(made, bright, tmp_path):
    """The right one, and one where the tensors do not say."""
    clip = bright_clip((64, 64), (8, 8, 16, 16))
    graph = detect(made(Three(), "three"), size=64, tune=0, nb_classes=3)
    (record,), result = records(graph, tmp_path, clip)
    assert len(record["things"]) == 3 and not result.warnings, result
    graph = detect(bright, decoder="boxes", size="frame", tune=0, nb_classes=99)
    assert len(records(graph, tmp_path, clip)[0][0]["things"]) == 1


def test_labels_of_the_file_have_no_control_characters(made, tmp_path):
    contract = {"task": "detect", "labels": ["a\nb", "\x1b]0;c\x07", "d\x9b"]}
    graph = detect(made(Three(), "labelled", contract), size=64, tune=0)
    (record,), result = records(graph + ":metadata=1", tmp_path,
                                bright_clip((64, 64), (8, 8, 16, 16)))
    for thing in record["things"]:
        assert not re.search("[\x00-\x1f\x7f-\x9f]", thing["label"]), record


# ---- commands -------------------------------------------------------------------------------


def test_commands(need, made, tmp_path):
    """Each frame has what was set when it came in."""
    need(filters=["sendcmd"])
    rows = [[10, 10, 30, 30, 0.9, 0], [11, 10, 31, 30, 0.6, 0], [40, 10, 50, 20, 0.4, 1]]
    model = made(Same(rows), "commanded")
    path = tmp_path / "found.jsonl"
    graph = detect(model, decoder="boxes", size="frame", tune=0, destination=path)
    commands = "; ".join(
        [
            "0.08 dnn_torch_detect@d confidence 0.5",
            "0.16 dnn_torch_detect@d iou 1",
            "0.24 dnn_torch_detect@d max_boxes 1",
            "0.32 dnn_torch_detect@d classes 1, dnn_torch_detect@d confidence 0.1",
        ]
    )
    graph = graph.replace("dnn_torch_detect=", "dnn_torch_detect@d=")
    support.succeed(
        *("-f", "lavfi", "-i", "color=black:size=64x48:rate=25:duration=0.4"),
        *("-vf", f"sendcmd=c='{commands}',{graph}", "-f", "null", "-"),
    )
    counts = [
        [round(thing["confidence"], 1) for thing in json.loads(line)["things"]]
        for line in path.read_text().splitlines()
    ]
    assert counts == [[0.9, 0.4]] * 2 + [[0.9]] * 2 + [[0.9, 0.6]] * 2 + [[0.9]] * 2 + [[0.4]] * 2


@pytest.mark.parametrize(
    "command, phrase",
    [("classes nothing", "no 'nothing'"), ("confidence 7", None), ("max_boxes 0", None)],
)
def test_bad_commands_change_nothing(need, made, tmp_path, command, phrase):
    need(filters=["sendcmd"])
    rows = [[10, 10, 30, 30, 0.9, 0]]
    path = tmp_path / "found.jsonl"
    graph = detect(made(Same(rows), "one"), decoder="boxes", size="frame", tune=0,
                   destination=path)
    result = support.succeed(
        *("-f", "lavfi", "-i", "color=black:size=64x48:rate=25:duration=0.2"),
        *("-vf", f"sendcmd=c='0.08 dnn_torch_detect {command}',{graph}", "-f", "null", "-"),
    )
    assert path.read_text().count('"label"') == 5
    if phrase:
        assert phrase in result.stderr, result


# ---- what is refused ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, phrases",
    [
        ({"decoder": "nothing"}, ["decoder", "nothing", "boxes"]),
        ({"classes": "person"}, ["classes", "person", "labels=FILE"]),
        ({"labels": "/nonexistent/names.txt"}, ["labels", "names.txt"]),
        ({"size": "0x0"}, ["size", "640x640"]),
        ({"size": "large"}, ["size", "large"]),
        ({"size": "frame", "fit": "crop"}, ["size=frame", "fit"]),
        ({"anchors": "1&2&3"}, ["anchors", "height"]),
        ({"anchors": "1&x"}, ["anchors", "x"]),
    ],
    ids=str,
)
def test_bad_options(bright, options, phrases):
    options = {"decoder": "boxes", **options}
    result = support.ffmpeg(
        *("-f", "lavfi", "-i", "color=black:size=64x48:rate=1:duration=1"),
        *("-vf", detect(bright, tune=0, **options), "-f", "null", "-"),
    )
    support.assert_fails_clearly(result, *phrases)


def test_empty_labels(bright, tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("")
    result = support.ffmpeg(
        *("-f", "lavfi", "-i", "color=black:size=64x48:rate=1:duration=1"),
        *("-vf", detect(bright, decoder="boxes", labels=names), "-f", "null", "-"),
    )
    support.assert_fails_clearly(result, "labels", "names.txt")


def test_a_long_label_is_drawn_as_the_readme_says(bright, tmp_path):
    """FFmpeg's text shaping makes the room for labels a byte small."""
    if "drawtext" not in support.offered("filters"):
        pytest.skip("this ffmpeg has no drawtext")
    drawn = re.findall(r"drawtext=text_source[^`\"]*", (support.REPOSITORY / "README.md").read_text())
    assert len(drawn) == 2
    names = tmp_path / "names.txt"
    names.write_text("z" * 100000)
    for drawtext in drawn:
        graph = detect(bright, decoder="boxes", size="frame", tune=0, labels=names)
        result = support.ffmpeg(
            *("-f", "lavfi", "-i", "color=white:size=64x48:rate=5:duration=1"),
            *("-vf", f"{graph},{drawtext}", "-f", "null", "-"),
        )
        assert result.returncode == 0, str(result)


@pytest.mark.parametrize("option", ["destination", "stats"])
@pytest.mark.parametrize("way", ["itself", "link"])
def test_the_input_is_not_overwritten(bright, tmp_path, option, way):
    film, other = tmp_path / "film.y4m", tmp_path / "other.y4m"
    made = support.ffmpeg(
        *("-f", "lavfi", "-i", "color=white:size=64x48:rate=5:duration=1"),
        *("-pix_fmt", "yuv420p", film),
    )
    assert made.returncode == 0, str(made)
    other.symlink_to(film)
    before = film.read_bytes()
    path = film if way == "itself" else other
    graph = detect(bright, decoder="boxes", size="frame", tune=0, **{option: path})
    result = support.ffmpeg("-i", film, "-vf", graph, "-f", "null", "-")
    support.assert_fails_clearly(result, f"{option}=.* the program uses this very file; name another")
    assert film.read_bytes() == before


@pytest.mark.parametrize("option", ["destination", "stats"])
@pytest.mark.parametrize("read", ["model", "contract", "labels"])
def test_what_is_read_is_not_overwritten(bright, tmp_path, option, read):
    model = tmp_path / "net.pt"
    model.write_bytes(bright.read_bytes())
    files = {"model": model, "contract": tmp_path / "net.pt.json", "labels": tmp_path / "names"}
    files["contract"].write_text("{}")
    files["labels"].write_text("bright\n")
    before = {name: path.read_bytes() for name, path in files.items()}
    graph = detect(model, decoder="boxes", size="frame", tune=0, isolate=0,
                   labels=files["labels"], **{option: files[read]})
    support.assert_fails_clearly(refusal(graph), f"{option}=.* names the {read}|model's {read}",
                                 "name another file")
    assert {name: path.read_bytes() for name, path in files.items()} == before


def test_one_file_has_one_writer(bright, tmp_path):
    path = tmp_path / "lines"
    graph = detect(bright, decoder="boxes", size="frame", tune=0, stats=path, destination=path)
    support.assert_fails_clearly(refusal(graph), "destination=.* is stats as well; name another file")
    assert not path.exists()
    for one, other in (("stats", "stats"), ("destination", "destination"), ("stats", "destination")):
        options = {"decoder": "boxes", "size": "frame", "tune": 0}
        graph = ",".join(detect(bright, **options, **{each: path}) for each in (one, other))
        support.assert_fails_clearly(
            refusal(graph), f"{other}=.* is written by another filter; name another one")
    # What many write to loses nothing.
    graph = detect(bright, decoder="boxes", size="frame", tune=0, stats="/dev/null",
                   destination="/dev/null")
    result = refusal(f"{graph},{graph}")
    assert result.returncode == 0, str(result)


def test_what_another_filter_reads_is_not_overwritten(bright, tmp_path):
    model, labels = tmp_path / "net.pt", tmp_path / "names"
    model.write_bytes(bright.read_bytes())
    labels.write_text("bright\n")
    before = model.read_bytes()
    options = {"decoder": "boxes", "size": "frame", "tune": 0}
    reads = detect(model, **options, labels=labels)
    for name, what in ((model, "the model"), (labels, "the labels")):
        writes = detect(bright, **options, stats=name)
        for graph in (f"{reads},{writes}", f"{writes},{reads}"):
            support.assert_fails_clearly(
                refusal(graph), f"stats=.* names {what} of another filter, which it would overwrite")
    assert model.read_bytes() == before and labels.read_text() == "bright\n"


def test_the_output_is_not_shared(bright, tmp_path):
    film = tmp_path / "film.y4m"
    graph = detect(bright, decoder="boxes", size="frame", tune=0, destination=film)
    result = support.ffmpeg("-f", "lavfi", "-i", "color=white:size=64x48:rate=5:duration=1",
                            *("-vf", graph, "-pix_fmt", "yuv420p", film))
    support.assert_fails_clearly(result, "destination=.* the program uses this very file")


def refusal(graph):
    return support.ffmpeg(
        *("-f", "lavfi", "-i", "color=black:size=64x48:rate=1:duration=1"),
        *("-vf", graph, "-f", "null", "-"),
    )


def test_picture_models_are_for_dnn_torch(model):
    line = support.assert_fails_clearly(refusal(detect(model("invert"), tune=0)), "dnn_torch ")
    assert "pictures" in line


def test_contracts_of_other_tasks(made):
    for task, other in {"classify": "dnn_torch_classify", "picture": "dnn_torch "}.items():
        path = made(Bright(), f"task_{task}", {"task": task})
        support.assert_fails_clearly(refusal(detect(path, tune=0)), f"task {task}", other)


def test_detectors_are_for_dnn_torch_detect(made, bright):
    path = made(Bright(), "task_detect", {"task": "detect"})
    support.assert_fails_clearly(refusal(support.dnn(path, tune=0)), "dnn_torch_detect")
    support.assert_fails_clearly(refusal(support.dnn(bright, tune=0)), "dnn_torch_detect")


def test_size_that_the_model_refuses(made):
    model = made(Sized(320, 320), "sized320")
    result = refusal(detect(model, decoder="boxes", size="100x100", tune=0))
    support.assert_fails_clearly(result, "100x100")


def test_a_decoder_that_does_not_fit(made):
    """What was asked for is what the error is about."""
    model = made(Three(), "three")
    result = support.ffmpeg(*("-f", "lavfi", "-i", "color=black:size=64x48:rate=1:duration=1"),
                            *("-vf", detect(model, decoder="yolov3", size=64), "-f", "null", "-"))
    support.assert_fails_clearly(result, "decoder=yolov3")


# ---- who reads it ---------------------------------------------------------------------------


def test_showinfo_reads_it(need, bright):
    need(filters=["showinfo"])
    graph = detect(bright, decoder="boxes", size="frame", tune=0)
    source = bright_clip((64, 48), (8, 10, 16, 20))
    result = support.succeed(
        *("-f", "lavfi", "-i", source, "-vf", f"{graph},showinfo", "-f", "null", "-")
    )
    assert re.search(r"dnn_torch_detect: bright.pt", result.stderr), result
    assert re.search(r"region: \(8, 10\) -> \(24, 30\), label: 0, confidence", result.stderr), result


def test_ffprobe_reads_it(program, bright):
    program(support.sibling("ffprobe"))
    source = bright_clip((64, 48), (8, 8, 16, 16), frames=2)
    options = {"decoder": "boxes", "size": "frame", "tune": 0, "metadata": 1}
    graph = f"{source},{detect(bright, **options)}"
    result = support.execute(
        support.launched(
            *(support.sibling("ffprobe"), "-v", "error", "-f", "lavfi", "-i", graph),
            *("-show_frames", "-of", "compact"),
        )
    )
    assert result.returncode == 0, result
    # Its source of graphs hands on metadata, and side data in newer releases alone.
    assert result.stdout.count(b"lavfi.dnn_torch.count=1") == 2, result.stdout


@pytest.mark.parametrize(
    "options, said",
    [
        ({"anchors": "1&2&3&4"}, "anchors is ignored"),
        ({"cell_w": 13, "cell_h": 13}, "cell_w and cell_h are ignored"),
        ({}, None),
    ],
)
def test_anchors_that_nothing_reads(bright, options, said):
    result = support.ffmpeg(
        *("-f", "lavfi", "-i", bright_clip((64, 48), (8, 8, 16, 16))),
        *("-vf", detect(bright, decoder="boxes", size="frame", **options), "-f", "null", "-"),
    )
    assert result.returncode == 0, result
    # Newer releases of ffmpeg make each graph twice.
    ignored = {line for line in result.warnings if "ignored" in line}
    assert [said in line for line in ignored] == ([True] if said else []), result


def test_records_go_on_behind_a_relative_name(bright, tmp_path, monkeypatch):
    """It names the same file once that is there."""
    monkeypatch.chdir(tmp_path)
    images = b"".join(b"P6 %d 48 255\n" % width + bytes(width * 48 * 3) for width in (64, 48) * 3)
    graph = detect(bright, decoder="boxes", size="frame", tune=0, destination="found.jsonl")
    result = support.ffmpeg("-f", "image2pipe", "-framerate", "25", "-c:v", "ppm", "-i", "pipe:0",
                            "-vf", graph, "-f", "null", "-", stdin=images)
    assert result.returncode == 0, str(result)
    assert len((tmp_path / "found.jsonl").read_text().splitlines()) == 6


@pytest.mark.parametrize("other", ["{folder}/./found.jsonl", "file:{folder}/found.jsonl"])
def test_two_names_of_one_destination(bright, tmp_path, other):
    one = tmp_path / "found.jsonl"
    options = {"decoder": "boxes", "size": "frame"}
    graph = ",".join(
        detect(bright, destination=name, **options)
        for name in (one, other.format(folder=tmp_path))
    )
    result = support.ffmpeg(
        *("-f", "lavfi", "-i", "color=black:size=64x48:rate=25:duration=2"),
        *("-vf", graph, "-f", "null", "-"),
    )
    support.assert_fails_clearly(result, "written by another filter")


@pytest.mark.parametrize("kind", ["jsonl", "csv", "coco", "srt"])
def test_nothing_is_left_of_an_earlier_run(bright, tmp_path, kind):
    """Also if no frame comes."""
    texts = []
    for path, frames in ((tmp_path / "new", 0), (tmp_path / "old", 0)):
        if path.name == "old":
            path.write_text("of an earlier run\n")
        options = {"decoder": "boxes", "size": "frame", "format": kind, "destination": path}
        support.succeed(
            *("-f", "lavfi", "-i", bright_clip((64, 48), (8, 8, 16, 16))),
            *("-vf", f"trim=end_frame={frames},{detect(bright, **options)}", "-f", "null", "-"),
        )
        texts.append(path.read_text())
    assert texts[0] == texts[1] and "earlier" not in texts[1]
    assert kind != "coco" or json.loads(texts[1])["images"] == []


def test_options_of_dnn_detect(bright, tmp_path):
    """A command line of dnn_detect changes its filter's name alone."""
    names = tmp_path / "names.txt"
    names.write_text("red\ngreen\nblue\n")
    source = bright_clip((64, 48), (8, 8, 16, 16), colour="blue")
    path = tmp_path / "found.jsonl"
    graph = (
        f"dnn_torch_detect=dnn_backend=torch:model={support.escape_graph(bright)}:input=x:"
        f"output=y:confidence=0.2:labels={support.escape_graph(names)}:cell_w=0:cell_h=0:"
        "nb_classes=0:anchors=1&2&3&4:nireq=2:async=1:backend_configs=threads=1:"
        f"decoder=boxes:size=frame:destination={support.escape_graph(path)}"
    )
    result = support.succeed("-f", "lavfi", "-i", source, "-vf", graph, "-f", "null", "-")
    ignored = sorted({line for line in result.warnings if "ignored" in line})
    assert [line.split(" is ignored")[0] for line in ignored] == ["anchors", "output=y"], result
    (record,) = path.read_text().splitlines()
    (thing,) = json.loads(record)["things"]
    assert (thing["label"], thing["box"]) == ("blue", [8, 8, 16, 16])
