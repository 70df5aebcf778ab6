# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files of torch.export.save(): exported networks as PyTorch computes them, single operators from
files that are written here, which an older PyTorch can do too, and what is refused."""
import io
import json
import zipfile

import numpy
import pytest
import support
import torch
from checkpoint_files import ALL, convert, expect_two_inputs_and_outputs, inspected, picture, through_the_filter
from published import randomise
from torch import nn
from torch.nn import functional

can_export = hasattr(torch, "export") and hasattr(torch.export, "save")
exports = pytest.mark.skipif(not can_export, reason="this PyTorch has no torch.export")

# ---- files written by hand -------------------------------------------------------------------

NUMBERS = {torch.uint8: 1, torch.int8: 2, torch.int16: 3, torch.int32: 4, torch.int64: 5, torch.float16: 6,
           torch.float32: 7, torch.float64: 8, torch.bool: 12}


def argument(value):
    """As torch.export writes it: a text names a tensor, or a size that begins with "sym"."""
    if isinstance(value, dict):
        return value
    if value is None:
        return {"as_none": True}
    if isinstance(value, bool):
        return {"as_bool": value}
    if isinstance(value, str):
        return {"as_sym_int": {"as_name": value}} if value.startswith("sym") else {"as_tensor": {"name": value}}
    if isinstance(value, (int, float)):
        return {"as_int" if isinstance(value, int) else "as_float": value}
    if all(isinstance(each, str) and not each.startswith("sym") for each in value) and value:
        return {"as_tensors": [{"name": each} for each in value]}
    if any(isinstance(each, str) for each in value):
        return {"as_sym_ints": [{"as_name": each} if isinstance(each, str) else {"as_int": each} for each in value]}
    return {"as_ints": list(value)}


def node(target, outputs, **inputs):
    """An operator of aten, or another one with its whole name."""
    named = [{"name": name, "arg": argument(value)} for name, value in inputs.items()]
    whole = f"torch.ops.aten.{target}" if target[0] != "+" else target[1:]
    return {"target": whole, "inputs": named, "outputs": [argument(each) for each in outputs.split()], "metadata": {}}


def about(tensor):
    sizes, strides = ([{"as_int": each} for each in numbers] for numbers in (tensor.shape, tensor.stride()))
    return {"dtype": NUMBERS[tensor.dtype], "sizes": sizes, "strides": strides, "requires_grad": False,
            "storage_offset": {"as_int": tensor.storage_offset()}, "device": {"type": "cpu", "index": None}, "layout": 7}


def program(nodes, tensors, shape, outputs="y", inputs=("x",), out_spec="", changes=()):
    sizes = [{"as_int": each} if each > 0 else {"as_expr": {"expr_str": "Symbol('s')"}} for each in shape]
    values = {name: about(tensor) for name, tensor in tensors.items()}
    values |= {name: {**about(torch.zeros(1)), "sizes": sizes} for name in inputs}
    signature = {
        "input_specs": [{"parameter": {"arg": {"name": name}, "parameter_name": f"net.{name}"}} for name in tensors]
        + [{"user_input": {"arg": {"as_tensor": {"name": name}}}} for name in inputs],
        "output_specs": [{"user_output": {"arg": argument(name)}} for name in outputs.split()]}
    signature["output_specs"] += changes
    graph = {"inputs": [argument(name) for name in [*tensors, *inputs]], "nodes": nodes, "tensor_values": values,
             "outputs": [argument(name) for name in outputs.split()], "sym_int_values": {}, "sym_bool_values": {}}
    calls = [{"fqn": "", "signature": {"inputs": [], "outputs": [], "in_spec": "", "out_spec": out_spec}}]
    return {"graph_module": {"graph": graph, "signature": signature, "module_call_graph": calls}, "range_constraints": {},
            "opset_version": {"aten": 10}, "schema_version": {"major": 8, "minor": 2}, "torch_version": "2.6.0"}


def written(path, whole, tensors=(), newer=False, further=()):
    """In the older layout, or in the newer one."""
    text = whole if isinstance(whole, (str, bytes)) else json.dumps(whole)
    named = {f"net.{name}": tensor for name, tensor in dict(tensors).items()}
    records = {}
    if newer:
        places = {name: f"weight_{i}" for i, name in enumerate(named)}
        config = {name: {"path_name": places[name], "is_param": True, "use_pickle": False, "tensor_meta": about(tensor)}
                  for name, tensor in named.items()}
        for name, tensor in named.items():
            storage = tensor.as_strided((tensor.numel(),), (1,), 0)  # without gaps, in any order
            records[f"net/data/weights/{places[name]}"] = storage.numpy().tobytes()
        records |= {"net/data/weights/model_weights_config.json": json.dumps({"config": config}),
                    "net/data/constants/model_constants_config.json": json.dumps({"config": {}}),
                    "net/models/model.json": text, "net/archive_format": "pt2"}
    else:
        records["serialized_exported_program.json"] = text
        for name, value in (("state_dict", named), ("constants", {})):
            buffer = io.BytesIO()
            torch.save(value, buffer)
            records[f"serialized_{name}.pt"] = buffer.getvalue()
    with zipfile.ZipFile(path, "w") as archive:
        for name, contents in [*records.items(), *further]:
            archive.writestr(name, contents)
    return path


def refused(path):
    result, network = convert(path)
    assert network is None and result.returncode != 0
    (line,) = result.stderr.strip().splitlines()
    assert "\x1b" not in line
    return line


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def everything():
    """One program of many operators, its tensors, and the same in PyTorch."""
    tensors = {"weight": torch.rand(4, 3, 3, 3) - 0.5, "bias": torch.rand(4), "mean": torch.rand(4), "variance": 1 + torch.rand(4),
               "slope": torch.tensor([0.1, 0.2, 0.3, 0.4]), "order": torch.tensor([2, 0, 1, 3]),
               "few": torch.tensor([1, 2, 3, 4], dtype=torch.int32), "turned": torch.rand(4, 4).t(),
               "low": torch.tensor([0.0, float("-inf"), 0.0, 0.0]), "gain": torch.rand(4)}
    nodes = [
        node("sym_size.int", "sym_h", self="x", dim=2), node("sym_size.int", "sym_w", self="x", dim=3),
        node("+_operator.mod", "sym_m", a="sym_h", b=4), node("+_operator.sub", "sym_d", a=4, b="sym_m"),
        node("+_operator.mod", "sym_p", a="sym_d", b=4), node("+torch.sym_max", "sym_x", a="sym_h", b="sym_w"),
        node("_assert_scalar.default", "", self="sym_m", assert_msg={"as_string": "no \"good\""}),
        node("pad.default", "wide", self="x", pad=[0, 0, 0, "sym_p"], mode={"as_string": "reflect"}),
        node("convolution.default", "a", input="wide", weight="weight", bias="bias", stride=[1, 1], padding=[1, 1],
             dilation=[1, 1], transposed=False, output_padding=[0, 0], groups=1),
        node("_native_batch_norm_legit_no_training.default", "b b1 b2", input="a", weight="gain", bias="bias",
             running_mean="mean", running_var="variance", momentum=0.1, eps=1e-5),
        node("view.default", "s", self="slope", size=[1, 4, 1, 1]), node("_prelu_kernel.default", "c", self="b", weight="s"),
        node("slice.Tensor", "d", self="c", dim=2, start=None, end="sym_h"),
        node("index.Tensor", "e", self="d",
             indices={"as_optional_tensors": [{"as_none": True}, {"as_tensor": {"name": "order"}}]}),
        node("permute.default", "f", self="e", dims=[0, 2, 3, 1]),
        node("native_layer_norm.default", "g g1 g2", input="f", normalized_shape=[4], weight="gain", bias="bias", eps=1e-5),
        node("matmul.default", "h", self="g", other="turned"), node("add.Tensor", "i", self="h", other="low"),
        node("_safe_softmax.default", "j", self="i", dim=-1), node("mul.Tensor", "k", self="j", other="few"),
        {**node("split.Tensor", "", self="k", split_size=2, dim=-1), "outputs": [argument(["l", "l1"])]},
        node("sub.Tensor", "m", self="l", other="l1"), node("add_.Tensor", "n", self="m", other=0.25),
        node("max.dim", "o o1", self="n", dim=-1, keepdim=True), node("cat.default", "p", tensors=["n", "o"], dim=-1),
        node("rms_norm.default", "q", input="p", normalized_shape=[3]), node("permute.default", "r", self="q", dims=[0, 3, 1, 2]),
        node("mean.dim", "t", self="r", dim=[2, 3], keepdim=True), node("clamp.default", "u", self="t", max=0.9),
        node("mul.Tensor", "v", self="r", other="u"), node("div.Tensor_mode", "z", self="v", other=0.1,
                                                           rounding_mode={"as_string": "floor"}),
        node("mul.Tensor", "y", self="z", other="sym_x")]

    def network(x):
        h, w = x.shape[2:]
        wide = functional.pad(x, (0, 0, 0, (4 - h % 4) % 4), mode="reflect")
        made = functional.conv2d(wide, tensors["weight"], tensors["bias"], 1, 1)
        made = functional.batch_norm(made, tensors["mean"], tensors["variance"], tensors["gain"], tensors["bias"])
        made = functional.prelu(made, tensors["slope"])[:, :, :h][:, tensors["order"]].permute(0, 2, 3, 1)
        made = functional.layer_norm(made, [4], tensors["gain"], tensors["bias"]) @ tensors["turned"]
        made = (made + tensors["low"]).softmax(-1) * tensors["few"]
        made = made[..., :2] - made[..., 2:] + 0.25
        made = torch.cat((made, made.max(-1, keepdim=True)[0]), -1)
        made = made * ((made * made).mean(-1, keepdim=True) + torch.finfo(torch.float32).eps).rsqrt()
        made = made.permute(0, 3, 1, 2)
        made = made * made.mean((2, 3), keepdim=True).clamp(max=0.9)
        return torch.div(made, 0.1, rounding_mode="floor") * max(h, w)

    return nodes, tensors, network


@pytest.mark.parametrize("newer", [False, True])
def test_operators(newer, tmp_path):
    nodes, tensors, network = everything()
    path = written(tmp_path / "net.pt2", program(nodes, tensors, [-1, 3, -1, -1]), tensors, newer)
    result, made = convert(path)
    assert made, str(result)
    for height, width in ((16, 20), (13, 30)):
        given = torch.rand(2, 3, height, width)
        wanted, got = network(given), made(given)
        assert got.shape == wanted.shape
        assert ((got - wanted).abs() > 1e-4).float().mean() < 1e-3  # floor() may fall to the other side


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("mask", [None, torch.bool, torch.float32])
def test_attention(mask, causal, tmp_path):
    """LibTorch 1.13 has no operator of this name."""
    if mask and causal:
        pytest.skip("PyTorch takes one of them")
    query, key, value = (torch.rand(1, 3, 5, 4) for _ in range(3))
    tensors = {"key": key, "value": value}
    further = {}
    if mask:
        tensors["mask"] = torch.rand(5, 5) > 0.3 if mask is torch.bool else torch.randn(5, 5)
        further["attn_mask"] = "mask"
    nodes = [node("scaled_dot_product_attention.default", "y", query="x", key="key", value="value", is_causal=causal, **further)]
    path = written(tmp_path / "net.pt2", program(nodes, tensors, [1, 3, 5, 4]), tensors)
    result, made = convert(path)
    assert made, str(result)
    scores = query @ key.transpose(-1, -2) / 2
    if causal:
        scores = scores.masked_fill(~torch.ones(5, 5, dtype=torch.bool).tril(), float("-inf"))
    elif mask is torch.bool:
        scores = scores.masked_fill(~tensors["mask"], float("-inf"))
    elif mask:
        scores = scores + tensors["mask"]
    assert (made(query) - scores.softmax(-1) @ value).abs().max() < 1e-6


def leaf(count=1):
    return [{"type": None, "context": None, "children_spec": []} for _ in range(count)]


def test_several_inputs_and_outputs_by_name(tmp_path):
    nodes = [node("mul.Tensor", "a", self="picture", other="noise"), node("mul.Tensor", "b", self="picture", other=0.5)]
    spec = json.dumps([1, {"type": "builtins.dict", "context": json.dumps(["multiplied", "half.1"]), "children_spec": leaf(2)}])
    path = written(tmp_path / "net.pt2", program(nodes, {}, [-1, 3, -1, -1], "a b", ("picture", "noise"), spec))
    expect_two_inputs_and_outputs(path)


def test_a_graph_within_the_graph(tmp_path):
    """with torch.no_grad(): is one, whose names may be those outside."""
    inner = {"inputs": [argument("a")], "outputs": [argument("y")], "tensor_values": {},
             "nodes": [node("mul.Tensor", "y", self="a", other=3.0)]}
    block = {"target": "torch.ops.higher_order.wrap_with_set_grad_enabled", "metadata": {}, "outputs": [argument("b")],
             "inputs": [{"name": "", "arg": each} for each in (argument(False), {"as_graph": {"name": "g", "graph": inner}},
                                                               argument("x"))]}
    path = written(tmp_path / "net.pt2", program([block, node("add.Tensor", "y", self="b", other=1.0)], {}, [-1, 3, -1, -1]))
    result, made = convert(path)
    assert made, str(result)
    given = torch.rand(1, 3, 4, 5)
    assert torch.equal(made(given), given * 3 + 1)


def test_infinity_as_python_writes_it(tmp_path):
    nodes = [node("full_like.default", "a", self="x", fill_value=float("-inf")), node("maximum.default", "y", self="a", other="x")]
    path = written(tmp_path / "net.pt2", program(nodes, {}, [-1, 3, -1, -1]))
    assert b"-Infinity" in path.read_bytes()
    given = torch.rand(1, 3, 4, 5)
    assert torch.equal(convert(path)[1](given), given)


@pytest.mark.parametrize("nodes,is_fixed", [
    ([node("relu.default", "y", self="x")], False),
    ([node("slice.Tensor", "y", self="x", dim=0, start=0, end=2**63 - 1)], False),
    ([node("slice.Tensor", "y", self="x", dim=2, start=0, end=16)], True),
    ([node("view.default", "a", self="x", size=[1, 3, -1]), node("view.default", "y", self="a", size=[1, 3, 16, 24])], True),
])
def test_a_size_counts_if_an_operator_depends_on_it(nodes, is_fixed, tmp_path):
    told = inspected(written(tmp_path / "net.pt2", program(nodes, {}, [1, 3, 16, 24])))["contract"]["input"]
    assert told["channels"]["value"] == 3
    assert ("size" in told and told["size"]["value"] == [24, 16]) == is_fixed


# ---- what is refused --------------------------------------------------------------------------

IDENTITY = [node("relu.default", "y", self="x")]
MUTATION = [{"buffer_mutation": {"arg": {"name": "y"}, "buffer_name": "net.count"}}]


@pytest.mark.parametrize("whole,words", [
    (program([node("+torch.ops.higher_order.cond", "y", pred="x")], {}, [1, 3, 4, 4]), "not read here: torch.ops.higher_order.cond"),
    (program([node("from_file.default", "y", filename="x"), node("as_strided.default", "z", self="y")], {}, [1, 3, 4, 4]),
     "not read here: as_strided, from_file"),
    (program([node("+torch.ops.aten.relu\n.x", "y", self="x")], {}, [1, 3, 4, 4]), "not read here"),
    (program([node("relu.default", "y", self="z")], {}, [1, 3, 4, 4]), "uses z before it is made"),
    (program([node("relu.default", "y", self="y")], {}, [1, 3, 4, 4]), "uses y before it is made"),
    (program([*IDENTITY, node("relu.default", "x", self="y")], {}, [1, 3, 4, 4]), "makes x, which there is already"),
    (program([node("pad.default", "y", self="x", pad=[1, 1], mode={"as_string": 'x"); import os'})], {}, [1, 3, 4, 4]), "has mode"),
    (program([{**IDENTITY[0], "inputs": [{"name": "self", "arg": argument("x")}, {"name": "a=1)", "arg": argument(1)}]}], {},
             [1, 3, 4, 4]), "impossible name"),
    (program([node("add.Tensor", "y", self="x", other={"as_complex": {"real": 1.0, "imag": 2.0}})], {}, [1, 3, 4, 4]), "as_complex"),
    (program(IDENTITY, {}, [1, 3, 4, 4], changes=MUTATION), "model.eval()"),
    (program(IDENTITY, {}, [1, 3, 4, 4], inputs=("x", "x.1", "x_1")), "two inputs that are called x_1"),
    (program(IDENTITY, {"absent": torch.ones(1)}, [1, 3, 4, 4], "y absent"), "lacks the tensor net.absent"),
    (program(IDENTITY, {}, [1, 3, 4, 4], inputs=()), "without an input"),
    ("[" * 100000, "nested too deeply"),
    ("{\"graph_module\": 3}", "lacks graph"),
    ("{\"a\": 1, \"a\": 2}", "twice"),
    (b"\xff\xfe", "no JSON"),
])
def test_refused_in_one_line(whole, words, tmp_path):
    assert words in refused(written(tmp_path / "net.pt2", whole))


def test_a_weight_beyond_its_numbers(tmp_path):
    tensors = {"w": torch.rand(4)}
    path = written(tmp_path / "net.pt2", program([node("add.Tensor", "y", self="x", other="w")], tensors, [1, 3, 4, 4]), tensors, True)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name).replace(b'"sizes": [{"as_int": 4}]', b'"sizes": [{"as_int": 5}]')
                   for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, contents in members.items():
            archive.writestr(name, contents)
    assert "reaches beyond its numbers" in refused(path)


def test_several_programs(tmp_path):
    path = written(tmp_path / "net.pt2", program(IDENTITY, {}, [1, 3, 4, 4]), newer=True, further=[("net/models/other.json", "{}")])
    assert "several programs (model, other)" in refused(path)


def test_compiled_code(tmp_path):
    path = tmp_path / "net.pt2"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("net/archive_format", "pt2")
        archive.writestr("net/data/aotinductor/model/c1.wrapper.so", b"\x7fELF")
    line = refused(path)
    assert "AOTInductor" in line and "torch.export.save()" in line


def test_to_safetensors(tmp_path):
    path = written(tmp_path / "net.pt2", program(IDENTITY, {}, [1, 3, 4, 4]))
    result = support.execute([support.LAUNCHER, "convert", path, tmp_path / "net.safetensors"])
    assert result.returncode != 0 and "convert it to TorchScript" in result.stderr


# ---- networks ---------------------------------------------------------------------------------

# These loop over windows or pixels, of which an export makes thousands of operators each.
LOOPS = {"atd", "dat", "omnisr", "rgt"}
# The first of each other file in networks/.
TWINS = [name for name in {name.partition("-")[0]: name for name in reversed(ALL)}.values()
         if name.partition("-")[0] not in LOOPS][::-1]
KINDS = ("fixed", "dynamic", "decomposed")
# Exported for one size: PyTorch takes minutes for any size of the first two; 2.6 fails over -size % 128 < size in
# the third ("assert static_expr == hint") and over -size % 64 in the fourth ("too many values to unpack").
ONE_SIZE = {"hat", "tscunet", "cain", "scunet"}


def exported(network, given, path, kind="dynamic", **further):
    auto = getattr(torch.export.Dim, "AUTO", None)
    places = None if kind == "fixed" else ({2: auto, 3: auto},)
    made = torch.export.export(network, given, dynamic_shapes=places, strict=False, **further)
    torch.export.save(made.run_decompositions() if kind == "decomposed" else made, str(path))
    return path


@exports
@pytest.mark.parametrize("name", TWINS)
def test_same_pictures_as_pytorch(name, engine, tmp_path):
    """Each network in one of the ways, in turns."""
    case = ALL[name]
    network, given = randomise(case.make()), picture(case)
    kind = "fixed" if name.partition("-")[0] in ONE_SIZE else KINDS[TWINS.index(name) % len(KINDS)]
    path = exported(network, (given,), tmp_path / "net.pt2", kind)
    with torch.no_grad():
        wanted = network(given)[0].numpy()
    result = engine.run(path, given)
    assert not result.error
    assert result.picture.shape == wanted.shape
    assert numpy.abs(result.picture - wanted).max() <= 2 * case.tolerance * max(float(numpy.abs(wanted).max()), 1)


class Attends(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.all = nn.Conv2d(3, 16, 3, 1, 1), nn.LayerNorm(16), nn.Linear(16, 48)
        self.last, self.even = nn.Conv2d(16, 3, 3, 1, 1), nn.InstanceNorm2d(16, affine=True)
        self.register_buffer("mean", torch.rand(1, 3, 1, 1), persistent=False)

    def forward(self, picture, *, strength=0.5):
        # Within rows: within the picture, each size that is tried would take a square of its time.
        rows = self.norm(self.even(self.first(picture - self.mean)).permute(0, 2, 3, 1))
        q, k, v = self.all(rows).chunk(3, -1)
        mixed = functional.scaled_dot_product_attention(q, k, v)
        made = self.last(mixed.permute(0, 3, 1, 2)) * strength
        with torch.no_grad():
            edges = functional.pad(picture, (1, 1, 1, 1), mode="reflect")[:, :, 1:-1, 1:-1]
        made += edges
        made[:, 0] = made[:, 0] * 0.5
        return {"made": made, "others": [made.clamp(0, 1), made.argmax(1)]}


@exports
@pytest.mark.parametrize("is_decomposed", [False, True])
def test_dynamic_sizes_in_the_filter(is_decomposed, tmp_path):
    network = randomise(Attends())
    path = exported(network, (torch.rand(1, 3, 20, 24),), tmp_path / "net.pt2", "decomposed" if is_decomposed else "dynamic")
    assert [each["name"] for each in inspected(path)["outputs"]] == ["made", "others_0", "others_1"]
    for height, width in ((20, 24), (17, 31)):
        pictures = torch.rand(2, 3, height, width)
        with torch.no_grad():
            wanted = network(pictures)["made"]
        made = through_the_filter(path, pictures, ":output=made").reshape(wanted.shape)
        assert numpy.abs(made - wanted.numpy()).max() <= 5e-5
