# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Models that load and then do not behave."""
import re

import numpy
import pictures
import pytest
import support
import torch

WIDTH, HEIGHT = 64, 48

WAYS_TO_RUN = [{"async": 0}, {"nireq": 8, "workers": 2}, {"batch_size": 4}]


def run(
    graph,
    pixel_format="rgb24",
    frames=3,
    size=(WIDTH, HEIGHT),
    output=("-f", "null", "-"),
    **options
):
    return support.ffmpeg(
        *pictures.raw_input(pixel_format, *size),
        *("-vf", graph, *output),
        stdin=pictures.raw(pictures.make_frames(pixel_format, *size, frames), pixel_format),
        **options,
    )


@pytest.mark.parametrize(
    "name,phrases",
    [
        ("wants5", ["channel", "5 frames", "frames=-2..2"]),
        ("wants2", ["channel", "2", "1 or 3|1 and 3|3"]),
        ("more_channels", ["channel", "2", "3"]),
        ("returns_string", ["tensor", "str"]),
        ("returns_none", ["tensor", "None"]),
        ("returns_int", ["tensor", "int"]),
        ("rank5", ["rank|dimension", "5", "4"]),
        ("wrong_batch", ["batch", "1", "2"]),
        ("empty", ["empty|extent|size|x0|0x"]),
        ("throws", ["this model never works"]),
    ],
)
@pytest.mark.parametrize("options", [{}, {"optimize": 0}], ids=["optimized", "as-saved"])
def test_unusable(model, name, phrases, options):
    """What was expected and what was found, in one line; the model's name is in the command."""
    support.assert_fails_clearly(run(support.dnn(model(name), **options)), *phrases)


@pytest.mark.parametrize("options", WAYS_TO_RUN, ids=str)
def test_throws_at_the_first_real_frame(model, options):
    """Nothing that probing small pictures could have found."""
    result = run(support.dnn(model("small_only"), **options), size=(640, 48))
    support.assert_fails_clearly(result, "wider than the model can bear")


def test_message_is_the_model_s_own(model):
    """Not the interpreter's: no traceback, no line of C++."""
    text = support.assert_fails_clearly(run(support.dnn(model("throws"))), "this model never works")
    for noise in ("Traceback", "Exception raised from", "frame #", "/build/", ".cpp"):
        assert noise not in text


class Refuses(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        print("tried")
        if x.numel() > 0:
            raise RuntimeError("never")
        return x


def test_one_that_never_works_is_given_up_soon(tmp_path):
    """Each of forty sizes is tried, but not in all types, layouts and numbers of frames: its words
    are the same in all."""
    torch.jit.script(Refuses()).save(str(tmp_path / "refuses.pt"))
    result = run(support.dnn(tmp_path / "refuses.pt"))
    support.assert_fails_clearly(result, "never")
    assert result.stderr.count("tried") < 350


def test_a_warning_comes_once(model):
    result = run(support.dnn(model("warns"), isolate=1, tune=0, workers=2), frames=50)
    assert result.returncode == 0, str(result)
    assert len(re.findall("the model warns$", result.stderr, re.MULTILINE)) == 1, str(result)
    assert len(re.findall(f"the model warns of {WIDTH}$", result.stderr, re.MULTILINE)) == 1
    assert "prints too much" not in result.stderr


@pytest.mark.parametrize("name,isolate", [("prints", 0), ("prints", 1), ("warns", 1)])
@pytest.mark.parametrize("closed", ["2>&-", "<&- 2>&-"])
def test_what_a_model_says_is_in_no_file(model, tmp_path, name, isolate, closed):
    """A program that is started without standard error has another file in its place."""
    film = tmp_path / "film"
    frames = 3
    command = support.ffmpeg_command(
        *("-f", "lavfi", "-i", f"testsrc=s={WIDTH}x{HEIGHT}:r=25,format=rgb24"),
        *("-vf", support.dnn(model(name), isolate=isolate), "-frames:v", frames),
        *("-f", "rawvideo", film),
        loglevel="quiet",
    )
    result = support.execute(["sh", "-c", f'exec "$@" {closed}', "sh", *command])
    assert result.returncode == 0, str(result)
    assert film.stat().st_size == frames * WIDTH * HEIGHT * 3


@pytest.mark.parametrize("pixel_format", ["rgb24", "gbrpf32le", "gray"])
@pytest.mark.parametrize("options", WAYS_TO_RUN, ids=str)
def test_nan_becomes_black_and_is_told_once(model, pixel_format, options):
    graph = support.dnn(model("bright_is_nan"), **options)
    size = (128, 96)
    result = run(graph, pixel_format, frames=9, size=size, output=("-f", "rawvideo", "-"))
    assert result.returncode == 0, str(result)
    source = pictures.make_frames(pixel_format, *size, 9)
    got = pictures.unpack(result.stdout, pixel_format, *size)
    bright = [pictures.to_unit(frame.image) > numpy.float32(0.9) for frame in source]
    assert any(mask.any() for mask in bright)
    for frame, wanted, mask in zip(got, source, bright):
        assert (frame.image == numpy.where(mask, 0, wanted.image)).all()
    assert len(got) == 9
    told = [line for line in result.warnings if "NaN" in line]
    assert len(told) == 1 and not result.errors, str(result)


def test_more_than_one_named_tensor_needs_a_choice(model):
    support.assert_fails_clearly(run(support.dnn(model("dict2"))), "output=", "image", "features")


@pytest.mark.parametrize(
    "name,options,inverted",
    [
        ("dict2", {"output": "image"}, True),
        ("dict2", {"output": "features"}, False),
        ("tuple2", {}, False),
        ("tuple2", {"output": "0"}, False),
        ("tuple2", {"output": "1"}, True),
    ],
)
def test_choice_among_tensors(model, name, options, inverted):
    """A dict's by name; a tuple's by place, and the first where none is named."""
    result = run(support.dnn(model(name), **options), output=("-f", "rawvideo", "-"))
    source = pictures.raw(pictures.make_frames("rgb24", WIDTH, HEIGHT, 3), "rgb24")
    assert result.stdout == (bytes(255 - byte for byte in source) if inverted else source), str(
        result
    )


def test_output_by_unknown_name(model):
    result = run(support.dnn(model("dict2"), output="nosuch"))
    support.assert_fails_clearly(result, "nosuch", "image", "features")


@pytest.mark.parametrize(
    "pixel_format,name",
    [("gray", "rgb_invert"), ("rgb24", "luma_invert"), ("yuv420p", "rgb_invert")],
)
def test_ffmpeg_converts_to_what_the_model_takes(model, pixel_format, name):
    """The formats offered are the model's; ffmpeg's own scaler does the rest."""
    result = run(support.dnn(model(name)), pixel_format)
    assert result.returncode == 0, str(result)
    assert not result.errors


def test_other_channel_count_without_conversion(model):
    """With the scaler forbidden it is ffmpeg that refuses."""
    graph = support.dnn(model("rgb_invert"))
    result = run(graph, "gray", output=("-noauto_conversion_filters", "-f", "null", "-"))
    assert result.returncode > 0 and "conver" in result.stderr, str(result)


def test_wrong_size_in_mid_run(model):
    graph = support.dnn(model("wrong_size_at_5"))
    support.assert_fails_clearly(run(graph, frames=9), "64x47", "64x48")


def test_out_of_memory_in_mid_run(model):
    graph = support.dnn(model("too_big_at_5"))
    support.assert_fails_clearly(run(graph, frames=9), "memory")


def test_a_batch_that_does_not_fit_runs_in_parts(model):
    graph = support.dnn(model("two_at_most"), batch_size=5)
    result = run(graph, frames=13, output=("-f", "framemd5", "-"))
    assert result.returncode == 0, str(result)
    assert len(support.digests(result.stdout)) == 13
    told = [line for line in result.warnings if "does not fit into memory" in line]
    assert len(told) == 1 and "a batch of 5" in told[0], str(result)


def test_a_called_method_fails_in_a_frozen_form(model):
    """LibTorch frees the method while its code is in use, and asks it for its name."""
    graph = support.dnn(model("method_fails_at_51"), optimize="frozen", isolate=0)
    result = support.ffmpeg(
        *("-f", "lavfi", "-i", "color=0x333333:size=64x48:duration=0.1,format=rgb24"),
        *("-vf", graph, "-f", "null", "-"),
    )
    support.assert_fails_clearly(result, "index")


def test_random_numbers_behind_an_interface(model):
    """The graph does not show them, and each frame has its own all the same."""
    graph = support.dnn(model("noise_behind_an_interface"))
    first, second = (run(graph, output=("-f", "framemd5", "-")) for _ in range(2))
    assert first.returncode == 0 and first.stdout == second.stdout, first


def test_random_numbers_of_a_part(model):
    output = ("-f", "rawvideo", "-")
    whole = run(support.dnn(model("noise")), frames=6, output=output)
    part = run("trim=start_frame=2," + support.dnn(model("noise"), start_number=2), frames=6,
               output=output)
    assert part.returncode == 0 and len(part.stdout) == 4 * WIDTH * HEIGHT * 3, part
    assert whole.stdout.endswith(part.stdout)


@pytest.mark.parametrize("options", WAYS_TO_RUN, ids=str)
def test_random_numbers_are_those_of_the_frame(model, options):
    output = ("-f", "framemd5", "-")
    usual = run(support.dnn(model("noise")), frames=6, output=output)
    other = run(support.dnn(model("noise"), **options), frames=6, output=output)
    assert usual.returncode == 0 and usual.stdout == other.stdout, other
