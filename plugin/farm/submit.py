# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hands slices to what distributes them: Slurm, GNU parallel, an Indexed Job of Kubernetes.

Only the number of a slice crosses to another machine, and the folder's name, quoted: what a slice
runs stands in the plan."""
import argparse
import collections
import dataclasses
import json
import math
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess

from plan import Again, Never, Refused
from status import ranges

# Exit codes of `run --slice` after which no other try helps.
FINAL = (Refused.code, Never.code)
# Those after which one may: its own, a program that is not on this node, and a kill for memory.
AGAIN = (Again.code, 126, 127, 137)


@dataclasses.dataclass(frozen=True)
class Work:
    """What is to be distributed."""

    folder: str  # absolute
    name: str  # of the result, for people
    count: int  # of all slices
    missing: tuple  # their numbers, ascending
    seconds: float  # the longest slice's, as planning measured it
    cores: int  # with which it did
    retries: int
    trust: bool
    launcher: str  # dnn-torch
    places: tuple = ()  # the folders that slices read or write


def add_options(parser):
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--slurm", action="store_true",
                      help="an array of Slurm, and a job that joins when all slices are done")
    kind.add_argument("--parallel", action="store_true",
                      help="GNU parallel, in the foreground; joins when all slices are done")
    kind.add_argument("--print-job", action="store_true",
                      help="print an Indexed Job of Kubernetes, as YAML")
    parser.add_argument("--jobs", type=at_least_one, metavar="N",
                        help="how many slices run at once (with --parallel: on each host)")
    parser.add_argument("--cpus", type=at_least_one, metavar="N",
                        help="cores for each slice (those that planning measured with)")
    parser.add_argument("--partition", metavar="NAME", help="of Slurm")
    parser.add_argument("--gres", metavar="LIST", help="of Slurm, for each slice, such as gpu:1")
    parser.add_argument("--sshlogin", action="append", default=[], metavar="HOSTS",
                        help="of GNU parallel: hosts that see the folder under the same name")
    parser.add_argument("--image", metavar="NAME", default="ffmpeg-dnn-torch",
                        help="of Kubernetes: the container's image (ffmpeg-dnn-torch)")
    parser.add_argument("--claim", metavar="NAME:FOLDER",
                        help="of Kubernetes: a PersistentVolumeClaim and where it is mounted; "
                        "the nodes' own folders otherwise")


def at_least_one(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no number from 1 on")
    return int(text)


def submit(work, options, further=()):
    """Returns an exit code; `further` are the arguments after --, for sbatch or parallel."""
    refuse_options_of_others(options, further)
    if options.slurm:
        submit_to_slurm(work, options, list(further))
        return 0
    if options.parallel:
        run_with_parallel(work, options, list(further))
        return subprocess.run(command_of(work, "join", work.folder), check=False).returncode
    print(job_of_kubernetes(work, options), end="")
    return 0


def refuse_options_of_others(options, further):
    kinds = {"partition": "slurm", "gres": "slurm", "sshlogin": "parallel", "claim": "print_job"}
    for name, kind in kinds.items():
        if getattr(options, name) and not getattr(options, kind):
            raise Refused(f"--{name} is for --{kind.replace('_', '-')}")
    if further and options.print_job:
        raise Refused("--print-job takes no arguments after --")


def program(name, package):
    found = shutil.which(name)
    if not found:
        raise Refused(f"there is no {name} here: install {package}")
    return found


def safe_name(text, limit=40):
    """Of letters that every scheduler takes, without the ending of a file."""
    text = os.path.splitext(text)[0]
    name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:limit].strip("-")
    return name or "farm"


def command_of(work, *arguments):
    # A name in PATH here may be another one's on a node.
    launcher = os.path.abspath(shutil.which(work.launcher) or work.launcher)
    words = [launcher, "farm", *arguments]
    return [*words, "--trust"] if work.trust else words


# ---- Slurm ----------------------------------------------------------------------------------

# A node that cannot do any slice would take all of them, one after the other, and fail at each. It
# waits as long as a slice takes before it hands one back: then it takes no more than others do.
SCRIPT = """\
#!/bin/sh
again()
{{
    [ "${{SLURM_RESTART_COUNT:-0}}" -lt {retries} ] || exit 75
    sleep {wait}
    scontrol requeue "$SLURM_JOB_ID" && sleep 3600
    exit 75
}}
cd -- {folder} || again
{lines}
status=$?
case $status in {again}) again ;; esac
exit $status
"""
SLICE = """\
slice=$((SLURM_ARRAY_TASK_ID + {offset}))
exec >>"logs/slurm-$slice.log" 2>&1
{command} --slice "$slice\""""
JOIN = """\
exec >>logs/slurm-join.log 2>&1
{command}"""


def script(work, lines):
    return SCRIPT.format(
        retries=work.retries, wait=math.ceil(min(work.seconds, 600)), lines=lines,
        folder=shlex.quote(work.folder), again=" | ".join(map(str, AGAIN)))


def submit_to_slurm(work, options, further):
    sbatch = program("sbatch", "slurm-client")
    check_sbatch_arguments(further)
    common = [sbatch, "--parsable", "--requeue", "--output=/dev/null"]
    common += [f"--partition={options.partition}"] if options.partition else []
    os.makedirs(os.path.join(work.folder, "logs"), exist_ok=True)
    ids = []
    try:
        submit_arrays(work, options, common, further, ids)
        joining = submit_join(work, common, further, ids)
    except BaseException:
        if ids:
            subprocess.run(["scancel", *ids], check=False)
        raise
    for each in ids:
        print(f"slices: job {each}")
    print(f"joining: job {joining}" + (", when all slices are done" if ids else ""))
    print(f"watch:  squeue --jobs={','.join([*ids, joining])}")
    print(f"        {shlex.join(command_of(work, 'status', work.folder))}")
    print(f"cancel: scancel {' '.join([*ids, joining])}")


def check_sbatch_arguments(further):
    """sbatch would take a stray word as its script, and not read ours."""
    ours = re.compile(r"(--array|--dependency|--wrap|--parsable)(=.*)?|-[ad].*", re.DOTALL)
    for before, word in zip(["word", *further], further):
        if ours.fullmatch(word):
            raise Refused(f"{word} is not for you to set: dnn-torch farm does")
        if not word.startswith("-") and (not before.startswith("-") or "=" in before):
            raise Refused(f"sbatch has no use for {word!r}: only its options may follow --")


def submit_arrays(work, options, common, further, ids):
    """Appends the ids to a list, so that the caller can cancel where it stops halfway."""
    cores = options.cpus or work.cores
    seconds = work.seconds * max(1, work.cores / cores)
    minutes = max(10, math.ceil(3 * seconds / 60))
    at_once = f"%{options.jobs}" if options.jobs else ""
    for offset, indices in arrays(work.missing, largest_array()):
        words = [*common, f"--job-name={safe_name(work.name)}", f"--cpus-per-task={cores}",
                 f"--time={minutes}", f"--array={','.join(ranges(indices))}{at_once}"]
        words += [f"--gres={options.gres}"] if options.gres else []
        # A limit is an array's own: one array after the other keeps it.
        words += [f"--dependency=afterany:{ids[-1]}"] if ids and at_once else []
        command = shlex.join(command_of(work, "run", "."))
        ids.append(sbatched(words + further, script(work, SLICE.format(
            offset=offset, command=command))))


def submit_join(work, common, further, ids):
    words = [*common, f"--job-name={safe_name(work.name)}-join", "--time=60"]
    if ids:
        words += [f"--dependency=afterok:{':'.join(ids)}", "--kill-on-invalid-dep=yes"]
    command = shlex.join(command_of(work, "join", "."))
    return sbatched(words + further, script(work, JOIN.format(command=command)))


def sbatched(words, text):
    result = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    if result.returncode:
        lines = result.stderr.strip().splitlines() or [f"exit code {result.returncode}"]
        raise Refused(f"sbatch refuses: {lines[-1]}")
    # With several clusters: ID;CLUSTER.
    return result.stdout.strip().split(";")[0]


def largest_array():
    """Indices of an array are below this."""
    result = subprocess.run(["scontrol", "show", "config"], capture_output=True, text=True,
                            check=False)
    found = re.search(r"^MaxArraySize\s*=\s*(\d+)", result.stdout, re.MULTILINE)
    return int(found.group(1)) if found else 1001


def arrays(slices, largest):
    """(offset, indices) such that each index is below the largest."""
    groups = collections.defaultdict(list)
    for number in slices:
        groups[number // largest * largest].append(number % largest)
    return sorted(groups.items())


# ---- GNU parallel -----------------------------------------------------------------------------


def run_with_parallel(work, options, further):
    """Runs the slices that are missing, here or on hosts."""
    if not work.missing:
        return
    parallel = program("parallel", "parallel")
    version = subprocess.run([parallel, "--version"], capture_output=True, text=True, check=False)
    if "GNU parallel" not in version.stdout:
        raise Refused(f"{parallel} is not GNU parallel (moreutils has another): install parallel")
    os.makedirs(os.path.join(work.folder, "logs"), exist_ok=True)
    log = pathlib.Path(work.folder, "logs", "parallel.log")
    words = [parallel, f"--joblog={log}", f"--retries={work.retries + 1}",
             f"--jobs={options.jobs or 1}"]
    words += [f"--sshlogin={hosts}" for hosts in options.sshlogin]
    command = " ".join(map(quoted_for_parallel, command_of(work, "run", work.folder)))
    process = subprocess.Popen([*words, *further, f"{command} --slice {{}}"],
                               stdin=subprocess.PIPE, text=True)
    try:
        process.communicate("".join(f"{number}\n" for number in work.missing))
    except BaseException:
        # At an interrupt parallel ends what it runs; at SIGTERM it waits for it.
        process.send_signal(signal.SIGINT)
        process.wait()
        raise
    if process.returncode:
        raise failure_of_parallel(process.returncode, log)


def quoted_for_parallel(word):
    """For the shell, and such that no {} or {=...=} is left that parallel would replace."""
    return "".join(shlex.quote(part) for part in re.split(r"(?<=\{)", word) if part)


def failure_of_parallel(status, log):
    # 1 to 101 is the number of those that failed.
    if status > 101:
        return Refused("parallel does not run: see above")
    rows = log.read_text(errors="replace").splitlines()[1:] if log.exists() else []
    failed = {row.split("\t")[6] for row in rows if row.count("\t") >= 8} - {"0"}
    kind = Never if failed & set(map(str, FINAL)) else Again
    return kind(f"slices failed, with the exit codes {', '.join(sorted(failed)) or 'in its log'}: "
                f"see `dnn-torch farm status` and {log}")


# ---- Kubernetes -------------------------------------------------------------------------------


def job_of_kubernetes(work, options):
    for text in (work.folder, *work.places):
        if not text.isprintable():
            raise Refused(f"Kubernetes cannot mount {text!r}: rename the folder")
    volumes, mounts = volumes_of(work, options.claim)
    owner = os.stat(work.folder)
    cores = str(options.cpus or work.cores)
    container = {
        "name": "slice",
        "image": options.image,
        "command": ["dnn-torch", *command_of(work, "run", work.folder, "--from-environment")[1:]],
        "resources": {"requests": {"cpu": cores}},
        "volumeMounts": mounts,
    }
    rules = [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"action": "FailIndex", "onExitCodes": {"operator": "In", "values": list(FINAL)}},
    ]
    pod = {
        "restartPolicy": "Never",
        # A plan is read by its owner alone.
        "securityContext": {"runAsUser": owner.st_uid, "runAsGroup": owner.st_gid},
        "containers": [container],
        "volumes": volumes,
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": safe_name(work.name)},
        "spec": {
            "completionMode": "Indexed",
            "completions": work.count,
            "parallelism": options.jobs or work.count,
            "backoffLimitPerIndex": work.retries,
            "podFailurePolicy": {"rules": rules},
            "template": {"spec": pod},
        },
    }
    join = shlex.join(["dnn-torch", "farm", "join", work.folder])
    return f"# kubectl apply -f FILE, and when the job is complete: {join}\n" + yaml(job)


def volumes_of(work, claim):
    if claim:
        name, _, folder = claim.partition(":")
        if not re.fullmatch(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", name) or not folder.startswith("/"):
            raise Refused("--claim takes NAME:FOLDER, such as films:/films")
        outside = [each for each in work.places if not inside(each, folder)]
        if outside:
            raise Refused(f"{outside[0]} is not in {folder}, where the claim is mounted")
        volumes = [{"name": "files", "persistentVolumeClaim": {"claimName": name}}]
        return volumes, [{"name": "files", "mountPath": folder}]
    places = [each for each in sorted(set(work.places))
              if not any(inside(each, other) and each != other for other in work.places)]
    volumes = [{"name": f"files-{number}", "hostPath": {"path": place, "type": "Directory"}}
               for number, place in enumerate(places)]
    mounts = [{"name": volume["name"], "mountPath": volume["hostPath"]["path"]}
              for volume in volumes]
    return volumes, mounts


def inside(path, folder):
    return os.path.commonpath([path, folder]) == folder


def yaml(value, indent=""):
    """Nested mappings and lists, one thing a line; all strings as JSON writes them, which is YAML."""
    if not isinstance(value, (dict, list)) or not value:
        return f"{indent}{json.dumps(value, ensure_ascii=False)}\n"
    text = ""
    for key, each in value.items() if isinstance(value, dict) else ((None, item) for item in value):
        if key is None:
            inner = yaml(each, indent + "  ")
            text += f"{indent}- {inner[len(indent) + 2:]}"
        elif isinstance(each, (dict, list)) and each:
            text += f"{indent}{key}:\n{yaml(each, indent + '  ')}"
        else:
            text += f"{indent}{key}: {json.dumps(each, ensure_ascii=False)}\n"
    return text
