# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Models run as they were made: any type, any layout, any container, further inputs."""
import json
from typing import Dict, List, NamedTuple, Optional, Tuple

import numpy
import pictures
import pytest
import support
import torch
from torch import Tensor, nn

WIDTH, HEIGHT = 38, 26
TYPES = {
    "float32": torch.float32,
    "float64": torch.float64,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "uint8": torch.uint8,
}
LAYOUTS = ["nchw", "nhwc", "chw", "hwc"]


class Net(nn.Module):
    """Computes on fractions, [batch, 3, height, width]; no picture takes it unchanged."""

    def __init__(self, channels: int = 3):
        super().__init__()
        torch.manual_seed(3)
        self.first = nn.Conv2d(channels, 8, 3, padding=1)
        self.last = nn.Conv2d(8, channels, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return torch.sigmoid(self.last(torch.relu(self.first(x))) * 3)


class Dressed(nn.Module):
    """Net behind a type and a layout: refuses any other, as a published model may."""

    def __init__(self, kind: torch.dtype, layout: str, out: torch.dtype, out_layout: str, channels: int = 3):
        super().__init__()
        self.net = Net(channels)
        self.kind, self.layout, self.out, self.out_layout = kind, layout, out, out_layout

    def forward(self, x: Tensor) -> Tensor:
        if x.dtype != self.kind:
            raise TypeError("another type is wanted")
        if self.layout == "chw":
            x = x.unsqueeze(0)
        elif self.layout == "hwc":
            x = x.permute(2, 0, 1).unsqueeze(0)
        elif self.layout == "nhwc":
            x = x.permute(0, 3, 1, 2)
        elif self.layout == "nhw":
            x = x.unsqueeze(1)
        elif self.layout == "hw":
            x = x.unsqueeze(0).unsqueeze(0)
        assert x.dim() == 4, "another rank is wanted"
        y = x.float()
        if self.kind == torch.uint8:
            y = y / 255.0
        y = self.net(y)
        if self.out == torch.uint8:
            y = (y * 255.0).round()
        y = y.to(self.out)
        if self.out_layout == "nhwc":
            y = y.permute(0, 2, 3, 1)
        elif self.out_layout == "chw":
            y = y[0]
        elif self.out_layout == "hwc":
            y = y[0].permute(1, 2, 0)
        elif self.out_layout == "nhw":
            y = y[:, 0]
        elif self.out_layout == "hw":
            y = y[0, 0]
        return y


def save(model, path):
    torch.jit.script(model.eval()).save(str(path))
    return path


def frames_of(pixel_format, count=1):
    made = pictures.make_frames(pixel_format, WIDTH, HEIGHT, count)
    return pictures.raw(made, pixel_format)


def run(graph, data, pixel_format="rgb24", **options):
    return support.ffmpeg(
        *pictures.raw_input(pixel_format, WIDTH, HEIGHT),
        *("-noauto_conversion_filters", "-vf", graph, "-f", "rawvideo", "-"),
        stdin=data,
        **options,
    )


def codes(data, channels=3):
    return numpy.frombuffer(data, numpy.uint8).reshape(-1, HEIGHT, WIDTH, channels).astype(int)


def by_pytorch(net, data, channels=3):
    """The codes that come out, computed here."""
    images = torch.from_numpy(codes(data, channels)).permute(0, 3, 1, 2).float() / 255
    with torch.no_grad():
        made = torch.cat([net(image[None]) for image in images])
    return (made.clamp(0, 1) * 255).round().permute(0, 2, 3, 1).numpy().astype(int)


def expect(graph, data, wanted, pixel_format="rgb24", most=1, share=0.01, **options):
    """Rounding may move few samples by one code."""
    result = run(graph, data, pixel_format, **options)
    assert result.returncode == 0, str(result)
    channels = 1 if pixel_format == "gray" else 3
    difference = abs(codes(result.stdout, channels) - wanted)
    assert difference.max() <= most, difference.max()
    assert (difference > 0).mean() <= share
    return result


@pytest.mark.parametrize("isolate", [0, 1])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", TYPES)
def test_every_type_in_every_layout(tmp_path, kind, layout, isolate):
    """What goes in is found by trying; tuned as well as not."""
    data = frames_of("rgb24", 3)
    model = Dressed(TYPES[kind], layout, torch.float32, layout)
    path = save(model, tmp_path / "net.pt")
    rounded = torch.float32 if kind == "uint8" else TYPES[kind]
    wanted = by_pytorch(lambda x: model.net(x.to(rounded).float()), data)
    expect(support.dnn(path, isolate=isolate, tune=0.2), data, wanted, share=0.02)
    assert codes(data).std() > 10 and wanted.std() > 2, "the pictures show nothing"


@pytest.mark.parametrize("out", [*TYPES, "bool"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_type_and_layout_comes_out(tmp_path, out, layout):
    """bfloat16 keeps 8 bits; a mask is black or white."""
    data = frames_of("rgb24", 2)
    if out == "bool":
        model = Dressed(torch.float32, "nchw", torch.float32, layout)
        model.net.last.bias.data -= 0.25

        class Mask(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = model

            def forward(self, x: Tensor) -> Tensor:
                return self.inner(x) > 0.5

        path = save(Mask(), tmp_path / "net.pt")
        wanted = by_pytorch(lambda x: (model.net(x) > 0.5).float(), data)
        result = run(support.dnn(path, tune=0), data)
        assert result.returncode == 0, str(result)
        assert set(numpy.unique(codes(result.stdout))) <= {0, 255}
        assert (codes(result.stdout) != wanted).mean() < 0.01
        return
    model = Dressed(torch.float32, "nchw", TYPES[out], layout)
    path = save(model, tmp_path / "net.pt")
    wanted = by_pytorch(model.net, data)
    expect(support.dnn(path, tune=0.2), data, wanted, share=0.6 if out == "bfloat16" else 0.1)


@pytest.mark.parametrize("layout", ["nhw", "hw", "nchw", "hwc"])
@pytest.mark.parametrize("kind", ["float32", "uint8"])
def test_pictures_of_one_channel(tmp_path, kind, layout):
    data = frames_of("gray", 2)
    model = Dressed(TYPES[kind], layout, TYPES[kind], layout, channels=1)
    path = save(model, tmp_path / "net.pt")
    expect(support.dnn(path, tune=0), data, by_pytorch(model.net, data, 1), "gray")


@pytest.mark.parametrize("layout", ["nhwc", "hwc"])
def test_batches(tmp_path, layout):
    """A model of single pictures runs a batch one by one."""
    data = frames_of("rgb24", 7)
    model = Dressed(torch.uint8, layout, torch.uint8, layout)
    path = save(model, tmp_path / "net.pt")
    expect(support.dnn(path, tune=0.2, batch_size=3), data, by_pytorch(model.net, data))


class BrightAreInverted(nn.Module):
    """Written for one picture: with a batch the condition is one of all of them, or none."""

    def __init__(self, each: bool):
        super().__init__()
        self.each = each

    def forward(self, x: Tensor) -> Tensor:
        mean = x.mean(dim=[1, 2, 3]) if self.each else x.mean()
        if bool(mean > 0.5):
            return 1 - x
        return x


@pytest.mark.parametrize("each", [False, True])
def test_branches_are_taken_by_each_picture_of_a_batch(tmp_path, each):
    bright, dark = (bytes([grey]) * (WIDTH * HEIGHT * 3) for grey in (240, 20))
    data = bright + dark + dark + bright + dark
    path = save(BrightAreInverted(each), tmp_path / "net.pt")
    wanted = by_pytorch(BrightAreInverted(each), data)
    for batch_size in (1, 2, 5):
        expect(support.dnn(path, tune=0, batch_size=batch_size), data, wanted)


class ThereAndBack(nn.Module):
    """Looks at another size, as pyramids do, and returns to that of the picture."""

    def __init__(self, mode: str):
        super().__init__()
        self.mode = mode
        self.net = Net()

    def forward(self, x: Tensor) -> Tensor:
        large = nn.functional.interpolate(x, scale_factor=1.5, mode=self.mode, align_corners=False)
        y = self.net(large)
        return nn.functional.interpolate(y, size=[x.size(2), x.size(3)], mode=self.mode,
                                         align_corners=False)


@pytest.mark.parametrize("optimize", ["frozen", "channels_last", "inference", "fused"])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_interpolation_in_16_bits(tmp_path, mode, optimize):
    """8 bits are too few for the places between samples."""
    path, data = save(ThereAndBack(mode), tmp_path / "net.pt"), frames_of("rgb24", 2)
    graph = support.dnn(path, precision="bf16", optimize=optimize, tune=0)
    result = expect(graph, data, by_pytorch(ThereAndBack(mode), data), most=6, share=1)
    if optimize != "fused":  # which needs a processor for it
        assert "cannot be used" not in result.stderr, result


class Blocks(nn.Module):
    """So many channels that oneDNN's blocks of 16 have a rest."""

    def __init__(self, channels: int):
        super().__init__()
        torch.manual_seed(6)
        self.first = nn.Conv2d(3, channels, 3, padding=1)
        self.middle = nn.Conv2d(channels, channels, 3, padding=1)
        self.last = nn.Conv2d(channels, 3, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return torch.sigmoid(4 * self.last(torch.relu(self.middle(torch.relu(self.first(x))))))


@pytest.mark.parametrize("optimize", ["0", "frozen", "fused"])
@pytest.mark.parametrize("channels", [24, 40])
def test_any_number_of_channels(tmp_path, channels, optimize):
    """oneDNN 3.7 leaves some out where a hypervisor hides the processor's caches."""
    path, data = save(Blocks(channels), tmp_path / "net.pt"), frames_of("rgb24", 2)
    images = torch.from_numpy(codes(data, 3)).permute(0, 3, 1, 2).double() / 255
    with torch.no_grad():  # doubles are not oneDNN's
        made = Blocks(channels).double()(images)
    wanted = (made * 255).round().permute(0, 2, 3, 1).numpy().astype(int)
    graph = support.dnn(path, optimize=optimize, tune=0)
    expect(graph, data, wanted, env={"ONEDNN_MAX_CPU_ISA": "DEFAULT"})


class BesideItsFlow(nn.Module):
    """Two channels are motion, not a picture."""

    def __init__(self):
        super().__init__()
        self.net = Net()

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        return x[:, :2] * 0.5, self.net(x)


def test_a_picture_behind_a_flow(tmp_path):
    path, data = save(BesideItsFlow(), tmp_path / "net.pt"), frames_of("rgb24", 2)
    expect(support.dnn(path, tune=0), data, by_pytorch(Net(), data))


class OneForAll(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.mean(0, keepdim=True)


def test_one_picture_for_a_batch(tmp_path):
    """Such a model runs frame by frame."""
    path = save(OneForAll(), tmp_path / "net.pt")
    data = frames_of("rgb24", 4)
    expect(support.dnn(path, tune=0, batch_size=2), data, codes(data))


class Same(nn.Module):
    """Takes everything: only a contract can say how."""

    def forward(self, x: Tensor) -> Tensor:
        return x


class FirstIsRed(nn.Module):
    """Keeps what is first along the last dimension."""

    def forward(self, x: Tensor) -> Tensor:
        keep = torch.zeros(x.size(-1), dtype=x.dtype)
        keep[0] = 1
        return x * keep


@pytest.mark.parametrize("by_file", [False, True])
def test_the_contract_says_what_cannot_be_seen(tmp_path, by_file):
    data = frames_of("rgb24")
    path = save(FirstIsRed(), tmp_path / "net.pt")
    graph = support.dnn(path, tune=0)
    if by_file:
        said = {"input": {"layout": "nhwc", "type": "uint8"}, "output": {"layout": "nhwc"}}
        (tmp_path / "net.pt.json").write_text(json.dumps(said))
    else:
        graph += ":layout=nhwc|nhwc:type=uint8"
    result = run(graph, data, loglevel="verbose")
    assert result.returncode == 0, str(result)
    wanted = codes(data) * numpy.array([1, 0, 0])
    assert (codes(result.stdout) == wanted).all()
    origin = "net.pt.json" if by_file else "option"
    assert f"input.layout nhwc ({origin})" in result.stderr
    assert "input.range 0..255 (type uint8)" in result.stderr


@pytest.mark.parametrize("pixel_format", ["rgb24", "gray", "yuv420p"])
@pytest.mark.parametrize("options", ["type=uint8", "type=uint8:layout=nhwc", "type=float64", "layout=chw"])
def test_identity_is_lossless(tmp_path, options, pixel_format):
    data = frames_of(pixel_format, 2)
    path = save(Same(), tmp_path / "net.pt")
    result = run(f"{support.dnn(path, tune=0)}:{options}", data, pixel_format)
    assert result.returncode == 0 and result.stdout == data, str(result)


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float64"])
@pytest.mark.parametrize("ends", ["as_they_are", "converts"])
def test_weights_of_other_types(tmp_path, kind, ends):
    """With and without the model's own conversions, against PyTorch in 32 bits."""

    class Half(nn.Module):
        def __init__(self, converts: bool):
            super().__init__()
            self.net = Net().to(TYPES[kind])
            self.kind, self.converts = TYPES[kind], converts

        def forward(self, x: Tensor) -> Tensor:
            if self.converts:
                return self.net(x.to(self.kind)).float()
            return self.net(x)

    class ToHalf(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = Net().half()

        def forward(self, x: Tensor) -> Tensor:
            return self.net(x.half()).float()

    data = frames_of("rgb24")
    model = ToHalf() if kind == "float16" and ends == "converts" else Half(ends == "converts")
    path = save(model, tmp_path / "net.pt")
    wide = Net()
    wide.load_state_dict({name: value.to(TYPES[kind]).float() for name, value in wide.state_dict().items()})
    wanted = by_pytorch(wide, data)
    few = {"most": 4, "share": 0.9} if kind == "bfloat16" else {"most": 1, "share": 0.01}
    expect(support.dnn(path, tune=0.2), data, wanted, **few)


# ---- what comes back ----------------------------------------------------------------


class Pair(NamedTuple):
    mask: Tensor
    image: Tensor


class InTuple(nn.Module):
    def forward(self, x: Tensor) -> Tuple[int, Tensor, Tensor]:
        return 7, x.mean(), 1.0 - x


class InNamedTuple(nn.Module):
    def forward(self, x: Tensor) -> Pair:
        return Pair(mask=x * 0.5, image=1.0 - x)


class InNestedDict(nn.Module):
    def forward(self, x: Tensor) -> Dict[str, List[Tensor]]:
        return {"loss": [x.mean()], "out": [x * 0.5, 1.0 - x]}


class InOptional(nn.Module):
    def forward(self, x: Tensor) -> Tuple[Optional[Tensor], Optional[Tensor]]:
        return None, 1.0 - x


class InDict(nn.Module):
    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        return {"score": x.flatten(1).mean(1), "image": 1.0 - x, "embedding": x.flatten(1)[:, :77]}


class InNestedTuple(nn.Module):
    def forward(self, x: Tensor) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
        return x[:, :, 0, 0], (x * 0.5, 1.0 - x)


@pytest.mark.parametrize("isolate", [0, 1])
@pytest.mark.parametrize(
    "model,output,factor",
    [
        (InTuple, None, 1),
        (InTuple, "2", 1),
        (InNamedTuple, None, 0),
        (InNamedTuple, "image", 1),
        (InNamedTuple, "1", 1),
        (InNestedDict, "out", 0),
        (InNestedDict, "out.1", 1),
        (InOptional, None, 1),
        (InDict, None, 1),
        (InDict, "image", 1),
        (InNestedTuple, None, 0),
        (InNestedTuple, "1.1", 1),
    ],
)
def test_the_picture_is_found(tmp_path, model, output, factor, isolate):
    """By name, by number, or as the first that can be one.  factor 1: the negative."""
    data = frames_of("rgb24", 2)
    path = save(model(), tmp_path / "net.pt")
    options = {"output": output} if output else {}
    wanted = 255 - codes(data) if factor else codes(data) / 2
    result = run(support.dnn(path, tune=0.1, isolate=isolate, **options), data)
    assert result.returncode == 0, str(result)
    assert abs(codes(result.stdout) - wanted).max() <= (0 if factor else 0.5)


def test_a_name_that_is_not_there(tmp_path):
    path = save(InNestedDict(), tmp_path / "net.pt")
    result = run(support.dnn(path, output="nosuch"), frames_of("rgb24"))
    support.assert_fails_clearly(result, "nosuch", "loss.0, out.0, out.1")
    result = run(support.dnn(path), frames_of("rgb24"))
    support.assert_fails_clearly(result, "output=NAME", "out.0")


def test_inspect_lists_what_comes_back(tmp_path, program):
    for model, names in ((InNamedTuple, ["mask", "image"]), (InNestedTuple, ["1.0", "1.1"]),
                         (InDict, ["score", "image", "embedding"])):
        path = save(model(), tmp_path / "net.pt")
        text = support.execute([support.LAUNCHER, "inspect", str(path)]).stdout.decode()
        for name in names:
            assert name in text, text


# ---- further inputs -----------------------------------------------------------------


class Scaled(nn.Module):
    def forward(self, x: Tensor, strength: float, steps: int, negative: bool, name: str) -> Tensor:
        for _ in range(steps):
            x = x * strength
        if name != "plain":
            x = x * 0.0
        return 1.0 - x if negative else x


class WithNoise(nn.Module):
    """As FFDNet and FastDVDnet: what the noise is to be like decides whether it runs."""

    def __init__(self, wants: str):
        super().__init__()
        self.wants = wants
        torch.manual_seed(5)
        self.net = nn.Conv2d(4, 3, 3, padding=1)

    def forward(self, x: Tensor, noise: Tensor) -> Tensor:
        if self.wants == "plane":
            return torch.sigmoid(self.net(torch.cat([x, noise], 1)))
        if self.wants == "vector":
            assert noise.dim() == 1
            return torch.sigmoid(self.net(torch.cat([x, noise[:, None, None, None].expand_as(x[:, :1])], 1)))
        if self.wants == "whole":
            assert noise.dtype == torch.int64
            return torch.sigmoid(self.net(torch.cat([x, noise.float().expand_as(x[:, :1])], 1)))
        assert noise.dim() == 0
        return torch.sigmoid(self.net(torch.cat([x, noise.expand_as(x[:, :1])], 1)))


@pytest.mark.parametrize("isolate", [0, 1])
@pytest.mark.parametrize("wants", ["plane", "vector", "scalar", "whole"])
def test_a_constant_is_given_as_the_model_takes_it(tmp_path, wants, isolate):
    model = WithNoise(wants)
    value = 2 if wants == "whole" else 0.25
    data = frames_of("rgb24", 3)
    path = save(model, tmp_path / "net.pt")
    wanted = by_pytorch(lambda x: torch.sigmoid(model.net(torch.cat([x, torch.full_like(x[:, :1], value)], 1))), data)
    graph = f"{support.dnn(path, tune=0.1, isolate=isolate, batch_size=2)}:inputs=noise={value}"
    expect(graph, data, wanted)
    other = run(f"{support.dnn(path, tune=0.1)}:inputs=noise={value + 1}", data)
    assert abs(codes(other.stdout) - wanted).max() > 3, "the value does nothing"


def test_planes_by_name(tmp_path):
    model = WithNoise("plane")
    data = frames_of("rgb24")
    path = save(model, tmp_path / "net.pt")
    by_itself = run(f"{support.dnn(path, tune=0)}:inputs=noise=0.25", data)
    assert by_itself.returncode == 0, str(by_itself)
    for way in ("plane=0.25", r"plane\\:0.25"):
        assert run(f"{support.dnn(path, tune=0)}:inputs=noise={way}", data).stdout == by_itself.stdout
    (tmp_path / "net.pt.json").write_text(json.dumps({"inputs": {"noise": 0.25}}))
    assert run(support.dnn(path, tune=0), data).stdout == by_itself.stdout
    refused = run(f"{support.dnn(path, tune=0)}:inputs=noise=vector=0.25", data)
    support.assert_fails_clearly(refused)


@pytest.mark.parametrize("isolate", [0, 1])
def test_inputs_that_only_the_models_own_file_names(tmp_path, isolate):
    data = frames_of("rgb24")
    plain = save(WithNoise("plane"), tmp_path / "plain.pt")
    wanted = run(f"{support.dnn(plain, tune=0)}:inputs=noise=plane=0.25", data).stdout
    said = json.dumps({"inputs": {"noise": "plane:0.25"}})
    path = tmp_path / "net.pt"
    script = torch.jit.script(WithNoise("plane").eval())
    script.save(str(path), _extra_files={"dnn_torch.json": said})
    result = run(support.dnn(path, tune=0, isolate=isolate), data, loglevel="verbose")
    assert result.returncode == 0, str(result)
    assert result.stdout == wanted
    assert "inputs.noise plane:0.25 (dnn_torch.json in the file)" in result.stderr
    other = run(f"{support.dnn(path, tune=0, isolate=isolate)}:inputs=noise=0.5", data)
    assert other.returncode == 0 and other.stdout != wanted, "the option overrules the file"
    # What the file does not name is told as it is of a file that says nothing.
    script.save(str(path), _extra_files={"dnn_torch.json": '{"inputs": {"noise": 1, "sigma": 1}}'})
    support.assert_fails_clearly(run(support.dnn(path), data), "sigma")
    script.save(str(path), _extra_files={"dnn_torch.json": '{"scale": 1}'})
    support.assert_fails_clearly(run(support.dnn(path), data), "inputs=noise=VALUE")


@pytest.mark.parametrize("negative", [0, 1])
def test_numbers_truths_and_words(tmp_path, negative):
    data = frames_of("rgb24")
    path = save(Scaled(), tmp_path / "net.pt")
    said = f"strength=0.5|steps=2|negative={negative}|name=plain"
    result = run(f"{support.dnn(path, tune=0.1)}:inputs={said}", data)
    assert result.returncode == 0, str(result)
    quarter = codes(data) / 4
    wanted = 255 - quarter if negative else quarter
    assert abs(codes(result.stdout) - wanted).max() <= 0.51


def test_what_is_missing_is_named(tmp_path):
    data = frames_of("rgb24")
    path = save(Scaled(), tmp_path / "net.pt")
    result = run(support.dnn(path), data)
    support.assert_fails_clearly(result, "strength, steps, negative, name", "inputs=strength=VALUE")
    result = run(f"{support.dnn(path)}:inputs=strength=1|steps=1|negative=0", data)
    support.assert_fails_clearly(result, "inputs=name=VALUE", "name of type str")


@pytest.mark.parametrize(
    "said,words",
    [
        ("inputs=strength=", ["NAME=VALUE"]),
        ("inputs=strength|steps=1|negative=0|name=a", ["strength=picture", "a number"]),
        ("inputs=strength=x|steps=1|negative=0|name=a", ["strength=x", "a number"]),
        ("inputs=strength=1|steps=1.5|negative=0|name=a", ["steps=1.5", "whole"]),
        ("inputs=strength=1|steps=1|negative=2|name=a", ["negative=2", "0 or 1"]),
        ("inputs=strength=1|steps=1|negative=0|name=a|nosuch=1", ["nosuch", "strength, steps"]),
        ("inputs=x=1|strength=1|steps=1|negative=0|name=a", ["picture as x", "inputs="]),
        ("type=int4", ["float32, uint8", "int4"]),
        ("layout=hwcn", ["nhwc", "hwcn"]),
        ("layout=nchw|wh", ["layout", "wh"]),
    ],
)
def test_what_makes_no_sense_is_told(tmp_path, said, words):
    path = save(Scaled(), tmp_path / "net.pt")
    result = run(f"{support.dnn(path, input='x')}:{said}", frames_of("rgb24"))
    support.assert_fails_clearly(result, *words)


# ---- models that change their mind --------------------------------------------------


class ChangesType(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return (x * 255).to(torch.uint8) if bool((x.amax() > 0.9).item()) else x


class ChangesRank(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x[0] if bool((x.amax() > 0.9).item()) else x


class Empties(nn.Module):
    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        return {"image": x[:, :, :0] if bool((x.amax() > 0.9).item()) else x}


class LosesKey(nn.Module):
    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        return {"other" if bool((x.amax() > 0.9).item()) else "image": x}


class BecomesNone(nn.Module):
    def forward(self, x: Tensor) -> Tuple[Optional[Tensor], int]:
        y: Optional[Tensor] = x
        if bool((x.amax() > 0.9).item()):
            y = None
        return y, 1


@pytest.mark.parametrize("isolate", [0, 1])
@pytest.mark.parametrize(
    "model,words",
    [
        (ChangesType, ["uint8", "float32 before"]),
        (ChangesRank, ["rank 3", "rank 4"]),
        (Empties, ["empty"]),
        (LosesKey, ["without image", "other"]),
        (BecomesNone, ["no tensor|without 0"]),
    ],
)
def test_results_that_change_are_one_clear_error(tmp_path, model, words, isolate):
    """Grey pictures settle what comes back; the frame is bright."""
    path = save(model(), tmp_path / "net.pt")
    data = bytes([255]) * len(frames_of("rgb24"))
    result = run(support.dnn(path, tune=0, isolate=isolate), data)
    support.assert_fails_clearly(result, *words)


class Classifier(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.flatten(1)[:, :100]


class Tokens(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.flatten(2)


@pytest.mark.parametrize("model", [Classifier, Tokens])
def test_tables_are_no_pictures(tmp_path, model):
    path = save(model(), tmp_path / "net.pt")
    support.assert_fails_clearly(run(support.dnn(path), frames_of("rgb24")), "rank", "picture|batch")
