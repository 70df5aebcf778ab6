#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# All checks of one Debian suite, to be run in it: the tests, the pinned ABI
# against the source of its FFmpeg and, if asked, the patched build.
#
# usage: check-suite.sh [--patched | --patched-only] [-- MESON_OPTION...]
#
#   --patched       builds the suite's FFmpeg with patches/ and runs the golden
#                   tests with it too, without LD_PRELOAD
#   --patched-only  that alone, and the fault tests as well
#   MESON_OPTION    for meson setup, in addition to -Dtorch=enabled
#   DNN_TORCH_PATCHED_DIR  where that build is kept (out/patched-ffmpeg)
set -eu -o pipefail
cd "$(dirname "$(dirname "$(realpath "$0")")")"
# shellcheck source=scripts/stages.sh
. scripts/stages.sh

patched()
{
    local directory=${DNN_TORCH_PATCHED_DIR:-$PWD/out/patched-ffmpeg}
    scripts/build-patched-ffmpeg.sh - "$directory" || return
    DNN_TORCH_PATCHED=1 FFMPEG=$directory/bin/ffmpeg FFMPEG_FILTER_PATH=$PWD/build/plugin \
        scripts/check.sh "$@"
}

plain()
{
    local status=0
    stage "$suite: tests" scripts/check.sh -- -Dtorch=enabled ${options[@]+"${options[@]}"} || :
    stage "$suite: pinned ABI against FFmpeg's source" scripts/check-abi.sh || status=$?
    if [ "$status" = "$unavailable" ]; then
        skip "$suite: pinned ABI" "the archive has not the source of the installed FFmpeg"
    fi
}

# shellcheck source=/dev/null
suite=$(. /etc/os-release && echo "${PRETTY_NAME:-this system}")

what=
case ${1:-} in
--patched*)
    what=$1
    shift
    ;;
esac
[ "${1:-}" != -- ] || shift
options=("$@")

case $what in
--patched-only)
    stage "$suite: patched FFmpeg" patched --suite golden --suite models --suite fault || :
    ;;
--patched)
    plain
    stage "$suite: patched FFmpeg" patched --no-install --suite golden || :
    ;;
*) plain ;;
esac
finish
