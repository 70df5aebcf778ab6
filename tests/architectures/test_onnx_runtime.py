# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ONNX files with operators that are not read here, which ONNX Runtime runs where it is installed."""
import ctypes
import json
import os
import pathlib
import re

import detectors
import numpy
import pytest
import support
from checkpoint_files import convert, inspected, through_the_filter

onnx = pytest.importorskip("onnx", reason="python3-onnx is not installed")
pytest.importorskip("onnx.numpy_helper")
torch = pytest.importorskip("torch")

VARIABLE = "DNN_TORCH_ONNX_RUNTIME"
make = onnx.helper.make_node
# Not read here.
LAMBD, BIAS = 0.25, 0.125


def shrink(x, y):
    return make("Shrink", [x], [y], lambd=LAMBD, bias=BIAS)


def shrunk(x):
    return numpy.where(x < -LAMBD, x + BIAS, numpy.where(x > LAMBD, x - BIAS, 0)).astype(x.dtype)


def library():
    """Whether ONNX Runtime can be opened, as the engine does it."""
    named = os.environ.get(VARIABLE)
    names = [named] if named else ["libonnxruntime.so.1", *(f"libonnxruntime.so.1.{n}" for n in range(40, 17, -1))]
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


@pytest.fixture(scope="module", autouse=True)
def runtime():
    if not library():
        pytest.skip("ONNX Runtime is not installed")


def value(name, shape, kind=1):
    return onnx.helper.make_tensor_value_info(name, kind, shape)


def save(nodes, path, inputs=None, outputs=None, tensors=(), properties=()):
    graph = onnx.helper.make_graph(nodes, "net", inputs or [value("x", ["n", 3, "h", "w"])],
                                   outputs or [value("y", None)], list(tensors))
    opsets = [onnx.helper.make_opsetid("", 13), onnx.helper.make_opsetid("com.microsoft", 1)]
    model = onnx.helper.make_model(graph, opset_imports=opsets)
    model.ir_version = 8
    for key, text in properties:
        model.metadata_props.add(key=key, value=text)
    path.write_bytes(model.SerializeToString())
    return path


@pytest.fixture
def plain(tmp_path):
    return save([shrink("x", "y")], tmp_path / "net.onnx")


def pictures(count=2, channels=3, height=20, width=24):
    return torch.rand(count, channels, height, width, generator=torch.Generator().manual_seed(1))


def test_inspect_says_who_runs_it(plain):
    told = inspected(plain)
    version = re.search(r"run by ONNX Runtime (1\.\d+\.\d+)$", told["format"])
    assert version
    assert told["notice"] == (f"the model runs in ONNX Runtime {version[1]}, without fused programs: it is an ONNX model"
                              " with operators that are not read here: Shrink")


@pytest.mark.parametrize("isolate", [0, 1])
def test_nothing_else_is_printed(plain, isolate):
    """Debian's LibTorch and ONNX Runtime share a library that registers its operators twice."""
    graph = support.dnn(plain, tune=0, isolate=isolate)
    result = support.succeed("-f", "lavfi", "-i", "testsrc=s=64x48:d=0.1", "-vf", graph, "-f", "null", "-")
    assert "runs in ONNX Runtime" in str(result)
    assert "Schema" not in str(result) and "prints too much" not in str(result)


@pytest.mark.parametrize("options", [
    "isolate=0", "isolate=require", "isolate=0:optimize=0", "isolate=0:workers=3:nireq=5", "isolate=0:threads=2",
    "isolate=0:batch_size=2"])
def test_pictures(plain, options):
    images = pictures(5)
    made = through_the_filter(plain, images, f":{options}")
    assert numpy.array_equal(made, shrunk(images.numpy()).reshape(made.shape))


def test_weights_count_and_batches_agree(tmp_path):
    weights = torch.randn(12, 3, 3, 3, generator=torch.Generator().manual_seed(2)) / 10
    path = save([make("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]), shrink("a", "b"),
                 make("DepthToSpace", ["b"], ["y"], blocksize=2)], tmp_path / "up.onnx",
                tensors=[onnx.numpy_helper.from_array(weights.numpy(), "w")])
    images = pictures(4)
    features = shrunk(torch.nn.functional.conv2d(images, weights, padding=1).numpy())
    count, _, height, width = features.shape
    wanted = features.reshape(count, 2, 2, 3, height, width).transpose(0, 3, 4, 1, 5, 2).reshape(count, 3, 2 * height, 2 * width)
    for options in ("", ":batch_size=4", ":tile=16:isolate=1"):
        made = through_the_filter(path, images, options).reshape(wanted.shape)
        assert numpy.abs(made - wanted).max() <= 1e-5, options
    assert inspected(path)["parameters"] == {"count": 324, "bytes": 1296, "precision": "fp32"}


def test_a_chosen_output_and_extra_inputs(tmp_path):
    path = save([shrink("x", "a"), make("Mul", ["a", "gain"], ["out.1"]), make("Neg", ["x"], ["other"])],
                tmp_path / "net.onnx", [value("x", ["n", 3, "h", "w"]), value("gain", [])],
                [value("other", None), value("out.1", None)])
    images = pictures()
    made = through_the_filter(path, images, ":inputs=gain=0.5:output=out_1")
    assert numpy.abs(made - (0.5 * shrunk(images.numpy())).reshape(made.shape)).max() <= 1e-6


def test_a_state(tmp_path):
    """What the model returned for the frame before."""
    path = save([shrink("x", "a"), make("Add", ["a", "r"], ["y"]), make("Identity", ["a"], ["kept"])],
                tmp_path / "net.onnx", [value("x", ["n", 3, "h", "w"]), value("r", ["n", 3, "h", "w"])],
                [value("y", None), value("kept", None)])
    images = pictures(1) * torch.tensor([1, 0.98, 0.96]).reshape(3, 1, 1, 1)  # no cuts
    made = through_the_filter(path, images, ":inputs=r=state=kept/zeros:output=y")
    once = shrunk(images.numpy())
    wanted = once + numpy.concatenate([0 * once[:1], once[:-1]])
    assert numpy.abs(made - wanted.reshape(made.shape)).max() <= 1e-6


def test_bytes_with_channels_last(tmp_path):
    nodes = [make("Cast", ["x"], ["f"], to=1), shrink("f", "a"), make("Cast", ["a"], ["y"], to=2)]
    path = save(nodes, tmp_path / "net.onnx", [value("x", [1, "h", "w", 3], 2)], [value("y", [1, "h", "w", 3], 2)])
    assert {"type": "uint8", "layout": "nhwc"}.items() <= {
        name: field["value"] for name, field in inspected(path)["contract"]["input"].items()}.items()
    result = support.succeed("-f", "lavfi", "-i", "testsrc2=s=32x24:d=0.1,format=rgb24", "-vf",
                             support.dnn(path, tune=0), "-f", "rawvideo", "-")
    plain = support.succeed("-f", "lavfi", "-i", "testsrc2=s=32x24:d=0.1,format=rgb24", "-f", "rawvideo", "-")
    given = numpy.frombuffer(plain.stdout, numpy.uint8)
    wanted = shrunk(given.astype(numpy.float32)).astype(numpy.uint8)  # cuts off what is behind the point
    assert numpy.array_equal(numpy.frombuffer(result.stdout, numpy.uint8), wanted)


def test_half_precision(tmp_path):
    path = save([shrink("x", "y")], tmp_path / "net.onnx", [value("x", ["n", 3, "h", "w"], 10)], [value("y", None, 10)])
    images = pictures()
    made = through_the_filter(path, images)
    wanted = shrunk(images.half().numpy()).astype(numpy.float32)
    assert numpy.abs(made - wanted.reshape(made.shape)).max() <= 2e-3


def test_a_fixed_size(tmp_path):
    path = save([shrink("x", "y")], tmp_path / "net.onnx", [value("x", [1, 3, 20, 24])])
    images = pictures()
    made = through_the_filter(path, images)
    assert numpy.array_equal(made, shrunk(images.numpy()).reshape(made.shape))
    result = support.succeed("-f", "lavfi", "-i", "testsrc=s=64x48:d=0.1", "-vf", support.dnn(path, tune=0), "-f", "null", "-")
    assert "the model takes 24x20 alone: frames are scaled to it" in str(result)


def test_gray(tmp_path):
    path = save([shrink("x", "y")], tmp_path / "net.onnx", [value("x", ["n", 1, "h", "w"])])
    images = pictures(channels=1)
    made = through_the_filter(path, images)
    assert numpy.array_equal(made, shrunk(images.numpy()).reshape(made.shape))
    assert "channels    1" in str(support.execute([support.LAUNCHER, "inspect", path]).stdout.decode())


def test_weights_in_another_file(tmp_path):
    gains = onnx.numpy_helper.from_array(numpy.zeros((1, 3, 1, 1), numpy.float32), "g")
    gains.ClearField("raw_data")
    gains.data_location = 1
    for key, text in {"location": "net.data", "offset": "4", "length": "12"}.items():
        gains.external_data.add(key=key, value=text)
    (tmp_path / "net.data").write_bytes(b"skip" + numpy.array([1, 0.5, 0.25], "<f4").tobytes())
    path = save([shrink("x", "a"), make("Mul", ["a", "g"], ["y"])], tmp_path / "net.onnx", tensors=[gains])
    images = pictures()
    wanted = shrunk(images.numpy()) * numpy.array([1, 0.5, 0.25], numpy.float32).reshape(1, 3, 1, 1)
    for options in ("", ":isolate=1"):
        made = through_the_filter(path, images, options)
        assert numpy.abs(made - wanted.reshape(made.shape)).max() <= 1e-6
    (tmp_path / "net.data").unlink()
    result = support.ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x48:d=0.1", "-vf", support.dnn(path, tune=0), "-f", "null", "-")
    support.assert_fails_clearly(result, "net.data' cannot be opened: No such")


def test_a_detector(tmp_path):
    """Boxes as rows of six numbers, of a model with an operator that is not read."""
    boxes = numpy.array([[4, 8, 20, 24, 0.9, 1], [30, 30, 40, 44, 0.8, 0]], numpy.float32)
    nodes = [make("GlobalAveragePool", ["x"], ["m"]), shrink("m", "s"), make("ReduceSum", ["s"], ["t"], keepdims=0),
             make("Mul", ["t", "none"], ["z"]), make("Add", ["rows", "z"], ["y"])]
    path = save(nodes, tmp_path / "net.onnx",
                tensors=[onnx.numpy_helper.from_array(boxes, "rows"),
                         onnx.numpy_helper.from_array(numpy.zeros((), numpy.float32), "none")])
    records = tmp_path / "found.jsonl"
    graph = detectors.detect(path, decoder="boxes", size="frame", tune=0, destination=records, format="jsonl")
    support.succeed("-f", "lavfi", "-i", "testsrc=s=64x48:d=0.1", "-vf", graph, "-f", "null", "-")
    found = [json.loads(line) for line in records.read_text().splitlines()]
    assert found and all([round(box["confidence"], 4) for box in each["things"]] == [0.9, 0.8] for each in found)


# ---- what cannot be -----------------------------------------------------------------------------


def refused(path, *phrases, **options):
    result = support.ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x48:d=0.1", "-vf",
                            support.dnn(path, tune=0, **options), "-f", "null", "-")
    support.assert_fails_clearly(result, *phrases)


def test_what_onnx_runtime_does_not_know_either(tmp_path):
    path = save([make("Strange", ["x"], ["y"], domain="com.microsoft")], tmp_path / "net.onnx")
    refused(path, r"net.onnx' is an ONNX model .*; ONNX Runtime 1\.\S+ does not take it either: .*Strange")


def test_a_model_that_fails(tmp_path):
    path = save([shrink("x", "a"), make("Reshape", ["a", "s"], ["y"])], tmp_path / "net.onnx",
                tensors=[onnx.numpy_helper.from_array(numpy.array([1, 3, 7, 11]), "s")])
    refused(path, "Reshape")


@pytest.mark.parametrize("options,words", [
    ({"precision": "bf16"}, "as saved only"), ({"precision": "int8"}, "as saved only")])
def test_options_that_it_has_not(plain, options, words):
    refused(plain, words, **options)


def test_it_is_not_converted(plain):
    result, converted = convert(plain)
    assert converted is None and "not read here: Shrink" in str(result)


@pytest.mark.parametrize("options", [":isolate=0", ":isolate=1", ":isolate=0:batch_size=4"])
@pytest.mark.parametrize("kind", [1, 10, 11], ids=["float32", "float16", "float64"])
def test_an_input_is_returned(kind, options, tmp_path):
    """In the memory in which it came, which is freed or used again after the run."""
    path = save([make("Cast", ["x"], ["f"], to=1), shrink("f", "y")], tmp_path / "net.onnx",
                [value("x", ["n", 3, "h", "w"], kind)], [value("y", None), value("x", ["n", 3, "h", "w"], kind)])
    images = pictures(8)
    made = through_the_filter(path, images, options + ":output=x")
    wanted = (images.half().float() if kind == 10 else images).numpy()
    assert numpy.array_equal(made, wanted.reshape(made.shape))


def test_a_name_that_the_code_has(tmp_path):
    path = save([shrink("onnx_runtime", "made")], tmp_path / "net.onnx", [value("onnx_runtime", ["n", 3, "h", "w"])],
                [value("made", None)])
    images = pictures()
    made = through_the_filter(path, images)
    assert numpy.array_equal(made, shrunk(images.numpy()).reshape(made.shape))


# ---- tensors in other files ---------------------------------------------------------------------


def elsewhere(name, path, shape=(1, 3, 1, 1)):
    tensor = onnx.TensorProto(name=name, data_type=1, dims=shape, data_location=1)
    for key, text in {"location": str(path), "offset": "0", "length": str(4 * int(numpy.prod(shape)))}.items():
        tensor.external_data.add(key=key, value=text)
    return tensor


def sparse(name, path):
    indices = onnx.numpy_helper.from_array(numpy.arange(3), "i")
    return onnx.SparseTensorProto(values=elsewhere(name, path, (3,)), indices=indices, dims=[3])


def graph_before(path, graph):
    """Protocol Buffers merge the two graphs of the file."""
    path.write_bytes(onnx.ModelProto(ir_version=8, graph=graph).SerializeToString() + path.read_bytes())


def in_a_sparse_attribute(path, secret):
    constant = make("Constant", [], ["s"])
    constant.attribute.add(name="sparse_value", type=11, sparse_tensor=sparse("s", secret))
    save([constant, shrink("x", "a"), make("Identity", ["a"], ["y"])], path)


def in_an_attribute(path, secret):
    constant = make("Constant", [], ["s"])
    constant.attribute.add(name="value", type=4, t=elsewhere("s", secret))
    save([constant, shrink("x", "a"), make("Mul", ["a", "s"], ["y"])], path)


def in_a_graph_before(path, secret):
    save([shrink("x", "a"), make("Mul", ["a", "s"], ["y"])], path)
    graph_before(path, onnx.GraphProto(initializer=[elsewhere("s", secret)]))


def in_a_sparse_initialiser(path, secret):
    save([shrink("x", "y")], path)
    graph_before(path, onnx.GraphProto(sparse_initializer=[sparse("s", secret)]))


def in_a_function(path, secret):
    save([shrink("x", "y")], path)
    constant = make("Constant", [], ["s"])
    constant.attribute.add(name="value", type=4, t=elsewhere("s", secret))
    function = onnx.FunctionProto(name="F", domain="d", node=[constant], output=["s"])
    path.write_bytes(path.read_bytes() + onnx.ModelProto(functions=[function]).SerializeToString())


def in_training(path, secret):
    save([shrink("x", "y")], path)
    training = onnx.TrainingInfoProto(algorithm=onnx.GraphProto(initializer=[elsewhere("s", secret)]))
    path.write_bytes(path.read_bytes() + onnx.ModelProto(training_info=[training]).SerializeToString())


@pytest.mark.parametrize("location", ["{}/secret", "*/_ORT_MEM_ADDR_/*", "../secret"])
@pytest.mark.parametrize("hide", [
    in_a_sparse_attribute, in_an_attribute, in_a_graph_before, in_a_sparse_initialiser, in_a_function, in_training])
def test_no_other_file_is_read(hide, location, tmp_path):
    (tmp_path / "secret").write_bytes(numpy.array([1, 0.5, 0.25], "<f4").tobytes())
    path = tmp_path / "net.onnx"
    hide(path, location.format(tmp_path))
    refused(path, r"net.onnx' is an ONNX model|only a file beside the model is read", isolate=0)


def test_a_field_that_others_read_as_another(tmp_path):
    """Some readers take the low 32 bits of a field's number."""
    path = save([shrink("x", "y")], tmp_path / "net.onnx")
    path.write_bytes(path.read_bytes() + b"\xba\x80\x80\x80\x10" + b"\x00")  # 2**32 + field 7, no bytes
    refused(path, "is a damaged ONNX file")


# ---- what may not be ----------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"allow": "dnn_torch.run_onnx"}, {"allow": "dnn_torch.*"}])
def test_a_script_cannot_call_it(options, tmp_path):
    """Only code that the engine writes may use its operator."""
    declared = torch.library.Library("dnn_torch", "DEF")
    declared.define("run_onnx(Tensor[] inputs, int graph) -> Tensor[]")

    class Caller(torch.nn.Module):
        def forward(self, x):
            return torch.ops.dnn_torch.run_onnx([x], 1)[0]

    path = tmp_path / "net.pt"
    torch.jit.script(Caller()).save(str(path))
    refused(path, "uses dnn_torch::run_onnx, which no file may use", **options)


# Whose names here are shorter.
LONG_NAMES = {"ReleaseShapeInfo": "ReleaseTensorTypeAndShapeInfo"}


def test_places_in_the_table(tmp_path):
    """Those in the source are those in the library's header, where that is installed."""
    header = pathlib.Path("/usr/include/onnxruntime/onnxruntime_c_api.h")
    if not header.exists():
        pytest.skip("libonnxruntime-dev is not installed")
    source = (support.REPOSITORY / "plugin/engines/torch/onnx/onnx_runtime.cpp").read_text()
    places = re.findall(r"using (\w+) =\s+Slot<(\d+),", source)
    assert len(places) > 20
    checks = "".join(f"_Static_assert(offsetof(OrtApi, {LONG_NAMES.get(name, name)}) == {place} * sizeof(void *), "
                     f'"{name}");\n' for name, place in places)
    program = tmp_path / "places.c"
    program.write_text(f'#include <stddef.h>\n#include "{header}"\n{checks}')
    done = support.execute(["cc", "-fsyntax-only", program])
    assert done.returncode == 0, str(done)


def test_without_it(plain, monkeypatch):
    monkeypatch.setenv(VARIABLE, "0")
    refused(plain, "operators that are not read here: Shrink; use the model's PyTorch file, or install ONNX Runtime 1.18 or later")
    monkeypatch.setenv(VARIABLE, "/nonexistent/libonnxruntime.so.1")
    refused(plain, "or install ONNX Runtime 1.18 or later")
