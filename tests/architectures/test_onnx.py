# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ONNX files: each operator as ONNX's own tests want it, exported networks as PyTorch computes them,
and what is refused."""
import collections
import inspect
import json
import re
import warnings

import numpy
import pytest
import support
import torch
from checkpoint_files import through_the_filter
from torch import nn
from torch.nn import functional

onnx = pytest.importorskip("onnx", reason="python3-onnx is not installed")

DOCUMENT = support.REPOSITORY / "docs" / "models.md"
# Inputs of these that say sizes must be constants, or follow from sizes.
SIZED = {"Clip", "ConstantOfShape", "Conv", "ConvTranspose", "CumSum", "DequantizeLinear", "Dropout", "Expand",
         "LayerNormalization", "PRelu", "Pad", "QuantizeLinear", "Range", "Reshape", "Resize", "Slice", "Split",
         "Squeeze", "Tile", "TopK", "Trilu", "Unsqueeze", "Upsample"}
# ONNX's own test has another size than the result (0.6 * 4 = 2.4), which no runtime follows; and a
# row of one pixel, which PyTorch takes from the middle.
OTHERWISE = {"test_resize_downsample_scales_linear_align_corners", "test_resize_downsample_scales_cubic_align_corners",
             "test_resize_downsample_sizes_linear_pytorch_half_pixel"}


def documented():
    """The operators that the page lists."""
    rows = re.search(r"^## ONNX$.*?^## ", DOCUMENT.read_text(), re.M | re.S)[0]
    return set(re.findall(r"`([A-Z]\w+)`", rows))


def convert(path):
    made = path.with_suffix(".pt")
    result = support.execute([support.LAUNCHER, "convert", "--force", path, made])
    return result, torch.jit.load(made) if result.returncode == 0 else None


def inspected(path):
    """Also of a model that needs an option."""
    return json.loads(support.execute([support.LAUNCHER, "inspect", "--json", path]).stdout)


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
    known, groups = documented(), collections.defaultdict(list)
    for case in cases:
        graph = case.model.graph
        if graph.node and all(node.op_type in known and not node.domain for node in graph.node) and is_of_numbers(case):
            version = max(each.version for each in case.model.opset_import if each.domain in ("", "ai.onnx"))
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
    """The model of those cases that are not refused, and the names of the others."""
    refused = []
    while cases:
        model, given, wanted = merged(cases, version)
        result, network = convert(save(model, path))
        if network:
            return network, given, wanted, refused
        found = re.search(r"is an ONNX model whose \w+ \((test_\w+)\) ", result.stderr)
        assert found, str(result)
        refused.append(found[1])
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
    known = re.compile("argmax_2d|training|output_shape|kernel_shape|exclude|cubic_A|cubic_asym|tf_crop|antialias|policy|neg_steps|"
                       "noop|reduces|exclusive|reverse|window|expanded|negative_axes|not_larger|not_smaller|axes")
    assert not [name for name in refused if not known.search(name)]
    assert len(set(passed)) > 500 and len(refused) < 100


def test_the_page_lists_them():
    listed = set()
    for name in ("arithmetic", "layers", "shapes"):
        source = (support.REPOSITORY / f"plugin/engines/torch/onnx/onnx_{name}.cpp").read_text()
        listed |= set(re.findall(r'^        \{"(\w+)", ', source, re.M))
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


NETWORKS = {"enlarges": Enlarges, "down-and-up": DownAndUp, "attends": Attends, "windows": LookDifferent}


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
def seed():
    torch.manual_seed(0)


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
    told = inspected(path)
    assert [each["name"] for each in told["inputs"]] == ["picture", "noise"]
    assert [each["name"] for each in told["outputs"]] == ["multiplied", "half_1"]
    pictures = torch.rand(2, 3, 20, 24)
    for output, factor in (("multiplied", 0.25), ("half_1", 0.5)):
        made = through_the_filter(path, pictures, f":inputs=noise=plane=0.25:output={output}").reshape(pictures.shape)
        assert numpy.abs(made - factor * pictures.numpy()).max() < 1e-6


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
    nodes = [node("NonMaxSuppression", ["x", "x"], ["a"]), node("Strange", ["a"], ["b"], domain="com.example"),
             node("Relu", ["b"], ["y"])]
    refused(save(graph_of(nodes, ["n", 3, "h", "w"]), tmp_path / "net.onnx"),
            r"not read here: NonMaxSuppression, com\.example\.Strange; use the model's PyTorch file")


def test_weights_in_another_file(tmp_path):
    weight = onnx.numpy_helper.from_array(numpy.ones((3, 3, 1, 1), numpy.float32), "w")
    weight.ClearField("raw_data")
    weight.data_location = 1
    weight.external_data.add(key="location", value="../secret")
    path = save(graph_of([onnx.helper.make_node("Conv", ["x", "w"], ["y"])], ["n", 3, "h", "w"], tensors=[weight]),
                tmp_path / "net.onnx")
    refused(path, r"tensor \(w\) whose numbers are in another file \(../secret\); write both into one: python3 -c")


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


def test_convert_keeps_what_the_graph_tells(tmp_path):
    path = export(Enlarges(), tmp_path / "net.onnx")
    result, network = convert(path)
    assert network, str(result)
    assert inspected(path.with_suffix(".pt"))["contract"]["input"]["channels"]["value"] == 3
    other = support.execute([support.LAUNCHER, "convert", path, tmp_path / "net.safetensors"])
    assert other.returncode != 0 and "is an ONNX model; convert it to TorchScript" in other.stderr
