#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Compares the pinned ABI with FFmpeg's own, internal, headers: those of the
# source of the libavfilter that is installed, or of a tree that is named. Then
# makes sure that the comparison can fail, with every pinned number in turn.
#
# usage: check-abi.sh [FFMPEG_SOURCE_TREE]
#
# Exits with 3 where no source is to be had (see fetch-ffmpeg-source.sh).
set -eu -o pipefail

root=$(dirname "$(dirname "$(realpath "$0")")")
abi=$root/subprojects/lavfi-abi
if [ $# -gt 0 ]; then
    tree=$(realpath "$1")
else
    tree=$("$root/scripts/fetch-ffmpeg-source.sh")
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The internal headers want a config.h. What is configured changes no layout
# that is checked; the smallest is the fastest.
configure()
{
    mkdir "$work/config"
    (cd "$work/config" && "$tree/configure" --disable-everything --disable-autodetect \
        --disable-x86asm --disable-doc --disable-programs) >"$work/log" 2>&1 || {
        tail -n 20 "$work/log" >&2
        return 1
    }
}

# compares INCLUDE_DIR: do its numbers agree with FFmpeg's headers?
compares()
{
    cc -std=gnu11 -fsyntax-only -DHAVE_AV_CONFIG_H -D_GNU_SOURCE -w \
        -I"$work/config" -I"$tree" -I"$1" "$abi/check/ffmpeg_layout.c"
}

# minor_of NAME FILE: the minor version in its line.
minor_of()
{
    sed -n "s/^#define $1 .*AV_VERSION_INT([0-9]*, \([0-9]*\),.*/\1/p; s/^#define $1 *\([0-9]*\)$/\1/p" \
        "$2"
}

# Names those numbers of a pinned file that hold for another release of the major.
other_release()
{
    local late minor
    late=$(minor_of LAVFI_ABI_LATE_FIRST "$1")
    minor=$(minor_of LIBAVFILTER_VERSION_MINOR "$tree/libavfilter/version.h")
    if [ "$minor" -lt "${late:-0}" ]; then
        sed -n 's/^#define LAVFI_ABI_EARLY_\([A-Z_]*\) *[0-9]*$/LAVFI_ABI_\1/p' "$1"
    else
        grep -o 'LAVFI_ABI_EARLY_[A-Z_]*' "$1" || :
    fi
}

# Every number of a pinned file, off by one, must be noticed.
notices_each_number()
{
    local pinned=$1 name names unnoticed=()
    mapfile -t names < <(sed -n 's/^#define \(LAVFI_ABI_[A-Z_]*\) *[0-9]\{1,\}$/\1/p' "$pinned" |
        grep -vE '_(MAJOR|HAS_[A-Z]+)$' | grep -vxF -f <(other_release "$pinned"))
    [ ${#names[@]} -gt 50 ] || {
        echo "only ${#names[@]} numbers found in $pinned" >&2
        return 1
    }
    cp -r "$abi/include" "$work/wrong"
    for name in "${names[@]}"; do
        awk -v name="$name" '$2 == name { $3++ } { print }' "$pinned" \
            >"$work/wrong/lavfi_abi/${pinned##*/}"
        compares "$work/wrong" 2>"$work/errors" && unnoticed+=("$name")
        grep -q 'static assertion failed' "$work/errors" || unnoticed+=("$name")
    done
    echo "${#names[@]} numbers wrong by one, ${#unnoticed[@]} unnoticed: ${unnoticed[*]}"
    [ ${#unnoticed[@]} -eq 0 ]
}

major=$(sed -n 's/^#define LIBAVFILTER_VERSION_MAJOR *//p' "$tree"/libavfilter/version*.h)
pinned=$abi/include/lavfi_abi/v$major.h
echo "pinned ABI of libavfilter $major against FFmpeg $(cat "$tree/RELEASE")"

[ -e "$pinned" ] || echo "there is no $pinned"

passed=0
failed=0
if [ -e "$pinned" ] && configure && compares "$abi/include"; then
    echo "ok: the pinned layouts are FFmpeg's"
    passed=$((passed + 1))
else
    echo "FAILED: the pinned layouts are not FFmpeg's"
    failed=$((failed + 1))
fi
if [ "$failed" = 0 ] && notices_each_number "$pinned"; then
    echo "ok: a wrong number is noticed"
    passed=$((passed + 1))
else
    echo "FAILED: a wrong number is not noticed"
    failed=$((failed + 1))
fi
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
