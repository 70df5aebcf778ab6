#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds a small FFmpeg with its own torch backend of dnn_processing, against
# this system's LibTorch: what benchmarks/run.py compares with.
set -eu -o pipefail

usage() {
    cat <<'END_USAGE'
usage: build-upstream-ffmpeg.sh [SOURCE|-] [DESTDIR]

SOURCE   a tarball or an unpacked tree of FFmpeg, 7.1 or later; without it, the
         source of the FFmpeg that this system has (fetch-ffmpeg-source.sh)
DESTDIR  where bin/ffmpeg is put; out/upstream-ffmpeg in the repository if not given

The source stays as it is but for one word: configure asks for C++17, which the
headers of LibTorch 2.14 do not compile with, and is made to ask for C++20.

Does nothing where DESTDIR has it already, from the same script and LibTorch.
JOBS in the environment says how many compilers run at once.
END_USAGE
}

# One option per line.
configure_options() {
    printf -- '--%s\n' disable-everything disable-autodetect disable-doc disable-debug \
        disable-network disable-ffplay disable-ffprobe extra-version=torch-backend \
        enable-libtorch "prefix=$destdir" \
        extra-cxxflags=-isystem/usr/include/torch/csrc/api/include
    enable encoder rawvideo wrapped_avframe
    enable decoder rawvideo wrapped_avframe
    enable muxer rawvideo null framemd5
    enable demuxer rawvideo
    enable filter dnn_processing null format scale
    enable indev lavfi
    enable protocol file pipe
    toolchain_options
}

build() { # TREE
    local options
    cd "$1"
    # That standard is the last one on the command line, and so no option helps.
    sed -i '/enabled libtorch /s/-std=c++17/-std=c++20/' configure
    mapfile -t options <<<"$(configure_options)"
    run_configure "${options[@]}"
    make -j"${JOBS:-$(nproc)}"
    rm -f "$destdir/.stamp"
    make install
}

stamp_for() { # VERSION
    printf 'version %s\n' "$1"
    # shellcheck disable=SC2016 # the braces are dpkg-query's, not the shell's
    printf 'libtorch %s\n' "$(dpkg-query -W -f '${Version}' libtorch-dev 2>/dev/null || echo unknown)"
    printf 'scripts %s\n' "$(cat "$root"/scripts/{build-upstream-ffmpeg,ffmpeg-build}.sh | sha256sum)"
}

root=$(dirname "$(dirname "$(realpath "$0")")")
# shellcheck source=scripts/ffmpeg-build.sh
. "$root/scripts/ffmpeg-build.sh"

case ${1-} in
-h | --help)
    usage
    exit 0
    ;;
esac
[ $# -le 2 ] || die "more than two arguments; see --help"

destdir=$(realpath -m "${2:-$root/out/upstream-ffmpeg}")
source=''
if [ "${1:--}" != - ]; then
    source=$(realpath -e "$1")
    version=$(source_version "$source") || die "$1 is no source of FFmpeg: it has no file RELEASE"
else
    version=$(own_version)
fi
case $version in
[1-6].* | 7.0*) die "FFmpeg $version has no torch backend; 7.1 was the first" ;;
esac

lock_destination
if up_to_date "$(stamp_for "$version")"; then
    printf 'FFmpeg %s with its torch backend is up to date in %s\n' "$version" "$destdir"
    exit 0
fi
need_tools make gcc g++

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -n "$source" ] || source=$(fetch)
unpack "$source" "$work/ffmpeg"
build "$work/ffmpeg"
stamp_for "$version" >"$destdir/.stamp"
printf 'FFmpeg %s with its torch backend is in %s\n' "$version" "$destdir"
