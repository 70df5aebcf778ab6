# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`meson setup -Dtorch_prefix=DIR`: LibTorch from a folder, laid out as PyTorch's wheels are."""
import pathlib
import re
import shutil
import subprocess

import pytest
import support

LIBRARIES = ("torch", "torch_cpu", "c10")
# As the linker finds it.
SYSTEM = next(pathlib.Path("/usr/lib").glob("*/libtorch_cpu.so"), None)
OLD_STRING = "-D_GLIBCXX_USE_CXX11_ABI=0"

pytestmark = pytest.mark.skipif(not shutil.which("meson"), reason="meson is not installed")


def configure(folder, prefix):
    # Flags of the build that runs this, such as a sanitizer's, are not the ones to test with.
    command = ["meson", "setup", folder, support.REPOSITORY, "-Dtests=disabled", "-Dtorch=enabled"]
    return subprocess.run(
        [*command, f"-Dtorch_prefix={prefix}"], capture_output=True, text=True, timeout=300
    )


def compile_library(path, source, *flags):
    command = ["c++", "-shared", "-fPIC", "-x", "c++", *flags, "-o", str(path), "-"]
    subprocess.run(command, input=source, text=True, check=True, timeout=120)


@pytest.fixture
def prefix(tmp_path):
    """A LibTorch of which there is no more than a build looks at first."""
    folder = tmp_path / "torch"
    header = folder / "include/torch/csrc/jit/api/module.h"
    header.parent.mkdir(parents=True)
    header.touch()
    (folder / "lib").mkdir()

    def make(source, *flags):
        for name in LIBRARIES:
            compile_library(folder / "lib" / f"lib{name}.so", source, *flags)
        return folder

    return make


CHECK_FAIL = """
#include <cstdint>
#include <string>
namespace c10::detail {
void torchCheckFail(const char *, const char *, uint32_t, const std::string &) {}
}
"""


@pytest.mark.skipif(not SYSTEM, reason="LibTorch is not installed")
def test_a_whole_one(tmp_path):
    prefix, build = tmp_path / "torch", tmp_path / "build"
    (prefix / "lib").mkdir(parents=True)
    (prefix / "include").mkdir()
    for name in LIBRARIES:
        (prefix / f"lib/lib{name}.so").symlink_to(SYSTEM.with_name(f"lib{name}.so"))
    for name in ("ATen", "c10", "caffe2", "torch"):
        (prefix / "include" / name).symlink_to(f"/usr/include/{name}")
    result = configure(build, prefix)
    assert result.returncode == 0, result.stdout
    objects = "plugin/engine-torch.so.p/engines_torch_machine_"
    # One that takes seconds; what it includes is found there.
    done = subprocess.run(
        ["ninja", "-C", build, f"{objects}run_scope.cpp.o"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    rules = subprocess.check_output(
        ["ninja", "-C", build, "-t", "commands", "plugin/engine-torch.so"], text=True
    )
    link = rules.strip().splitlines()[-1]
    assert re.search(rf"-rpath,\S*{prefix}/lib", link), link
    assert f"{prefix}/lib/libtorch_cpu.so" in link
    assert f"-isystem{prefix}/include" in rules and OLD_STRING not in rules


def test_one_with_the_old_string(tmp_path, prefix):
    result = configure(tmp_path / "build", prefix(CHECK_FAIL, OLD_STRING))
    assert result.returncode == 0, result.stdout
    assert OLD_STRING in (tmp_path / "build/compile_commands.json").read_text()


@pytest.mark.parametrize("of_its_own", [False, True])
def test_one_with_a_onednn_of_its_own_has_no_fused_programs(tmp_path, prefix, of_its_own):
    """Two versions of the same functions would be mixed."""
    source = CHECK_FAIL + ('extern "C" void dnnl_version() {}' if of_its_own else "")
    result = configure(tmp_path / "build", prefix(source))
    assert result.returncode == 0, result.stdout
    if not re.search("Library dnnl found: YES", result.stdout):
        pytest.skip("oneDNN is not installed")
    assert re.search(r"oneDNN +: " + ("NO" if of_its_own else "YES"), result.stdout), result.stdout


def test_one_of_another_kind_is_refused(tmp_path, prefix):
    folder = prefix("int nothing;")
    result = configure(tmp_path / "build", folder)
    assert result.returncode == 1
    assert re.search(f"torch_prefix={folder} is of another C\\+\\+ library", result.stdout), result


def test_a_folder_without_libtorch_is_refused(tmp_path):
    result = configure(tmp_path / "build", tmp_path)
    assert result.returncode == 1
    assert re.search(f"torch_prefix={tmp_path} has no include/torch", result.stdout), result
