# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`dnn-torch devices`, with the real loader of Level Zero and drivers that do what a test wants."""
import ctypes.util
import json
import os
import pathlib
import re
import subprocess
import time

import pytest
import support

HERE = pathlib.Path(support.MODULES)
DRIVER = HERE / "fake_ze_driver.so"
PROBE = pathlib.Path(support.LAUNCHER).with_name("device-probe")

# What an engine lists that was built with everything and finds nothing.
NOTHING = "cpu|||1|;cuda|||5|this LibTorch finds no CUDA device;xpu|||5|this LibTorch finds no XPU"
WITHOUT = (
    "cpu|||1|;cuda|||2|LibTorch was built without CUDA|take pytorch.org's;"
    "xpu|||2|LibTorch was built without XPU|take pytorch.org's"
)

# Beyond the limit of a probe, with some time to spare.
PROBE_LIMIT = 10
TIME_LIMIT = 60

need_loader = pytest.mark.skipif(
    not ctypes.util.find_library("ze_loader"), reason="libze1 is not installed"
)
need_driver = pytest.mark.skipif(
    not DRIVER.exists(), reason="libze-dev was not there when the tests were built"
)


def run(*arguments, engine=NOTHING, driver=None, limit=TIME_LIMIT, **env):
    variables = {key: value for key, value in os.environ.items() if not key.startswith("ZE_")}
    variables["DNN_TORCH_MODULE_PATH"] = str(HERE)
    variables["LISTING_ENGINE"] = engine
    if driver:
        variables["FAKE_ZE"] = driver
        variables["ZE_ENABLE_ALT_DRIVERS"] = str(DRIVER)
    variables.update(env)
    result = subprocess.run(
        [support.LAUNCHER, "devices", *arguments],
        env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit,
    )
    assert result.returncode == 0, result
    assert not result.stderr, result.stderr
    return result.stdout


def devices(**options):
    return json.loads(run("--json", **options))


def entry(report, name):
    return next(device for device in report["devices"] if device["device"] == name)


def hidden(library):
    return {"LD_AUDIT": str(HERE / "hide_library.so"), "HIDE_LIBRARY": library}


# ---- Level Zero, one layer after the other ----------------------------------

CASES = {
    "no-device": ("driver finds no device", "/dev/dri"),
    "nothing-to-drive": ("driver finds no device .it says UNINITIALIZED", "/dev/dri"),
    "failing-init": ("does not start: DEVICE_LOST, 0x70000001", "update the driver"),
    "crashing-init": (r"crashes when it is asked \(", "update the driver"),
    "old-api": (r"speaks Level Zero 1\.0, which is older than 1\.\d", "update the driver"),
    "two-devices": ("this LibTorch finds no XPU", "go together"),
}


@need_loader
@need_driver
@pytest.mark.parametrize("driver", CASES)
def test_what_is_in_the_way(driver):
    xpu = entry(devices(driver=driver), "xpu")
    reason, remedy = CASES[driver]
    assert not xpu["usable"]
    assert re.search(reason, xpu["reason"]), xpu
    assert remedy in xpu["remedy"]


@need_loader
@need_driver
@pytest.mark.parametrize("driver", ["hanging-init", "hanging-load"])
def test_a_driver_that_hangs_is_given_up(driver):
    start = time.monotonic()
    report = devices(driver=driver)
    assert PROBE_LIMIT <= time.monotonic() - start < TIME_LIMIT
    assert f"does not answer within {PROBE_LIMIT} s" in entry(report, "xpu")["reason"]
    assert entry(report, "cpu")["usable"]


@need_loader
@need_driver
@pytest.mark.parametrize("driver", ["two-devices", "printing"])
def test_two_devices(driver):
    level_zero = devices(driver=driver)["level_zero"]
    assert level_zero["drivers"] == 1
    assert "libze_loader.so.1" in level_zero["loader"]
    assert [device["name"] for device in level_zero["devices"]] == [
        "Fake Graphics 1", "Fake Graphics 2",
    ]
    first = level_zero["devices"][0]
    assert first["type"] == "gpu"
    assert first["memory_bytes"] == 8 << 30
    assert first["compute_units"] == 2 * 4 * 16
    assert first["driver_version"] == "1.3.27191"
    assert first["api_version"] == "1.4"
    assert not first["usable"] and "finds no XPU" in first["reason"]


@need_loader
@need_driver
def test_what_libtorch_lists_is_usable():
    report = devices(
        driver="two-devices", engine="cpu|||1|;cuda|||5|none;xpu:0|Fake Graphics 1|8589934592|1|"
    )
    assert entry(report, "xpu:0")["usable"]
    assert report["auto"] == "xpu:0"
    first, second = report["level_zero"]["devices"]
    assert first["usable"] and first["device"] == "xpu:0"
    assert not second["usable"] and "does not list it" in second["reason"]


@need_loader
@need_driver
def test_other_kinds_of_devices_are_not_for_libtorch():
    (npu,) = devices(driver="npu")["level_zero"]["devices"]
    assert npu["type"] == "npu"
    assert not npu["usable"] and "GPUs alone" in npu["reason"]


@need_loader
def test_no_driver():
    xpu = entry(devices(ZE_ENABLE_ALT_DRIVERS="libze_nobody.so.1"), "xpu")
    assert "loader finds no driver" in xpu["reason"]
    assert "libze-intel-gpu1" in xpu["remedy"]


@need_loader
def test_a_driver_that_cannot_be_loaded(tmp_path):
    broken = tmp_path / "libze_broken.so.1"
    broken.write_text("no library")
    xpu = entry(devices(ZE_ENABLE_ALT_DRIVERS=str(broken)), "xpu")
    assert re.search(f"driver cannot be loaded: .*{broken}.*too short", xpu["reason"]), xpu


@pytest.mark.skipif(
    os.environ.get("DNN_TORCH_SANITIZED") == "thread",
    reason="its runtime does not go together with an auditor",
)
def test_no_loader():
    report = devices(**hidden("libze_loader.so"))
    assert report["level_zero"]["loader"] is None
    assert entry(report, "xpu")["reason"] == "there is no Level Zero loader"
    assert "libze1" in entry(report, "xpu")["remedy"]


def test_a_loader_that_cannot_be_loaded(tmp_path):
    (tmp_path / "libze_loader.so.1").write_text("no library")
    xpu = entry(devices(LD_LIBRARY_PATH=str(tmp_path)), "xpu")
    assert re.search("loader cannot be loaded: .*too short", xpu["reason"]), xpu


# ---- NVIDIA's driver --------------------------------------------------------


@pytest.fixture
def nvidia(tmp_path):
    """The report where NVIDIA's driver does what is wanted."""
    (tmp_path / "libcuda.so.1").symlink_to(HERE / "fake_cuda.so")

    def report(behaviour, **options):
        return devices(LD_LIBRARY_PATH=str(tmp_path), FAKE_CUDA=behaviour, **options)

    return report


def test_the_driver_names_what_libtorch_only_counts(nvidia):
    report = nvidia("two-devices", engine="cpu|||1|;cuda:0|||1|;cuda:1|||6|it is too old")
    assert report["nvidia"]["cuda_version"] == "12.4"
    assert entry(report, "cuda:0")["description"] == "Fake GeForce 1"
    assert entry(report, "cuda:0")["memory_bytes"] == 8 << 30
    assert entry(report, "cuda:1")["description"] == "Fake GeForce 2"
    assert not entry(report, "cuda:1")["usable"]
    assert report["auto"] == "cuda:0"


def test_what_libtorch_says_itself_stays(nvidia):
    report = nvidia("two-devices", engine="cpu|||1|;cuda:0|Mine|7|1|;cuda:1|||1|")
    assert (entry(report, "cuda:0")["description"], entry(report, "cuda:0")["memory_bytes"]) == (
        "Mine", 7,
    )


def test_another_count_names_nothing(nvidia):
    report = nvidia("two-devices", engine="cpu|||1|;cuda:0|||1|")
    assert entry(report, "cuda:0")["description"] is None


NVIDIA_CASES = {
    "no-device": "LibTorch finds no CUDA device",
    "two-devices": "finds no CUDA device, though NVIDIA's driver does",
    "mismatch": "does not start: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803",
    "crashing-init": r"NVIDIA's driver crashes when it is asked \(",
}


@pytest.mark.skipif(
    any(os.path.exists(path) for path in ("/dev/nvidiactl", "/dev/kfd")),
    reason="a GPU is there, whose files may not be for this user",
)
@pytest.mark.parametrize("driver", NVIDIA_CASES)
def test_what_is_in_the_way_of_cuda(nvidia, driver):
    cuda = entry(nvidia(driver), "cuda")
    assert not cuda["usable"]
    assert re.search(NVIDIA_CASES[driver], cuda["reason"]), cuda
    assert cuda["remedy"]


@pytest.mark.parametrize("value", ["-1", ""])
def test_devices_that_a_variable_hides(nvidia, value):
    cuda = entry(nvidia("no-device", CUDA_VISIBLE_DEVICES=value), "cuda")
    assert "finds no CUDA device" in cuda["reason"]
    assert f"CUDA_VISIBLE_DEVICES is '{value}'" in cuda["remedy"]


def test_nvidias_driver_that_hangs_is_given_up(nvidia):
    start = time.monotonic()
    report = nvidia("hanging-init")
    assert PROBE_LIMIT <= time.monotonic() - start < TIME_LIMIT
    assert f"does not answer within {PROBE_LIMIT} s" in report["nvidia"]["reason"]
    assert entry(report, "cpu")["usable"]


def test_nvidias_driver_that_cannot_be_loaded(tmp_path):
    (tmp_path / "libcuda.so.1").write_text("no library")
    report = devices(LD_LIBRARY_PATH=str(tmp_path))
    assert re.search("cannot be loaded: .*too short", report["nvidia"]["reason"]), report


# ---- LibTorch ---------------------------------------------------------------


def test_built_without():
    report = devices(engine=WITHOUT)
    for kind, name in ("cuda", "CUDA"), ("xpu", "XPU"):
        assert entry(report, kind)["reason"] == f"LibTorch was built without {name}"
        assert "pytorch.org" in entry(report, kind)["remedy"]
    assert report["auto"] == "cpu"


@pytest.mark.parametrize(
    "behaviour, reason",
    [
        ("crash", r"crashes when it is asked for its devices \("),
        ("hang", f"does not tell its devices within {PROBE_LIMIT} s"),
        ("abi", "speaks engine ABI"),
    ],
)
def test_an_engine_that_does_not_answer(behaviour, reason):
    report = devices(engine=behaviour)
    for device in "cpu", "cuda", "xpu":
        assert not entry(report, device)["usable"]
        assert re.search(reason, entry(report, device)["reason"]), report


def test_an_engine_without_a_list():
    report = devices(engine="no-list")
    assert entry(report, "cpu")["usable"]
    assert "listing 1 runs on the CPU alone" in entry(report, "cuda")["reason"]


def test_more_devices_than_fit_at_once():
    names = [f"cuda:{i}" for i in range(40)]
    report = devices(engine=";".join(f"{name}|GPU|1|1|" for name in names))
    assert [device["device"] for device in report["devices"]] == ["cpu", *names, "xpu"]


def test_an_engine_that_is_none(tmp_path):
    (tmp_path / "engine-torch.so").write_text("no library")
    report = devices(DNN_TORCH_MODULE_PATH=str(tmp_path))
    assert "engine cannot be loaded" in entry(report, "cpu")["reason"]


# ---- what is printed --------------------------------------------------------


def test_the_table_says_why_below_each_no():
    lines = run(engine=WITHOUT).splitlines()
    assert re.match(r"cpu +yes +\S", lines[1])
    assert re.match(r"cuda +no +none$", lines[2])
    assert lines[3].startswith(" " * 10 + "LibTorch was built without CUDA; ")


def test_cores_follow_the_affinity():
    core = min(os.sched_getaffinity(0))
    command = ["taskset", "--cpu-list", str(core), support.LAUNCHER, "devices", "--json"]
    result = subprocess.run(command, capture_output=True, timeout=TIME_LIMIT, check=True)
    assert json.loads(result.stdout)["cpu"]["usable_cores"] == 1


def test_words_that_are_no_options_are_refused():
    result = subprocess.run([support.LAUNCHER, "devices", "--all"], capture_output=True, timeout=60)
    assert result.returncode == 2
    assert b"usage" in result.stderr


@pytest.mark.parametrize(
    "arguments", [[], ["cpus"], ["torch"], ["level-zero", "x"], ["cuda", "x"]]
)
def test_the_probe_refuses_what_it_does_not_know(arguments):
    result = subprocess.run([PROBE, *arguments], capture_output=True, text=True, timeout=60)
    assert result.returncode == 2
    assert "usage" in result.stderr and "end" not in result.stdout


# ---- the truth --------------------------------------------------------------


@pytest.mark.skipif(
    not PROBE.with_name("engine-torch.so").exists(), reason="the LibTorch engine is not built"
)
def test_this_machine():
    import torch

    variables = {key: value for key, value in os.environ.items() if key != "DNN_TORCH_MODULE_PATH"}
    result = subprocess.run(
        [support.LAUNCHER, "devices", "--json"],
        env=variables, capture_output=True, text=True, timeout=TIME_LIMIT, check=True,
    )
    report = json.loads(result.stdout)
    assert entry(report, "cpu")["usable"]
    # Debian's Python package adds letters: 1.13.0a0.
    assert report["engine"]["version"] == re.match(r"[\d.]+", torch.__version__).group().rstrip(".")
    assert report["cpu"]["usable_cores"] <= len(os.sched_getaffinity(0))
    listed = [device["device"] for device in report["devices"] if device["usable"]]
    assert any(name.startswith("cuda") for name in listed) == torch.cuda.is_available()
