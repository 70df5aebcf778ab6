# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which frames are compared with the model as it was saved does not depend on the workers' pace."""
import numpy
import pytest
import support
import torch
from torch import Tensor, nn

WIDTH, HEIGHT, FRAMES, RUNS = 64, 48, 6, 12


class CoarseIfMarked(nn.Module):
    """In bf16 it gives another picture than in fp32, if white and black squares are in a corner."""

    def forward(self, x: Tensor) -> Tensor:
        white = (x[:, :, 0:4, 0:4].amin() > 0.99).to(x.dtype)
        black = (x[:, :, 0:4, 4:8].amax() < 0.01).to(x.dtype)
        return x + ((x + 64.0) - 64.0 - x) * white * black


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "coarse.pt"
    torch.jit.script(CoarseIfMarked().eval()).save(str(path))
    return path


def clip(marked, count=FRAMES):
    """Noise.  Frames in `marked` have the squares."""
    frames = numpy.random.default_rng(1).integers(0, 256, (count, HEIGHT, WIDTH, 3), numpy.uint8)
    for number in marked:
        frames[number, :4, :4] = 255
        frames[number, :4, 4:8] = 0
    return frames.tobytes()


def run(model, frames, workers, **options):
    result = support.succeed(
        *("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}", "-i", "-"),
        "-vf",
        support.dnn(model, precision="bf16", tune=0, threads=1, workers=workers, **options),
        *("-pix_fmt", "rgb24", "-f", "rawvideo", "-"),
        stdin=frames,
    )
    return result.stdout, "another picture" in result.stderr


@pytest.mark.parametrize("marked", [{0}, {1}, {2, 3}], ids=str)
@pytest.mark.parametrize("isolate", [0, 1])
def test_the_same_bytes_with_two_workers(model, marked, isolate):
    """Frame 0 alone decides, though frame 1 may be there before it."""
    frames = clip(marked)
    expected, is_wrong = run(model, frames, workers=1, isolate=isolate)
    assert is_wrong == (0 in marked)
    for _ in range(RUNS):
        assert run(model, frames, workers=2, isolate=isolate) == (expected, is_wrong)


@pytest.mark.parametrize("isolate", [0, 1])
def test_a_filter_decides_for_itself(model, isolate):
    """Two filters share a model; the first one's frames condemn the form, the second one's do not."""
    count = 40
    frames = clip({0, *range(10, count)}, count)
    size = WIDTH * HEIGHT * 3
    alone = [run(model, part, workers=1, isolate=isolate) for part in (frames, frames[size:])]
    assert [is_wrong for _, is_wrong in alone] == [True, False]
    net = support.dnn(model, precision="bf16", tune=0, threads=1, workers=1, isolate=isolate)
    result = support.succeed(
        *("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}", "-i", "-"),
        "-filter_complex",
        f"split[a][b];[a]{net},format=rgb24[x];"
        f"[b]trim=start_frame=1,setpts=PTS-STARTPTS,{net},format=rgb24[y];[x][y]vstack=shortest=1",
        *("-pix_fmt", "rgb24", "-f", "rawvideo", "-"),
        stdin=frames,
    )
    pairs = [result.stdout[at : at + 2 * size] for at in range(0, len(result.stdout), 2 * size)]
    assert len(pairs) == count - 1
    assert b"".join(pair[:size] for pair in pairs) == alone[0][0][:-size]
    assert b"".join(pair[size:] for pair in pairs) == alone[1][0]
