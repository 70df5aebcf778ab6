#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds a small shared FFmpeg with the patch of patches/ffmpeg-X.Y: what tests
# of the patched build need, and little else.
set -eu -o pipefail

usage() {
    cat <<'END'
usage: build-patched-ffmpeg.sh [SOURCE|SUITE|VERSION|-] [DESTDIR]

SOURCE   a tarball or an unpacked tree of FFmpeg; without it, the source of the
         FFmpeg that this system has is fetched (fetch-ffmpeg-source.sh)
SUITE, VERSION  checks: this system must be that Debian suite, or have that
         FFmpeg (5.1, 5.1.9)
DESTDIR  where bin/ffmpeg, lib/libavfilter.so and so on are put;
         out/patched-ffmpeg in the repository if not given

Does nothing where DESTDIR has the same FFmpeg with the same patch from the same
script already; to build all the same, remove DESTDIR/.stamp.

JOBS in the environment says how many compilers run at once.
END
}

patch_for() { # VERSION
    printf '%s\n' "$root/patches/ffmpeg-$(cut -d . -f 1,2 <<<"$1")/$patch_name"
}

# One option per line.
configure_options() {
    local codecs='rawvideo wrapped_avframe ffv1 png pgm ppm pam'
    local muxers='rawvideo nut matroska framemd5 framecrc hash md5 null image2 image2pipe'
    local demuxers='rawvideo nut matroska image2 image2pipe'
    local parsers='png pnm'
    local image_pipes='image_png_pipe image_ppm_pipe image_pgm_pipe'
    local sources='nullsrc anullsrc color testsrc testsrc2 smptebars rgbtestsrc life'
    local shapes='scale format noformat crop pad hflip vflip transpose fps setpts settb setsar'
    local joins='split hstack vstack overlay blend alphaextract alphamerge extractplanes mergeplanes'
    # metadata calls libavformat, which only movie has libavfilter linked with.
    local others='null nullsink copy trim loop select sendcmd realtime movie
        drawbox metadata showinfo negate lut noise psnr ssim setparams setfield'

    printf -- '--%s\n' disable-everything disable-autodetect disable-doc disable-debug \
        enable-shared disable-static disable-network disable-ffplay \
        extra-version=filter-modules "prefix=$destdir"
    # The lists are words to be split.
    # shellcheck disable=SC2086
    {
        enable encoder $codecs
        enable decoder $codecs
        enable parser $parsers
        enable muxer $muxers
        enable demuxer $demuxers $image_pipes
        enable filter $sources $shapes $joins $others
    }
    enable indev lavfi
    enable protocol file pipe
    if cc -E -x c -include zlib.h /dev/null >/dev/null 2>&1; then
        printf '%s\n' --enable-zlib # for png
    fi
    toolchain_options
}

build() { # TREE PATCH
    local options
    cd "$1"
    patch -p1 <"$2"
    mapfile -t options <<<"$(configure_options)"
    run_configure "${options[@]}"
    # By $ORIGIN the build can be moved; the other one is for a chroot without
    # /proc, where a program does not know its origin.  As a linker option this
    # would be evaluated by configure, by make once or twice, and by a shell.
    LD_RUN_PATH="\$ORIGIN/../lib:$destdir/lib" make -j"${JOBS:-$(nproc)}"
    rm -f "$destdir/.stamp"
    make install
    # The system's own libraries have the same names and would do as well.
    env -u LD_LIBRARY_PATH LD_TRACE_LOADED_OBJECTS=1 "$destdir/bin/ffmpeg" |
        awk -v ours="$destdir/" '/lib(av|sw)[a-z]+\.so/ { n++; if (index($3, ours) != 1) n = -99 }
            END { exit n <= 0 }' ||
        die "$destdir/bin/ffmpeg does not find the libraries that it was built with"
}

stamp_for() { # VERSION PATCH
    printf 'version %s\n' "$1"
    printf 'patch %s\n' "$(sha256sum <"$2")"
    printf 'scripts %s\n' "$(cat "$root"/scripts/{build-patched-ffmpeg,ffmpeg-build}.sh | sha256sum)"
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

patch_name=0001-avfilter-open-filter-modules-from-a-plugin-path.patch
destdir=$(realpath -m "${2:-$root/out/patched-ffmpeg}")
source=''
if [ -e "${1-}" ]; then
    source=$(realpath "$1")
    version=$(source_version "$source") || die "$1 is no source of FFmpeg: it has no file RELEASE"
else
    version=$(own_version)
    case "${1:--}" in
    -) ;;
    [0-9]*) case "$version." in
        "$1".*) ;;
        *) die "this system has FFmpeg $version, not $1" ;;
        esac ;;
    *) [ "$1" = "$(own_suite)" ] || die "this is $(own_suite); run it in a $1, or name a source" ;;
    esac
fi
patch=$(patch_for "$version")
[ -e "$patch" ] || die "no patch for FFmpeg $version in $root/patches; see the README.md there"

lock_destination
if up_to_date "$(stamp_for "$version" "$patch")"; then
    printf 'patched FFmpeg %s is up to date in %s\n' "$version" "$destdir"
    exit 0
fi
need_tools patch make gcc

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -n "$source" ] || source=$(fetch)
unpack "$source" "$work/ffmpeg"
build "$work/ffmpeg" "$patch"
stamp_for "$version" "$patch" >"$destdir/.stamp"
printf 'patched FFmpeg %s is in %s\n' "$version" "$destdir"
