# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `meson install` installs: it works where it was put, and packages list all of it."""
import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DNN_TORCH_BUILD", ROOT / "build"))
SPEC = ROOT / "packaging" / "ffmpeg-dnn-torch.spec"
PKGBUILD = ROOT / "packaging" / "PKGBUILD"

sanitized = pytest.mark.skipif(
    "DNN_TORCH_SANITIZED" in os.environ, reason="the sanitizer's runtime must come first"
)


def output(*command):
    result = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=120, cwd=ROOT
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def need(program):
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    return program


@pytest.fixture(scope="module")
def directories():
    """Meson's directories (libdir and so on) by name, all below the prefix."""
    options = json.loads(output(need("meson"), "introspect", "--buildoptions", BUILD))
    found = {option["name"]: option["value"] for option in options}
    prefix = pathlib.Path(found["prefix"])
    names = ("bindir", "datadir", "includedir", "libdir", "mandir")
    return {"prefix": prefix, **{name: prefix / found[name] for name in names}}


@pytest.fixture(scope="module")
def installed(directories, tmp_path_factory):
    """Where everything was installed, a folder that knows nothing of the prefix."""
    destination = tmp_path_factory.mktemp("installed")
    output("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", destination)
    return destination


def files_below(folder):
    return {"/" + str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


# ---- what is installed --------------------------------------------------------


@sanitized
def test_an_installation_can_be_moved(installed, directories, tmp_path):
    moved = tmp_path / "elsewhere"
    shutil.copytree(str(installed) + str(directories["prefix"]), moved)
    launcher = moved / directories["bindir"].relative_to(directories["prefix"]) / "dnn-torch"
    modules = moved / directories["libdir"].relative_to(directories["prefix"]) / "dnn_torch"
    told = subprocess.run([launcher, "doctor"], capture_output=True, text=True, timeout=60).stdout
    assert f"preload object: {modules}/libdnn_torch_preload.so\n" in told
    assert f"served by {modules}/host-lavfi" in told
    listing = output(launcher, "run", "ffmpeg", "-hide_banner", "-h", "filter=dnn_torch")
    assert "batch_size" in listing


def test_libraries_are_where_nobody_links_with_them(installed, directories):
    modules = str(directories["libdir"] / "dnn_torch") + "/"
    objects = [path for path in files_below(installed) if path.endswith(".so")]
    assert len(objects) >= 2
    assert all(path.startswith(modules) for path in objects), objects


def test_man_page_names_what_is_installed(installed, directories):
    page = pathlib.Path(f"{installed}{directories['mandir']}/man1/dnn-torch.1").read_text()
    section = page.split("\n.Sh FILES\n")[1].split("\n.Sh ")[0]
    named = re.findall(r"^\.It Pa (/\S+)$", section, re.MULTILINE)
    assert len(named) >= 2
    assert set(named) <= files_below(installed)


# ---- packages that are not built here -------------------------------------------


def spec_lists(directories):
    """The paths and patterns of all %files of the spec, with this build's directories."""
    defines = []
    for macro, name in {"_bindir": "bindir", "_datadir": "datadir", "_includedir": "includedir",
                        "_libdir": "libdir", "_mandir": "mandir"}.items():
        defines += ["--define", f"{macro} {directories[name]}"]
    parsed = output(need("rpmspec"), "--parse", *defines, SPEC)
    sections = re.findall(r"^%files\b.*\n((?:(?!%files|%changelog).*\n)*)", parsed, re.MULTILINE)
    assert len(sections) == 3, parsed
    return [line for section in sections for line in section.split("\n") if line.startswith("/")]


@pytest.mark.skipif(not SPEC.exists(), reason="not in this tarball")
def test_spec_lists_what_is_installed(installed, directories):
    listed = spec_lists(directories)
    # Empty libraries are made for Debian's LibTorch alone.
    found = {path for path in files_below(installed) if "/dnn_torch/engine-torch-unused/" not in path}
    unlisted = {
        path for path in found
        if not any(path == entry or path.startswith(entry + "/") or fnmatch.fnmatch(path, entry)
                   for entry in listed)
    }
    assert not unlisted
    missing = {
        entry for entry in listed
        if not any(path == entry or path.startswith(entry + "/") or fnmatch.fnmatch(path, entry)
                   for path in found)
    }
    if not any(path.endswith("/engine-torch.so") for path in found):
        missing = {entry for entry in missing if not entry.endswith("/engine-torch.so")}
    assert not missing


@pytest.mark.skipif(not PKGBUILD.exists(), reason="not in this tarball")
def test_pkgbuild_is_read_by_bash():
    script = '. "$0"; declare -F build check package; echo "$pkgname $pkgver ${depends[*]}"'
    told = output(need("bash"), "-euc", script, PKGBUILD)
    assert told.splitlines()[:3] == ["build", "check", "package"]
    assert told.splitlines()[3].startswith("ffmpeg-dnn-torch ")


# ---- the version ------------------------------------------------------------------

# Everything else is made from meson.build's number.
REPEATED = {
    "NEWS": r"^ffmpeg-dnn-torch (\S+)",
    "debian/changelog": r"^ffmpeg-dnn-torch \((.*)-[^-]*\)",
    "packaging/ffmpeg-dnn-torch.spec": r"^Version: +(\S+)",
    "packaging/PKGBUILD": r"^pkgver=(\S+)",
}


@pytest.mark.parametrize("file", REPEATED)
def test_one_version(file):
    if not (ROOT / file).parent.exists():
        pytest.skip("not in this tarball")
    build = (ROOT / "meson.build").read_text()
    version = re.search(r"^  version: '(.*)',$", build, re.MULTILINE).group(1)
    repeated = re.search(REPEATED[file], (ROOT / file).read_text(), re.MULTILINE)
    assert repeated and repeated.group(1) == version
