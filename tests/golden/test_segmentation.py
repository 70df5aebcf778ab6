# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Class maps as numbers, as colours and as alpha, against what PyTorch makes of them."""
import json
from typing import Dict

import numpy
import pictures
import pytest
import support
import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH, HEIGHT = 70, 46
COLOURS = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]
LABELS = ["background", "red", "green", "blue one", "white"]


class Scores(nn.Module):
    """How near each pixel is to each colour, of parts of `size` pixels."""

    def __init__(self, size: int = 1, gain: float = 6.0, softmax: bool = False):
        super().__init__()
        self.size, self.gain, self.softmax = size, gain, softmax
        self.register_buffer("colours", torch.tensor(COLOURS).float().reshape(1, -1, 3, 1, 1))

    def scores(self, x: Tensor) -> Tensor:
        assert x.size(2) % self.size == 0 and x.size(3) % self.size == 0
        if self.size > 1:
            x = functional.avg_pool2d(x, self.size)
        scores = -self.gain * ((x.unsqueeze(1) - self.colours) ** 2).sum(2)
        return torch.softmax(scores, 1) if self.softmax else scores

    def forward(self, x: Tensor) -> Tensor:
        return self.scores(x)


class InDict(Scores):
    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        scores = self.scores(x)
        return {"out": scores, "aux": -scores}


class Numbers(Scores):
    def forward(self, x: Tensor) -> Tensor:
        return self.scores(x).argmax(1)


class Last(Scores):
    def forward(self, x: Tensor) -> Tensor:
        return self.scores(x).permute(0, 2, 3, 1)


class OneSize(Scores):
    def forward(self, x: Tensor) -> Tensor:
        assert x.size(2) == 64 and x.size(3) == 64
        return self.scores(x)


class OneMap(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x[:, :1] * 8.0 - 4.0


def save(path, module, **contract):
    files = {"dnn_torch.json": json.dumps(contract)} if contract else {}
    torch.jit.script(module.eval()).save(str(path), _extra_files=files)
    return path


def frames_of(pixel_format="rgb24", count=3, width=WIDTH, height=HEIGHT):
    return pictures.make_frames(pixel_format, width, height, count, textured_chroma=True)


def run(path, options, frames, pixel_format="rgb24", width=WIDTH, height=HEIGHT, behind=""):
    graph = support.dnn(path, tune=0) + f":{options}" + (f",format={behind}" if behind else "")
    return support.ffmpeg(*pictures.raw_input(pixel_format, width, height),
                          *("-noauto_conversion_filters", "-vf", graph, "-f", "rawvideo", "-"),
                          stdin=pictures.raw(frames, pixel_format))


def results_of(path, options, frames, result_format, pixel_format="rgb24", **size):
    result = run(path, options, frames, pixel_format, behind=result_format, **size)
    assert result.returncode == 0, result
    width, height = size.get("width", WIDTH), size.get("height", HEIGHT)
    return pictures.unpack(result.stdout, result_format, width, height)


def tensor_of(frame):
    return torch.from_numpy(pictures.to_unit(frame.image)).unsqueeze(0)


def wanted_scores(module, frame, multiple=1):
    """PyTorch's own scores at the frame's size."""
    x = tensor_of(frame)
    height, width = x.shape[2:]
    down, across = -height % multiple, -width % multiple
    with torch.no_grad():
        scores = module.scores(functional.pad(x, (0, across, 0, down), "reflect"))
    scores = functional.interpolate(scores, size=(height + down, width + across), mode="bilinear",
                                    align_corners=False)
    return scores[0, :, :height, :width].numpy()


def assert_likeliest(numbers, scores, tolerance=1e-4):
    of_found = numpy.take_along_axis(scores, numbers[None].astype(int), 0)[0]
    assert (of_found >= scores.max(0) - tolerance).all()


MODULES = {"bare": Scores(), "dict": InDict(), "numbers": Numbers(), "shares": Scores(softmax=True)}


@pytest.mark.parametrize("kind", MODULES)
def test_numbers_of_classes(tmp_path, kind):
    path = save(tmp_path / "net.pt", MODULES[kind])
    frames = frames_of()
    results = results_of(path, "as=index", frames, "gray")
    assert len(results) == len(frames)
    for frame, result in zip(frames, results):
        assert_likeliest(result.image[0], wanted_scores(MODULES[kind], frame))
        assert len(numpy.unique(result.image)) > 2


class Many(nn.Module):
    """Each pixel is of class 299."""

    def forward(self, x: Tensor) -> Tensor:
        return (x[:, 0] * 0.0).to(torch.int64) + 299


def test_numbers_beyond_a_byte(tmp_path):
    """They are never another class: the labels say how many there are, or it is an error."""
    frames = frames_of(count=1)
    labels = [f"class {number}" for number in range(300)]
    path = save(tmp_path / "many.pt", Many(), task="segment", labels=labels)
    for found in results_of(path, "as=index", frames, "gray16le"):
        assert (found.image == 299).all()
    path = save(tmp_path / "unlabelled.pt", Many(), task="segment")
    support.assert_fails_clearly(run(path, "as=index", frames), "class 299", "labels")


def test_another_layout(tmp_path):
    path = save(tmp_path / "net.pt", Last())
    frames = frames_of()
    for frame, result in zip(frames, results_of(path, "as=index:layout=nchw|nhwc", frames, "gray")):
        assert_likeliest(result.image[0], wanted_scores(Last(), frame))


@pytest.mark.parametrize("size", [2, 4, 8])
def test_small_maps_are_scaled(tmp_path, size):
    path = save(tmp_path / "net.pt", Scores(size))
    frames = frames_of()
    for frame, result in zip(frames, results_of(path, "as=index", frames, "gray")):
        assert_likeliest(result.image[0], wanted_scores(Scores(size), frame, size))


def test_one_size(tmp_path):
    path = save(tmp_path / "net.pt", OneSize(), input={"size": [64, 64]})
    frames = frames_of()
    for frame, result in zip(frames, results_of(path, "as=index", frames, "gray")):
        small = functional.interpolate(tensor_of(frame), (64, 64), mode="bilinear", antialias=True)
        small = torch.round(small * 255) / 255
        with torch.no_grad():
            scores = Scores().scores(small)
        wanted = functional.interpolate(scores, (HEIGHT, WIDTH), mode="bilinear",
                                        align_corners=False)[0].numpy()
        assert_likeliest(result.image[0], wanted, 0.3)


@pytest.mark.parametrize("result_format", ["rgb24", "bgr24", "gbrp"])
def test_colours(tmp_path, result_format):
    path = save(tmp_path / "net.pt", Scores())
    frames = frames_of()
    palette = numpy.array([[0, 0, 0], [128, 0, 0], [0, 128, 0], [128, 128, 0], [0, 0, 128]])
    numbers = results_of(path, "as=index", frames, "gray")
    for result, number in zip(results_of(path, "as=colors", frames, result_format), numbers):
        assert (result.image == palette[number.image[0]].transpose(2, 0, 1)).all()


@pytest.mark.parametrize("module", [Scores(), Scores(softmax=True), Scores(4)], ids=str)
@pytest.mark.parametrize("pixel_format", ["rgba", "gbrap", "yuva444p"])
def test_alpha_of_chosen_classes(tmp_path, module, pixel_format):
    path = save(tmp_path / "net.pt", module, labels=LABELS)
    frames = frames_of(pixel_format)
    for chosen, places in ("red", [1]), ("blue one|0", [3, 0]):
        results = results_of(path, f"classes='{chosen}'", frames, pixel_format, pixel_format)
        for frame, result in zip(frames, results):
            assert (result.image == frame.image).all()
            if pixel_format not in ("rgba", "gbrap"):
                continue
            scores = wanted_scores(module, frame, module.size)
            shares = scores if module.softmax else numpy.exp(scores)
            wanted = 255 * shares[places].sum(0) / shares.sum(0)
            assert abs(result.rest.astype(float) - wanted).max() < 0.51


def test_chosen_classes_alone_are_shown(tmp_path):
    path = save(tmp_path / "net.pt", Scores(), labels=LABELS)
    frames = frames_of()
    everything = results_of(path, "as=index", frames, "gray")
    for result, number in zip(results_of(path, "as=index:classes=green|4", frames, "gray"),
                              everything):
        wanted = numpy.where(numpy.isin(number.image, [2, 4]), number.image, 0)
        assert (result.image == wanted).all()


def test_one_map_is_there_or_not(tmp_path):
    path = save(tmp_path / "net.pt", OneMap())
    frames = frames_of()
    for frame, result in zip(frames, results_of(path, "as=index", frames, "gray")):
        assert (result.image[0] == (frame.image[0] > 127)).all()


@pytest.mark.parametrize("size", [(1, 1), (3, 5), (33, 17), (64, 2)])
def test_odd_frames(tmp_path, size):
    width, height = size
    path = save(tmp_path / "net.pt", Scores(4))
    frames = frames_of(width=width, height=height)
    results = results_of(path, "as=index", frames, "gray", width=width, height=height)
    assert len(results) == len(frames)
    if min(size) > 4:
        for frame, result in zip(frames, results):
            assert_likeliest(result.image[0], wanted_scores(Scores(4), frame, 4))


def test_batches_and_workers_change_nothing(tmp_path):
    path = save(tmp_path / "net.pt", InDict(2))
    frames = frames_of(count=7)
    wanted = run(path, "as=colors", frames).stdout
    for options in "batch_size=3", "workers=2:threads=1", "batch_size=2:async=0":
        assert run(path, f"as=colors:{options}", frames).stdout == wanted


def test_the_timeline_excludes_frames(tmp_path):
    path = save(tmp_path / "net.pt", Scores())
    frames = frames_of(count=4)
    results = results_of(path, "as=colors:enable='lt(n,2)'", frames, "rgb24")
    assert len(results) == 4
    for frame, result in zip(frames[2:], results[2:]):
        assert (result.image == frame.image).all()


REFUSED = {
    "as=index:classes=dog": ["has no class 'dog'", "background"],
    "as=index:classes=5": ["has no class '5'", "0 to 4"],
    "as=index:tile=32": ["tile is for pictures"],
    "as=index:scale=2": ["put scale after the filter"],
    "classes=|": ["classes takes names or numbers"],
    "as=depth:classes=red": ["classes"],
}


@pytest.mark.parametrize("options", REFUSED)
def test_what_makes_no_sense_is_refused(tmp_path, options):
    path = save(tmp_path / "net.pt", Scores(), labels=LABELS)
    support.assert_fails_clearly(run(path, options, frames_of()), *REFUSED[options])


def test_other_models_are_refused(tmp_path):
    path = save(tmp_path / "net.pt", OneMap())
    support.assert_fails_clearly(run(path, "classes=1", frames_of()), "one map alone")
    luma = support.REPOSITORY / "models" / "luma2x.pt"
    support.assert_fails_clearly(run(luma, "classes=1", frames_of()),
                                 "classes are for segmentations of RGB, on which the model fails")
    path = save(tmp_path / "table.pt", nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten()))
    support.assert_fails_clearly(run(path, "as=index", frames_of()), "a score for each class")


@pytest.mark.parametrize("name", ["lraspp_mobilenet_v3_large", "deeplabv3_mobilenet_v3_large",
                                  "fcn_resnet50"])
def test_torchvision(tmp_path, name):
    torchvision = pytest.importorskip("torchvision")
    torch.manual_seed(4)
    model = getattr(torchvision.models.segmentation, name)(
        weights=None, weights_backbone=None, num_classes=21).eval()
    path = tmp_path / "net.pt"
    torch.jit.script(model).save(str(path))
    frames = frames_of(count=2, width=96, height=64)
    mean, std = "0.485|0.456|0.406", "0.229|0.224|0.225"
    results = results_of(path, f"as=index:mean={mean}:std={std}", frames, "gray",
                         width=96, height=64)
    for frame, result in zip(frames, results):
        x = tensor_of(frame)
        for channel, (m, s) in enumerate(zip(mean.split("|"), std.split("|"))):
            x[:, channel] = (x[:, channel] - float(m)) / float(s)
        with torch.no_grad():
            scores = model(x)["out"][0].numpy()
        assert_likeliest(result.image[0], scores, 1e-3 * abs(scores).max())
