# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A contract says what a model's numbers mean, and the filter gives it such."""
import json

import numpy
import pictures
import pytest
import support
import torch
from torch import Tensor, nn

WIDTH, HEIGHT = 70, 50
MEAN, DEVIATION = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


class Net(nn.Module):
    """Fractions of R, G and B: what it would be without a contract."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.layer = nn.Conv2d(3, 3, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return torch.sigmoid(self.layer(x) * 4)


class Wants(nn.Module):
    """Net for other numbers: undoes them first, and does them to the result."""

    def __init__(self, low: float, high: float, bgr: bool, mean: list, std: list):
        super().__init__()
        self.net = Net()
        self.low, self.span, self.bgr = low, high - low, bgr
        self.register_buffer("mean", torch.tensor(mean).reshape(1, 3, 1, 1))
        self.register_buffer("std", torch.tensor(std).reshape(1, 3, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        x = (x * self.std + self.mean - self.low) / self.span
        y = self.net(x.flip(1) if self.bgr else x)
        return (y.flip(1) if self.bgr else y) * self.span + self.low


PLAIN = {"low": 0.0, "high": 1.0, "bgr": False, "mean": [0.0] * 3, "std": [1.0] * 3}
WANTS = {
    "range=255": {"high": 255.0},
    "range=-1..1": {"low": -1.0},
    "order=bgr": {"bgr": True},
    "order=bgr:range=0..255": {"bgr": True, "high": 255.0},
    "mean=0.485|0.456|0.406:std=0.229|0.224|0.225": {"mean": MEAN, "std": DEVIATION},
    "order=bgr:range=255:mean=103.5|116.3|123.7:std=57.4": {
        "bgr": True, "high": 255.0, "mean": [103.5, 116.3, 123.7], "std": [57.4] * 3,
    },
}


def save(folder, **wishes):
    path = folder / "net.pt"
    torch.jit.script(Wants(**PLAIN | wishes).eval()).save(str(path))
    return path


def run(graph, pixel_format, data, **options):
    return support.ffmpeg(
        *pictures.raw_input(pixel_format, WIDTH, HEIGHT),
        *("-noauto_conversion_filters", "-vf", graph, "-f", "rawvideo", "-"),
        stdin=data,
        **options,
    )


def picture(pixel_format):
    frames = pictures.make_frames(pixel_format, WIDTH, HEIGHT, 1)
    return pictures.raw(frames, pixel_format)


def samples(data, pixel_format):
    kind = pictures.all_formats()[pixel_format].kind
    return numpy.frombuffer(data, kind).astype(float)


@pytest.mark.parametrize("pixel_format", ["rgb24", "bgr24", "gbrp10le", "yuv444p", "gbrpf32le"])
@pytest.mark.parametrize("options", WANTS)
def test_a_model_gets_the_numbers_that_it_wants(tmp_path, options, pixel_format):
    data = picture(pixel_format)
    (tmp_path / "plain").mkdir()
    plain = support.dnn(save(tmp_path / "plain"), tune=0, isolate=0)
    wanted = run(plain, pixel_format, data)
    path = save(tmp_path, **WANTS[options])
    made = run(f"{support.dnn(path, tune=0, isolate=0)}:{options}", pixel_format, data)
    assert wanted.returncode == 0 and made.returncode == 0, f"{wanted}\n{made}"
    difference = abs(samples(made.stdout, pixel_format) - samples(wanted.stdout, pixel_format))
    assert difference.max() <= (1e-4 if pixel_format == "gbrpf32le" else 1)
    assert (difference > 0).mean() < 0.01 or pixel_format == "gbrpf32le"
    without = run(support.dnn(path, tune=0, isolate=0), pixel_format, data)
    assert without.stdout != wanted.stdout, "the option does nothing"


@pytest.mark.parametrize("pixel_format", ["rgb24", "rgba", "gbrp10le", "gbrp16le", "gray", "gray12le"])
@pytest.mark.parametrize("options", ["range=255", "range=-1..1:order=bgr", "range=1..0", "range=65535"])
def test_identity_is_lossless_in_any_numbers(model, options, pixel_format):
    data = picture(pixel_format)
    graph = f"{support.dnn(model('identity'), tune=0)}:{options}"
    assert run(graph, pixel_format, data).stdout == data


def test_a_file_beside_the_model(tmp_path):
    """The file says it, an option overrules it, and the log says which did."""
    data = picture("rgb24")
    path = save(tmp_path, **WANTS["order=bgr:range=0..255"])
    by_options = run(f"{support.dnn(path, tune=0)}:order=bgr:range=0..255", "rgb24", data)
    contract = tmp_path / "net.pt.json"
    contract.write_text(json.dumps({"input": {"order": "bgr", "range": [0, 255]}}))
    by_file = run(support.dnn(path, tune=0), "rgb24", data, loglevel="verbose")
    assert by_file.stdout == by_options.stdout and "net.pt.json" in by_file.stderr
    contract.write_text(json.dumps({"input": {"order": "bgr", "range": [-1, 1]}}))
    by_both = run(f"{support.dnn(path, tune=0)}:range=255", "rgb24", data, loglevel="verbose")
    assert by_both.stdout == by_options.stdout
    assert "input.range 0..255 (option)" in by_both.stderr


def test_what_comes_out_may_be_other_numbers(tmp_path):
    """0..255 in, fractions out."""

    class Divides(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x / 255.0

    path = tmp_path / "net.pt"
    torch.jit.script(Divides()).save(str(path))
    contract = {"input": {"range": [0, 255]}, "output": {"range": [0, 1]}}
    (tmp_path / "net.pt.json").write_text(json.dumps(contract))
    data = picture("rgb24")
    assert run(support.dnn(path, tune=0), "rgb24", data).stdout == data


@pytest.mark.parametrize(
    "text,words",
    [
        ('{"input": {"rnage": [0, 1]}}', "input.rnage"),
        ('{"input": {"range": "-1..1"}}', r'input.range takes \[LOW, HIGH\].*, not "-1..1"'),
        ('{"output": {"range": [1000, 1001]}}', "output.range takes .* not far from 0"),
        ('{"input": {"range": 1}, "input": {"order": "bgr"}}', '"input" twice'),
        ('{"input": {"range": 1, "range": 255}}', '"range" twice'),
        ('{"input": {"range": [0, 1e400]}}', "too large"),
        ('{\n  "input": {,}\n}', "line 2, column 13"),
        ('{"input": {"a\\n\\u001b[31mb": 1}}', r'"input\.a\\n\\u001b\[31mb"'),
        pytest.param("{" + ",".join(f'"{i}": 1' for i in range(60000)) + "}", "too many values",
                     id="many"),
        ('{"input": {"range": [1, 1]}}', "range takes"),
        ('{"input": {"range": [0, 1e300]}}', "range takes"),
        ('{"input": {"std": 0}}', "std takes"),
        ('{"input": {"mean": [1, 2]}}', "mean takes"),
        ('{"output": {"mean": 1}}', "output.mean"),
        ('{"input": 5}', "input"),
        ("[1, 2]", "no JSON object"),
        ("", "no JSON from line 1"),
        ("{" * 5000, "no JSON from line 1"),
        ('{"inputs": {"mask": {"channels": 9}}}', r"inputs\.mask\.channels takes"),
        ("[" * 100000, "nested"),
    ],
)
def test_contracts_that_make_no_sense(model, tmp_path, text, words):
    path = tmp_path / "net.pt"
    path.symlink_to(model("identity"))
    (tmp_path / "net.pt.json").write_text(text)
    result = run(support.dnn(path, tune=0), "rgb24", picture("rgb24"))
    support.assert_fails_clearly(result, r"net\.pt\.json", words)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "latin1"])
def test_contract_in_another_encoding(model, tmp_path, encoding):
    path = tmp_path / "net.pt"
    path.symlink_to(model("identity"))
    (tmp_path / "net.pt.json").write_text('{"author": "J\xfcrgen"}', encoding=encoding)
    result = run(support.dnn(path, tune=0), "rgb24", picture("rgb24"))
    support.assert_fails_clearly(result, "no JSON from line 1, column .*; save it as text in UTF-8")


@pytest.mark.parametrize(
    "option", ["range=0", "range=a..b", "range=1..2..3", "range=nan", "order=gbr", "mean=1|2",
               "range=1000..1001", "range=-1e400..1", "mean=1e39", "mean=0|1e400|0", "std=0", "std=1|0|1", "mean=", "range=inf", "std=-"]
)
def test_options_that_make_no_sense(model, option):
    graph = f"{support.dnn(model('identity'), tune=0)}:{option}"
    result = run(graph, "rgb24", picture("rgb24"))
    if option.endswith("="):
        assert result.returncode == 0, result
    else:
        support.assert_fails_clearly(result, f"{option.partition('=')[0]} takes")


def test_three_numbers_for_one_channel(model):
    graph = f"{support.dnn(model('identity'), tune=0)}:mean=0.1|0.5|0.9"
    support.assert_fails_clearly(run(graph, "gray", picture("gray")), "one channel.* mean")


def test_a_wrong_command_takes_no_right_one_with_it(tmp_path):
    path = save(tmp_path, bgr=True)
    right = run(f"{support.dnn(path, tune=0)}:order=bgr", "rgb24", picture("rgb24")).stdout
    frames = 60
    commands = "sendcmd=c='0.2 dnn_torch range bad; 0.2 dnn_torch order bgr',realtime"
    result = run(f"{commands},{support.dnn(path, tune=0)}", "rgb24", picture("rgb24") * frames)
    assert "range takes" in result.stderr
    assert len(result.stdout) == frames * len(right) and result.stdout[-len(right):] == right


def test_commands_change_the_numbers(tmp_path):
    """A contract that was wrong is put right while frames pass."""
    path = save(tmp_path, high=255.0)
    right = run(f"{support.dnn(path, tune=0)}:range=255", "rgb24", picture("rgb24")).stdout
    frames = 60
    commands = f"sendcmd=c='0.2 dnn_torch range 255',realtime,{support.dnn(path, tune=0)}"
    result = run(commands, "rgb24", picture("rgb24") * frames)
    assert result.returncode == 0 and len(result.stdout) == frames * len(right), result
    assert result.stdout[-len(right):] == right != result.stdout[: len(right)]
