#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A whole Slurm on this machine, for tests: munged, slurmctld and two slurmd of
# eight cores each (said to be), on free ports and with a folder and a key of its own. Runs
# COMMAND with SLURM_CONF set, ends all that it started, and exits as COMMAND
# does. Nothing of the system's own Slurm is read or changed. In a pid namespace
# of its own, if it may have one, so that no job outlives it.
#
# usage: slurm.sh [--max-array-size N] COMMAND...
#        slurm.sh sh -c 'sbatch --wait --array=0-3 --wrap hostname && sinfo'
#
# Exits with 77 and a reason if Slurm cannot run here.
set -eu

max_array_size=1001
if [ "${1:-}" = --max-array-size ]; then
    max_array_size=$2
    shift 2
fi
if [ $# = 0 ]; then
    sed -n 's/^# \{0,1\}//; /^usage:/,/^Exits/p' "$0" >&2
    exit 2
fi

# slurmctld and slurmd are in sbin, which is not in every user's PATH.
PATH=$PATH:/usr/sbin:/sbin
for program in munged slurmctld slurmd sbatch; do
    if ! command -v "$program" >/dev/null; then
        echo "SKIP: $program is not installed (munge, slurmctld, slurmd, slurm-client)"
        exit 77
    fi
done

if [ -z "${DNN_TORCH_SLURM_INSIDE:-}" ]; then
    export DNN_TORCH_SLURM_INSIDE=1
    if unshare --pid --fork --kill-child --mount-proc true 2>/dev/null; then
        exec unshare --pid --fork --kill-child --mount-proc "$0" --max-array-size "$max_array_size" "$@"
    fi
fi
unset DNN_TORCH_SLURM_INSIDE

folder=$(mktemp -d "${TMPDIR:-/tmp}/slurm.XXXXXX")
# munged wants to be sure that nobody else can replace its files.
chmod 755 "$folder"
if [ "${#folder}" -gt 80 ]; then
    folder_was=$folder
    folder=$(mktemp -d /tmp/slurm.XXXXXX) # a socket's name has 108 bytes at most
    chmod 755 "$folder"
    rmdir "$folder_was"
fi
mkdir "$folder/state" "$folder/spool" "$folder/log"

started=()
stop()
{
    trap - EXIT INT TERM HUP
    scancel --quiet --user="$(id -u)" 2>/dev/null || :
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        [ -n "$(squeue --noheader 2>/dev/null)" ] || break
        sleep 0.2
    done
    # Each is a child of this shell: no other process can have its number.
    for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || :; done
    for pid in "${started[@]}"; do wait "$pid" 2>/dev/null || :; done
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

start()
{
    local name=$1
    shift
    "$@" >>"$folder/log/$name" 2>&1 </dev/null &
    started+=($!)
}

fail()
{
    echo "slurm.sh: $*" >&2
    tail -n 5 "$folder"/log/* >&2
    exit 1
}

read -r port first last < <(python3 -c '
import socket
while True:
    sockets = [socket.socket() for _ in range(3)]
    try:
        sockets[0].bind(("127.0.0.1", 0))
        sockets[1].bind(("127.0.0.1", 0))
        ports = [each.getsockname()[1] for each in sockets[:2]]
        sockets[2].bind(("127.0.0.1", ports[1] + 1))
    except (OSError, OverflowError):
        continue
    print(*ports, ports[1] + 1)
    break')

host=$(hostname -s)
user=$(id -un)
cat >"$folder/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
# A job that is put back begins again when its credential has expired: after 120 seconds otherwise.
AuthInfo=socket=$folder/munge.socket,cred_expire=5
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
MaxArraySize=$max_array_size
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
KillWait=1
NodeName=n[1-2] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$first-$last] CPUs=8 State=UNKNOWN
PartitionName=all Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$folder/slurm.conf
# Slurm 24.11 does not start without cgroups otherwise, which containers and chroots lack; 22.05
# does not know the word.
if [ "$(slurmctld -V | grep -o '[0-9]*' | head -n 1)" -gt 22 ]; then
    echo CgroupPlugin=disabled >"$folder/cgroup.conf"
fi

(umask 077 && head -c 128 /dev/urandom >"$folder/munge.key")
start munged munged --foreground --force --socket="$folder/munge.socket" \
    --key-file="$folder/munge.key" --pid-file="$folder/munged.pid" --seed-file="$folder/munged.seed" \
    --log-file="$folder/log/munged.log"
for _ in $(seq 50); do
    [ -S "$folder/munge.socket" ] && break
    sleep 0.1
done
[ -S "$folder/munge.socket" ] || fail "munged does not start"
start slurmctld slurmctld -D
start n1 slurmd -D -N n1
start n2 slurmd -D -N n2
for _ in $(seq 100); do
    [ "$(sinfo --noheader --states=idle --format=%D 2>/dev/null)" = 2 ] && break
    sleep 0.2
done
[ "$(sinfo --noheader --states=idle --format=%D)" = 2 ] || fail "the two nodes do not come up"

"$@"
