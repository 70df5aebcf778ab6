#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# All checks of one Debian suite, to be run in it: the tests, the pinned ABI
# against the source of its FFmpeg and, if asked, the patched build. Or those of
# an FFmpeg that you built.
#
# usage: check-suite.sh [--patched | --patched-only | --ffmpeg PREFIX [TREE]]
#                       [-- MESON_OPTION...]
#
#   --patched       builds the suite's FFmpeg with patches/ and runs the golden
#                   tests with it too, without LD_PRELOAD
#   --patched-only  that alone, and the fault tests as well
#   --ffmpeg        the tests with the shared FFmpeg that was installed in PREFIX, and
#                   the pinned ABI against TREE, its source. What it lacks, and
#                   programs that have the system's, are skipped.
#   MESON_OPTION    for meson setup, in addition to -Dtorch=enabled
#   DNN_TORCH_PATCHED_DIR  where that build is kept (out/patched-ffmpeg)
#
# With --ffmpeg the build is in build-ffmpeg-VERSION. DNN_TORCH_TEST_SUITES="abi golden"
# runs these suites alone.
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

# As CONTRIBUTING.md, "Adding an FFmpeg version", says.
own()
{
    local prefix=$1 tree=${2:-} version name selected=()
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig:$prefix/lib64/pkgconfig
    export LD_LIBRARY_PATH=$prefix/lib:$prefix/lib64
    export PATH=$prefix/bin:$PATH FFMPEG=$prefix/bin/ffmpeg
    version=$("$FFMPEG" -version 2>&1 | sed -n '1s/^ffmpeg version \([^ ]*\) .*/\1/p') || :
    if [ -z "$version" ] || [ "$(pkg-config --variable=prefix libavfilter)" != "$prefix" ]; then
        echo "check-suite.sh: there is no shared FFmpeg with its headers in $prefix" >&2
        exit 2
    fi
    for name in ${DNN_TORCH_TEST_SUITES:-}; do
        selected+=(--suite "$name")
    done
    stage "FFmpeg $version: tests" scripts/check.sh --build "build-ffmpeg-$version" \
        ${selected[@]+"${selected[@]}"} -- -Dtorch=enabled -Dwerror=false \
        ${options[@]+"${options[@]}"} || :
    if [ -n "$tree" ]; then
        stage "FFmpeg $version: pinned ABI against its source" scripts/check-abi.sh "$tree" || :
    else
        skip "FFmpeg $version: pinned ABI" "its source was not named"
    fi
}

# shellcheck source=/dev/null
suite=$(. /etc/os-release && echo "${PRETTY_NAME:-this system}")

what=
own=()
case ${1:-} in
--ffmpeg)
    what=$1
    shift
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        own+=("$(realpath -e "$1")")
        shift
    done
    [ ${#own[@]} -eq 1 ] || [ ${#own[@]} -eq 2 ] || {
        echo "check-suite.sh: --ffmpeg takes a PREFIX, and perhaps a source TREE" >&2
        exit 2
    }
    ;;
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
--ffmpeg) own "${own[@]}" ;;
*) plain ;;
esac
finish
