# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the user named is no model that runs: one line says what is wrong and what is right."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pictures
import pytest
import support

# What every message about a file must do besides naming it: say what is wanted instead.
WHAT_TO_DO = r"torch\.jit|TorchScript|model="


def run(graph, **options):
    return support.ffmpeg(
        *pictures.raw_input("rgb24", 64, 48),
        *("-vf", graph, "-f", "null", "-"),
        stdin=pictures.raw(pictures.make_frames("rgb24", 64, 48, 3), "rgb24"),
        **options,
    )


def test_no_model_given():
    support.assert_fails_clearly(run("dnn_torch"), "model", r"dnn_torch=|model=")


def test_empty_model_given():
    support.assert_fails_clearly(run("dnn_torch=model="), "model")


def test_missing(tmp_path):
    path = tmp_path / "absent.pt"
    support.assert_fails_clearly(
        run(support.dnn(path)), str(path), "no such file|not exist|not found"
    )


def test_missing_folder(tmp_path):
    path = tmp_path / "absent" / "model.pt"
    support.assert_fails_clearly(
        run(support.dnn(path)), str(path), "no such file|not exist|not found"
    )


def test_directory(tmp_path):
    support.assert_fails_clearly(run(support.dnn(tmp_path)), str(tmp_path), "directory")


def test_unreadable(model):
    """As a user who may not read it; root may read everything."""
    user = {"user": 65534} if os.geteuid() == 0 else {}
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        path = folder / "model.pt"
        shutil.copy(model("identity"), path)
        path.chmod(0)
        folder.chmod(0o755)
        if user and subprocess.run(["test", "-x", support.LAUNCHER], **user).returncode != 0:
            pytest.skip("another user cannot reach the build folder")
        support.assert_fails_clearly(
            run(support.dnn(path), **user), str(path), "permission|denied|readable"
        )
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    "name,phrase",
    [
        ("file_empty", "empty"),
        ("file_text", "TorchScript"),
        ("file_garbage", "TorchScript"),
        ("file_truncated", "TorchScript|truncated|damaged|incomplete|cut"),
        ("file_pickle", r"torch\.jit"),
        ("file_state_dict", r"TorchScript|state_dict|weights|parameters"),
        ("file_pickled_module", r"TorchScript|torch\.jit"),
    ],
)
def test_no_torchscript(model, name, phrase):
    text = support.assert_fails_clearly(run(support.dnn(model(name))), name, phrase)
    if name not in ("file_empty", "file_truncated"):
        assert re.search(WHAT_TO_DO, text), f"does not say what to do: {text}"


@pytest.mark.parametrize("name", ["file_state_dict", "file_pickled_module"])
def test_saved_but_not_scripted(model, name):
    """The commonest mistake: torch.save where torch.jit.save is meant."""
    support.assert_fails_clearly(
        run(support.dnn(model(name))), name, r"torch\.jit\.(script|trace|save)"
    )


@pytest.mark.parametrize("size", [1, 4, 100, 1000, -1])
def test_cut_anywhere(model, tmp_path, size):
    path = tmp_path / "cut.pt"
    path.write_bytes(model("espcn_rgb").read_bytes()[:size])
    support.assert_fails_clearly(run(support.dnn(path)), "cut.pt")


def test_not_a_file():
    support.assert_fails_clearly(run(support.dnn("/dev/null")), "/dev/null")


@pytest.mark.parametrize("name,phrase", [("two_inputs", "sigma|input"), ("no_input", "input")])
def test_signature(model, name, phrase):
    support.assert_fails_clearly(run(support.dnn(model(name))), phrase)


@pytest.mark.parametrize("name", ["reads_file", "writes_file"])
def test_operator_that_reaches_outside(model, name, tmp_path):
    result = run(support.dnn(model(name)), cwd=tmp_path)
    support.assert_fails_clearly(result, "from_file" if name == "reads_file" else "save")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "option,value,phrases",
    [
        ("device", "nosuch", ["nosuch", "device"]),
        ("device", "cuda:97", ["cuda", "device|available|built"]),
        ("engine", "nosuch", ["nosuch", "engine"]),
        ("engine", "../torch", ["engine"]),
        ("backend_configs", "nosuch=1", ["nosuch"]),
        ("options", "nireq=many", ["many"]),
        ("options", "&&", ["options|backend_configs|key"]),
    ],
)
def test_option_that_makes_no_sense(model, option, value, phrases):
    support.assert_fails_clearly(run(support.dnn(model("identity"), **{option: value})), *phrases)


def test_allow_without_a_name(model):
    result = run(support.dnn(model("identity"), allow="+"))
    support.assert_fails_clearly(result, "allow takes names of operators")


@pytest.mark.parametrize("isolate", [0, 1])
def test_allow_of_what_there_is_not_is_told(model, isolate):
    allow = "relu+frob.*+quantized.*+as_strided+prim.If+torchvision.x+__setstate__+as_stridded"
    result = run(support.dnn(model("identity"), allow=allow, isolate=isolate))
    assert result.returncode == 0, str(result)
    told = re.search(r"allow=(.*) names nothing that this LibTorch has", result.stderr)
    assert told and told.group(1) == "as_stridded+frob.*", str(result)


@pytest.fixture
def one_core():
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, [min(before)])
    yield
    os.sched_setaffinity(0, before)


@pytest.mark.parametrize("threads, warns", [(4, False), (5, True)])
def test_many_more_threads_than_cores_are_told(model, one_core, threads, warns):
    result = run(support.dnn(model("identity"), threads=threads))
    assert result.returncode == 0, str(result)
    words = f"threads={threads} are many for the 1 core here, and slow: leave threads out"
    assert (words in result.stderr) == warns, str(result)


@pytest.mark.parametrize(
    "option",
    ["nireq=-1", "batch_size=0", "workers=-2", "threads=-1", "async=2", "dnn_backend=nosuch"],
)
def test_option_out_of_range(model, option):
    """ffmpeg's own check of the option's range; it says the words."""
    result = run(f"{support.dnn(model('identity'))}:{option}")
    assert result.returncode > 0, str(result)
    assert option.split("=")[0] in result.stderr
    assert "terminate called" not in result.stderr
