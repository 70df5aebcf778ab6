# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What our objects export and link to, and how the preload object finds its way."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DNN_TORCH_BUILD", ROOT / "build"))
PLUGIN = BUILD / "plugin"
ABI = BUILD / "tests" / "abi"
PRELOAD = PLUGIN / "libdnn_torch_preload.so"
LAUNCHER = PLUGIN / "dnn-torch"
HOST = next(PLUGIN.glob("host-lavfi*.so"))
HOST_MAJOR = int(re.search(r"\d+", HOST.stem.split("lavfi")[1]).group())
FAKE = BUILD / "tests" / "fake_engine"

sanitized = pytest.mark.skipif(
    "DNN_TORCH_SANITIZED" in os.environ, reason="the sanitizer's runtime must come first"
)


def output(*command, **env):
    result = subprocess.run(
        list(map(str, command)),
        env={**os.environ, **{key: str(value) for key, value in env.items()}},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120,
    )
    return result


def exports(path):
    lines = output("nm", "-D", "--defined-only", path).stdout.splitlines()
    names = {line.split()[-1].split("@")[0] for line in lines}
    return {name for name in names if not re.match(r"_(edata|end|_bss_start|init|fini)$", name)}


def needed(path):
    return set(re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-d", path).stdout))


@sanitized
def test_preload_exports_its_map():
    text = (ROOT / "plugin/preload/preload.map").read_text()
    listed = set(re.findall(r"^\s+(\w+);", text, re.MULTILINE))
    assert exports(PRELOAD) == listed
    header = (ROOT / "plugin/base/lavfi_registry.h").read_text()
    assert listed == set(re.findall(r"^    USE\(\w+, (\w+)\)", header, re.MULTILINE))


@sanitized
@pytest.mark.parametrize(
    "path, symbol",
    [(HOST, "filter_module_open"), (PLUGIN / "engine-torch.so", "dnn_torch_engine"),
     (FAKE / "engine-fake.so", "dnn_torch_engine")],
    ids=lambda value: value if isinstance(value, str) else value.stem,
)
def test_modules_export_one_symbol(path, symbol):
    if not path.exists():
        pytest.skip(f"{path.name} was not built")
    ours = {name for name in exports(path) if not name.startswith("_Z")}
    assert ours == {symbol}


@sanitized
def test_preload_links_to_libc_alone():
    system = {"libc.so.6", "libdl.so.2", "libpthread.so.0"}
    assert {name for name in needed(PRELOAD) if not name.startswith("ld-linux")} <= system


def test_layers_link_to_their_own_libraries():
    assert not any("torch" in name for name in needed(HOST))
    assert not any(name.startswith(("libav", "libsw", "libtorch")) for name in needed(LAUNCHER))
    assert not any("torch" in name for name in needed(PLUGIN / "model-tool"))
    engine = PLUGIN / "engine-torch.so"
    if engine.exists():
        assert not any(name.startswith(("libav", "libsw")) for name in needed(engine))


@sanitized
def test_ffmpeg_version_opens_nothing():
    result = output(LAUNCHER, "run", "ffmpeg", "-version", LD_DEBUG="files")
    opened = re.findall(r"file=(\S+)", result.stderr)
    assert result.returncode == 0 and any("libavfilter" in name for name in opened)
    assert not [name for name in opened if "torch" in name and "preload" not in name]
    assert not [name for name in opened if "host-lavfi" in name]


# ---- callers of every kind ------------------------------------------------------


@pytest.fixture
def fake_model(tmp_path):
    path = tmp_path / "model.txt"
    path.write_text("channels 0\n")
    return path


def assert_all_ok(result):
    assert result.returncode == 0, result
    assert "FAILED" not in result.stdout
    assert result.stdout.count("ok ") >= 5


@sanitized
def test_a_program_that_links_libavfilter(fake_model):
    assert_all_ok(output(LAUNCHER, "run", ABI / "linked", fake_model, DNN_TORCH_MODULE_PATH=FAKE))


@sanitized
def test_a_program_that_opens_it_locally(fake_model):
    assert_all_ok(output(LAUNCHER, "run", ABI / "opens_local", ABI / "consumer.so", fake_model,
                         DNN_TORCH_MODULE_PATH=FAKE))


@sanitized
@pytest.mark.parametrize("version", ["", str(HOST_MAJOR << 16)], ids=["another", "the same major"])
@pytest.mark.parametrize("names", [("consumer", "fake_consumer"), ("fake_consumer", "consumer")],
                         ids=" first, then ".join)
def test_two_libavfilters_in_one_process(fake_model, names, version):
    """Each caller gets the one that it is linked to; ours are in the system's alone."""
    libraries = [ABI / f"{name}.so" for name in names]
    env = {"FAKE_LAVFI_VERSION": version} if version else {}
    result = output(LAUNCHER, "run", ABI / "lookups", "order", fake_model, *libraries,
                    DNN_TORCH_MODULE_PATH=FAKE, **env)
    assert_all_ok(result)
    assert result.stdout.count("ok fake ") == 8
    # The other one has no module, or its module refuses it, which is told once.
    assert result.stderr.count("the filters are not offered") == 1


@sanitized
def test_a_lookup_before_there_is_a_libavfilter(fake_model):
    """What was not found is not remembered."""
    result = output(LAUNCHER, "run", ABI / "lookups", "late", fake_model, ABI / "consumer.so",
                    DNN_TORCH_MODULE_PATH=FAKE)
    assert_all_ok(result)
    assert result.stderr.count("no libavfilter is loaded") == 1


@sanitized
def test_listing_while_libraries_are_opened(fake_model):
    lavfi = output("ldd", ABI / "consumer.so").stdout
    lavfi = re.search(r"(/\S*libavfilter\.so\S*)", lavfi).group(1)
    result = output(LAUNCHER, "run", ABI / "lookups", "race", 10, lavfi,
                    FAKE / "engine-fake.so")
    assert result.stdout == "10 of 10\n", result


@sanitized
def test_a_constructor_before_main(fake_model):
    result = output("true", LD_PRELOAD=f"{ABI / 'early.so'}:{PRELOAD}", EARLY_MODEL=fake_model,
                    DNN_TORCH_MODULE_PATH=FAKE)
    assert_all_ok(result)


@sanitized
def test_a_program_without_libavfilter():
    result = output(LAUNCHER, "run", "sh", "-c", "exit 7")
    assert (result.returncode, result.stderr) == (7, "")


PROGRAMS = BUILD / "tests" / "programs"


@sanitized
@pytest.mark.parametrize(
    "program, words",
    [("plain", None), ("static", "is statically linked"),
     ("own_libavfilter", "has a libavfilter of its own")],
)
def test_a_program_that_cannot_be_extended_is_one_line(program, words):
    path = PROGRAMS / program
    if not path.exists():
        pytest.skip(f"{program} was not built")
    result = output(path)
    launched = output(LAUNCHER, "run", path)
    assert (launched.returncode, launched.stdout) == (result.returncode, result.stdout)
    lines = launched.stderr.splitlines()
    assert len(lines) == (1 if words else 0), launched
    assert not words or lines[0].startswith(f"dnn-torch: {path} {words}")


@sanitized
def test_no_module_for_this_major_is_one_line(tmp_path):
    alone = shutil.copy(PRELOAD, tmp_path)
    result = output("ffmpeg", "-hide_banner", "-filters", LD_PRELOAD=alone)
    assert result.returncode == 0 and "dnn_torch" not in result.stdout
    lines = [line for line in result.stderr.splitlines() if "dnn_torch:" in line]
    assert len(lines) == 1
    assert HOST.name in lines[0] and str(tmp_path) in lines[0]
    assert re.search(r"libavfilter \d+\.\d+\.\d+", lines[0])


@sanitized
def test_a_broken_module_is_one_line(tmp_path):
    alone = shutil.copy(PRELOAD, tmp_path)
    (tmp_path / HOST.name).write_bytes(b"no shared object")
    result = output("ffmpeg", "-hide_banner", "-filters", LD_PRELOAD=alone)
    assert result.returncode == 0
    assert result.stderr.count("dnn_torch: the filters are not offered") == 1


def test_objects_can_be_opened_and_closed():
    result = output(ABI / "reopen", PRELOAD, HOST)
    assert (result.returncode, result.stderr) == (0, "")


# ---- the launcher -----------------------------------------------------------------


@sanitized
def test_launcher_passes_exit_codes_and_signals():
    assert output(LAUNCHER, "run", "sh", "-c", "exit 42").returncode == 42
    assert output(LAUNCHER, "run", "sh", "-c", "kill -TERM $$").returncode == -15


@sanitized
def test_launcher_passes_arguments_and_keeps_other_preloads():
    result = output(LAUNCHER, "run", "sh", "-c", 'echo "$LD_PRELOAD|$1"', "x", "a  b",
                    LD_PRELOAD="/nonexistent.so")
    assert result.stdout == f"{PRELOAD}:/nonexistent.so|a  b\n"


def test_launcher_says_what_is_not_there():
    missing = output(LAUNCHER, "run", "/nonexistent/ffmpeg")
    assert missing.returncode == 127 and "/nonexistent/ffmpeg" in missing.stderr
    denied = output(LAUNCHER, "run", ROOT / "LICENSE")
    assert denied.returncode == 126


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes a program of another user's")
@pytest.mark.parametrize("command", ["run true", "inspect a.pt", "farm status x", "doctor", "devices"])
def test_launcher_refuses_raised_privileges(tmp_path, command):
    """Each command starts programs, of folders that the environment names."""
    copy = tmp_path / "dnn-torch"
    shutil.copy(LAUNCHER, copy)
    os.chown(copy, 12345, 12345)
    copy.chmod(0o4755)
    result = output(copy, *command.split())
    if "raised" not in result.stderr and os.statvfs(tmp_path).f_flag & os.ST_NOSUID:
        pytest.skip("the folder for temporary files is mounted without set-user-ID programs")
    assert (result.returncode, result.stdout) == (126, "")
    assert result.stderr == "dnn-torch: refuses to run with raised privileges\n"


# In a rescue system or a chroot.
@sanitized
@pytest.mark.parametrize("called", ["by its path", "by its name", "through a link"])
def test_launcher_finds_its_parts_without_proc(tmp_path, called):
    bare = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
            'umount -l /proc && exec "$@"', "sh"]
    if output(*bare, "test", "!", "-e", "/proc/self").returncode != 0:
        pytest.skip("/proc cannot be taken away here")
    (tmp_path / "link").symlink_to(LAUNCHER)
    launcher = {"by its path": LAUNCHER, "by its name": LAUNCHER.name,
                "through a link": tmp_path / "link"}[called]
    path = f"{LAUNCHER.parent}:{os.environ['PATH']}"
    result = output(*bare, launcher, "run", "ffmpeg", "-hide_banner", "-filters", PATH=path)
    assert "dnn_torch " in result.stdout and not result.stderr, result.stderr
    result = output(*bare, launcher, "inspect", "--help", PATH=path)
    assert result.returncode == 0 and "--json" in result.stdout


def test_launcher_help_and_version():
    assert output(LAUNCHER, "--help").stdout.startswith("usage: dnn-torch run PROGRAM")
    assert re.match(r"dnn-torch \d+\.\d+\.\d+\n$", output(LAUNCHER, "--version").stdout)
    for arguments in ([], ["nonsense"], ["run"], ["doctor", "more"]):
        result = output(LAUNCHER, *arguments)
        assert result.returncode == 2 and result.stderr.startswith("usage:")


@pytest.mark.parametrize("question", ["--help", "--version", "devices", "doctor"])
def test_an_answer_that_cannot_be_written_is_a_failure(question):
    with open("/dev/full", "w") as full:
        assert subprocess.run([LAUNCHER, question], stdout=full, timeout=120).returncode == 1


def test_doctor_tells_the_truth():
    result = output(LAUNCHER, "doctor")
    assert f"served by {HOST}" in result.stdout and "self-test passed" in result.stdout
    assert re.search(r"^ffmpeg: /\S+ uses libavfilter.so.\d+$", result.stdout, re.MULTILINE)
    layers = re.findall(r"^cage, (\w+): (?:closes|stays open, .+)$", result.stdout, re.MULTILINE)
    assert layers == ["limits", "privileges", "Landlock", "seccomp"]
    if (PLUGIN / "engine-torch.so").exists():
        assert result.returncode == 0 and "all is well" in result.stdout
        assert re.search(r"engine torch: \S+, LibTorch \d", result.stdout)
    else:
        assert result.returncode == 1 and "engine torch: not installed" in result.stdout


def test_doctor_starts_a_process_as_models_have_it(tmp_path):
    if not (PLUGIN / "engine-torch.so").exists():
        pytest.skip("built without LibTorch")
    assert "a process of its own for each model: yes" in output(LAUNCHER, "doctor").stdout
    # Each looks beside itself, behind links.
    for path in (LAUNCHER, *PLUGIN.glob("*.so")):
        shutil.copy(path, tmp_path)
    for program in (None, "/bin/true", ROOT / "LICENSE"):
        (tmp_path / "engine-host").unlink(missing_ok=True)
        if program:
            (tmp_path / "engine-host").symlink_to(program)
        result = output(tmp_path / "dnn-torch", "doctor")
        assert "a process of its own for each model: no, " in result.stdout, result.stdout
        assert result.returncode == 1


def test_doctor_looks_at_the_ffmpeg_in_path(tmp_path):
    # It calls no other program.
    assert "ffmpeg: none in PATH" in output(LAUNCHER, "doctor", PATH=tmp_path).stdout
    ffmpeg = pathlib.Path(shutil.copy(PROGRAMS / "own_libavfilter", tmp_path / "ffmpeg"))
    result = output(LAUNCHER, "doctor", PATH=tmp_path)
    assert result.returncode == 1 and "something is missing" in result.stdout
    assert f"ffmpeg: {ffmpeg} has a libavfilter of its own" in result.stdout


def test_doctor_finds_what_is_missing(tmp_path):
    shutil.copy(LAUNCHER, tmp_path)
    result = output(tmp_path / "dnn-torch", "doctor")
    assert result.returncode == 1
    assert "preload object: not installed" in result.stdout
    assert re.search(r"libavfilter [\d.]+: not served, there is no host-lavfi", result.stdout)
