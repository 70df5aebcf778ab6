#!/bin/sh
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Fetches and unpacks the source of the FFmpeg that this system's libavfilter
# was built from, and prints the path of the unpacked tree. All else that it
# says goes to stderr. /etc/apt and apt's own lists stay as they are; root is
# not needed.
#
# usage: fetch-ffmpeg-source.sh [DESTDIR]
#
#   DESTDIR              where the trees are kept; one that is already there is
#                        used again (${XDG_CACHE_HOME:-~/.cache}/ffmpeg-dnn-torch)
#   DNN_TORCH_APT_OPTIONS  further options for apt, such as
#                        "-o Acquire::Check-Valid-Until=false"
#
# Exits with 3 where the archive has not the source of the installed version
# (any more), which in unstable comes and goes.
set -eu

here=$(dirname "$0")
destination=${1:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ffmpeg-dnn-torch}

say() { echo "fetch-ffmpeg-source.sh: $*" >&2; }

# shellcheck disable=SC2016 # the braces are dpkg-query's, not the shell's
version=$(dpkg-query -W -f '${source:Version}' libavfilter-dev 2>/dev/null) || {
    say "libavfilter-dev is not installed, so there is no version to fetch"
    exit 1
}
upstream=${version#*:}
upstream=${upstream%-*}

mkdir -p "$destination"
destination=$(cd "$destination" && pwd)
# The epoch's colon may not stand in a path that a Makefile sees.
tree=$destination/ffmpeg-${version#*:}
if [ -e "$tree/.complete" ]; then
    echo "$tree"
    exit 0
fi

# With updates and security: the installed version may stand there alone.
archives=$("$here/debian-archive.sh" --all)

work=$(mktemp -d "$destination/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/empty" "$work/files"

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r "$keyring" ] && signed="[signed-by=$keyring] " || signed=
echo "$archives" | sed "s|.*|deb-src $signed& main|" >"$work/sources.list"

own_apt()
{
    # shellcheck disable=SC2086 # the options are meant to be split
    apt-get -q -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts="$work/empty" \
        -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" \
        -o Debug::NoLocking=true -o APT::Sandbox::User= ${DNN_TORCH_APT_OPTIONS:-} "$@" >&2
}

say "fetching ffmpeg $version from $(echo "$archives" | head -n 1)"
own_apt update || exit 3

# An archive in motion may serve the upstream tarball and no longer the
# packaging beside it, and apt then fails although what is needed has come; so
# what has come decides. apt has checked every file that it left behind
# against the signed lists.
cd "$work/files"
own_apt source --download-only "ffmpeg=$version" || own_apt source --download-only ffmpeg ||
    say "apt could not fetch all of it"
cd "$destination"

description=$(find "$work/files" -name '*.dsc' | head -n 1)
tarball=$(find "$work/files" -name "ffmpeg_$upstream.orig.tar.*" ! -name '*.asc' | head -n 1)
unpacked=$work/unpacked
if [ -n "$description" ] && [ -n "$(find "$work/files" -name '*.debian.tar.*')" ] &&
    command -v dpkg-source >/dev/null; then
    dpkg-source --no-check -x "$description" "$unpacked" >&2
elif [ -n "$tarball" ]; then
    say "no Debian packaging to be had: using the upstream tarball alone"
    mkdir "$unpacked"
    tar -xf "$tarball" -C "$unpacked" --strip-components=1
else
    say "no source of ffmpeg $version to be had from $(echo "$archives" | head -n 1)"
    exit 3
fi

# Sources of another version would be checked against the wrong headers.
got=$(cat "$unpacked/RELEASE" 2>/dev/null || cat "$unpacked/VERSION")
if [ "$got" != "${upstream%%[+~]*}" ]; then
    say "installed is ffmpeg $version, but the archive has the source of $got"
    exit 3
fi
touch "$unpacked/.complete"
rm -rf "$tree"
mv "$unpacked" "$tree"
echo "$tree"
