#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Long runs with random options and random faults, for an hour.
set -eu -o pipefail

usage()
{
    cat <<'END'
usage: soak.sh [--live] [--seed N] [--minutes M] [--run I] [--frames F] [--build DIR]

  --live       streams with deadlines, with --seed and --minutes alone (10)
  --seed N     which runs they are (today's date); the same seed gives the same runs
  --minutes M  how long (60)
  --run I      run I of that seed alone
  --frames F   the frames of a run (10000)
  --build DIR  the build folder (build); made without LibTorch where there is none yet

A run is an ffmpeg, or an mpv with seeks, with options that a random number chose and the fake
engine.  In half of them something goes wrong: the model throws, hangs, returns nonsense or
NaN, its file changes, its process is killed or stopped, the disk is full. A run must end, with
the right exit code and one line that says why, must hand on every frame that it has to, in
order and with the right content, and must not hold more memory the longer it is.

A line says of each run that does not how to repeat it; DIR/soak-found keeps what it logged. The
exit code is 0 if there was none.
END
}

die()
{
    echo "soak.sh: $*" >&2
    exit 2
}

cd "$(dirname "$(dirname "$(realpath "$0")")")"
build=build
soak=soak.py
arguments=()
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=${2:?--build needs a folder} && shift ;;
    --seed | --minutes | --run | --frames)
        arguments+=("$1" "${2:?$1 needs a number}") && shift
        ;;
    --live) soak=live.py ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        usage >&2
        die "unknown: $1"
        ;;
    esac
    shift
done

[ -e "$build/build.ninja" ] || meson setup "$build" -Dtorch=disabled
ninja -C "$build" >&2
build=$(realpath "$build")
export DNN_TORCH_BUILD=$build DNN_TORCH_LAUNCHER=$build/plugin/dnn-torch
export DNN_TORCH_MODULES=$build/plugin DNN_TORCH_FAKE_ENGINE_DIR=$build/tests/fake_engine
export PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 "tests/soak/$soak" "${arguments[@]}"
