# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# For the scripts that run several others and add up what those counted. To be
# sourced. A command that counts says "N passed, N failed, N skipped" last.

passed=0
failed=0
skipped=0
remarks=()
took=()       # "seconds name" of each stage, in its order
unavailable=3 # exit code of a command that could not get what it needs

# banner WORD...: on a line that is found again in a long log.
banner()
{
    printf '\n==== %s  (%d:%02d)  %s\n' "$(date +%T)" $((SECONDS / 60)) $((SECONDS % 60)) "$*"
}

# stage NAME COMMAND...: runs it to its end, adds what it counted, and returns
# what it returned.  One that `must_end` (in seconds of SECONDS) ends is skipped; it has
# to be a program.
stage()
{
    local name=$1 status=0 log counts inner inner_took started=$SECONDS limit=()
    shift
    if [ -n "${must_end:-}" ]; then
        if [ "$SECONDS" -ge "$must_end" ]; then
            skip "$name" "no time is left for it"
            return "$unavailable"
        fi
        limit=(timeout --kill-after=60 $((must_end - SECONDS)))
    fi
    banner "$name"
    log=$(mktemp)
    ${limit[@]+"${limit[@]}"} "$@" </dev/null 2>&1 | tee "$log" || status=${PIPESTATUS[0]}
    if [ -n "${must_end:-}" ] && [ "$SECONDS" -ge "$must_end" ] &&
        { [ "$status" = 124 ] || [ "$status" = 137 ]; } && ! has_failures <"$log"; then
        rm -f "$log"
        took+=("$((SECONDS - started)) $name")
        skip "$name" "it was ended after $((SECONDS - started)) s, and nothing had failed by then"
        return "$unavailable"
    fi
    counts=$(tail -n 1 "$log" | sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p')
    mapfile -t inner < <(last_remarks <"$log" | while read -r word rest; do
        printf '%-8s %s: %s\n' "$word" "$name" "$rest"
    done)
    mapfile -t inner_took < <(last_times "$name" <"$log")
    rm -f "$log"
    took+=("$((SECONDS - started)) $name" ${inner_took[@]+"${inner_took[@]}"})

    local more_passed=0 more_failed=0 more_skipped=0
    [ -z "$counts" ] || read -r more_passed more_failed more_skipped <<<"$counts"
    # Whatever it counted, it did not come through.
    if [ "$status" != 0 ] && [ "$status" != "$unavailable" ] && [ "$more_failed" = 0 ]; then
        more_failed=1
    fi
    passed=$((passed + more_passed))
    failed=$((failed + more_failed))
    skipped=$((skipped + more_skipped))
    if [ ${#inner[@]} != 0 ]; then
        remarks+=("${inner[@]}")
    elif [ "$more_failed" != 0 ]; then
        remarks+=("FAILED   $name")
    fi
    banner "$name: exit $status after $((SECONDS - started)) s"
    return "$status"
}

# Whether one of the tests that meson or pytest tells of has failed, or a stage.
has_failures()
{
    grep -qE '^[ 0-9]+/[0-9]+ .* (FAIL|TIMEOUT|ERROR)( |$)|^FAILED |^ninja: build stopped'
}

# The remarks in what a stage prints, by their first word; of one that has stages
# itself those at its end, which are of all of them.
last_remarks()
{
    awk 'BEGIN { count = 0 }
         /^==== .*  the end$/ { count = 0 }
         /^(FAILED |SKIPPED|NOTE   )  / { remark[count++] = $0 }
         END { for (i = 0; i < count; i++) print remark[i] }'
}

# The same of the times: "seconds NAME: what".
last_times()
{
    awk -v name="$1" 'BEGIN { count = 0 }
         /^==== .*  the end$/ { count = 0 }
         /^TOOK +[0-9]+ s  / { seconds[count] = $2; sub(/^TOOK +[0-9]+ s  /, ""); what[count++] = $0 }
         END { for (i = 0; i < count; i++) print seconds[i], name ": " what[i] }'
}

# skip NAME REASON: not run, counted, and said where nobody misses it.
skip()
{
    skipped=$((skipped + 1))
    remarks+=("SKIPPED  $1: $2")
    banner "SKIPPED: $1: $2"
}

# The verdict as the last line, and the exit code.
finish()
{
    banner "the end"
    local each
    for each in ${took[@]+"${took[@]}"}; do
        printf 'TOOK %6d s  %s\n' "${each%% *}" "${each#* }"
    done
    [ ${#remarks[@]} = 0 ] || printf '%s\n' "${remarks[@]}"
    printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    [ "$failed" = 0 ] && [ "$passed" != 0 ]
}
