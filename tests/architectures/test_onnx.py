# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ONNX files: each operator as ONNX's own tests want it, exported networks as PyTorch computes them,
and what is refused."""
import collections
import inspect
import json
import re
import subprocess
import time
import warnings

import detectors
import numpy
import pytest
import support
import torch
from checkpoint_files import convert, expect_two_inputs_and_outputs, inspected, through_the_filter
from torch import nn
from torch.nn import functional

onnx = pytest.importorskip("onnx", reason="python3-onnx is not installed")
pytest.importorskip("onnx.numpy_helper")

DOCUMENT = support.REPOSITORY / "docs" / "models.md"
# Inputs of these that say sizes must be constants, or follow from sizes.
SIZED = {"Clip", "ConstantOfShape", "Conv", "ConvInteger", "ConvTranspose", "CumSum", "DequantizeLinear", "Dropout",
         "Expand", "GRU", "If", "LSTM", "LayerNormalization", "MatMulInteger", "OneHot", "PRelu", "Pad", "QLinearConv",
         "QLinearMatMul", "QuantizeLinear", "RNN", "Range", "Reshape", "Resize", "Slice", "Split",
         "Squeeze", "Tile", "TopK", "Trilu", "Unsqueeze", "Upsample"}
# ONNX's own test has another size than the result (0.6 * 4 = 2.4), which no runtime follows; and a
# row of one pixel, which PyTorch takes from the middle.
OTHERWISE = {"test_resize_downsample_scales_linear_align_corners", "test_resize_downsample_scales_cubic_align_corners",
             "test_resize_downsample_sizes_linear_pytorch_half_pixel",
             # PyTorch's weights are others there (docs/models.md).
             "test_resize_downsample_scales_linear_antialias", "test_resize_downsample_sizes_linear_antialias",
             # ONNX's own results wrap around where its text says that they saturate.
             "test_qlinearmatmul_2D_int8_float32", "test_qlinearmatmul_3D_int8_float32",
             "test_qlinearmatmul_2D_int8_float16", "test_qlinearmatmul_3D_int8_float16"}


def documented():
    """The operators that the page lists."""
    rows = re.search(r"^## ONNX$.*?^## ", DOCUMENT.read_text(), re.M | re.S)[0]
    return set(re.findall(r"`((?:com\.microsoft\.)?[A-Z]\w+)`", rows))


def save(model, path):
    path.write_bytes(model.SerializeToString())
    return path


# ---- operators ------------------------------------------------------------------------------


def cases_by_version():
    from onnx.backend.test.case.node import collect_testcases

    for name in ("float", "int", "bool", "object"):  # older ones ask NumPy for them
        if name not in vars(numpy):
            setattr(numpy, name, {"float": float, "int": int, "bool": bool, "object": object}[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            cases = collect_testcases()
        except TypeError:
            cases = collect_testcases(None)
    known, groups, oldest = documented(), collections.defaultdict(list), 7
    for case in cases:
        graph = case.model.graph
        # Other operators written as these; they compute sizes in ways that no exporter does.
        if case.name.endswith("_expanded"):
            continue
        if graph.node and all(node.op_type in known and not node.domain for node in graph.node) and is_of_numbers(case):
            version = max(each.version for each in case.model.opset_import if each.domain in ("", "ai.onnx"))
            if version >= oldest:
                groups[version].append(case)
    return groups


def is_of_numbers(case):
    values = list(case.model.graph.input) + list(case.model.graph.output)
    if not all(each.type.HasField("tensor_type") for each in values):
        return False
    arrays = [numpy.asarray(each) for part in case.data_sets[0] for each in part]
    is_pool = case.model.graph.node[0].op_type in ("MaxPool", "AveragePool")
    kinds = "f" if is_pool else "fbi"
    return all(each.size and (each.dtype.kind in kinds or each.dtype == numpy.uint8 and not is_pool)
               for each in arrays)


def tensor(array):
    kind = numpy.asarray(array).dtype.kind
    return torch.from_numpy(numpy.array(array, numpy.float32 if kind == "f" else bool if kind == "b" else numpy.int64))


def is_constant(graph, name):
    users = [node for node in graph.node if name in node.input]
    if not users:
        return False
    node = users[0]
    sized = node.op_type in SIZED or node.op_type.startswith("Reduce")
    return node.op_type in ("ConstantOfShape", "Range") or sized and list(node.input).index(name) > 0


def merged(cases, version):
    """One model of them all, its inputs, and the results wanted of each."""
    parts, given, wanted = collections.defaultdict(list), [torch.zeros(1)], []
    parts["input"].append(onnx.helper.make_tensor_value_info("first", 1, [1]))

    def add(kind, message, prefix):
        copy = type(message)()
        copy.CopyFrom(message)
        copy.name = prefix + message.name
        parts[kind].append(copy)
        return copy

    for number, case in enumerate(cases):
        graph, prefix = case.model.graph, f"c{number}_"
        inputs, outputs = case.data_sets[0]
        for value, array in zip(graph.input, inputs):
            if is_constant(graph, value.name):
                parts["tensor"].append(onnx.numpy_helper.from_array(numpy.asarray(array), prefix + value.name))
            else:
                add("input", value, prefix)
                given.append(tensor(array))
        for each in graph.initializer:
            add("tensor", each, prefix)
        for node in graph.node:
            copy = add("node", node, "")
            copy.name = case.name
            for names in (copy.input, copy.output):
                for i, name in enumerate(names):
                    names[i] = prefix + name if name else ""
        for value, array in zip(graph.output, outputs):
            wanted.append((case.name, add("output", value, prefix).name, numpy.asarray(array)))
    graph = onnx.helper.make_graph(parts["node"], "all", parts["input"], parts["output"], parts["tensor"])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", version)]), given, wanted


def without_refused(cases, version, path):
    """The model of those cases that are not refused, and why the others are."""
    refused = []
    while cases:
        model, given, wanted = merged(cases, version)
        result, network = convert(save(model, path))
        if network:
            return network, given, wanted, refused
        found = re.search(r"is an ONNX model whose \w+ \((test_\w+)\) (.*)", result.stderr)
        assert found, str(result)
        refused.append(f"{found[1]}: {found[2]}")
        cases = [case for case in cases if case.name != found[1]]
    return None, [], [], refused


def test_operators(tmp_path):
    """In as few models as can be, because LibTorch takes its time to start."""
    passed, refused, wrong, most = [], [], [], 60
    for version, cases in cases_by_version().items():
        for begin in range(0, len(cases), most):
            network, given, wanted, others = without_refused(cases[begin : begin + most], version, tmp_path / "all.onnx")
            refused += others
            results = network(*given) if network else {}
            for name, output, right in wanted:
                result = results[output] if isinstance(results, dict) else results
                same = result.shape == right.shape and numpy.allclose(
                    result.numpy().astype(float), right.astype(float), 1e-3, 1e-5, equal_nan=True)
                (passed if same or name in OTHERWISE else wrong).append(name)
    assert not wrong
    known = re.compile("not (read|made) here|only through all is read|must follow|must be a constant|training mode|"
                       "reduces nothing|that is not known here|than height and width|decides while the model runs")
    assert not [why for why in refused if not known.search(why)]
    assert len(set(passed)) > 500 and len(refused) < len(set(passed)) / 8


def test_the_page_lists_them():
    listed = set()
    for path in (support.REPOSITORY / "plugin/engines/torch/onnx").glob("*.cpp"):
        source = path.read_text()
        listed |= set(re.findall(r'\{"([\w.]+)", [\w<>\'*+/-]+\}', source))
    assert documented() == listed


# ---- networks -------------------------------------------------------------------------------


class Enlarges(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.slope, self.last = nn.Conv2d(3, 16, 3, 1, 1), nn.PReLU(16), nn.Conv2d(16, 12, 3, 1, 1)

    def forward(self, x):
        wide = functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        return functional.pixel_shuffle(self.last(self.slope(self.first(x))), 2) + wide


class DownAndUp(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.norm = nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8)
        self.up, self.last = nn.ConvTranspose2d(8, 8, 2, 2), nn.Conv2d(11, 3, 3, 1, 1)

    def forward(self, x):
        small = self.up(torch.relu(self.norm(self.down(x))))
        return torch.sigmoid(self.last(torch.cat([functional.interpolate(small, size=x.shape[2:]), x], 1)))


class Attends(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.all = nn.Conv2d(3, 16, 3, 1, 1), nn.LayerNorm(16), nn.Linear(16, 48)
        self.last = nn.Conv2d(16, 3, 3, 1, 1)

    def forward(self, x):
        n, c, h, w = (made := self.first(x)).shape
        q, k, v = self.all(self.norm(made.flatten(2).transpose(1, 2))).chunk(3, -1)
        mixed = torch.softmax(q @ k.transpose(-1, -2) / 4, -1) @ v
        edges = functional.pad(x, (1, 1, 1, 1), mode="reflect")[:, :, 1:-1, 1:-1]
        return self.last(mixed.transpose(1, 2).reshape(n, c, h, w)) + edges


class LookDifferent(nn.Module):
    """Cuts into windows and shifts them, as SwinIR does."""

    def forward(self, x):
        n, c, h, w = x.shape
        down, right = (4 - h % 4) % 4, (4 - w % 4) % 4
        wide = functional.pad(x, (0, right, 0, down), "reflect").roll((-2, -2), (2, 3))
        parts = wide.reshape(n, c, (h + down) // 4, 4, (w + right) // 4, 4).permute(0, 2, 4, 3, 5, 1)
        parts = parts - parts.mean((3, 4), keepdim=True).clamp(0.1, 0.6)
        whole = parts.permute(0, 5, 1, 3, 2, 4).reshape(n, c, h + down, w + right)
        return whole.roll((2, 2), (2, 3))[:, :, :h, :w].abs() ** 0.5


class Remembers(nn.Module):
    """Rows are sequences, as those who read texts take them."""

    def __init__(self):
        super().__init__()
        self.there, self.again, self.last = nn.LSTM(3, 8, bidirectional=True), nn.GRU(16, 6), nn.Conv2d(6, 3, 1)

    def forward(self, x):
        n, c, h, w = x.shape
        rows = self.again(self.there(x.permute(3, 0, 2, 1).reshape(w, n * h, c))[0])[0]
        return self.last(rows.reshape(w, n, h, 6).permute(1, 3, 2, 0))


class Squeezes(nn.Module):
    """A dimension is removed that is 1 as far as PyTorch knows, which exports it as If."""

    def forward(self, x):
        return x * torch.sigmoid(x.mean(1, keepdim=True)[:, : x.shape[0] // x.shape[0]].squeeze(1)).unsqueeze(1)


NETWORKS = {"enlarges": Enlarges, "down-and-up": DownAndUp, "attends": Attends, "windows": LookDifferent,
            "remembers": Remembers, "squeezes": Squeezes}


def export(network, path, arguments=None, inputs=("input.1",), outputs=("out",), version=13, fixed=False):
    given = arguments or (torch.rand(1, 3, 20, 24),)
    places = {} if fixed else {name: {0: "n", 2: "h", 3: "w"} for name in inputs if name != "noise"}
    older = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(network.eval(), given, str(path), opset_version=version, input_names=list(inputs),
                          output_names=list(outputs), dynamic_axes=places, **older)
    return path


@pytest.fixture(autouse=True)
def seed(monkeypatch):
    torch.manual_seed(0)
    monkeypatch.setenv("DNN_TORCH_ONNX_RUNTIME", "0")  # it would run what is refused here


@pytest.mark.parametrize("version", [11, 13, 17])
@pytest.mark.parametrize("name", NETWORKS)
def test_same_as_pytorch(name, version, tmp_path):
    network = NETWORKS[name]()
    path = export(network, tmp_path / "net.onnx", version=version)
    for height, width in ((20, 24), (17, 31)):
        pictures = torch.rand(2, 3, height, width)
        with torch.no_grad():
            wanted = network(pictures)
        made = through_the_filter(path, pictures).reshape(wanted.shape)
        assert numpy.abs(made - wanted.numpy()).max() <= 2e-5


def test_several_inputs_and_outputs_by_name(tmp_path):
    class Two(nn.Module):
        def forward(self, picture, noise):
            return (picture * noise).clamp(0, 1), picture * 0.5

    path = export(Two(), tmp_path / "net.onnx", (torch.rand(1, 3, 20, 24), torch.rand(1, 1, 1, 1)),
                  ("picture", "noise"), ("multiplied", "half.1"))
    expect_two_inputs_and_outputs(path)


def test_states(tmp_path):
    class Sums(nn.Module):
        def forward(self, picture, before):
            made = picture * 0.25 + before
            return made, made * 1

    path = export(Sums(), tmp_path / "net.onnx", (torch.rand(1, 3, 20, 24), torch.rand(1, 3, 20, 24)),
                  ("picture", "before"), ("sum", "next"))
    pictures = torch.rand(4, 3, 20, 24)
    made = through_the_filter(path, pictures, ":inputs=before=state=next:output=sum:cuts=off").reshape(pictures.shape)
    assert numpy.abs(made - 0.25 * pictures.cumsum(0).numpy()).max() < 1e-6


def test_it_is_fused(tmp_path):
    path = export(nn.Sequential(nn.Conv2d(3, 32, 3, 1, 1), nn.PReLU(32), nn.Conv2d(32, 12, 3, 1, 1), nn.PixelShuffle(2)),
                  tmp_path / "net.onnx")
    graph = support.dnn(path, optimize="fused", tune=0)
    result = support.succeed("-f", "lavfi", "-i", "testsrc=s=64x48:d=0.1", "-vf", graph, "-f", "null", "-")
    assert "fp32, fused" in result.stderr and "cannot be used" not in result.stderr, str(result)


# ---- numbers ----------------------------------------------------------------------------------


def tensors_of(**arrays):
    return [onnx.numpy_helper.from_array(numpy.asarray(array), name) for name, array in arrays.items()]


def computed(nodes, tensors, given, path, version=13):
    """What the converted model makes of an input of that type and number of dimensions."""
    kind = 2 if given.dtype == torch.uint8 else 1
    model = graph_of(nodes, ["n", *"chw"[: given.dim() - 1]], tensors=tensors, kind=kind)
    model.opset_import[0].version = version
    result, network = convert(save(model, path))
    assert network, str(result)
    return network(given)


def test_bytes_do_not_wrap_around(tmp_path):
    node, given = onnx.helper.make_node, torch.arange(256, dtype=torch.uint8).reshape(1, 1, 16, 16)
    nodes = [node("Cast", ["x"], ["a"], to=6), node("Mul", ["a", "k"], ["b"]), node("Cast", ["b"], ["y"], to=1)]
    made = computed(nodes, tensors_of(k=numpy.int32(3)), given, tmp_path / "a.onnx")
    assert torch.equal(made, given * 3.0)
    made = computed([node("DequantizeLinear", ["x", "s", "z"], ["y"])],
                    tensors_of(s=numpy.float32(0.5), z=numpy.uint8(128)), given, tmp_path / "b.onnx")
    assert torch.equal(made, (given - 128.0) / 2)


@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
@pytest.mark.parametrize("factor", [0.7, 0.75, 1.3])
def test_broken_factors(mode, factor, tmp_path):
    class Resizes(nn.Module):
        def forward(self, x):
            return functional.interpolate(x, scale_factor=factor, mode=mode)

    result, network = convert(export(Resizes(), tmp_path / "net.onnx"))
    assert network, str(result)
    for height, width in ((20, 24), (17, 31), (40, 30)):
        pictures = torch.rand(2, 3, height, width)
        wanted = Resizes()(pictures)
        made = network(pictures)
        assert made.shape == wanted.shape and (made - wanted).abs().max() < 1e-5


def test_sizes_below_zero_are_divided_towards_zero(tmp_path):
    node = onnx.helper.make_node
    nodes = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "i"], ["h"]), node("Sub", ["h", "k"], ["d"])]
    for _ in range(60):  # so long that it becomes a variable
        nodes.append(node("Add", [nodes[-1].output[0], "zero"], [f"d{len(nodes)}"]))
    nodes += [node("Div", [nodes[-1].output[0], "two"], ["q"]), node("Cast", ["q"], ["f"], to=1),
              node("Mul", ["x", "f"], ["y"])]
    tensors = tensors_of(i=[2], k=[26], two=[2], zero=[0])
    given = torch.rand(1, 3, 21, 24)
    assert torch.equal(computed(nodes, tensors, given, tmp_path / "net.onnx"), given * -2)


def test_whole_numbers(tmp_path):
    node, given = onnx.helper.make_node, torch.arange(12.0).reshape(1, 3, 2, 2)
    nodes = [node("Cast", ["x"], ["a"], to=7), node("Pow", ["a", "half"], ["b"]), node("Add", ["b", "k"], ["c"]),
             node("Div", ["k", "c"], ["d"]), node("Cast", ["d"], ["y"], to=1)]
    made = computed(nodes, tensors_of(half=numpy.float32(0.5), k=numpy.int64(7)), given, tmp_path / "net.onnx")
    assert torch.equal(made, (7 / (given.sqrt().floor() + 7)).floor())


@pytest.mark.parametrize("is_named", [False, True])
def test_the_type_of_quantised_numbers(is_named, tmp_path):
    node, given = onnx.helper.make_node, torch.linspace(-2, 2, 12).reshape(1, 3, 2, 2)
    zero = [] if is_named else ["z"]
    further = {"output_dtype": 5} if is_named else {}
    nodes = [node("QuantizeLinear", ["x", "s", *zero], ["q"], **further), node("DequantizeLinear", ["q", "s"], ["y"])]
    tensors = tensors_of(s=numpy.float32(0.001), z=numpy.int16(0))
    made = computed(nodes, tensors, given, tmp_path / "net.onnx", version=21)
    assert (made - given).abs().max() < 0.001


X, FLOATS = torch.rand(1, 4, 6, 5) - 0.5, {"as": 0.02, "bs": 0.03, "ys": 0.025}
QUANTISED = (X / 0.02).round() * 0.02
OWN = {  # ONNX Runtime's: its inputs, attributes, what else there is, and what PyTorch makes of x
    "FusedConv": ("x w o", {"activation": "LeakyRelu", "activation_params": [0.2]}, lambda x, w, o: functional.leaky_relu(functional.conv2d(x, w, o), 0.2)),
    "FusedMatMul": ("x m", {"alpha": 0.5, "transB": 1}, lambda x, m: 0.5 * x @ m.t()),
    "BiasGelu": ("x l", {}, lambda x, l: functional.gelu(x + l)),
    "FastGelu": ("x l", {}, lambda x, l: functional.gelu(x + l, approximate="tanh")),
    "Gelu": ("x", {}, functional.gelu),
    "QuickGelu": ("x", {"alpha": 1.5}, lambda x: x * torch.sigmoid(1.5 * x)),
    "SkipLayerNormalization": ("x x l l", {"epsilon": 0.01}, lambda x, _, l, __: functional.layer_norm(2 * x, [5], l, l, 0.01)),
}
OWN_QUANTISED = {
    "QLinearAdd": ("q as z q as z ys z", {}, lambda x: x + x),
    "QLinearMul": ("q as z q as z ys z", {}, lambda x: x * x),
    "QLinearConcat": ("ys z q as z q as z", {"axis": 1}, lambda x: torch.cat([x, x], 1)),
    "QLinearGlobalAveragePool": ("q as z ys z", {}, lambda x: x.mean((2, 3), True)),
    "QLinearLeakyRelu": ("q as z ys z", {"alpha": 0.1}, lambda x: functional.leaky_relu(x, 0.1)),
    "QLinearSigmoid": ("q as z ys z", {}, torch.sigmoid),
}


@pytest.mark.parametrize("name", OWN)
def test_operators_of_onnx_runtime(name, tmp_path):
    inputs, attributes, wanted = OWN[name]
    given = {"w": torch.rand(3, 4, 3, 3), "o": torch.rand(3), "m": torch.rand(7, 5), "l": torch.rand(5)}
    tensors = tensors_of(**{key: value.numpy() for key, value in given.items()})
    node = onnx.helper.make_node(name, inputs.split(), ["y"], domain="com.microsoft", **attributes)
    made = computed([node], tensors, X, tmp_path / "net.onnx")
    assert torch.allclose(made, wanted(*[X if key == "x" else given[key] for key in inputs.split()]), atol=1e-5)


@pytest.mark.parametrize("name", OWN_QUANTISED)
def test_quantised_operators_of_onnx_runtime(name, tmp_path):
    inputs, attributes, wanted = OWN_QUANTISED[name]
    node = onnx.helper.make_node
    nodes = [node("QuantizeLinear", ["x", "as", "z"], ["q"]),
             node(name, inputs.split(), ["r"], domain="com.microsoft", **attributes),
             node("DequantizeLinear", ["r", "ys", "z"], ["y"])]
    tensors = tensors_of(z=numpy.int8(3), **{key: numpy.float32(value) for key, value in FLOATS.items()})
    made = computed(nodes, tensors, X, tmp_path / "net.onnx")
    assert (made - wanted(QUANTISED)).abs().max() <= 0.0126 and made.shape == wanted(X).shape


def test_a_network_that_quantises_as_it_runs(tmp_path):
    """As ONNX Runtime's quantize_dynamic() writes it."""
    node, weights = onnx.helper.make_node, torch.randint(-127, 128, (3, 4, 3, 3))
    nodes = [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
             node("ConvInteger", ["q", "w", "z", "n"], ["i"], pads=[1, 1, 1, 1]),
             node("Cast", ["i"], ["f"], to=1), node("Mul", ["s", "k"], ["t"]), node("Mul", ["f", "t"], ["y"])]
    tensors = tensors_of(w=weights.numpy().astype(numpy.int8), n=numpy.int8(0), k=numpy.float32(0.01))
    made = computed(nodes, tensors, X, tmp_path / "net.onnx")
    wanted = functional.conv2d(X, weights * 0.01, padding=1)
    assert (made - wanted).abs().max() < 0.02 * wanted.abs().max()


def test_operators_in_another_order(tmp_path):
    """The converter to float16 puts its casts at the end."""
    node = onnx.helper.make_node
    nodes = [node("Add", ["a", "k"], ["y"]), node("Relu", ["x"], ["a"])]
    assert torch.equal(computed(nodes, tensors_of(k=numpy.float32(2)), X, tmp_path / "net.onnx"), X.relu() + 2)


@pytest.mark.parametrize("is_true", [False, True])
def test_a_branch_that_the_file_decides(is_true, tmp_path):
    node, value = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    branches = {f"{name}_branch": onnx.helper.make_graph(
        [node("Constant", [], [f"{name}_k"], value=onnx.numpy_helper.from_array(numpy.float32(number))),
         node("Mul", ["x", f"{name}_k"], [f"{name}_y"])], name, [], [value(f"{name}_y", 1, None)])
        for name, number in (("then", 2), ("else", 3))}
    nodes = [node("If", ["c"], ["y"], **branches)]
    made = computed(nodes, tensors_of(c=numpy.bool_(is_true)), X, tmp_path / "net.onnx")
    assert torch.equal(made, X * (2 if is_true else 3))


def body_of(nodes, changed, stacked=()):
    """Of a Loop that changes one tensor."""
    value = onnx.helper.make_tensor_value_info
    return onnx.helper.make_graph(nodes, "body", [value("i", 7, []), value("go", 9, []), value("v", 1, None)],
                                  [value("go_on", 9, []), *(value(name, 1, None) for name in (changed, *stacked))])


def test_a_loop_that_samples_end(tmp_path):
    """What each round begins with is kept, too."""
    node = onnx.helper.make_node
    body = body_of([node("Add", ["v", "v"], ["w"]), node("ReduceSum", ["w"], ["s"], keepdims=0),
                    node("Less", ["s", "most"], ["go_on"]), node("Identity", ["v"], ["kept"])], "w", ["kept"])
    nodes = [node("Loop", ["", "", "x"], ["last", "all"], body=body),
             node("Squeeze", ["all", "one"], ["rounds"]), node("Concat", ["last", "rounds"], ["y"], axis=0)]
    given = torch.ones(1, 3, 2, 2)
    made = computed(nodes, tensors_of(most=numpy.float32(60), one=[1]), given, tmp_path / "net.onnx")
    assert made[:, 0, 0, 0].tolist() == [8, 1, 2, 4]


def test_a_loop_over_rows(tmp_path):
    """What is made of sizes inside does not exist outside, where it is made again."""
    node = onnx.helper.make_node
    body = body_of([node("Gather", ["x", "i"], ["row"], axis=2), node("Cast", ["h"], ["f"], to=1),
                    node("Div", ["row", "f"], ["part"]), node("Add", ["v", "part"], ["w"]),
                    node("Identity", ["go"], ["go_on"])], "w")
    nodes = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "two"], ["h"]),
             node("Loop", ["h", "go0", "zero"], ["mean"], body=body), node("Cast", ["h"], ["g"], to=1),
             node("Mul", ["mean", "g"], ["sum"]), node("Unsqueeze", ["sum", "axes"], ["y"])]
    tensors = tensors_of(two=2, go0=numpy.bool_(True), zero=numpy.zeros((1, 3, 5), "f"), axes=[2])
    given = torch.rand(1, 3, 4, 5)
    made = computed(nodes, tensors, given, tmp_path / "net.onnx")
    assert torch.allclose(made, given.sum(2, True), atol=1e-6)


def test_a_branch_in_a_loop(tmp_path):
    node, value = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    branches = {f"{name}_branch": onnx.helper.make_graph([node(kind, ["v", number], [name])], name, [], [value(name, 1, None)])
                for name, kind, number in (("then", "Mul", "two"), ("else", "Sub", "half"))}
    body = body_of([node("ReduceMean", ["v"], ["m"], keepdims=0), node("Less", ["m", "one"], ["is_dark"]),
                    node("If", ["is_dark"], ["w"], **branches), node("Identity", ["go"], ["go_on"])], "w")
    tensors = tensors_of(five=5, go0=numpy.bool_(True), one=numpy.float32(1), two=numpy.float32(2), half=numpy.float32(0.5))
    given = torch.rand(1, 3, 4, 4)
    wanted = given
    for _ in range(5):
        wanted = wanted * 2 if wanted.mean() < 1 else wanted - 0.5
    made = computed([node("Loop", ["five", "go0", "x"], ["y"], body=body)], tensors, given, tmp_path / "net.onnx")
    assert torch.allclose(made, wanted, atol=1e-6)


def test_an_endless_loop(tmp_path):
    node = onnx.helper.make_node
    body = body_of([node("Relu", ["v"], ["w"]), node("Identity", ["go"], ["go_on"])], "w")
    nodes = [node("Loop", ["", "", "number"], ["same"], body=body), node("Add", ["x", "same"], ["y"])]
    path = save(graph_of(nodes, ["n", 3, "h", "w"], tensors=tensors_of(number=numpy.zeros(1, "float32"))), tmp_path / "net.onnx")
    refused(path, "a loop of more than 10000 rounds")


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_an_unknown_direction(kind, tmp_path):
    weights = tensors_of(W=numpy.zeros((1, 12, 3), "float32"), R=numpy.zeros((1, 12, 3), "float32"))
    node = onnx.helper.make_node(kind, ["x", "W", "R"], ["y"], hidden_size=3, direction="sideways")
    refused(save(graph_of([node], ["n", 3, "w"], tensors=weights), tmp_path / "net.onnx"), "has a direction that ONNX does not have")


def test_a_state_that_is_reset_first(tmp_path):
    """GRU as ONNX has it by default, in both directions."""
    node, size = onnx.helper.make_node, 3
    weights = {"W": torch.randn(2, 3 * size, 4), "R": torch.randn(2, 3 * size, size), "B": torch.randn(2, 6 * size)}

    def states(x, place):
        h, w, r, b = torch.zeros(x.shape[1], size), *(weights[name][place] for name in "WRB")
        for each in x:
            given, kept = each @ w.t() + b[: 3 * size], b[3 * size :]
            z, reset = torch.sigmoid(given[:, : 2 * size] + h @ r[: 2 * size].t() + kept[: 2 * size]).chunk(2, 1)
            new = torch.tanh(given[:, 2 * size :] + (reset * h) @ r[2 * size :].t() + kept[2 * size :])
            h = (1 - z) * new + z * h
            yield h

    nodes = [node("Squeeze", ["x", "first"], ["steps"]),
             node("GRU", ["steps", "W", "R", "B"], ["y"], hidden_size=size, direction="bidirectional")]
    given = torch.rand(1, 5, 2, 4)
    made = computed(nodes, tensors_of(first=[0], **{key: each.numpy() for key, each in weights.items()}), given,
                    tmp_path / "net.onnx")
    there, back = torch.stack(list(states(given[0], 0))), torch.stack(list(states(given[0].flip(0), 1))).flip(0)
    assert torch.allclose(made, torch.stack([there, back], 1), atol=1e-5)


def test_smooth_resizing(tmp_path):
    nodes = [onnx.helper.make_node("Resize", ["x", "", "", "s"], ["y"], mode="linear", antialias=1)]
    made = computed(nodes, tensors_of(s=[1, 4, 3, 2]), X, tmp_path / "net.onnx", version=18)
    assert torch.allclose(made, functional.interpolate(X, size=(3, 2), mode="bilinear", antialias=True), atol=1e-6)


# ---- what the file tells ----------------------------------------------------------------------


def graph_of(nodes, shape, result=None, tensors=(), kind=1, properties=()):
    helper = onnx.helper
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", kind, shape)],
                              [helper.make_tensor_value_info("y", 1, result)], list(tensors))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    for key, value in properties:
        model.metadata_props.add(key=key, value=value)
    return model


def contract_of(path):
    return {name: field["value"] for name, field in inspected(path)["contract"]["input"].items()
            if field["origin"] not in ("default", "probe")}


def test_bytes_with_channels_last(tmp_path):
    node = onnx.helper.make_node
    nodes = [node("Cast", ["x"], ["a"], to=1), node("Div", ["a", "white"], ["y"])]
    white = onnx.numpy_helper.from_array(numpy.float32(255), "white")
    path = save(graph_of(nodes, ["n", "h", "w", 3], ["n", "h", "w", 3], [white], kind=2), tmp_path / "net.onnx")
    told = contract_of(path)
    assert told["type"] == "uint8" and told["layout"] == "nhwc" and told["channels"] == 3
    pictures = torch.randint(0, 256, (2, 3, 20, 24)) / 255
    made = through_the_filter(path, pictures).reshape(pictures.shape)
    assert numpy.abs(made - pictures.numpy()).max() < 1e-6


@pytest.mark.parametrize("is_tied", [False, True])
def test_a_size_is_kept_only_where_it_matters(is_tied, tmp_path):
    node = onnx.helper.make_node
    nodes = [node("Reshape", ["x", "flat"], ["a"]), node("Reshape", ["a", "shape"], ["y"])] if is_tied else [
        node("Relu", ["x"], ["y"])]
    tensors = [onnx.numpy_helper.from_array(numpy.array(each, numpy.int64), name)
               for name, each in (("flat", [1, -1]), ("shape", [1, 3, 32, 40]))] if is_tied else []
    path = save(graph_of(nodes, [1, 3, 32, 40], [1, 3, 32, 40], tensors), tmp_path / "net.onnx")
    assert contract_of(path).get("size") == ([40, 32] if is_tied else None)


def test_properties(tmp_path):
    relu = [onnx.helper.make_node("Relu", ["x"], ["y"])]
    own = [("dnn_torch.json", json.dumps({"input": {"order": "bgr"}}))]
    assert contract_of(save(graph_of(relu, ["n", 3, "h", "w"], properties=own), tmp_path / "a.onnx"))["order"] == "bgr"
    theirs = [("task", "detect"), ("stride", "32"), ("names", "{0: 'person', 1: \"cat's\"}"), ("imgsz", "[64, 64]")]
    path = save(graph_of(relu, [1, 3, 64, 64], properties=theirs), tmp_path / "b.onnx")
    assert inspected(path)["contract"]["labels"]["value"] == ["person", "cat's"]


# ---- what is refused --------------------------------------------------------------------------


def refused(path, *phrases):
    graph = support.dnn(path, tune=0)
    result = support.ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x48:d=0.1", "-vf", graph, "-f", "null", "-")
    support.assert_fails_clearly(result, *phrases)


def test_unknown_operators_are_all_named(tmp_path):
    node = onnx.helper.make_node
    nodes = [node("RoiAlign", ["x", "x", "x"], ["a"]), node("Strange", ["a"], ["b"], domain="com.example"),
             node("Relu", ["b"], ["y"])]
    refused(save(graph_of(nodes, ["n", 3, "h", "w"]), tmp_path / "net.onnx"),
            r"not read here: RoiAlign, com\.example\.Strange; use the model's PyTorch file")


# ---- weights in another file --------------------------------------------------------------------


# One row of six numbers: a box, of the picture's means.
ROWS = [onnx.helper.make_node("GlobalAveragePool", ["scaled"], ["means"]),
        onnx.helper.make_node("Concat", ["means", "means"], ["six"], axis=1),
        onnx.helper.make_node("Flatten", ["six"], ["y"])]


def beside(factor, path, size=36, after=(), **place):
    """A network that multiplies by a number, with its weights in net.data, or wherever `place` says."""
    weight = onnx.numpy_helper.from_array(numpy.zeros((3, 3, 1, 1), numpy.float32), "w")
    weight.ClearField("raw_data")
    weight.data_location = 1
    for key, value in {"location": "net.data", "offset": 4, "length": size, **place}.items():
        weight.external_data.add(key=key, value=str(value))
    (path.parent / "net.data").write_bytes(b"skip" + (factor * numpy.eye(3, dtype="<f4")).tobytes())
    scale = onnx.helper.make_node("Conv", ["x", "w"], ["scaled" if after else "y"])
    return save(graph_of([scale, *after], ["n", 3, "h", "w"], tensors=[weight]), path)


@pytest.mark.parametrize("isolate", [0, 1])
def test_weights_in_another_file(isolate, tmp_path):
    network = Enlarges()
    path = export(network, tmp_path / "net.onnx")
    onnx.save_model(onnx.load(str(path)), str(tmp_path / "large.onnx"), save_as_external_data=True,
                    location="large.onnx.data", size_threshold=0)
    assert (tmp_path / "large.onnx.data").stat().st_size > 1000
    pictures = torch.rand(2, 3, 20, 24)
    with torch.no_grad():
        wanted = network(pictures)
    made = through_the_filter(tmp_path / "large.onnx", pictures, f":isolate={isolate}").reshape(wanted.shape)
    assert numpy.abs(made - wanted.numpy()).max() <= 2e-5
    result, converted = convert(tmp_path / "large.onnx")
    assert converted and torch.allclose(converted(pictures), wanted, atol=2e-5), str(result)
    assert inspected(tmp_path / "large.onnx")["parameters"] == inspected(path)["parameters"]


@pytest.mark.parametrize("after,filter_of,option", [
    ((), support.dnn, {"stats": "net.data"}),
    (ROWS, detectors.detect, {"stats": "net.data", "decoder": "boxes"}),
    (ROWS, detectors.detect, {"destination": "net.data", "decoder": "boxes"})],
    ids=["stats", "detect-stats", "detect-destination"])
def test_weights_in_another_file_are_not_overwritten(after, filter_of, option, tmp_path):
    path, data = beside(0.5, tmp_path / "net.onnx", after=after), tmp_path / "net.data"
    before = data.read_bytes()
    name = next(iter(option))
    graph = filter_of(path, tune=0, **{**option, name: data})
    result = support.ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x48:d=0.1", "-vf", graph, "-f", "null", "-")
    support.assert_fails_clearly(result, f"{name}=.* names a file of the model, which it would overwrite")
    assert data.read_bytes() == before


@pytest.mark.parametrize("place,words", [
    ({"location": "../net.data"}, r"tensor \(w\) whose numbers are in '../net.data', and only a file beside .* python3 -c"),
    ({"location": "/etc/passwd"}, "only a file beside the model is read"),
    ({"location": ".net.data"}, "only a file beside the model is read"),
    ({"location": "other.data"}, r"'\S+net.onnx' is in several files, and '\S+/other.data' cannot be opened: No such"),
    ({"location": "folder"}, "'folder' is a directory"),
    ({"offset": 8}, r"tensor \(w\) which lies beyond the end of 'net.data'"),
    ({"offset": 2**64 - 4}, "beyond the end"),
    ({"offset": -4}, "whose offset in another file is no number"),
    ({"length": 32}, "of another size than its shape")])
def test_weights_that_are_not_beside(place, words, tmp_path):
    (tmp_path / "folder").mkdir()
    refused(beside(0.5, tmp_path / "net.onnx", **place), words)


def test_changed_weights_are_another_model(tmp_path):
    """The file of the graph stays as it is."""
    path, out = beside(0.5, tmp_path / "net.onnx"), tmp_path / "out.raw"
    graph = f"color=c=white:s=16x16:r=25,format=gbrp,realtime,{support.dnn(path, watch=1, tune=0)},format=gray"
    process = support.start(support.ffmpeg_command("-f", "lavfi", "-i", graph, "-f", "rawvideo", "-flush_packets", "1", out),
                            stdin=subprocess.PIPE)

    def wait_for(shade):
        deadline = time.monotonic() + support.TIME_LIMIT
        while not out.exists() or abs(out.read_bytes()[-256:][0:1].ljust(1)[0] - shade) > 1:
            assert time.monotonic() < deadline and process.poll() is None, "it does not come"
            time.sleep(0.05)

    wait_for(128)
    (tmp_path / "other.data").write_bytes(b"skip" + (0.25 * numpy.eye(3, dtype="<f4")).tobytes())
    (tmp_path / "other.data").rename(tmp_path / "net.data")
    wait_for(64)
    result = support.finish(process, b"q")
    assert result.returncode == 0, str(result)


@pytest.mark.parametrize("change,words", [
    (lambda bytes: bytes[: len(bytes) // 2], "is a damaged ONNX file"),
    (lambda bytes: bytes.replace(b"testword", b"x" * 8), "before it is made"),
    (lambda bytes: bytes[:9] + b"\x0b" + bytes[10:], "is a damaged ONNX file")], ids=["half", "name", "group"])
def test_damaged_files(change, words, tmp_path):
    nodes = [onnx.helper.make_node("Relu", ["x"], ["testword"]), onnx.helper.make_node("Relu", ["testword"], ["y"])]
    path = save(graph_of(nodes, ["n", 3, "h", "w"]), tmp_path / "net.onnx")
    whole = path.read_bytes()
    at = whole.index(b"testword")
    path.write_bytes(change(whole) if words != "before it is made" else whole[:at] + b"x" * 8 + whole[at + 8 :])
    refused(path, words)


def test_code_in_attributes_is_not_run(tmp_path):
    """Texts of a file never become code."""
    evil = 'half_pixel"); self.evil(); torch.relu("half_pixel'
    nodes = [onnx.helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="linear", coordinate_transformation_mode=evil)]
    scales = onnx.numpy_helper.from_array(numpy.array([1, 1, 2, 2], numpy.float32), "scales")
    refused(save(graph_of(nodes, ["n", 3, "h", "w"], tensors=[scales]), tmp_path / "a.onnx"), "which is not read here")
    nodes = [onnx.helper.make_node("Einsum", ["x"], ["y"], equation='nchw->nchw", [x]); self.evil("')]
    refused(save(graph_of(nodes, ["n", 3, "h", "w"]), tmp_path / "b.onnx"), "makes no sense")


STEP = numpy.iinfo(numpy.int64).max
NONSENSE = {
    "twice": ([("Relu", "x", "y"), ("Neg", "x", "y")], {}, {}, "Neg makes y, which there is already"),
    "kind": ([("Softmax", "x", "y")], {}, {"axis": 1.5}, "has axis of another type than it should be"),
    "block": ([("DepthToSpace", "x", "y")], {}, {"blocksize": 0}, "has blocksize 0, which makes no sense"),
    "pool": ([("MaxPool", "x", "y")], {}, {"kernel_shape": [1, 1, 1, 1]}, "no kernel_shape of one to three dim"),
    "strides": ([("Conv", "x w", "y")], {"w": numpy.ones((3, 3, 1, 1), "f")}, {"strides": [-(2**63), 1]},
                r"has strides beyond 1 to 4096"),
    "zeros": ([("Shape", "x", "s"), ("Mod", "s z", "m"), ("Reshape", "x m", "y")], {"z": [0]}, {}, "from samples"),
    "no size": ([("Resize", "x e e z", "y")], {"e": numpy.zeros(0, "f"), "z": [1, 3, 0, 4]}, {}, "makes a picture of no size"),
    "no scale": ([("Resize", "x e s", "y")], {"e": numpy.zeros(0, "f"), "s": numpy.array([1, 1, 0, 2], "f")}, {},
                 "makes a picture of no size"),
    "axes": ([("Pad", "x p", "y")], {"p": [1, 1]}, {}, "has another number of pads"),
    "zero": ([("Identity", "z", "a"), ("QuantizeLinear", "x s a", "y")],
             {"s": numpy.float32(1), "z": numpy.int8(0)}, {}, "makes numbers of a type that is not read here"),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense(name, tmp_path):
    steps, arrays, further, words = NONSENSE[name]
    nodes = [onnx.helper.make_node(kind, inputs.split(), outputs.split()) for kind, inputs, outputs in steps]
    nodes[-1].attribute.extend(onnx.helper.make_attribute(key, value) for key, value in further.items())
    refused(save(graph_of(nodes, ["n", 3, "h", "w"], tensors=tensors_of(**arrays)), tmp_path / "net.onnx"), words)


@pytest.mark.parametrize("version,words", [(6, "7 is the oldest that is read"), (99, "25 is the newest that is read")])
def test_old_and_new_operators(version, words, tmp_path):
    model = graph_of([onnx.helper.make_node("Relu", ["x"], ["y"])], ["n", 3, "h", "w"])
    model.opset_import[0].version = version
    refused(save(model, tmp_path / "net.onnx"), f"operators of version {version}, and {words}")


@pytest.mark.parametrize("kind,words", [("Add", "of more layers|cannot be|size|memory"), ("Concat", "computes more sizes|samples")])
def test_sizes_that_double_do_not_fill_the_memory(kind, words, tmp_path):
    node, further = onnx.helper.make_node, {"axis": 0} if kind == "Concat" else {}
    nodes = [node("Shape", ["x"], ["s0"])]
    nodes += [node(kind, [f"s{i}", f"s{i}"], [f"s{i + 1}"], **further) for i in range(40)]
    refused(save(graph_of([*nodes, node("Reshape", ["x", "s40"], ["y"])], ["n", 3, "h", "w"]), tmp_path / "net.onnx"), words)


def test_a_step_beyond_all_sizes(tmp_path):
    node = onnx.helper.make_node
    nodes = [node("Shape", ["x"], ["s"]), node("Slice", ["s", "one", "four", "zero", "far"], ["c"]),
             node("Cast", ["c"], ["f"], to=1), node("Mul", ["x", "f"], ["y"])]
    given = torch.rand(1, 3, 4, 4)
    made = computed(nodes, tensors_of(one=[1], four=[4], zero=[0], far=[STEP]), given, tmp_path / "net.onnx")
    assert torch.equal(made, given * 3)


@pytest.mark.parametrize("name", ["max", "self", "x1", "torch", "float"])
def test_names_of_python(name, tmp_path):
    node = onnx.helper.make_node
    nodes = [node("Shape", [name], ["s"]), node("Gather", ["s", "i"], ["h"]), node("Gather", ["s", "j"], ["w"]),
             node("Max", ["h", "w"], ["m"]), node("Cast", ["m"], ["f"], to=1), node("Mul", [name, "f"], ["y"])]
    model = graph_of(nodes, ["n", 3, "h", "w"], tensors=tensors_of(i=[2], j=[3]))
    model.graph.input[0].name = name
    result, network = convert(save(model, tmp_path / "net.onnx"))
    assert network, str(result)
    assert torch.equal(network(torch.ones(1, 3, 4, 5)), torch.full((1, 3, 4, 5), 5.0))


def test_convert_keeps_what_the_graph_tells(tmp_path):
    path = export(Enlarges(), tmp_path / "net.onnx")
    result, network = convert(path)
    assert network, str(result)
    assert inspected(path.with_suffix(".pt"))["contract"]["input"]["channels"]["value"] == 3
    other = support.execute([support.LAUNCHER, "convert", path, tmp_path / "net.safetensors"])
    assert other.returncode != 0 and "is an ONNX model; convert it to TorchScript" in other.stderr
