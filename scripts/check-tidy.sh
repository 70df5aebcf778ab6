#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# clang-tidy, with the checks of .clang-tidy, over the plugin's C++ sources that
# changed.
#
# usage: check-tidy.sh [--build DIR] [--most N] [--all | BASE]
#
#   --build DIR  a build folder that compiles each source by itself (build-tidy),
#                which is set up if it is not there; nothing is compiled in it
#   --most N  the N sources that changed most; the others count as skipped
#   BASE   the commit to compare with, DNN_TORCH_TIDY_BASE or where this branch
#          left origin/main unless told
#   --all  all sources but the engines', which take ten seconds each
#
# The last line is "N passed, N failed, N skipped"; each source counts as one.
set -eu -o pipefail
cd "$(dirname "$(dirname "$(realpath "$0")")")"

build="build-tidy"
most=
while :; do
    case ${1:-} in
    --build) build=${2:?--build needs a folder} ;;
    --most) most=${2:?--most needs a number} ;;
    *) break ;;
    esac
    shift 2
done

# skip REASON: says so in CI's last lines, and ends.
skip()
{
    printf 'NOTE     clang-tidy looked at nothing: %s\n\n0 passed, 0 failed, 1 skipped\n' "$1"
    exit 0
}

# Sources, and for a header the source of its name; those that changed most come first.
changed_sources()
{
    git diff --numstat --no-renames --diff-filter=d "$1" -- 'plugin/*.cpp' 'plugin/*.h' |
        sort -rn | cut -f 3 | sed 's/\.h$/.cpp/' | awk '!seen[$0]++' |
        while read -r source; do [ ! -e "$source" ] || echo "$source"; done
}

# Those that this build compiles: of some there is one for each libavfilter.
compiled()
{
    while read -r source; do
        ! grep -qF "\"../$source\"" "$build/compile_commands.json" || echo "$source"
    done
}

command -v clang-tidy >/dev/null || skip "it is not installed"
[ -e "$build/compile_commands.json" ] || meson setup "$build" -Dtests=disabled >/dev/null ||
    skip "$build cannot be set up"
# A source that is newer than the folder is known only after this.
ninja -C "$build" build.ninja >/dev/null || skip "$build cannot be set up anew"
if [ "${1:-}" = --all ]; then
    mapfile -t sources < <(git ls-files 'plugin/*.cpp' ':!plugin/engines/*' | compiled)
else
    base=${1:-${DNN_TORCH_TIDY_BASE:-$(git merge-base HEAD origin/main 2>/dev/null || :)}}
    git rev-parse --quiet --verify "$base^{commit}" >/dev/null || skip "no commit to compare with"
    mapfile -t sources < <(changed_sources "$base" | compiled)
fi
[ ${#sources[@]} != 0 ] || skip "no source of the plugin has changed"
skipped=0
if [ -n "$most" ] && [ ${#sources[@]} -gt "$most" ]; then
    skipped=$((${#sources[@]} - most))
    sources=("${sources[@]:0:$most}")
    echo "NOTE     clang-tidy looked at the $most sources that changed most; $skipped others changed"
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# On standard error clang-tidy counts what it found in other people's headers.
# It reads the headers that gcc has compiled beforehand, by their names alone, and
# does not know all of gcc's warnings.
# shellcheck disable=SC2016 # what the inner shell expands
printf '%s\n' "${sources[@]}" |
    xargs -P "$(nproc)" -n 1 sh -c \
        'clang-tidy -p "$0" --quiet --extra-arg=-I"$PWD/plugin/base" \
             --extra-arg=-I"$PWD/plugin/engines/torch" \
             --extra-arg=-Wno-unknown-warning-option "$1" 2>/dev/null ||
             echo "clang-tidy complains of $1"' "$build" |
    tee "$log"
failed=$(grep -c '^clang-tidy complains of ' "$log" || :)
printf '\n%d passed, %d failed, %d skipped\n' $((${#sources[@]} - failed)) "$failed" "$skipped"
[ "$failed" = 0 ]
