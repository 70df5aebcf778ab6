#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Installs what is needed, builds, and runs the tests.
set -eu -o pipefail

usage()
{
    cat <<'END'
usage: check.sh [--build DIR] [--suite SUITE]... [--no-install] [-- MESON_OPTION...]

  --build DIR    the build folder (build); made where there is none yet
  --suite SUITE  builds what this suite needs and runs it alone; may be repeated.
                 Without it all are built and run, and unit, abi, golden,
                 models, fault and apps have to be among them.
  --no-install   leaves the system's packages as they are
  MESON_OPTION   for meson setup (-Dtorch=enabled)

The last line is "N passed, N failed, N skipped"; the exit code is 0 if nothing
failed. In a suite that has no test to run, one counts as failed.
END
}

die()
{
    echo "check.sh: $*" >&2
    exit 2
}

cd "$(dirname "$(dirname "$(realpath "$0")")")"
build=build
suites=()
install=yes
while [ $# -gt 0 ]; do
    case $1 in
    --build)
        build=${2:?--build needs a folder}
        shift
        ;;
    --suite)
        suites+=("${2:?--suite needs a name}")
        shift
        ;;
    --no-install) install=no ;;
    --)
        shift
        break
        ;;
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
options=("$@")

[ "$install" = no ] || scripts/install-packages.sh

# Without this ccache keeps nothing that reads a precompiled header.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}
if [ ! -e "$build/build.ninja" ]; then
    # A build without LibTorch would leave most tests out and still succeed.
    [ ${#options[@]} -gt 0 ] || options=(-Dtorch=enabled)
    meson setup "$build" "${options[@]}"
elif [ ${#options[@]} -gt 0 ]; then
    meson configure "$build" "${options[@]}"
fi
# For some suites `meson test` builds what they need, and nothing else.
if [ ${#suites[@]} -eq 0 ]; then
    meson compile -C "$build"
    # scripts/stages.sh puts it into its table.
    printf 'TOOK %6d s  build\n' "$SECONDS"
fi

select=()
expect=()
for suite in ${suites[@]+"${suites[@]}"}; do
    select+=(--suite "$suite")
    expect+=(--expect "$suite")
done
if [ ${#suites[@]} -eq 0 ]; then
    expect=(--expect unit --expect abi --expect golden --expect models
        --expect fault --expect apps)
fi

# Results of an earlier run must not be counted for this one.
rm -f "$build"/meson-logs/testlog.json "$build"/meson-logs/testlog.junit.xml

status=0
meson test -C "$build" --print-errorlogs ${select[@]+"${select[@]}"} || status=$?
[ -e "$build/meson-logs/testlog.junit.xml" ] || {
    echo "check.sh: meson test ran nothing" >&2
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
}
scripts/count_tests.py "$build" --meson-status "$status" "${expect[@]}"
