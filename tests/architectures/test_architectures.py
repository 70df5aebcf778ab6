# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checkpoints of each architecture make what the network makes in PyTorch."""
import json
import pathlib
import re

import numpy
import pytest
import stand_ins
import support
import torch
from checkpoint_files import ALL, in_and_out, picture, save_safetensors, through_the_filter
from published import randomise
from torch.utils._python_dispatch import TorchDispatchMode


@pytest.mark.parametrize("name", ALL)
def test_same_pictures_as_pytorch(name, engine, tmp_path):
    case = ALL[name]
    network = randomise(case.make())
    save_safetensors(network.state_dict() | case.extras(), tmp_path / case.file)
    with torch.no_grad():
        wanted = network(picture(case))[0].numpy()
    assert float(wanted.std()) > 0.05, "too flat to show a fault"
    result = engine.run(tmp_path / case.file, picture(case))
    assert not result.error
    assert result.picture.shape == wanted.shape
    largest = max(float(numpy.abs(wanted).max()), 1)
    assert numpy.abs(result.picture - wanted).max() <= case.tolerance * largest
    assert result.told == {key: str(value) for key, value in case.told.items()}
    contract = json.loads(result.contract)
    is_global = case.is_global or sees_the_whole_picture(case, network)
    assert contract["tiling"] == ("global" if is_global else "local")
    assert contract["tiling"] in documented()[case.told["architecture"]][2].split(" or ")
    assert contract["scale"] == case.told["scale"]
    assert contract["input"]["channels"] == case.channels


def sees_the_whole_picture(case, network):
    """Whether what is far away changes the result."""
    height = 40 if case.told["architecture"] == "Real-CUGAN" else 24  # it adds 38 by reflection
    before = torch.rand((1, case.channels * case.frames, height, 240), generator=torch.Generator().manual_seed(5))
    after = before.clone()
    after[..., -40:] = 2 - after[..., -40:]
    with torch.no_grad():
        change = (network(after) - network(before))[..., : 8 * case.told["scale"]].abs().max()
    return float(change) > 1e-7


def test_in_the_filter(tmp_path):
    """As a user has it: bytes in, bytes out, and what `inspect` says of the file."""
    case = ALL["compact-x2"]
    network = randomise(case.make())
    path = tmp_path / "net.safetensors"
    save_safetensors(network.state_dict(), path)
    images = (picture(case) * 255).round()
    with torch.no_grad():
        wanted = (network(images / 255)[0] * 255).round().clamp(0, 255)
    width, height = case.size
    made = support.succeed(
        *("-f", "rawvideo", "-pixel_format", "rgb24", "-video_size", f"{width}x{height}"),
        *("-i", "-", "-vf", support.dnn(path, tune=0), "-f", "rawvideo", "-"),
        stdin=images[0].permute(1, 2, 0).numpy().astype("u1").tobytes(),
    ).stdout
    made = numpy.frombuffer(made, "u1").reshape(2 * height, 2 * width, 3).transpose(2, 0, 1)
    assert numpy.abs(made.astype(int) - wanted.numpy()).max() <= 1
    architecture = support.inspect(path)["architecture"]
    parameters = {"features": "16", "convolutions": "3", "activation": "prelu"}
    assert architecture == {"name": "Compact", "scale": 2, "parameters": parameters}


@pytest.mark.parametrize("name", ["denoisers-ffdnet-colour", "denoisers-fdncnn-colour"])
def test_a_noise_level_by_option(name, tmp_path, monkeypatch):
    case = ALL[name]
    network = randomise(case.make())
    path = tmp_path / "net.safetensors"
    save_safetensors(network.state_dict(), path)
    images = picture(case)
    usual = through_the_filter(path, images)
    monkeypatch.setitem(type(network).forward.__globals__, "NOISE", 0.7)
    with torch.no_grad():
        wanted = network(images)[0].reshape(3, -1).numpy()
    made = through_the_filter(path, images, ":inputs=sigma=0.7")
    assert numpy.abs(made - wanted).max() <= 2e-5 * numpy.abs(wanted).max()
    assert numpy.abs(made - usual).max() > 0.01


@pytest.mark.parametrize("name", [
    name for name, case in ALL.items() if (case.frames > 1 or case.has_states) and not case.is_between])
def test_frames_one_after_the_other(name, tmp_path):
    case = ALL[name]
    network = randomise(case.make())
    path = tmp_path / case.file
    save_safetensors(network.state_dict(), path)
    frames, wanted = in_and_out(case, network, 5)
    made = through_the_filter(path, frames, ":cuts=off").reshape(wanted.shape)
    assert numpy.abs(made - wanted.numpy()).max() <= 2 * case.tolerance * max(float(wanted.abs().max()), 1)


BETWEEN = [name for name, case in ALL.items() if case.is_between]


def quarters(case, network, first, second, *options):
    """The frames between two; halves of halves, if the network makes the middle alone."""

    def made(a, b, *further):
        return network(torch.cat((a, b))[None], *further)[0]

    if case.has_time:
        return [made(first, second, t, *options) for t in (0.25, 0.5, 0.75)]
    middle = made(first, second)
    return [made(first, middle), middle, made(middle, second)]


# The graphs of RIFE whose blocks may take a pair in both orders.
ENSEMBLES = [f"rife-{name}" for name in ("4.15", "4.14-lite", "4.7", "4.6", "4.4", "4.0", "4.0-far")]
OPTIONS = [(name, ()) for name in BETWEEN] + [(name, (0.5,)) for name in BETWEEN if ALL[name].has_time]
OPTIONS += [(name, (scale, True)) for name in ENSEMBLES for scale in (1, 0.5) if scale == 1 or name == "rife-4.7"]


@pytest.mark.parametrize("name,options", OPTIONS, ids=str)
def test_frames_between_two(name, options, tmp_path):
    """At several times, in the filter, with RIFE's scale and ensemble."""
    case = ALL[name]
    network = randomise(case.make())
    path = tmp_path / "flownet.pkl"
    torch.save(network.state_dict(), path)
    frames = torch.rand((3, 3, 23, 45), generator=torch.Generator().manual_seed(4))
    wanted = []
    with torch.no_grad():
        for first, second in zip(frames, frames[1:]):
            wanted += [first] + quarters(case, network, first, second, *options)
    wanted = torch.stack(wanted + 4 * [frames[2]])
    said = ":factor=4:cuts=off:inputs=" + "|".join(
        f"{option}={float(value):g}" for option, value in zip(("scale", "ensemble"), options))
    said = said.removesuffix(":inputs=")
    made = through_the_filter(path, frames, said, "dnn_torch_interpolate", 4).reshape(wanted.shape)
    assert numpy.abs(made - wanted.numpy()).max() <= 2 * case.tolerance * float(wanted.abs().max())
    assert (made[::4] == wanted[::4].numpy()).all()


@pytest.mark.parametrize("name,value,words", [
    ("rife-4.25", 1, ["inputs=ensemble: the model has no such input", "t, scale"]),
    ("rife-4.6", 0.5, ["inputs=ensemble=0.5: the model takes 0 or 1 there"])])
def test_an_ensemble_that_is_none(name, value, words, tmp_path):
    path = tmp_path / "flownet.pkl"
    torch.save(randomise(ALL[name].make()).state_dict(), path)
    graph = support.dnn(path, inputs=f"ensemble={value}").replace("dnn_torch", "dnn_torch_interpolate", 1)
    result = support.ffmpeg("-f", "lavfi", "-i", "testsrc=d=0.1", "-vf", graph, "-f", "null", "-")
    support.assert_fails_clearly(result, *words)


def test_a_network_of_another_filter(tmp_path):
    path = tmp_path / "flownet.pkl"
    torch.save(randomise(ALL["rife-4.25"].make()).state_dict(), path)
    result = support.ffmpeg("-f", "lavfi", "-i", "testsrc=d=0.1", "-vf", support.dnn(path), "-f", "null", "-")
    support.assert_fails_clearly(result, "dnn_torch_interpolate")
    told = support.execute([support.LAUNCHER, "inspect", path])
    assert told.returncode == 0 and b"-vf dnn_torch_interpolate=" in told.stdout, str(told)


def test_an_interpolator_in_bf16(tmp_path):
    path = tmp_path / "flownet.pkl"
    torch.save(randomise(ALL["rife-4.25"].make()).state_dict(), path)
    graph = support.dnn(path, tune=0, precision="bf16").replace("dnn_torch", "dnn_torch_interpolate", 1)
    result = support.succeed("-f", "lavfi", "-i", "testsrc=s=64x64:d=0.1", "-vf", graph, "-f", "null", "-")
    if "not implemented for 'BFloat16'; the model runs in fp32" in result.stderr:
        assert "avx512bw" not in pathlib.Path("/proc/cpuinfo").read_text(), result
        pytest.skip("on this processor, this LibTorch has no transposed convolutions in bf16")
    assert "bf16" in result.stderr and "cannot be used" not in result.stderr


@pytest.mark.parametrize("fault,words", [
    ({"block1.conv0.0.0.weight": (12, 27, 3, 3)}, "block1.conv0.0.0.weight has 27 channels, not 28"),
    ({"block2.lastconv.0.weight": (12, 24, 4, 4)}, "block2.lastconv.0.weight has 24 channels, not 52"),
    ({"block0.lastconv.0.weight": (24, 4, 4, 4)}, "another number of features"),
    ({"block5.lastconv.0.weight": (8, 52, 4, 4)}, "has 6 blocks"),
    ({"other": (3,)}, "not known there: other")], ids=str)
def test_an_interpolator_that_is_none_of_the_known(fault, words, engine, tmp_path):
    case = ALL["rife-4.25"]
    weights = randomise(case.make()).state_dict() | {name: torch.ones(shape) for name, shape in fault.items()}
    save_safetensors(weights, tmp_path / case.file)
    assert words in engine.run(tmp_path / case.file, picture(case)).error


def test_an_export_of_robust_video_matting(tmp_path):
    """Told by its arguments; the longer side of what it looks at has 512 pixels."""
    path = tmp_path / "net.pt"
    torch.jit.script(stand_ins.Recurrent()).save(str(path))
    frames = torch.rand((4, 4, 36, 640), generator=torch.Generator().manual_seed(4))
    states = "|".join(f"r{i}=state={i + 1}" for i in (1, 2, 3, 4))
    said = f":output=1:as=alpha:inputs={states}|downsample_ratio="
    made, same, other, given = (through_the_filter(path, frames, ":cuts=off" + further) for further in (
        "", said + "0.8", said + "0.5", ":inputs=downsample_ratio=0.5"))
    assert (made == same).all() and (given == other).all() and (made != other).any()
    foreground = through_the_filter(path, frames, ":cuts=off:output=0:as=picture")
    assert (foreground == frames.reshape(16, -1).numpy()).all()


@pytest.mark.parametrize("frames", ["-4..0", "-1..1"])
def test_frames_that_contradict_the_architecture(frames, tmp_path):
    """By their number, or only by which of them is the current one."""
    path = tmp_path / "net.safetensors"
    save_safetensors(randomise(ALL["fastdvdnet-colour"].make()).state_dict(), path)
    result = support.ffmpeg("-f", "lavfi", "-i", "testsrc=d=0.1", "-vf", support.dnn(path, frames=frames), "-f", "null",
                            "-")
    support.assert_fails_clearly(result, f"frames={frames}", "contradicts the model.s architecture", "takes -2..2")


FIRST = {case.told["architecture"]: name for name, case in reversed(ALL.items())}


@pytest.mark.parametrize("network", sorted(FIRST))
def test_a_missing_weight_is_named(network, engine, tmp_path):
    """Any of them: without it the picture would be another one."""
    case = ALL[FIRST[network]]
    whole = randomise(case.make()).state_dict()
    # Tables that are computed anew, what evaluation does not use, and VDSR's last layer: nothing
    # tells that there was one more.
    spare = re.compile(r"attn_mask|relative_position_index|eval_conv|^residual_layer\.\d+\.conv\.")
    names = [name for name in whole
             if whole[name].is_floating_point() and not spare.search(name)]
    path = tmp_path / case.file
    silent = []
    for name in names[:: max(1, len(names) // 8)]:
        save_safetensors({key: whole[key] for key in whole if key != name} | case.extras(), path)
        if not engine.run(path, picture(case)).error:
            silent.append(name)
    assert not silent


@pytest.mark.parametrize("network", sorted(FIRST))
def test_a_weight_of_another_shape_is_named(network, engine, tmp_path):
    """One without numbers, and a norm of another length: at once, and not by trying many sizes."""
    case = ALL[FIRST[network]]
    whole = randomise(case.make()).state_dict()
    kernels = [name for name in whole if name.endswith(".weight") and whole[name].dim() == 4]
    norms = [name for name in whole if name.endswith(("running_mean", "running_var"))]
    changed = {name: whole[name][:, :0] for name in kernels[:: max(1, len(kernels) // 4)]}
    changed |= {name: torch.cat([whole[name]] * 2) for name in norms[:: max(1, len(norms) // 4)]}
    path = tmp_path / case.file
    other = []
    for name, tensor in changed.items():
        save_safetensors(whole | {name: tensor} | case.extras(), path)
        error = engine.run(path, picture(case)).error
        if name not in error:
            other.append((name, error))
    assert not other


def test_weights_that_do_not_fit_each_other(tmp_path):
    """The model is refused once, and not at each size, nor for each number of channels."""
    whole = randomise(ALL["rvm-mobile"].make()).state_dict()
    name = "backbone.features.2.block.0.0.weight"
    path = tmp_path / "net.safetensors"
    save_safetensors(whole | {name: torch.cat([whole[name]] * 2, 1)}, path)
    result = support.ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x48:d=0.1", "-vf", support.dnn(path), "-f", "null", "-")
    support.assert_fails_clearly(result, "looks like RobustVideoMatting, but does not run with these weights",
                                 "expected input.* to have 32 channels")
    assert "luma" not in result.stderr and "filter dnn_torch_" not in result.stderr


@pytest.mark.parametrize("network", sorted(FIRST))
def test_a_network_that_lacks_a_weight_is_known_all_the_same(network, engine, tmp_path):
    """Also one of those by which it is recognised, if its shape can be guessed."""
    case = ALL[FIRST[network]]
    whole = randomise(case.make()).state_dict()
    names = [name for name in whole if name.endswith(".weight")]
    path = tmp_path / case.file
    unknown, other = [], []
    for name in dict.fromkeys(names[:6] + names[6:: max(1, len(names) // 8)] + names[-3:]):
        save_safetensors({key: whole[key] for key in whole if key != name} | case.extras(), path)
        error = engine.run(path, picture(case)).error
        if "not known here" in error:
            unknown.append(name)
        if "looks like " in error and "but lacks " in error and name not in error:
            other.append((name, error))
    # Each of its kernels has another size.
    assert (not unknown or network == "SRCNN") and not other


@pytest.mark.parametrize("names", [["conv1", "conv2", "fc1"], ["conv_first", "conv_last"],
                                   ["body.0", "head.0"], ["model.0"], ["input", "output"]])
def test_what_has_a_few_names_in_common_is_not_taken_for_a_network(names, engine, tmp_path):
    path = tmp_path / "net.safetensors"
    save_safetensors({f"{name}.weight": torch.ones(8, 8, 3, 3) for name in names}, path)
    error = engine.run(path, picture(ALL[FIRST["Compact"]])).error
    assert "not known here" in error, error


@pytest.mark.parametrize("network", sorted(FIRST))
def test_converted_to_torchscript(network, engine, tmp_path):
    """What convert writes is taken, and makes the same picture."""
    case = ALL[FIRST[network]]
    path, made = tmp_path / case.file, tmp_path / "made.pt"
    save_safetensors(randomise(case.make()).state_dict() | case.extras(), path)
    result = support.execute([support.LAUNCHER, "convert", path, made, "--isolate=0"])
    assert result.returncode == 0 and not result.stderr, str(result)
    wanted, given = (engine.run(each, picture(case)) for each in (path, made))
    assert not given.error and (given.picture == wanted.picture).all()


class Convolutions(TorchDispatchMode):
    """Counts the pictures that they get, transposed ones left out."""

    pictures = 0

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        if operator is torch.ops.aten.convolution.default and not args[6]:
            self.pictures += args[0].shape[0]
        return operator(*args, **(kwargs or {}))


def convolved(network, windows):
    """How many pictures its layers get, together."""
    with Convolutions() as convolutions:
        network(windows)
    return convolutions.pictures


@pytest.mark.parametrize("name", ["fastdvdnet-colour", "tscunet-five-frames"])
def test_windows_of_a_batch_share_what_they_have_in_common(name, tmp_path):
    """Those that follow one another; others, and the reflected ones of a border, share nothing."""
    case = ALL[name]
    path, made = tmp_path / case.file, tmp_path / "made.pt"
    save_safetensors(randomise(case.make()).state_dict() | case.extras(), path)
    result = support.execute([support.LAUNCHER, "convert", path, made, "--isolate=0"])
    assert result.returncode == 0, str(result)
    network = torch.jit.load(str(made))
    frames = torch.rand((9, case.channels, 24, 20), generator=torch.Generator().manual_seed(4))
    rows = [[4, 3, 2, 3, 4], [0, 1, 2, 3, 4], [1, 2, 3, 4, 5], [2, 3, 4, 5, 6], [4, 5, 6, 7, 8], [4, 5, 6, 7, 8]]
    windows = torch.stack([frames[row].flatten(0, 1) for row in rows])
    with torch.no_grad():
        alone = torch.cat([network(window[None]) for window in windows])
        assert (network(windows) - alone).abs().max() <= case.tolerance * alone.abs().max()
        follow, others = windows[1:4], windows[[0, 2, 5]]
        assert convolved(network, others) == 3 * convolved(network, windows[:1])
        assert convolved(network, follow) < 0.75 * convolved(network, others)


# Pairs of frames, each of which lies at another time: the same pair again, the next one, others, and
# one that begins with a frame of the pair before the last.  How many frames and pairs are encoded.
PAIRS = {
    "same": ([(0, 1), (0, 1), (0, 1)], 2, 1),
    "next": ([(0, 1), (1, 2), (2, 3)], 4, 3),
    "same-and-next": ([(0, 1), (0, 1), (1, 2), (1, 2)], 3, 2),
    "others": ([(0, 1), (2, 3), (4, 5)], 6, 3),
    "still": ([(0, 0), (0, 0), (0, 1)], 3, 2),
    "back": ([(0, 1), (2, 1), (1, 3), (1, 0)], 5, 4),
    "alone": ([(0, 1)], 2, 1),
}


@pytest.fixture(name="between", scope="module", params=["rife-4.25", "ifrnet-narrow"])
def between_fixture(request, tmp_path_factory):
    """The network's name, the network and the file that convert makes of it."""
    case, folder = ALL[request.param], tmp_path_factory.mktemp("between")
    network = randomise(case.make())
    save_safetensors(network.state_dict(), folder / "net.safetensors")
    result = support.execute([support.LAUNCHER, "convert", folder / "net.safetensors", folder / "net.pt", "--isolate=0"])
    assert result.returncode == 0, str(result)
    return request.param, network, str(folder / "net.pt")


@pytest.mark.parametrize("pairs", PAIRS)
def test_pairs_of_a_batch_are_encoded_once(pairs, between):
    """RIFE encodes frames; IFRNet pairs, because the mean of both is taken off."""
    rows, distinct, distinct_pairs = PAIRS[pairs]
    name, ours, path = between
    frames = torch.rand((6, 3, 40, 70), generator=torch.Generator().manual_seed(4))
    windows = torch.stack([frames[list(row)].flatten(0, 1) for row in rows])
    times = torch.linspace(0.2, 0.8, len(rows))
    planes = times[:, None, None, None].expand(-1, 1, *frames.shape[2:])
    with torch.no_grad():
        wanted = torch.cat([ours(window[None], t) for window, t in zip(windows, times)])
        made = torch.jit.load(path)
        assert (made(windows, planes) - wanted).abs().max() <= 1e-4 * wanted.abs().max()
        layers = {"rife-4.25": 5 * (2 + 8) * len(rows) + 3 * distinct,
                  "ifrnet-narrow": 4 * 6 * len(rows) + 2 * 8 * distinct_pairs}
        assert convolved(made, windows) == layers[name]


@pytest.mark.parametrize("batch", [2, 5])
def test_batches_of_windows_in_the_filter(batch, tmp_path):
    """A cut and the borders are among them."""
    case = ALL["fastdvdnet-colour"]
    path = tmp_path / case.file
    save_safetensors(randomise(case.make()).state_dict(), path)
    generator = torch.Generator().manual_seed(6)
    frames = torch.cat([torch.rand((1, 3, 24, 20), generator=generator).repeat(7, 1, 1, 1) * shade
                        for shade in (1.0, 0.3)])
    frames += 0.02 * torch.rand(frames.shape, generator=generator)
    alone, together = (through_the_filter(path, frames, f":workers=1:batch_size={each}") for each in (1, batch))
    assert numpy.abs(alone - together).max() < 2e-6


@pytest.mark.parametrize("prefix", ["", "generator."])
def test_basic_vsr_plus_plus(prefix, engine, tmp_path):
    """As its authors name the weights."""
    names = ["spynet.basic_module.0.basic_module.0.conv.weight", "deform_align.backward_1.weight",
             "backbone.backward_1.main.0.weight", "upsample1.upsample_conv.weight"]
    save_safetensors({prefix + name: torch.ones(8, 8, 3, 3) for name in names}, tmp_path / "net.safetensors")
    error = engine.run(tmp_path / "net.safetensors", picture(ALL[FIRST["Compact"]])).error
    assert "looks like BasicVSR++, which does not run from its weights: export it as TorchScript" in error


def test_a_table_without_numbers(engine, tmp_path):
    """The attention's window is read off its numbers."""
    case = ALL[FIRST["DAT"]]
    weights = randomise(case.make()).state_dict()
    for name in weights:
        if name.endswith("rpe_biases"):
            weights[name] = weights[name].new_empty((*weights[name].shape, 0))
    save_safetensors(weights, tmp_path / case.file)
    assert "rpe_biases has an extent of 0" in engine.run(
        tmp_path / case.file, picture(case)).error


def documented():
    """{network: (what is read off, scales, tiling)} from the table in docs/models.md."""
    rows = {}
    text = (support.REPOSITORY / "docs" / "models.md").read_text()
    for line in text.partition("## In one command")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 4 and cells[2][:1].isdigit():
            scales = {int(scale) for scale in cells[2].split(",")}
            rows[cells[0]] = {word for word in cells[1].split(", ")}, scales, cells[3]
    return rows


def test_the_table_in_the_docs():
    """It says what is tested, and nothing else."""
    tested = {}
    for case in ALL.values():
        told, scales = tested.setdefault(case.told["architecture"], (set(), set()))
        told |= set(case.told) - {"architecture", "scale"}
        scales.add(int(case.told["scale"]))
    assert {name: row[:2] for name, row in documented().items()} == tested


def test_the_readme_counts_them():
    text = (support.REPOSITORY / "README.md").read_text()
    counts = re.findall(r"(\d+) architectures|the (\d+) that the filter knows", text)
    told = "README.md counts architectures in two places; docs/models.md lists as many as its table has rows"
    assert [int(a or b) for a, b in counts] == [len(documented())] * 2, told
