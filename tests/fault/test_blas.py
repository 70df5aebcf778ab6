# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An OpenBLAS without locks, which multiplies wrongly where several threads use it."""
import pathlib

import pictures
import pytest
import support

WIDTH, HEIGHT, FRAMES = 50, 37, 24  # OpenBLAS treats odd ends apart


def folder(library):
    """Where Debian keeps the libopenblas0 of this name, beside the one that the system uses."""
    found = sorted(pathlib.Path("/usr/lib").glob(f"*/openblas-{library}"))
    if not found:
        pytest.skip(f"needs libopenblas0-{library}")
    return str(found[0])


@pytest.fixture
def lapack_alone(tmp_path):
    """The administrator has chosen another BLAS and left LAPACK as it was."""
    serial = pathlib.Path(folder("serial"))
    other = serial.parent / "blas" / "libblas.so.3"
    if not other.exists():  # the system's own may need its own libopenblas
        pytest.skip("needs libblas3")
    for name in ["liblapack.so.3", "libopenblas.so.0"]:
        (tmp_path / name).symlink_to(serial / name)
    (tmp_path / "libblas.so.3").symlink_to(other)
    return tmp_path


def run(model, library, **options):
    source = pictures.raw(pictures.make_frames("gbrpf32le", WIDTH, HEIGHT, FRAMES), "gbrpf32le")
    result = support.ffmpeg(
        *pictures.raw_input("gbrpf32le", WIDTH, HEIGHT),
        *("-vf", support.dnn(model, optimize=0, tune=0, **options), "-f", "rawvideo", "-"),
        stdin=source,
        loglevel="verbose",
        env={"LD_LIBRARY_PATH": library if "/" in str(library) else folder(library)},
    )
    return result, source


@pytest.mark.parametrize(
    "options",
    [{"workers": 4}, {"workers": 4, "isolate": 0}, {"batch_size": 4, "workers": 2}, {"async": 0}],
    ids=str,
)
def test_products_are_right(model, options):
    """One thread at a time multiplies, and one line says so and what to install."""
    result, source = run(model("small_products"), "serial", **options)
    assert result.returncode == 0, result
    assert result.stdout == source, "some products were wrong"
    # Newer releases of ffmpeg make each graph twice.
    lines = {line for line in result.filter_lines() if "libopenblas0-pthread" in line}
    assert len(lines) == 1 and "one at a time" in lines.pop(), result
    assert "in flight" not in result.stderr or " 1 worker of" in result.stderr, result


@pytest.mark.parametrize("isolate", [0, 1])
@pytest.mark.parametrize("name", ["small_products_in_threads", "threads_behind_an_interface"])
def test_tasks_of_models_multiply_in_the_same_thread(model, name, isolate):
    result, source = run(model(name), "serial", isolate=isolate, workers=4)
    assert result.returncode == 0, result
    assert result.stdout == source, "some products were wrong"
    assert "libopenblas0-pthread" in result.stderr, result


@pytest.mark.parametrize("name", ["small_products", "small_products_in_threads"])
def test_a_library_that_locks_is_used_by_all_workers(model, name):
    result, source = run(model(name), "pthread", workers=4)
    assert result.returncode == 0 and result.stdout == source, result
    assert "libopenblas0" not in result.stderr, result


@pytest.mark.parametrize("library", ["serial", "pthread"])
def test_bytes_do_not_depend_on_who_multiplies(model, library):
    ways = [{"workers": 1}, {"workers": 2}, {"isolate": 0}, {"async": 0}, {"threads": 2}]
    made = [run(model("large_products"), library, **options)[0] for options in ways]
    assert all(result.returncode == 0 for result in made), made
    assert len({result.stdout for result in made}) == 1


def test_lapack_counts_too(model, lapack_alone):
    result, source = run(model("small_products"), lapack_alone, workers=2)
    assert result.returncode == 0 and result.stdout == source, result
    assert "libopenblas0-pthread" in result.stderr, result


def test_runs_that_wait_have_one_worker(model):
    """Else each would wait for all others, and the time limit would count it."""
    result, _ = run(model("noise"), "pthread", workers=8)
    assert result.returncode == 0 and " 1 worker of" in result.stderr, result
    assert "one worker does them, not 8" in result.stderr, result
