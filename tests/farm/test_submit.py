# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Slices are handed to a real Slurm, to GNU parallel and to Kubernetes' schema.

Where a test is about what a scheduler does with exit codes, a stand-in for dnn-torch gives them."""
import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "plugin" / "farm"))

import submit
import support
from plan import Failure, Never, Refused

# Nightly: 200 slices of the real dnn-torch.
WHOLE = os.environ.get("DNN_TORCH_FARM_WHOLE") == "1"
ODD = "-o'dd \"100%j\" {} {=die=} {#} $(x) \\n;&\n%"


def options_of(*words):
    parser = argparse.ArgumentParser()
    submit.add_options(parser)
    return parser.parse_args(words)


# $5 is the number of the slice, or nothing when it joins.
STAND_IN = """#!/bin/sh
cd {folder} || exit 2
printf '%s' "$*" >>"calls/$2-$5"
echo " ${{SLURM_RESTART_COUNT:-0}} ${{STAND_IN_HOST:-here}}" >>"calls/$2-$5"
{body}
exit 0
"""


@pytest.fixture
def make_work(tmp_path):
    """Work for a stand-in that behaves as the shell commands of the body say."""

    def make(count, body="", folder=ODD, **fields):
        place = tmp_path / folder
        while place.exists():
            place = place.with_name(place.name + "+")
        (place / "calls").mkdir(parents=True)
        launcher = place / "dnn-torch"
        launcher.write_text(STAND_IN.format(folder=shlex.quote(str(place)), body=body))
        launcher.chmod(0o755)
        values = dict(
            folder=str(place), name=f"{folder}.mkv", count=count, missing=tuple(range(count)),
            seconds=0.1, cores=1, retries=2, trust=False, launcher=str(launcher),
            places=(str(place),))
        return submit.Work(**{**values, **fields})

    return make


def calls(work):
    """{name: lines} of what the stand-in was called with, in the order of the tries."""
    folder = pathlib.Path(work.folder, "calls")
    return {path.name: path.read_text().splitlines() for path in folder.iterdir()}


# ---- words ----------------------------------------------------------------------------------


@pytest.mark.parametrize("numbers, text", [
    ([0], "0"), ([0, 1, 2], "0-2"), ([1, 3], "1,3"), ([0, 1, 5, 7, 8], "0-1,5,7-8"), ([], ""),
])
def test_ranges(numbers, text):
    assert ",".join(submit.ranges(numbers)) == text


def test_arrays_keep_each_index_below_the_largest():
    slices = [0, 4, 5, 9, 10, 23]
    assert submit.arrays(slices, 5) == [(0, [0, 4]), (5, [0, 4]), (10, [0]), (20, [3])]


@pytest.mark.parametrize("text, name", [
    ("Film 1 (4K).mkv", "film-1-4k"), (ODD, "o-dd-100-j-die-x-n"), ("v1.2.mkv", "v1-2"), ("---", "farm"), ("映画", "farm"),
    ("x" * 39 + "-yy", "x" * 39),
])
def test_safe_names(text, name):
    assert submit.safe_name(text) == name


@pytest.mark.parametrize("words", [
    ["--array=1"], ["-a", "1"], ["-d", "singleton"], ["--wrap", "true"], ["job.sh"],
    ["-p", "long", "job.sh"], ["--time=5", "job.sh"], ["--parsable"],
])
def test_arguments_that_sbatch_must_not_get(words):
    with pytest.raises(Refused):
        submit.check_sbatch_arguments(words)


def test_arguments_that_sbatch_may_get():
    submit.check_sbatch_arguments(["-p", "long", "--time=5", "-A", "films", "--exclusive"])


@pytest.mark.parametrize("words", [
    ["--slurm", "--sshlogin", "a"], ["--parallel", "--gres=gpu:1"],
    ["--print-job", "--partition=x"], ["--slurm", "--claim=a:/b"],
])
def test_options_of_another_scheduler_are_refused(make_work, words):
    with pytest.raises(Refused, match="is for --"):
        submit.submit(make_work(1), options_of(*words))


def test_a_missing_program_is_told_with_its_package(make_work, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(Refused, match="no sbatch here: install slurm-client"):
        submit.submit(make_work(1), options_of("--slurm"))
    with pytest.raises(Refused, match="no parallel here: install parallel"):
        submit.submit(make_work(1), options_of("--parallel"))


# ---- what sbatch gets -------------------------------------------------------------------------


@pytest.fixture
def fake_slurm(tmp_path, monkeypatch):
    """Programs that write down what they get; the third sbatch fails if `fails` is there."""
    folder = tmp_path / "fake"
    folder.mkdir()
    write_down = f"""#!{sys.executable}
import json, os, pathlib, sys
folder = pathlib.Path({str(folder)!r})
number = len(list(folder.glob("*.json")))
name = os.path.basename(sys.argv[0])
text = sys.stdin.read() if name == "sbatch" else ""
(folder / f"{{number}}.json").write_text(json.dumps([name, sys.argv[1:], text]))
if name == "scontrol":
    print("MaxArraySize            = 10")
elif name == "sbatch":
    if number >= 3 and (folder / "fails").exists():
        sys.exit("sbatch: error: no room")
    print(f"{{number}};cluster")
"""
    for name in ("sbatch", "scontrol", "scancel"):
        (folder / name).write_text(write_down)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def written_down(folder):
    files = sorted(folder.glob("*.json"), key=lambda path: int(path.stem))
    return [json.loads(path.read_text()) for path in files]


def test_sbatch_gets_lists_and_a_script(make_work, fake_slurm, capsys):
    work = make_work(25, missing=(0, 1, 2, 9, 10, 24), seconds=601, cores=4)
    words = ["--slurm", "--gres=gpu:1", "--partition=long"]
    assert submit.submit(work, options_of(*words), ["-A", "films"]) == 0
    _, first, second, third, join = written_down(fake_slurm)
    wanted = {"--parsable", "--requeue", "--partition=long", "--cpus-per-task=4", "--time=31",
              "--job-name=o-dd-100-j-die-x-n", "--gres=gpu:1", "--output=/dev/null", "films"}
    for call, indices in ((first, "0-2,9"), (second, "0"), (third, "4")):
        assert set(call[1]) == wanted | {f"--array={indices}", "-A"}
    assert "--dependency=afterok:1:2:3" in join[1] and "--kill-on-invalid-dep=yes" in join[1]
    assert "--partition=long" in join[1] and "--gres=gpu:1" not in join[1]
    assert "SLURM_ARRAY_TASK_ID + 20" in third[2]
    told = capsys.readouterr().out
    assert "scancel 1 2 3 4" in told and "--jobs=1,2,3,4" in told


def test_only_the_folder_and_the_index_are_in_the_script(make_work, fake_slurm):
    work = make_work(1)
    submit.submit(work, options_of("--slurm"))
    text = written_down(fake_slurm)[1][2]
    assert text.count(shlex.quote(work.folder)) == 1
    rest = text.replace(shlex.quote(work.folder), "").replace(shlex.quote(work.launcher), "")
    assert "die" not in rest


def test_fewer_cores_get_more_time(make_work, fake_slurm):
    submit.submit(make_work(1, seconds=600, cores=8), options_of("--slurm", "--cpus=2"))
    words = written_down(fake_slurm)[1][1]
    assert "--cpus-per-task=2" in words and "--time=120" in words


def test_a_limit_holds_over_several_arrays(make_work, fake_slurm):
    submit.submit(make_work(25), options_of("--slurm", "--jobs=4"))
    arrays = [call[1] for call in written_down(fake_slurm)[1:4]]
    assert ["--array=0-9%4" in words for words in arrays] == [True, True, False]
    assert "--dependency=afterany:1" in arrays[1] and "--dependency=afterany:2" in arrays[2]


def test_where_slurm_takes_one_half_it_is_cancelled(make_work, fake_slurm):
    (fake_slurm / "fails").touch()
    with pytest.raises(Refused, match="sbatch refuses: sbatch: error: no room"):
        submit.submit(make_work(25), options_of("--slurm"))
    assert written_down(fake_slurm)[-1][:2] == ["scancel", ["1", "2"]]


def test_where_nothing_is_missing_it_is_joined(make_work, fake_slurm):
    submit.submit(make_work(5, missing=()), options_of("--slurm"))
    join = written_down(fake_slurm)[-1]
    assert [call[0] for call in written_down(fake_slurm)].count("sbatch") == 1
    assert not [word for word in join[1] if "dependency" in word]


# ---- a real Slurm -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def slurm():
    """Arrays there have 150 tasks at most."""
    command = [ROOT / "tests" / "farm" / "slurm.sh", "--max-array-size", "150",
               "sh", "-c", 'echo "$SLURM_CONF"; cat']
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as it:
        line = it.stdout.readline().strip()
        if line.startswith("SKIP"):
            pytest.skip(line)
        assert line.startswith("/"), line
        os.environ["SLURM_CONF"] = line
        yield
        del os.environ["SLURM_CONF"]
        it.stdin.close()
    assert it.returncode == 0


def wait_for_slurm(seconds=60):
    until = time.monotonic() + seconds
    while subprocess.check_output(["squeue", "--noheader"], text=True).strip():
        assert time.monotonic() < until, subprocess.check_output(["squeue", "--long"], text=True)
        time.sleep(0.2)


def ids_of(told):
    return next(line.split()[2:] for line in told.splitlines() if line.startswith("cancel:"))


def job(number):
    return subprocess.check_output(["scontrol", "show", "job", number], text=True)


def test_arrays(slurm, make_work, capfd):
    """Two plans at once: a slice that is put back takes seconds to begin again."""
    good = make_work(160, """
[ "$5" = 157 ] && [ -z "$SLURM_RESTART_COUNT" ] && exit 75
[ "$2" != join ] || ls calls | wc -l >joined""")
    bad = make_work(6, 'case $5 in 2) exit 65 ;; 3) exit 75 ;; 4) exit 127 ;; esac', retries=1)
    submit.submit(good, options_of("--slurm"))
    assert len(ids_of(capfd.readouterr().out)) == 3
    submit.submit(bad, options_of("--slurm"))
    joining = ids_of(capfd.readouterr().out)[-1]
    wait_for_slurm()
    # Each slice ran once, one was put back, and joining was last.
    made = calls(good)
    assert {name: len(lines) for name, lines in made.items()} == {
        "join-": 1, **{f"run-{number}": 2 if number == 157 else 1 for number in range(160)}}
    assert made["run-8"] == ["farm run . --slice 8 0 here"]
    assert pathlib.Path(good.folder, "joined").read_text().strip() == "161"
    # Others were done, and nothing was joined.
    made = {name: len(lines) for name, lines in calls(bad).items()}
    assert made == {"run-0": 1, "run-1": 1, "run-2": 1, "run-3": 2, "run-4": 2, "run-5": 1}
    assert "JobState=CANCELLED Reason=DependencyNeverSatisfied" in job(joining)


@pytest.mark.skipif(not WHOLE, reason="nightly: Slurm takes a while to trust the nodes again")
def test_a_node_that_goes(slurm, make_work):
    """Slurm puts back what ran there."""
    work = make_work(2, '[ "$2-$SLURM_RESTART_COUNT" = run- ] && touch "at-$SLURMD_NODENAME" && '
                     'sleep 30', cores=3)
    submit.submit(work, options_of("--slurm"))
    until = time.monotonic() + 10
    while len(list(pathlib.Path(work.folder).glob("at-n?"))) < 2 and time.monotonic() < until:
        time.sleep(0.1)
    # They come back by themselves.
    for node in ("n1", "n2"):
        subprocess.run(["scontrol", "update", f"node={node}", "state=down", "reason=test"],
                       check=True)
    wait_for_slurm()
    assert {name: len(lines) for name, lines in calls(work).items()} == {
        "join-": 1, "run-0": 2, "run-1": 2}


def test_sbatch_refuses_in_one_line(slurm, make_work):
    with pytest.raises(Refused, match="sbatch refuses: .*nvalid partition") as told:
        submit.submit(make_work(1), options_of("--slurm", "--partition=nowhere"))
    assert "\n" not in str(told.value)


# ---- GNU parallel -----------------------------------------------------------------------------


@pytest.fixture
def two_hosts(tmp_path, monkeypatch, program):
    """A stand-in for ssh that runs commands here, and says where it would have.  As sshd does, it
    names a shell."""
    program("parallel")
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\nexport SHELL=/bin/sh STAND_IN_HOST="$1"\nshift\n[ "$1" = -- ] && shift\n'
                   'exec sh -c "$*"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PARALLEL_SSH", str(ssh))
    monkeypatch.setenv("HOME", str(tmp_path))


def test_two_hosts_share_the_slices(two_hosts, make_work):
    work = make_work(12, "sleep 0.05", missing=(0, 1, 2, 3, 4, 8, 9, 10, 11))
    assert submit.submit(work, options_of("--parallel", "--sshlogin", "one,two")) == 0
    made = calls(work)
    assert set(made) == {"join-", *(f"run-{number}" for number in work.missing)}
    hosts = {lines[-1].split()[-1] for name, lines in made.items() if name != "join-"}
    assert hosts == {"one", "two"}


def test_a_host_that_cannot_does_not_end_it(two_hosts, make_work):
    work = make_work(4, '[ "$STAND_IN_HOST" = two ] && exit 75')
    assert submit.submit(work, options_of("--parallel", "--sshlogin", "one,two")) == 0
    made = calls(work)
    assert set(made) == {"join-", "run-0", "run-1", "run-2", "run-3"}
    assert all(lines[-1].endswith(" one") for name, lines in made.items() if name != "join-")


def test_parallel_tells_what_failed(two_hosts, make_work):
    work = make_work(4, '[ "$5" = 2 ] && exit 65')
    with pytest.raises(Never, match="exit codes 65"):
        submit.submit(work, options_of("--parallel"))
    made = calls(work)
    assert "join-" not in made and len(made) == 4
    other = make_work(4, '[ "$5" = 2 ] && exit 75')
    with pytest.raises(Failure, match="exit codes 75") as told:
        submit.submit(other, options_of("--parallel"))
    assert told.value.code == 75


def test_arguments_that_parallel_refuses(two_hosts, make_work):
    with pytest.raises(Refused, match="parallel does not run"):
        submit.submit(make_work(1), options_of("--parallel"), ["--bogus"])


def test_another_parallel_is_told(tmp_path, monkeypatch, make_work):
    folder = tmp_path / "moreutils"
    folder.mkdir()
    (folder / "parallel").write_text("#!/bin/sh\nexit 1\n")
    (folder / "parallel").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    with pytest.raises(Refused, match="is not GNU parallel"):
        submit.submit(make_work(1), options_of("--parallel"))


# ---- the real dnn-torch -----------------------------------------------------------------------


def run(*command, **options):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300,
                            check=False, **options)
    return result.returncode, result.stdout, result.stderr


def succeed(*command, **options):
    status, told, errors = run(*command, **options)
    assert status == 0, f"{command}: {told}{errors}"
    return told


def frames_of(path):
    return succeed("ffmpeg", "-v", "error", "-i", path, "-map", "0:v", "-f", "framemd5", "-")


@pytest.fixture
def planned(tmp_path):
    """A plan of so many slices of five frames, and the frames of a whole run."""

    def make(slices):
        clip, folder = tmp_path / "in.mkv", tmp_path / "it's {} 100%"
        succeed("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=128x96:r=25",
                "-frames:v", 5 * slices, "-c:v", "libx264", "-g", 12, clip)
        succeed(support.LAUNCHER, "run", "ffmpeg", "-v", "error", "-i", clip, "-vf", "hflip",
                "-c:v", "ffv1", tmp_path / "whole.mkv")
        succeed(support.LAUNCHER, "farm", "plan", clip, "--vf", "hflip", "-o", tmp_path / "out.mkv",
                "--dir", folder, "--slice-frames", 5, "--", "-c:v", "ffv1")
        return folder

    return make


def assert_joined(folder):
    place = folder.parent
    assert frames_of(place / "out.mkv") == frames_of(place / "whole.mkv")


def test_slurm_makes_a_film(slurm, planned):
    """One slice is there before, and is not made again."""
    folder = planned(200 if WHOLE else 16)
    succeed(support.LAUNCHER, "farm", "run", folder, "--slice", 3)
    before = (folder / "slices" / "00003.json").read_text()
    succeed(support.LAUNCHER, "farm", "submit", folder, "--slurm", "--cpus", 1)
    wait_for_slurm(300)
    assert_joined(folder)
    assert (folder / "slices" / "00003.json").read_text() == before
    assert run(support.LAUNCHER, "farm", "status", folder)[0] == 0


def test_slurm_joins_nothing_where_the_source_changed(slurm, planned):
    """Each slice ends at once, with 65; status says which are missing."""
    folder = planned(4)
    succeed(support.LAUNCHER, "farm", "run", folder, "--slice", 1)
    with open(folder.parent / "in.mkv", "ab") as file:
        file.write(b"more")
    succeed(support.LAUNCHER, "farm", "submit", folder, "--slurm", "--cpus", 1)
    wait_for_slurm()
    assert not (folder.parent / "out.mkv").exists()
    status, told, _ = run(support.LAUNCHER, "farm", "status", folder, "--json")
    assert status == 3 and json.loads(told)["missing"] == [0, 2, 3]
    for number in (0, 2, 3):
        log = (folder / "logs" / f"slurm-{number}.log").read_text()
        assert log.count("\n") == 1 and "has changed since the plan was made" in log


def test_parallel_makes_a_film_on_two_hosts(two_hosts, planned):
    folder = planned(6)
    succeed(support.LAUNCHER, "farm", "submit", folder, "--parallel", "--sshlogin=one,two")
    assert_joined(folder)
    log = (folder / "logs" / "parallel.log").read_text()
    assert "\tone\t" in log and "\ttwo\t" in log


# ---- Kubernetes -------------------------------------------------------------------------------

# batch/v1 Job as of Kubernetes 1.33, as far as it is used here, written down from its API's pages;
# the whole schema comes with Kubernetes. A name that is not here is an error. "?" is optional.
VOLUME = {"name": str, "?hostPath": {"path": str, "?type": str},
          "?persistentVolumeClaim": {"claimName": str, "?readOnly": bool}}
CONTAINER = {
    "name": str, "image": str, "?command": [str], "?args": [str], "?workingDir": str,
    "?env": [{"name": str, "?value": str}],
    "?resources": {"?requests": {"?cpu": str, "?memory": str}, "?limits": {"?cpu": str}},
    "?volumeMounts": [{"name": str, "mountPath": str, "?readOnly": bool, "?subPath": str}],
}
POD = {
    "containers": [CONTAINER], "restartPolicy": ("Never", "OnFailure"), "?volumes": [VOLUME],
    "?securityContext": {"?runAsUser": int, "?runAsGroup": int, "?fsGroup": int},
}
RULE = {
    "action": ("FailJob", "FailIndex", "Ignore", "Count"),
    "?onExitCodes": {"?containerName": str, "operator": ("In", "NotIn"), "values": [int]},
    "?onPodConditions": [{"type": str, "status": str}],
}
JOB = {
    "apiVersion": ("batch/v1",), "kind": ("Job",), "metadata": {"name": str},
    "spec": {
        "completionMode": ("Indexed", "NonIndexed"), "completions": int, "parallelism": int,
        "?backoffLimit": int, "?backoffLimitPerIndex": int, "?maxFailedIndexes": int,
        "?podFailurePolicy": {"rules": [RULE]}, "template": {"?metadata": dict, "spec": POD},
    },
}


def check(value, schema, where="job"):
    if isinstance(schema, dict):
        assert isinstance(value, dict), where
        names = {name.lstrip("?") for name in schema}
        assert value.keys() <= names, f"{where}: {value.keys() - names}"
        assert {name for name in schema if name[0] != "?"} <= value.keys(), where
        for name, part in schema.items():
            if name.lstrip("?") in value:
                check(value[name.lstrip("?")], part, f"{where}.{name}")
    elif isinstance(schema, list):
        assert isinstance(value, list) and value, where
        for each in value:
            check(each, schema[0], where)
    elif isinstance(schema, tuple):
        assert value in schema, f"{where}: {value}"
    else:
        assert type(value) is schema, f"{where}: {value!r}"


def printed_job(work, *words, capsys):
    yaml = pytest.importorskip("yaml", reason="python3-yaml is not installed")
    assert submit.submit(work, options_of("--print-job", *words)) == 0
    text = capsys.readouterr().out
    return yaml.safe_load(text)


def test_the_job_is_of_its_schema(make_work, capsys):
    work = make_work(7, folder="it's {} $(x) #: 100% é😀", trust=True)
    job = printed_job(work, "--jobs=3", capsys=capsys)
    check(job, JOB)
    spec = job["spec"]
    assert (spec["completions"], spec["parallelism"], spec["backoffLimitPerIndex"]) == (7, 3, 2)
    pod = spec["template"]["spec"]
    # What Kubernetes asks for beyond the types.
    assert spec["completionMode"] == "Indexed" and pod["restartPolicy"] == "Never"
    assert all(("onExitCodes" in rule) != ("onPodConditions" in rule)
               for rule in spec["podFailurePolicy"]["rules"])
    values = spec["podFailurePolicy"]["rules"][1]["onExitCodes"]["values"]
    assert values == sorted(values) and 0 not in values
    (container,) = pod["containers"]
    assert container["command"] == [
        "dnn-torch", "farm", "run", work.folder, "--from-environment", "--trust"]
    assert [mount["mountPath"] for mount in container["volumeMounts"]] == [work.folder]


def test_the_schema_here_notices_mistakes(make_work, capsys):
    job = printed_job(make_work(2, folder="a"), capsys=capsys)
    for change in (lambda spec: spec.update(completion=3), lambda spec: spec.pop("completions"),
                   lambda spec: spec.update(completions="2")):
        other = json.loads(json.dumps(job))
        change(other["spec"])
        with pytest.raises(AssertionError):
            check(other, JOB)


def test_a_claim_must_hold_all_files(make_work, capsys, tmp_path):
    work = make_work(2, folder="a", places=(str(tmp_path / "a"), str(tmp_path / "b")))
    job = printed_job(work, f"--claim=films:{tmp_path}", capsys=capsys)
    check(job, JOB)
    (volume,) = job["spec"]["template"]["spec"]["volumes"]
    assert volume["persistentVolumeClaim"] == {"claimName": "films"}
    for claim in (f"films:{tmp_path}/b", "films", "Films:/", ":/"):
        with pytest.raises(Refused):
            submit.submit(work, options_of("--print-job", f"--claim={claim}"))


def test_a_folder_that_cannot_be_mounted_is_refused(make_work):
    with pytest.raises(Refused, match="cannot mount"):
        submit.submit(make_work(2, folder="a\nb"), options_of("--print-job"))
