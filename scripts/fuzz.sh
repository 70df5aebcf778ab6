#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Changes inputs at random and looks for crashes, hangs and wrong results.
set -eu -o pipefail

usage()
{
    cat <<'END'
usage: fuzz.sh [KIND]... [--seconds N | --mutants N] [--seed S] [--build DIR] [--libfuzzer]

  KIND         a folder of tests/fuzz/corpus; without any all of them
  --seconds N  the time for all kinds together (3600)
  --mutants N  so many of each kind instead, however long it takes
  --seed S     the campaign (today's date); the same seed gives the same mutants
  --build DIR  the build folder (build); made where there is none yet
  --libfuzzer  lets clang's libFuzzer choose, by what the code does; the folder is
               build-libfuzzer, the address sanitizer watches, and --seconds alone counts

What is found is kept in DIR/fuzz-found/KIND, and a line says how to run it again. A
mended one belongs into tests/fuzz/corpus/KIND: as "refused-WHAT" or "accepted-WHAT" it
has to be that from then on, under any other name it must not be a finding.

The last line is "N inputs, N findings"; the exit code is 0 if nothing was found.
END
}

die()
{
    echo "fuzz.sh: $*" >&2
    exit 2
}

cd "$(dirname "$(dirname "$(realpath "$0")")")"
kinds=()
seconds=3600
mutants=
seed=$(date +%Y%m%d)
build=
libfuzzer=
while [ $# -gt 0 ]; do
    case $1 in
    --seconds) seconds=${2:?--seconds needs a number} && shift ;;
    --mutants) mutants=${2:?--mutants needs a number} && shift ;;
    --seed) seed=${2:?--seed needs a number} && shift ;;
    --build) build=${2:?--build needs a folder} && shift ;;
    --libfuzzer) libfuzzer=yes ;;
    -h | --help)
        usage
        exit 0
        ;;
    -*)
        usage >&2
        die "unknown: $1"
        ;;
    *) kinds+=("$1") ;;
    esac
    shift
done

[ ${#kinds[@]} -gt 0 ] || for folder in tests/fuzz/corpus/*/; do kinds+=("$(basename "$folder")"); done
for kind in "${kinds[@]}"; do
    [ -d "tests/fuzz/corpus/$kind" ] ||
        die "no such kind: $kind; there are: $(cd tests/fuzz/corpus && echo *)"
done
each=$((seconds / ${#kinds[@]}))

inputs=0
findings=0

# count KIND COMMAND...: adds what its last line says; one without such a line is a finding.
count()
{
    local kind=$1 last log more_inputs=0 more_findings=1
    shift
    log=$(mktemp)
    echo "==== $kind, seed $seed"
    "$@" 2>&1 | tee "$log" || :
    last=$(tail -n 1 "$log" | sed -nE 's/^([0-9]+) inputs, ([0-9]+) findings$/\1 \2/p')
    rm -f "$log"
    [ -z "$last" ] || read -r more_inputs more_findings <<<"$last"
    inputs=$((inputs + more_inputs))
    findings=$((findings + more_findings))
}

plainly()
{
    build=${build:-build}
    [ -e "$build/build.ninja" ] || meson setup "$build" -Dtorch=enabled
    ninja -C "$build" "${kinds[@]/#/tests/fuzz/fuzz_}"
    local much=(--seconds "$each")
    [ -z "$mutants" ] || much=(--mutants "$mutants")
    for kind in "${kinds[@]}"; do
        count "$kind" "$build/tests/fuzz/fuzz_$kind" "${much[@]}" --seed "$seed" \
            --save "$build/fuzz-found/$kind"
    done
}

# It says how many units it executed, and leaves each finding as a file.
run_libfuzzer()
{
    local kind=$1 found=$2 log units
    mkdir -p "$found/corpus"
    log=$(mktemp)
    "$build/tests/fuzz/libfuzzer_$kind" -max_total_time="$each" -seed="$seed" -timeout=10 \
        -rss_limit_mb=4096 -print_final_stats=1 -artifact_prefix="$found/" \
        "$found/corpus" "$PWD/tests/fuzz/corpus/$kind" 2>&1 | tee "$log" || :
    units=$(sed -nE 's/^stat::number_of_executed_units: +([0-9]+)$/\1/p' "$log" | tail -n 1)
    rm -f "$log"
    echo "${units:-0} inputs, $(find "$found" -maxdepth 1 -type f -newer "$found/started" | wc -l) findings"
}

with_libfuzzer()
{
    build=${build:-build-libfuzzer}
    [ -e "$build/build.ninja" ] || CC=clang CXX=clang++ meson setup "$build" -Dtorch=enabled \
        -Db_sanitize=address -Db_lundef=false -Dwerror=false \
        -Dc_args=-fsanitize=fuzzer-no-link -Dcpp_args=-fsanitize=fuzzer-no-link
    ninja -C "$build" "${kinds[@]/#/tests/fuzz/libfuzzer_}"
    local found
    for kind in "${kinds[@]}"; do
        found=$PWD/$build/fuzz-found/$kind
        mkdir -p "$found"
        touch "$found/started"
        count "$kind" run_libfuzzer "$kind" "$found"
    done
}

if [ -n "$libfuzzer" ]; then with_libfuzzer; else plainly; fi
echo "$inputs inputs, $findings findings"
[ "$findings" = 0 ]
