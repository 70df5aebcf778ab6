# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The detector, the matte and the weights that come with it, and what they are scored with."""
import json
import os
import subprocess
import sys
import zipfile

import numpy
import pictures
import pytest
import support
import torch

# PyTorch runs models in this process too; see models/export_model.py.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
MODELS = support.REPOSITORY / "models"
sys.path.insert(0, str(MODELS))

import degradations  # noqa: E402
import detection_score  # noqa: E402
import drawn_figures  # noqa: E402
import drawn_shapes  # noqa: E402
import large_batches  # noqa: E402
import make_denoise_video  # noqa: E402
import train_backdrop  # noqa: E402
import train_compact2x  # noqa: E402
import train_denoise  # noqa: E402
import train_detector  # noqa: E402
import train_upscale2x  # noqa: E402
import training  # noqa: E402


def load(name):
    if name == "shapes.pt" and not (MODELS / name).exists():
        pytest.skip("models/train_detector.py has not made it yet")
    contract = {"dnn_torch.json": ""}
    net = torch.jit.load(str(MODELS / name), _extra_files=contract)
    return net, json.loads(contract["dnn_torch.json"])


# ---- the score --------------------------------------------------------------

TWO = numpy.array([[0, 0, 10, 10], [20, 20, 40, 40.0]])
FAR = numpy.array([[60, 60, 70, 70.0]])


def score_of(boxes, scores, wanted=TWO):
    kinds = numpy.zeros(len(boxes), int)
    return detection_score.mean_average_precision(
        [(boxes, numpy.array(scores), kinds)], [(wanted, numpy.zeros(len(wanted), int))], 1
    )[:, 0]


def test_overlap():
    assert detection_score.overlaps(TWO, TWO[:1]).tolist() == [[1], [0]]
    half = numpy.array([[0, 0, 10, 5.0]])
    assert detection_score.overlaps(TWO[:1], half).tolist() == [[0.5]]


@pytest.mark.parametrize(
    "boxes,scores,wanted",
    [
        (TWO, [0.9, 0.8], 1),
        (TWO[:0], [], 0),
        (FAR, [0.9], 0),
        # Precision is 1 up to a recall of 0.5, which is 51 of 101 recalls, and 2 of 3 beyond.
        (numpy.vstack([TWO[:1], FAR, TWO[1:]]), [0.9, 0.85, 0.8], (51 + 50 * 2 / 3) / 101),
        # What is found twice is wrong the second time.
        (TWO[[0, 0]], [0.9, 0.8], 51 / 101),
        # One in two is right from the start.
        (numpy.vstack([FAR, TWO[:1]]), [0.9, 0.8], 51 / 2 / 101),
    ],
)
def test_average_precision(boxes, scores, wanted):
    assert score_of(boxes, scores) == pytest.approx(wanted)


def test_average_precision_asks_for_overlap():
    """0.72 is enough for the limits 0.5 to 0.7."""
    near = TWO[:1] * (1, 1, 1, 0.72)
    assert score_of(near, [0.9], TWO[:1]).tolist() == [1] * 5 + [0] * 5


def test_suppression_is_by_kind():
    boxes, scores = TWO[[0, 0, 1]], numpy.array([0.5, 0.9, 0.7])
    same, other = numpy.array([0, 0, 0]), numpy.array([1, 0, 0])
    assert detection_score.suppressed(boxes, scores, same).tolist() == [1, 2]
    assert detection_score.suppressed(boxes, scores, other).tolist() == [1, 2, 0]


# ---- what is drawn ----------------------------------------------------------


@pytest.mark.parametrize("kind", range(len(drawn_shapes.SHAPES)))
def test_boxes_are_where_the_shapes_are(kind):
    rng = numpy.random.default_rng(kind)
    scene = drawn_shapes.Scene(numpy.zeros((120, 160, 3), numpy.float32))
    shape = drawn_shapes.random_shape(rng, 120, 160)
    shape.kind, shape.size, shape.centre, shape.ring = kind, 30.0, numpy.array([60.0, 80.0]), 0
    white = numpy.ones(3, numpy.float32)
    shape.paint = shape.rim_paint = drawn_shapes.Paint(white, white, "even", 0, 1)
    scene.draw(shape)
    rows, columns = numpy.nonzero(scene.picture[..., 0] > 0.5)
    seen = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
    boxes, kinds = scene.truth()
    assert kinds.tolist() == [kind]
    assert numpy.abs(boxes[0] - seen).max() < 1.1


def test_scenes_come_of_their_seeds():
    for draw in (drawn_shapes.draw_scene, drawn_figures.draw_scene):
        first, again, other = draw(5, 64, 96), draw(5, 64, 96), draw(6, 64, 96)
        assert first[0].shape == (64, 96, 3)
        assert all((a == b).all() for a, b in zip(first, again))
        assert (first[0] != other[0]).any()


def clip(what, *options):
    command = [sys.executable, MODELS / "draw_clip.py", what, "--size", "96x64", "--frames", "3"]
    done = subprocess.run([*command, *options], stdout=subprocess.PIPE, check=True, timeout=60)
    head = b"P6 96 64 255\n"
    assert len(done.stdout) == 3 * (len(head) + 96 * 64 * 3) and done.stdout.startswith(head)
    return done.stdout


def test_clips_move_and_have_their_truth(tmp_path):
    truth = tmp_path / "truth.jsonl"
    frames = clip("shapes", "--truth", truth)
    third = len(frames) // 3
    assert frames[:third] != frames[third : 2 * third]
    lines = [json.loads(line) for line in truth.read_text().splitlines()]
    assert [line["frame"] for line in lines] == [0, 1, 2]
    assert all(line["objects"] for line in lines)
    for found in lines[0]["objects"]:
        left, top, right, bottom = found["box"]
        assert found["label"] in drawn_shapes.SHAPES
        assert 0 <= left < right <= 96 and 0 <= top < bottom <= 64
    assert clip("persons") != clip("persons", "--seed", "2")


# ---- how they were trained --------------------------------------------------


def ffmpeg_scaled(gray, flags, width, height):
    """What ffmpeg's scaler makes of one plane of bytes."""
    rows, columns = gray.shape
    done = support.succeed(
        "-f", "rawvideo", "-pix_fmt", "gray", "-s", f"{columns}x{rows}", "-i", "pipe:0", "-vf",
        f"scale={width}:{height}:flags={flags}+accurate_rnd", "-pix_fmt", "gray",
        "-f", "rawvideo", "pipe:1", stdin=gray.tobytes(),
    )  # fmt: skip
    return numpy.frombuffer(done.stdout, numpy.uint8).reshape(height, width)


@pytest.mark.parametrize("name", degradations.HALVINGS)
def test_halving_is_that_of_ffmpeg(name):
    gray = drawn_shapes.draw_scene(training.HELD_OUT_SEED, 96, 128)[0][..., 1].copy()
    wanted = ffmpeg_scaled(gray, name, 64, 48).astype(int)
    picture = torch.from_numpy(gray)[None, None].float() / 255
    got = degradations.halved(picture, degradations.HALVINGS[name])[0, 0]
    apart = numpy.abs(got.mul(255).round().numpy().astype(int) - wanted)[4:-4, 4:-4]
    assert apart.max() <= 2 and apart.mean() < 0.2


def test_video_without_colour_changes_gray_by_rounding_alone():
    gray = torch.linspace(0, 1, 64).repeat(1, 3, 8, 1)
    assert (degradations.through_420(gray) - gray).abs().max() < 1 / 219


def trained(folder, steps, end_after=None):
    """A small net after so many steps, of a training that is interrupted where told."""
    training.STATES, training.SAVED_EVERY = folder, 1
    parser = training.options_of("", str(folder / "net.pt"), steps)
    options = parser.parse_args([])
    torch.manual_seed(1)
    net = torch.nn.Conv2d(3, 3, 3, padding=1)
    done = 0

    def examples(rng):
        nonlocal done
        done += 1
        if end_after is not None and done > end_after:
            raise InterruptedError
        given = torch.from_numpy(rng.random((2, 3, 8, 8), numpy.float32)) + 0.1 * torch.rand(1)
        return given, given * 2

    return training.train(net, options, examples, lambda net: None)


def test_interrupted_training_ends_as_another(tmp_path, monkeypatch):
    for name in ("STATES", "SAVED_EVERY"):
        monkeypatch.setattr(training, name, getattr(training, name))
    (tmp_path / "once").mkdir()
    (tmp_path / "twice").mkdir()
    once = trained(tmp_path / "once", 6)
    with pytest.raises(InterruptedError):
        trained(tmp_path / "twice", 6, end_after=3)
    twice = trained(tmp_path / "twice", 6)
    assert torch.equal(once.weight, twice.weight) and torch.equal(once.bias, twice.bias)


def test_crops_are_parts_of_pictures():
    torch.manual_seed(1)
    sources = [torch.randint(256, (3, *size)).byte() for size in ((20, 24), (16, 32))]
    pictures = large_batches.Pictures(sources, "cpu")
    places = pictures.places(64, 8)
    crops = pictures.crops(places, 8).mul(255).round().byte()
    swapped, upside_down, mirrored = places.turns.flatten(1).tolist()
    for i, (which, top, left) in enumerate(zip(*(each.tolist() for each in places[:3]))):
        crop = sources[which][:, top:top + 8, left:left + 8]
        crop = crop.flip(1) if upside_down[i] else crop
        crop = crop.flip(2) if mirrored[i] else crop
        assert torch.equal(crops[i], crop.transpose(1, 2) if swapped[i] else crop)
    assert sorted(set(places.which.tolist())) == [0, 1]


@pytest.mark.parametrize("step,least,most", [(0.01, 50, 70), (64, 20, 40)])
def test_quantised_cosines(step, least, most):
    wanted = scenes_of(2)
    got = degradations.quantised(wanted, torch.full((2, 1, 1, 1), step / 255))
    assert least < training.psnr(degradations.as_luma(got), degradations.as_luma(wanted)) < most


def trained_by_time(folder, seconds, end_after=None):
    """The steps that it has made when it ends."""
    options = training.options_of("", str(folder / "net.weights"), 1).parse_args([])
    options.minutes = seconds / 60
    net = torch.nn.Conv2d(3, 3, 3, padding=1)
    done = 0

    def examples(rng):
        nonlocal done
        done += 1
        if done == end_after:
            raise InterruptedError
        given = torch.from_numpy(rng.random((2, 3, 8, 8), numpy.float32))
        return given, given * 2

    loss = torch.nn.functional.mse_loss
    large_batches.train_and_keep(net, options, examples, lambda net: None, loss, loss)
    return done


def test_interrupted_training_by_time_goes_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(large_batches, "SAVED_EVERY_SECONDS", 0)
    with pytest.raises(InterruptedError):
        trained_by_time(tmp_path, 60, end_after=4)
    state = torch.load(tmp_path / "net.state")
    assert state["step"] == 3
    monkeypatch.setattr(large_batches, "SAVED_EVERY_SECONDS", 60)
    done = trained_by_time(tmp_path, state["seconds"] + 0.3)
    assert "goes on" in capsys.readouterr().out
    assert torch.load(tmp_path / "net.state")["step"] == 3 + done
    assert list(torch.load(tmp_path / "net.weights")) == ["weight", "bias"]


# ---- the models -------------------------------------------------------------


@pytest.mark.parametrize("name", ["shapes.pt", "backdrop.pt"])
def test_files_hold_convolutions_and_no_trace_of_a_machine(name):
    load(name)
    with zipfile.ZipFile(MODELS / name) as records:
        names = records.namelist()
        code = b"".join(records.read(record) for record in names if record.endswith(".py"))
    assert not [record for record in names if record.endswith(".debug_pkl")]
    assert b"conv" in code
    assert b"batch_norm" not in code


@pytest.mark.parametrize("height,width", [(32, 32), (64, 96), (224, 352)])
def test_detector_takes_multiples_of_32(height, width):
    net, contract = load("shapes.pt")
    assert contract["task"] == "detect" and contract["labels"] == list(drawn_shapes.SHAPES)
    assert contract["input"]["multiple"] == 32
    torch.manual_seed(1)
    x = torch.rand(2, 3, height, width)
    cells = height * width * 21 // 1024
    with torch.no_grad():
        # The second and third runs are those that the executor rewrites.
        results = [net(x) for _ in range(4)]
    assert results[0].shape == (2, 4 + len(drawn_shapes.SHAPES), cells)
    assert all(torch.allclose(results[0], result, atol=1e-4) for result in results)
    assert bool(torch.isfinite(results[0]).all())
    assert bool(((results[0][:, 4:] >= 0) & (results[0][:, 4:] <= 1)).all())
    assert bool((results[0][:, 2:4] > 0).all())


def test_detector_finds_shapes():
    net, _ = load("shapes.pt")
    table = train_detector.table_of(net, 40)
    assert table[0].mean() >= 0.7
    assert table.mean() >= 0.45


def test_matte_finds_persons():
    net, contract = load("backdrop.pt")
    assert contract["task"] == "matte" and contract["output"]["as"] == "alpha"
    overlap, difference = train_backdrop.scores_of(net, 24)
    assert overlap >= 0.65
    assert difference <= 0.08


def test_matte_becomes_the_alpha():
    width, height = 160, 96
    picture, _ = drawn_figures.draw_scene(training.HELD_OUT_SEED + 3, height, width)
    graph = support.dnn(MODELS / "backdrop.pt", tune=0, isolate=0, **{"as": "alpha"})
    done = support.succeed(
        *pictures.raw_input("rgb24", width, height), "-vf", f"{graph},format=rgba",
        "-f", "rawvideo", "pipe:1", stdin=picture.tobytes(),
    )  # fmt: skip
    result = numpy.frombuffer(done.stdout, numpy.uint8).reshape(height, width, 4)
    net, _ = load("backdrop.pt")
    with torch.no_grad():
        alpha = net(torch.from_numpy(picture).permute(2, 0, 1)[None].float() / 255)[0, 0]
    wanted = numpy.rint(alpha.numpy() * 255)
    assert (result[..., :3] == picture).all()
    assert numpy.abs(result[..., 3] - wanted).max() <= 1


def doubled(name):
    """What a model of this folder makes of pictures, as a function."""
    if name.endswith(".pt"):
        return load_plainly(name)
    net = train_compact2x.Compact()
    weights = torch.load(str(MODELS / name), map_location="cpu")
    assert list(weights) == ["params"]
    net.load_state_dict(weights["params"])
    return net


def load_plainly(name):
    return torch.jit.load(str(MODELS / name))


def scenes_of(count):
    """Drawn ones, as [N, 3, height, width]: the nets have learned from photographs."""
    scenes = [drawn_shapes.draw_scene(training.HELD_OUT_SEED + seed, 96, 128)[0] for seed in range(count)]
    return torch.from_numpy(numpy.stack(scenes)).permute(0, 3, 1, 2).float() / 255


def gain(one, other, wanted):
    """By how much PSNR of luma is higher, the mean of all pictures."""
    def luma(images):
        return images if len(images) == 1 else degradations.as_luma(images)

    return numpy.mean([training.psnr(luma(a), luma(c)) - training.psnr(luma(b), luma(c))
                       for a, b, c in zip(one, other, wanted)])


@pytest.mark.parametrize("name", ["upscale2x.pt", "luma2x.pt", "compact2x.pth"])
@pytest.mark.parametrize("halving", degradations.HALVINGS)
def test_doubles_better_than_bicubic(name, halving):
    wanted, planes = scenes_of(12), 1 if name == "luma2x.pt" else 3
    if planes == 1:
        wanted = degradations.to_bytes_and_back(degradations.as_luma(wanted))
    small = degradations.halved(wanted, degradations.HALVINGS[halving])
    with torch.no_grad():
        assert gain(doubled(name)(small), train_upscale2x.bicubic(planes)(small), wanted) > 0.3


@pytest.mark.parametrize("strength,least", [(10, 0.5), (25, 3)])
def test_denoises(strength, least):
    wanted = degradations.through_420(scenes_of(12))
    torch.manual_seed(strength)
    noisy = train_denoise.in_codes(wanted, strength)
    with torch.no_grad():
        assert gain(load_plainly("denoise.pt")(noisy), noisy, wanted) > least


def seen_by_memory(noisy):
    """What denoise_video.pt makes of the last of some frames."""
    net, state = load_plainly("denoise_video.pt"), None
    with torch.no_grad():
        for frame in noisy:
            result, state = net(frame[None], state)
    return result


@pytest.fixture(scope="module")
def noisy_clip():
    """A picture that stands still, and its frames."""
    wanted = degradations.through_420(scenes_of(1))
    torch.manual_seed(1)
    return wanted, train_denoise.in_codes(wanted.expand(8, -1, -1, -1), 15)


def test_memory_removes_more_noise(noisy_clip):
    wanted, noisy = noisy_clip
    assert load("denoise_video.pt")[1] == make_denoise_video.CONTRACT
    with torch.no_grad():
        alone = load_plainly("denoise.pt")(noisy[-1:])
    assert gain(seen_by_memory(noisy), alone, wanted) > 1.5


def test_memory_does_not_keep_what_moves(noisy_clip):
    """The picture is another one, flipped, of which nothing may remain."""
    _, noisy = noisy_clip
    last = noisy[-1:].flip(2)
    with torch.no_grad():
        alone = load_plainly("denoise.pt")(last)
    found = seen_by_memory(torch.cat([noisy[:-1], last]))
    assert training.psnr(found, alone) > 40


def test_memory_keeps_to_the_file_of_the_denoiser(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["", "--out", str(tmp_path / "net.pt")])
    make_denoise_video.main()
    kept = load_plainly("denoise_video.pt").state_dict()
    made = torch.jit.load(str(tmp_path / "net.pt")).state_dict()
    assert list(kept) == list(made) and all(torch.equal(kept[name], made[name]) for name in kept)


@pytest.mark.parametrize("name", ["denoise_video.pt", "interpolate.pt"])
@pytest.mark.parametrize("height,width", [(1, 1), (17, 45), (64, 96)])
def test_what_looks_at_time_takes_any_size(name, height, width):
    net, first = load_plainly(name), torch.rand(1, 3, height, width)
    with torch.no_grad():
        if name == "interpolate.pt":
            result = net(first, first, torch.tensor(0.5))
        else:
            result = net(first, net(first)[1])[0]
    assert result.shape == first.shape and bool(torch.isfinite(result).all())


def test_interpolates_better_than_blending():
    """A picture that moves by four pixels from frame to frame."""
    wide = torch.nn.functional.avg_pool2d(scenes_of(6), 3, 1)
    before, wanted, after = (wide[:, :, 8:80, at:at + 96] for at in (8, 12, 16))
    with torch.no_grad():
        made = load_plainly("interpolate.pt")(before, after, torch.tensor(0.5))
    assert gain(made, (before + after) / 2, wanted) > 1


def test_the_filter_runs_the_weights():
    width, height = 40, 24
    frame = pictures.make_frame("rgb24", width, height, 1)
    graph = support.dnn(MODELS / "compact2x.pth", tune=0, isolate=0)
    done = support.succeed(
        *pictures.raw_input("rgb24", width, height), "-vf", f"{graph},format=rgb24",
        "-f", "rawvideo", "pipe:1", stdin=pictures.pack(frame, "rgb24"),
    )  # fmt: skip
    result = pictures.unpack(done.stdout, "rgb24", 2 * width, 2 * height)[0].image
    net = train_compact2x.Compact()
    net.load_state_dict(torch.load(str(MODELS / "compact2x.pth"))["params"])
    with torch.no_grad():
        wanted = net(torch.from_numpy(pictures.to_unit(frame.image))[None])[0].numpy()
    difference = numpy.abs(result.astype(int) - pictures.from_unit(wanted, "rgb24").astype(int))
    assert difference.max() <= 1
