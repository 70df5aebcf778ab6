#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds all but the LibTorch engine with sanitizers, and runs the tests that do
# without it. LibTorch itself is not built for sanitizers.
#
# usage: check-sanitizers.sh [address] [thread]     without an argument: both
set -eu -o pipefail
cd "$(dirname "$(dirname "$(realpath "$0")")")"
# shellcheck source=scripts/stages.sh
. scripts/stages.sh

export DNN_TORCH_SANITIZED=1
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}

# Modules leave the sanitizer's symbols to the program, hence b_lundef. Code
# with sanitizers in it makes gcc warn of what cannot happen, hence werror.
# Optimising such code for speed takes gcc twice as long, and finds nothing more.
sanitized()
{
    local sanitizers=$1
    shift
    scripts/check.sh --build "build-sanitize-${sanitizers%%,*}" "$@" -- \
        "-Db_sanitize=$sanitizers" -Db_lundef=false -Dwerror=false -Dtorch=disabled \
        -Doptimization=1
}

[ $# -gt 0 ] || set -- address thread
for sanitizer in "$@"; do
    case $sanitizer in
    address)
        stage "address and undefined behaviour" sanitized address,undefined \
            --suite unit --suite abi --suite fuzz || :
        ;;
    thread) stage "threads" sanitized thread --suite unit --suite stress || : ;;
    *)
        echo "check-sanitizers.sh: no such sanitizer: $sanitizer" >&2
        exit 2
        ;;
    esac
done
finish
