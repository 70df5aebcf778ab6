# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nothing is lost, doubled or wrong, and each fault is told in one line."""
import contextlib
import copy
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import pytest

import support
from farms import NTSC, WHOLE, clip, done, farm, frames_of, judge, make, plan, plan_of, refused, whole_run

# plugin/farm's own, where farms.py has added its folder
import plan as plans
import planning
import status

# Nightly: 200 kills.
KILLS = int(os.environ.get("DNN_TORCH_FARM_KILLS", "200" if WHOLE else "20"))
MUTANTS = 10000 if WHOLE else 300
FRAMES = ("-c:v", "ffv1")


@pytest.fixture
def made(tmp_path):
    return plan(clip(tmp_path, frames=20), tmp_path / "o.mkv", frames=10)


@pytest.mark.parametrize("text", [None, "", "{"])
def test_statistics_that_ffmpeg_could_not_write(text, tmp_path):
    path = tmp_path / "stats0.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(plans.Refused, match="dnn_torch left no statistics in .*stats0.json"):
        planning.statistics_in(path, "dnn_torch")


def start(*words):
    return support.start([support.LAUNCHER, "farm", *words], start_new_session=True)


def leftovers(folder):
    return [path.name for path in folder.rglob("*.part*")] + [
        path.name for path in folder.parent.glob(".*.part*")]


# ---- sources and names --------------------------------------------------------------------------


def test_odd_names(tmp_path):
    folder = tmp_path / "-a 'b\" %d {}\n;:x[1],\\"
    folder.mkdir()
    source = clip(folder, "-in 'b' %03d:{}.mkv", frames=12)
    output = folder / "-out '%d' {=x=}\".mkv"
    made = plan(source, output, frames=6)
    done("run", made)
    done("join", made)
    whole = whole_run(source, folder / "whole.mkv", plan_of(made), "hflip", FRAMES)
    assert frames_of(output) == frames_of(whole)


def test_names_that_begin_with_a_dash_or_are_relative(tmp_path):
    clip(tmp_path, frames=12)
    shutil.move(tmp_path / "in.mkv", tmp_path / "-in.mkv")
    done("plan", "./-in.mkv", "--vf", "hflip", "-o", "./-out.mkv", "--slice-frames", "6", "--",
         *FRAMES, cwd=tmp_path)
    moved = tmp_path / "moved"
    shutil.move(tmp_path / "-out.farm", moved)
    done("run", moved, cwd="/")
    done("join", moved, cwd="/")
    assert (tmp_path / "-out.mkv").exists()


def no_file(folder):
    return folder / "none.mkv", "No such file"


def a_pipe(folder):
    os.mkfifo(folder / "pipe")
    return folder / "pipe", "is no file"


def pictures(folder):
    make(folder / "f%03d.png", *NTSC, "-frames:v", 3)
    return folder / "f%03d.png", f"ffmpeg -framerate 25 -i {folder}/f%03d.png -c:v ffv1 OUT.mkv"


def a_glob(folder):
    pictures(folder)
    return folder / "*.png", f"ffmpeg -pattern_type glob -framerate 25 -i '{folder}/*.png'"


def a_folder(folder):
    return folder, f"ffmpeg -framerate 25 -i {folder}/%d.png"


def sound_alone(folder):
    return make(folder / "a.wav", "-f", "lavfi", "-i", "sine", "-t", "0.1"), "has no video"


def no_frames(folder):
    path = clip(folder, "whole.ts", frames=3)
    make(folder / "none.mkv", "-i", path, "-c", "copy", "-frames:v", 0)
    return folder / "none.mkv", "no"


def text(folder):
    (folder / "text").write_text("words " * 100)
    return folder / "text", "cannot be read"


def two_sizes(folder):
    for name, size in (("a.ts", "64x48"), ("b.ts", "80x48")):
        make(folder / name, "-f", "lavfi", "-i", f"testsrc2=s={size}:d=0.4", "-c:v", "mpeg2video")
    (folder / "in.ts").write_bytes((folder / "a.ts").read_bytes() + (folder / "b.ts").read_bytes())
    return folder / "in.ts", "changes its size|times jump"


def a_list(folder):
    clip(folder)
    (folder / "list").write_text("ffconcat version 1.0\nfile in.mkv\n")
    return folder / "list", "list of other files"


def a_picture(folder):
    return make(folder / "a.png", *NTSC, "-frames:v", 1), "list of other files"


@pytest.mark.parametrize("source", [no_file, a_pipe, pictures, a_glob, a_folder, sound_alone,
                                    no_frames, text, two_sizes, a_list, a_picture], ids=lambda each: each.__name__)
def test_a_source_is_refused(source, tmp_path):
    path, reason = source(tmp_path)
    line = refused("plan", path, "--vf", "hflip", "-o", tmp_path / "o.mkv")
    assert any(each in line for each in reason.split("|")), line
    assert not (tmp_path / "o.farm").exists()


@pytest.mark.parametrize("words, reason", [
    (["--vf", "scale=what"], "the chain or the encoder does not work"),
    (["--vf", "hflip", "--", "-c:v", "no_such"], "the chain or the encoder does not work"),
    (["--vf", "framestep=2"], "another number of frames"),
    (["--vf", "hqdn3d"], "--halo SECONDS"),
    (["--vf", "lagfun", "--halo", "0.04"], "is another if the chain begins 3 frames earlier"),
])
def test_a_chain_that_does_not_work(words, reason, tmp_path):
    line = refused("plan", clip(tmp_path), "-o", tmp_path / "o.mkv", *words)
    assert reason in line


@pytest.mark.parametrize("words, reason", [
    (["plan", "x.mkv", "--vf", "null", "--slice-frames", "x"], "'x' is not a whole number from 1"),
    (["plan", "x.mkv", "--vf", "null", "--halo", "1/0"], "'1/0' is not a number of seconds above 0"),
    (["run", "f", "--slices", "7-3"], "'7-3' is not two slices"),
    (["run", "f", "--slices", "1-2-3"], "such as 3-7"),
    (["run", "f", "--slice", "-1"], "'-1' is not a whole number from 0 on"),
    (["status", "--", "-m{}"], "there is no plan in -m{}"),
])
def test_words_that_cannot_be_read(words, reason):
    assert reason in refused(*words)


def test_sound_that_does_not_fit(tmp_path):
    source = make(tmp_path / "in.mkv", *NTSC, "-f", "lavfi", "-i", "sine", "-t", "1", "-c:v",
                  "libx264", "-c:a", "pcm_u8")
    output = tmp_path / "o.mp4"
    line = refused("plan", source, "--vf", "hflip", "-o", output)
    assert "do not fit" in line and "-c:a" in line
    made = plan(source, output, after=["-c:a", "aac"], frames=20)
    done("run", made)
    done("join", made)


# ---- changes ------------------------------------------------------------------------------------


def test_a_source_that_changes(made, tmp_path):
    with open(tmp_path / "in.mkv", "ab") as file:
        file.write(b"more")
    assert "in.mkv has changed" in refused("run", made, code=65)


def test_other_frames_than_planned(made):
    """A decoder that gives other frames, as after damage that the checksum of a file's ends does
    not see."""
    path = made / "plan.json"
    values = json.loads(path.read_text())
    source = 9  # the place of the checksum in a slice
    values["slices"][1][source] = "0" * 32
    path.write_text(json.dumps(values))
    result = farm("run", made)
    assert result.returncode == 65
    assert "gives other frames here than when the plan was made" in result.stderr


def test_another_version_here(made):
    path = made / "plan.json"
    values = json.loads(path.read_text())
    values["machine"]["ffmpeg"] = "3.0"
    path.write_text(json.dumps(values))
    line = refused("run", made, "--slice", "0", code=75)
    assert "run the slice on another machine" in line


def test_a_plan_of_others(made):
    path = made / "plan.json"
    path.chmod(0o666)
    assert "--trust" in refused("run", made)
    done("run", made, "--trust")
    if os.geteuid() == 0:
        path.chmod(0o600)
        os.chown(path, 12345, -1)
        assert "belongs to another user" in refused("join", made)


def test_a_damaged_plan(made):
    (made / "plan.json").write_text("{")
    assert "is damaged" in refused("run", made, code=65)
    assert "there is no plan" in refused("run", made / "slices")


ODD = (None, True, -1, 0, 1, 1 << 31, 1 << 70, 1e308, -0.5, "", "x", "\x1b[31m", "\0", "\ud800", "1/0",
       "-1/2", "nan", "../../etc", [], {}, [[]], {"a": 1}, ["a", "\0"], [1])


def changed(value, chance):
    """The same but for one place in it."""
    if not isinstance(value, (dict, list)) or not value or chance.random() < 0.15:
        return copy.deepcopy(chance.choice(ODD))
    place = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
    action = chance.random()
    if action < 0.08:
        del value[place]
    elif action < 0.16:
        more = copy.deepcopy(value[place])
        value.insert(place, more) if isinstance(value, list) else value.update({"\x1b]0;": more})
    else:
        value[place] = changed(value[place], chance)
    return value


def damaged(text, chance):
    text = bytearray(text)
    for _ in range(chance.randrange(0, 4)):
        text[chance.randrange(len(text))] = chance.randrange(256)
    return bytes(text)


# Whoever gets a plan from others looks at it first.
def test_hostile_plans(made, capsys):
    good = json.loads((made / "plan.json").read_text())
    read = 0
    for number in range(MUTANTS):
        chance = random.Random(number)
        values = changed(copy.deepcopy(good), chance)
        text = json.dumps(values).encode()
        if number % 5 == 0:
            text = damaged(text, chance)
        if number == 0:
            text = b'{"format":3,"slices":' + b"[" * 100000
        (made / "plan.json").write_bytes(text)
        with contextlib.suppress(plans.Failure):
            one = plans.read(made)
            read += 1
            status.show(one)
            status.status(one, False)
            status.status(one, True)
            shown = capsys.readouterr().out
            assert all(line.isprintable() for line in shown.splitlines()), repr(shown)
    assert read > 0
    (made / "plan.json").unlink()
    os.mkfifo(made / "plan.json")
    with pytest.raises(plans.Never):
        plans.read(made, trust=True)


def test_a_damaged_slice(made, tmp_path):
    done("run", made)
    path = made / "slices" / "00001.nut"
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    path.write_bytes(damaged)
    assert "slice 1 was damaged" in refused("join", made, code=75)
    assert farm("status", made).returncode == 3
    done("run", made)
    done("join", made)


def test_a_missing_slice(made, tmp_path):
    done("run", made, "--slice", "1")
    assert "1 of 2 slices are missing, the first is 0" in refused("join", made, code=75)
    assert not (tmp_path / "o.mkv").exists()


def test_a_result_that_is_changed(made, tmp_path):
    done("run", made)
    done("join", made)
    make(tmp_path / "short.mkv", "-i", tmp_path / "o.mkv", "-frames:v", 19, "-c", "copy")
    shutil.move(tmp_path / "short.mkv", tmp_path / "o.mkv")
    assert "slice 1" in refused("verify", made, code=65)
    assert "is there: move it away" in refused("join", made)


def test_a_full_disk(tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "none", small],
                             capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        source = clip(tmp_path, frames=20)
        made = plan(source, small / "o.mkv", frames=10, after=("-c:v", "rawvideo"))
        (small / "ballast").write_bytes(b"x" * ((6 << 20) - (32 << 10)))
        line = refused("run", made, "--slice", "0", "--retries", "0", code=75).lower()
        assert "no space left" in line
        (small / "ballast").unlink()
        done("run", made)
        (small / "ballast").write_bytes(b"x" * ((6 << 20) - (160 << 10)))
        assert "no space left" in refused("join", made, code=75).lower()
        assert not leftovers(made) and not (small / "o.mkv").exists()
        (small / "ballast").unlink()
        done("join", made)
    finally:
        subprocess.run(["umount", small], check=True)


# ---- signals ------------------------------------------------------------------------------------


def slow(folder, frames=10):
    """About two seconds a slice."""
    source = clip(folder, frames=2 * frames)
    return plan(source, folder / "o.mkv", frames=frames,
                chain="realtime=speed=0.2")


def children_of(pid):
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(words[1]) == pid and words[0] != "Z":
            found.append(int(path.parent.name))
    return found


def wait_for(what, seconds=30):
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.01)
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_at_once(number, tmp_path):
    made = slow(tmp_path)
    process = start("run", made)
    ffmpeg = wait_for(lambda: leftovers(made) and children_of(process.pid))
    time.sleep(0.2)
    began = time.monotonic()
    process.send_signal(number)
    result = support.finish(process)
    assert time.monotonic() - began < (0.5 if os.getloadavg()[0] < os.cpu_count() else 3)
    assert result.returncode == 128 + number, str(result)
    assert "Traceback" not in result.stderr
    assert not leftovers(made)
    assert not any(os.path.exists(f"/proc/{pid}") for pid in ffmpeg)


def test_children_end_with_a_killed_parent(tmp_path):
    made = slow(tmp_path)
    process = start("run", made)
    ffmpeg = wait_for(lambda: leftovers(made) and children_of(process.pid))
    process.kill()
    support.finish(process)
    wait_for(lambda: not any(os.path.exists(f"/proc/{pid}/exe") for pid in ffmpeg))
    assert leftovers(made)
    done("run", made)
    assert not leftovers(made)


def test_killed_at_random(tmp_path):
    """kill -9 of slices, of ffmpeg and of the join, until all is done: the result is whole."""
    source = clip(tmp_path, frames=30)
    made = plan(source, tmp_path / "o.mkv", frames=3)
    seed = int(os.environ.get("DNN_TORCH_FARM_SEED", "1"))
    chance = random.Random(seed)
    for _ in range(KILLS):
        if chance.random() < 0.3:
            shutil.rmtree(made / "slices", ignore_errors=True)
        command = "run" if farm("status", made).returncode else "join"
        process = start(command, made)
        time.sleep(chance.random() * 0.8)
        victims = [process.pid, *children_of(process.pid)]
        os.kill(chance.choice(victims), signal.SIGKILL)
        if chance.random() < 0.7:
            process.kill()
        result = support.finish(process)
        assert "Traceback" not in result.stderr, f"seed {seed}: {result}"
    done("run", made)
    done("join", made, "--replace")
    whole = whole_run(source, tmp_path / "whole.mkv", plan_of(made), "hflip", FRAMES)
    assert frames_of(tmp_path / "o.mkv") == frames_of(whole), f"seed {seed}"
    assert not leftovers(made)


def test_two_runs_at_once(made, tmp_path):
    both = [start("run", made) for _ in range(2)]
    assert [support.finish(each).returncode for each in both] == [0, 0]
    assert not leftovers(made)
    done("join", made)
    done("verify", made, "--frames")


# ---- indices ------------------------------------------------------------------------------------


@pytest.mark.parametrize("variables, wanted", [
    ({"DNN_TORCH_SLICE": "1", "SLURM_ARRAY_TASK_ID": "0"}, [0]),
    ({"SLURM_ARRAY_TASK_ID": "0"}, [1]), ({"JOB_COMPLETION_INDEX": "1"}, [0])])
def test_an_index_from_the_environment(variables, wanted, made):
    done("run", made, "--from-environment", env=variables)
    assert json.loads(farm("status", made, "--json").stdout)["missing"] == wanted


def test_indices_that_are_none(made):
    assert "numbered from 0 to 1" in refused("run", made, "--slice", "2")
    assert "is no slice's number" in refused("run", made, "--from-environment",
                                             env={"DNN_TORCH_SLICE": "x"})
    assert "is set" in refused("run", made, "--from-environment")


def test_a_slice_that_is_done_is_not_made_again(made):
    done("run", made, "--slice", "0")
    before = (made / "slices" / "00000.nut").stat()
    done("run", made, "--slice", "0")
    assert (made / "slices" / "00000.nut").stat().st_ino == before.st_ino
