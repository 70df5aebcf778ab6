# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import pathlib
import shutil
import subprocess
import sys
import zlib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import support


def pytest_sessionstart(session):
    tools = [support.FFMPEG] if support.PATCHED else [support.LAUNCHER, support.FFMPEG]
    for tool in tools:
        if not support.have(tool):
            pytest.exit(f"{tool} is not there; build the project first", returncode=1)


def pytest_addoption(parser):
    parser.addoption("--suite", help="the suite of meson's that these tests belong to; "
                     "DNN_TORCH_SHARES='models=1/4 fault=1/2' runs a part of some suites alone")


def pytest_collection_modifyitems(config, items):
    """What is tested in three suites for each change need not all be tested in each of them."""
    shares = dict(share.split("=") for share in os.environ.get("DNN_TORCH_SHARES", "").split())
    share = shares.get(config.getoption("--suite"))
    if not share:
        return
    number, count = map(int, share.split("/"))
    mine = [item for item in items
            if zlib.crc32(item.nodeid.encode()) % count == number - 1]
    config.hook.pytest_deselected(items=[item for item in items if item not in mine])
    items[:] = mine


def make_models(folder):
    script = support.TESTS / "models" / "make_models.py"
    subprocess.run([sys.executable, str(script), str(folder)], check=True, timeout=300)
    return folder


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Where the fixture models lie: made by the build, or here where there was none."""
    given = os.environ.get("DNN_TORCH_TEST_MODELS", str(support.BUILD / "tests" / "models"))
    folder = pathlib.Path(given)
    if (folder / "made").exists():
        return folder
    return make_models(tmp_path_factory.mktemp("models"))


@pytest.fixture
def model(models):
    """The path of a fixture model by its name."""

    def path(name):
        found = models / f"{name}.pt"
        assert found.exists(), f"make_models.py makes no {name}"
        return found

    return path


@pytest.fixture(scope="session")
def fake_in_place_of_torch(tmp_path_factory):
    """A folder in which the fake engine has the name of the usual one."""
    folder = tmp_path_factory.mktemp("engines")
    (folder / "engine-torch.so").symlink_to(pathlib.Path(support.FAKE_ENGINE_DIR, "engine-fake.so"))
    return folder


@pytest.fixture
def quick_model(fake_in_place_of_torch, tmp_path, monkeypatch):
    """As `model`, with the same results, for tests of what no engine sees: LibTorch takes ten
    times as long to begin as the fake engine."""
    monkeypatch.setenv("DNN_TORCH_MODULE_PATH", str(fake_in_place_of_torch))
    folder = tmp_path / "quick"
    folder.mkdir()
    scripts = {
        "invert": "gain -1\noffset 1",
        "stretch": f"gain 2\noffset {-64 / 255}",
        "enlarge2": "scale 2",
        "enlarge3": "scale 3",
        "halve": "scale 1/2",
    }

    def path(name):
        (folder / f"{name}.pt").write_text(scripts[name] + "\n")
        return folder / f"{name}.pt"

    return path


@pytest.fixture
def script(tmp_path):
    """A fake engine's model: script(fail_at=3, scale=2) writes one and returns its path."""
    if not pathlib.Path(support.FAKE_ENGINE_DIR, "engine-fake.so").exists():
        pytest.fail(f"no engine-fake.so in {support.FAKE_ENGINE_DIR}")

    def write(**settings):
        path = tmp_path / f"script{len(list(tmp_path.iterdir()))}.txt"
        path.write_text("".join(f"{key} {value}\n" for key, value in settings.items()))
        return path

    return write


@pytest.fixture
def need():
    """Skips what an ffmpeg that somebody built lacks; the distribution's own must have it all."""

    def check(**needs):
        missing = support.lacks(**needs)
        if missing and support.OWN_FFMPEG:
            pytest.skip(f"this ffmpeg was built without: {missing}")
        assert not missing, f"this ffmpeg lacks: {missing}"

    return check


@pytest.fixture
def program():
    """An optional program; program("mpv") skips the test where it is not installed."""

    def find(name):
        if not support.have(name):
            pytest.skip(f"{name} is not installed")
        return shutil.which(name)

    return find
