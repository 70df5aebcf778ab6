# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""mpv: seeks, pauses, and changes its filters while it plays; each time it drops the graph."""
import mpv_player
import pictures
import pytest
import steps
import support


class Player(mpv_player.Player):
    def wait_for_width(self, width):
        self.wait_for("video-out-params", lambda video: video["w"] == width)

    def show(self, number):
        """Shows frame `number`, in pause."""
        self.seek(number / steps.RATE)

    def picture(self, path):
        self.tell("screenshot-to-file", str(path), "video")
        (luma,) = steps.read_luma(path)
        return luma


@pytest.fixture
def play(program, clip, tmp_path):
    mpv = program("mpv")
    players = []

    def start(*options):
        players.append(Player(mpv, clip, tmp_path, *options))
        return players[-1]

    yield start
    for player in players:
        player.close()


def test_encoding(program, model, clip, tmp_path):
    """With LibTorch; every frame arrives, also the last ones."""
    mpv, out = program("mpv"), tmp_path / "out.mkv"
    graph = f"lavfi=[{support.dnn(model('enlarge2'))}]"
    command = [mpv, "--no-config", f"--vf={graph}", f"--o={out}", "--ovc=ffv1", clip]
    result = support.execute(support.launched(*command))
    assert result.returncode == 0, str(result)
    raw = support.succeed("-i", out, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-", plain=True)
    frames = pictures.unpack(raw.stdout, "yuv420p", 2 * steps.WIDTH, 2 * steps.HEIGHT)
    assert [frame.image[0, 0, 0] for frame in frames] == list(map(steps.luma, range(steps.COUNT)))


def test_playing_to_the_end(play, slow_and_inverse):
    log = play(f"--vf=lavfi=[{slow_and_inverse},showinfo@after]").end()
    assert log.count("showinfo@after: n:") == steps.COUNT, log
    assert "in flight; scripted" in log and "ended with" not in log


def test_seeking(play, slow_and_inverse, tmp_path):
    """Exactly the frame that is asked for, whatever was in flight before."""
    player = play(f"--vf=lavfi=[{slow_and_inverse}]", "--pause")
    for number in (40, 5, 50, 0, 12, 55, 3):
        player.show(number)
        found = player.picture(tmp_path / f"{number}.png")
        assert steps.is_close(found, steps.inverse(number)), f"frame {number} is {found}"
        player.tell("set_property", "pause", False)
        player.wait_to_go_on()
        player.tell("set_property", "pause", True)
    player.show(50)
    player.tell("set_property", "pause", False)
    log = player.end()  # of the file
    assert "error" not in log.lower(), log


def test_seeking_loads_the_model_once(play, script, tmp_path):
    """mpv makes its filters anew at each seek."""
    loads = tmp_path / "loads"
    player = play(f"--vf=lavfi=[{support.fake(script(loads=loads))}]", "--pause")
    for number in (40, 5, 50, 0, 12):
        player.show(number)
    player.tell("quit")
    # One fewer for each seek that comes before the filters of the last one are made.
    assert player.end().count("in flight; scripted") > 3
    assert loads.read_text().split().count("open") == 1


def test_seeking_without_a_rest(play, slow_and_inverse):
    """Seeks that come before the last one is through."""
    player = play(f"--vf=lavfi=[{slow_and_inverse}]", "--keep-open")
    for number in 10 * (40, 5, 50, 0, 12):
        player.tell("seek", number / steps.RATE, "absolute+exact")
    player.wait_to_go_on()
    player.tell("quit")
    player.end()


def test_filters_that_come_and_go(play, script):
    ours = f"lavfi=[{support.fake(script(scale=2, latency_us=20000))}]"
    player = play("--loop-file=inf")
    player.wait_for_width(steps.WIDTH)
    for words, width in [
        (("vf", "set", ours), 2),
        (("vf", "set", ""), 1),
        (("vf", "add", f"@x:{ours}"), 2),
        (("vf", "toggle", "@x"), 1),
        (("vf", "toggle", "@x"), 2),
        (("vf", "add", f"@y:{ours}"), 4),
        (("vf", "remove", "@x"), 2),
        (("vf", "remove", "@y"), 1),
    ]:
        player.tell(*words)
        player.wait_for_width(width * steps.WIDTH)
        player.wait_to_go_on()
    player.tell("quit")
    log = player.end()
    assert log.count("in flight; scripted") >= 5, log


def test_a_model_that_fails(play, script):
    """mpv stops at the last frame, as with filters of its own, and goes on without the filter."""
    fails = support.fake(script(fail_at=steps.luma(20)))
    player = play(f"--vf=lavfi=[{fails}]")
    player.wait_for_line("error on filtering")
    player.tell("vf", "set", "")
    player.wait_for("time-pos", lambda position: position > 30 / steps.RATE)
    log = player.end()
    assert log.count("the script says that this picture fails") == 1, log
