# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""masks= of dnn_torch_detect: which pixels belong to a thing, by colour or as alpha."""
import json

import numpy
import pictures
import pytest
import support
import torch
from detectors import Bright, Discs, Prototypes, detect, save
from torch import Tensor, nn

WIDTH, HEIGHT = 96, 64
# left, top, right, bottom, score, class: the first covers the second
THINGS = [[10, 8, 42, 40, 0.9, 0], [30, 20, 80, 60, 0.6, 1]]
HALF_OF = {1: numpy.array([128, 0, 0]), 2: numpy.array([0, 128, 0])}  # colours of classes 0 and 1


@pytest.fixture(scope="module")
def discs(tmp_path_factory):
    return save(Discs(THINGS), tmp_path_factory.mktemp("masks") / "discs.pt")


def disc(left, top, right, bottom, *_):
    y, x = numpy.mgrid[:HEIGHT, :WIDTH] + 0.5
    across = (x - (left + right) / 2) / ((right - left) / 2)
    down = (y - (top + bottom) / 2) / ((bottom - top) / 2)
    return across**2 + down**2 < 1


def run(graph, pixel_format, count=2, **options):
    frames = pictures.make_frames(pixel_format, WIDTH, HEIGHT, count)
    source = pictures.raw(frames, pixel_format)
    result = support.ffmpeg(
        *pictures.raw_input(pixel_format, WIDTH, HEIGHT), *options.pop("before", ()),
        "-vf", graph, *options.pop("after", ()), "-f", "rawvideo", "-", stdin=source)
    return result, numpy.frombuffer(source, numpy.uint8)


def shaped(data, channels):
    return numpy.frombuffer(data, numpy.uint8).reshape(-1, HEIGHT, WIDTH, channels).astype(int)


def test_overlay(discs):
    """Half of the class's colour in what belongs to it; the surer one above; all else as it was."""
    result, source = run(detect(discs, masks=1, tune=0), "rgb24")
    assert result.returncode == 0, result
    expected = shaped(source, 3).astype(float)
    covered = numpy.zeros((HEIGHT, WIDTH), bool)
    for number, thing in enumerate(THINGS, 1):
        inside = disc(*thing) & ~covered
        expected[:, inside] = (expected[:, inside] + HALF_OF[number]) / 2
        covered |= inside
    found = shaped(result.stdout, 3)
    assert numpy.abs(found - expected).max() <= 1
    outside = ~(disc(*THINGS[0]) | disc(*THINGS[1]))
    assert (found == shaped(source, 3))[:, outside].all() and (found != shaped(source, 3)).any()


# ---- hide= -------------------------------------------------------------------------------


def is_black(found):
    return (found == 0).all(axis=-1)


def test_hidden_classes_are_black(discs):
    """The box of class 0, to whole pixels; the other one, and all around, bit for bit."""
    result, source = run(detect(discs, hide="0", tune=0), "rgb24")
    assert result.returncode == 0, result
    expected = shaped(source, 3)
    expected[:, 8:40, 10:42] = 0
    assert (shaped(result.stdout, 3) == expected).all()


def cell_averages(pixels):
    """Of the box of class 0: 32 x 32 pixels are four cells."""
    halves = pixels.reshape(len(pixels), 2, 16, 2, 16, 3)
    return halves.mean(axis=(2, 4))


def test_hidden_classes_are_blurred(discs):
    """What is left are interpolated averages; all around stays bit for bit."""
    result, source = run(detect(discs, hide="0", tune=0, hide_with="blur"), "rgb24")
    assert result.returncode == 0, result
    before, found = shaped(source, 3), shaped(result.stdout, 3)
    box = (slice(None), slice(8, 40), slice(10, 42))
    averages = cell_averages(before[box])
    assert numpy.abs(found[box][:, [0, 0, -1, -1], [0, -1, 0, -1]] - averages.reshape(-1, 4, 3)).max() <= 1
    assert (numpy.abs(numpy.diff(found[box], axis=1)).max() <= 255 / 16 + 1)
    found[box] = before[box] = 0
    assert (found == before).all()


def test_a_frame_in_doubt_is_blurred(discs):
    result, source = run(detect(discs, hide="0", tune=0, hide_with="blur", deadline="1us"), "rgb24", count=5)
    found = shaped(result.stdout, 3)
    assert result.returncode == 0 and len(found) == 5, result
    for axis in (1, 2):
        assert numpy.abs(numpy.diff(found, axis=axis)).max() <= 255 / 16 + 1
    assert numpy.abs(numpy.diff(shaped(source, 3), axis=2)).max() > 30


@pytest.mark.parametrize("doubt", [
    {"enable": "0"}, {"model": "nan"}, {"deadline": "1us"}, {"deadline": "1us", "masks": "overlay"},
])
def test_a_frame_in_doubt_is_black(discs, tmp_path, doubt):
    options = dict(doubt)
    model = discs
    if options.pop("model", None):
        model = save(Discs([[float("nan"), 8, 42, 40, 0.9, 0]]), tmp_path / "nan.pt")
    result, _ = run(detect(model, hide="0", tune=0, **options), "rgb24", count=5)
    assert result.returncode == 0, result
    found = shaped(result.stdout, 3)
    assert len(found) == 5 and is_black(found).all()


class Crowd(nn.Module):
    """As torchvision's detectors: very many boxes, and one that is less confident."""

    def forward(self, images: list[Tensor]) -> list[dict[str, Tensor]]:
        found: list[dict[str, Tensor]] = []
        for image in images:
            boxes = torch.tensor([[0.0, 0.0, 4.0, 4.0]]).repeat(60001, 1) + image.mean() * 0.0
            boxes[60000] = torch.tensor([10.0, 8.0, 42.0, 40.0])
            scores = torch.full([60001], 0.9)
            scores[60000] = 0.5
            found.append({"boxes": boxes, "labels": torch.zeros(60001, dtype=torch.int64), "scores": scores})
        return found


def test_more_boxes_than_are_kept_are_a_doubt(tmp_path):
    """The last one would be cut off."""
    model = save(Crowd(), tmp_path / "crowd.pt")
    result, _ = run(detect(model, hide="0", tune=0), "rgb24", count=1)
    assert result.returncode == 0, result
    assert is_black(shaped(result.stdout, 3)).all()


def test_dropped_frames_are_counted(discs, tmp_path):
    stats = tmp_path / "stats.json"
    result, _ = run(detect(discs, hide="0", tune=0, deadline="1us", late="drop", stats=stats), "rgb24", count=5)
    assert result.returncode == 0 and not result.stdout, result
    assert json.loads(stats.read_text())["late"]["drop"] == 5


@pytest.mark.parametrize("options,words", [
    ({"hide": "cat"}, "knows no 'cat'"),
    ({"hide": "0", "every": 2}, "leave every at 1"),
    ({"hide": "0", "every": "auto", "deadline": 1}, "leave every at 1"),
    ({"hide_with": "blur"}, "say what is hidden"),
    ({"every": "auto"}, "give deadline="),
    ({"goal": "latency", "batch_size": 2}, "leave batch_size at 1"),
    ({"hide": "0", "deadline": 1, "late": "last"}, "late=drop"),
    ({"hide": "0", "deadline": 1, "late": "pass"}, "late=drop"),
    ({"late": "last"}, "give deadline="),
    ({"deadline": 1, "batch_size": 2}, "leave batch_size at 1"),
])
def test_what_could_show_it_is_refused(discs, options, words):
    result, _ = run(detect(discs, tune=0, **options), "rgb24")
    assert result.returncode > 0 and not result.stdout
    assert len(result.errors) == 1 and words in result.errors[0], result


def test_overlay_in_subsampled_yuv(discs):
    """No conversion: luma outside stays bit for bit, and no frame is scaled."""
    result, source = run(detect(discs, masks="overlay", tune=0), "yuv420p",
                         before=["-noauto_conversion_filters"])
    assert result.returncode == 0, result
    inside = disc(*THINGS[0]) | disc(*THINGS[1])
    size = WIDTH * HEIGHT * 3 // 2
    for before, after in zip(source.reshape(-1, size),
                             numpy.frombuffer(result.stdout, numpy.uint8).reshape(-1, size)):
        same = (before == after)[: WIDTH * HEIGHT].reshape(HEIGHT, WIDTH)
        assert same[~inside].all() and not same[inside].all()
        chroma = (before == after)[WIDTH * HEIGHT :].reshape(2, HEIGHT // 2, WIDTH // 2)
        touched = inside.reshape(HEIGHT // 2, 2, WIDTH // 2, 2).any((1, 3))
        assert chroma[:, ~touched].all() and not chroma[:, touched].all()


def test_alpha(discs):
    result, source = run(detect(discs, masks="alpha", tune=0), "rgb24", after=["-pix_fmt", "rgba"])
    assert result.returncode == 0, result
    found = shaped(result.stdout, 4)
    assert (found[..., :3] == shaped(source, 3)).all()
    inside = disc(*THINGS[0]) | disc(*THINGS[1])
    assert (found[..., 3] == numpy.where(inside, 255, 0)).all()


def test_what_counts(discs):
    """classes and confidence choose; where nothing is left all is transparent."""
    after = ["-pix_fmt", "rgba"]
    for options, wanted in (({"classes": "1"}, disc(*THINGS[1])),
                            ({"confidence": 0.7}, disc(*THINGS[0])),
                            ({"confidence": 0.95}, numpy.zeros((HEIGHT, WIDTH), bool))):
        result, _ = run(detect(discs, masks="alpha", tune=0, **options), "rgb24", after=after)
        alpha = shaped(result.stdout, 4)[..., 3]
        assert (alpha == numpy.where(wanted, 255, 0)).all(), options


@pytest.mark.parametrize("fit", ["letterbox", "stretch"])
def test_prototypes_come_back_to_the_frame(tmp_path, fit):
    """The left half of a box in the middle of the model's picture, to a pixel of the frame."""
    model = save(Prototypes(), tmp_path / "seg.pt")
    graph = detect(model, decoder="yolov8", size="128x128", fit=fit, masks="alpha", tune=0,
                   labels=labels(tmp_path))
    result, _ = run(graph, "rgb24", after=["-pix_fmt", "rgba"])
    assert result.returncode == 0, result
    expected = numpy.zeros((HEIGHT, WIDTH), bool)
    height = HEIGHT // 2 if fit == "stretch" else WIDTH // 2
    expected[(HEIGHT - height) // 2 : (HEIGHT + height) // 2, WIDTH // 4 : WIDTH // 2] = True
    for alpha in shaped(result.stdout, 4)[..., 3]:
        wrong = numpy.argwhere((alpha > 0) != expected)
        assert len(wrong) <= 2 * height, wrong  # the edge between two prototype pixels
        assert all(abs(x - WIDTH // 2) <= 1 for _, x in wrong), wrong


def labels(folder):
    path = folder / "labels.txt"
    path.write_text("nothing\nleft\n")
    return path


def test_frames_that_the_model_skips_carry_masks(discs):
    graph = detect(discs, masks="alpha", every=3, tune=0)
    result, _ = run(graph, "rgb24", 7, after=["-pix_fmt", "rgba"])
    inside = disc(*THINGS[0]) | disc(*THINGS[1])
    alpha = shaped(result.stdout, 4)[..., 3]
    assert len(alpha) == 7 and (alpha == numpy.where(inside, 255, 0)).all()


def test_a_model_without_masks_is_refused(tmp_path):
    model = save(Bright(), tmp_path / "bright.pt")
    result, _ = run(detect(model, decoder="boxes", masks="overlay", tune=0), "rgb24")
    support.assert_fails_clearly(result, "makes no masks", "leave masks away")


def test_others_frames_stay_as_they_are(discs):
    """A frame that somebody else holds as well is copied before it is painted."""
    graph = f"split[a][b];[a]{detect(discs, masks=1, tune=0)}[c];[b][c]vstack"
    frames = pictures.make_frames("rgb24", WIDTH, HEIGHT, 3)
    source = pictures.raw(frames, "rgb24")
    result = support.succeed(*pictures.raw_input("rgb24", WIDTH, HEIGHT), "-filter_complex", graph,
                             "-f", "rawvideo", "-", stdin=source)
    both = numpy.frombuffer(result.stdout, numpy.uint8).reshape(3, 2, HEIGHT, WIDTH, 3)
    assert (both[:, 0] == shaped(source, 3)).all() and (both[:, 1] != both[:, 0]).any()
