#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The checks that take too long for each change: all tests in each suite, the
# thread sanitizer, all tests with a patched FFmpeg, the packages of the other
# suites, two hours of fuzzing, all operators in each suite's LibTorch, and an hour of
# long runs with random faults. Some six hours.
#
# usage: nightly.sh [PART...]      as .ci/run has them
set -eu -o pipefail
cd "$(dirname "$(dirname "$(realpath "$0")")")"
[ $# -gt 0 ] || set -- whole threads patched packages-trixie packages-sid fuzz operators soak
exec .ci/run "$@"
