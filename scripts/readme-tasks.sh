#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Does what the README's section "Six things to do with it" says, word for word, on
# clips that it makes, and looks at what comes out.
set -eu -o pipefail

usage()
{
    cat <<'END'
usage: readme-tasks.sh FOLDER

Makes small clips in FOLDER, runs each command block of the section there, and
checks of each result that it has all frames, the size that the model makes, and
another picture than the input.

  PATH                  where dnn-torch and ffmpeg are found
  DNN_TORCH_MODELS_DIR  where the models lie, if not in /usr/share/dnn-torch

The last line is "N passed, N failed, N skipped"; the exit code is 0 if nothing
failed, and 3 where there is no dnn-torch or no ffmpeg.
END
}

# shellcheck source=scripts/stages.sh
. "$(dirname "$(realpath "$0")")/stages.sh"

readme=$(realpath "$(dirname "$(realpath "$0")")/../README.md")
models=${DNN_TORCH_MODELS_DIR:-/usr/share/dnn-torch}
frames=20

fail()
{
    echo "readme-tasks.sh: $*" >&2
    return 1
}

# Ten frames a second: what a block does from the first second on is half of it.
make_clips()
{
    local source="mandelbrot=size=640x480:rate=10:start_scale=0.8:end_scale=0.2:end_pts=40"
    local ffmpeg=(ffmpeg -nostdin -hide_banner -loglevel error -y)
    "${ffmpeg[@]}" -f lavfi -i "$source,trim=end_frame=$frames" -filter_complex \
        "[0]scale=160:120:flags=area,format=yuv420p,split=3[a][b][c];[c]noise=alls=25:allf=t[d]" \
        -map '[a]' -c:v ffv1 original.mkv -map '[b]' -b:v 4M film.mp4 -map '[d]' -b:v 8M noisy.mp4
    cp film.mp4 small.mp4
    "${ffmpeg[@]}" -f lavfi -i "color=teal:size=160x120:rate=10,trim=end_frame=$frames" -vf \
        "drawbox=x=20:y=25:w=40:h=40:color=orange:t=fill,drawbox=x=100:y=60:w=36:h=36:color=white:t=fill" \
        -b:v 2M shapes.mp4
}

# One file for each block, called after the bold words before it.
extract_blocks()
{
    awk '
        /^## / { inside = /^## Six things to do with it$/ }
        inside && match($0, /^\*\*[^*.]+/) {
            count++
            name = substr($0, 3, RLENGTH - 2)
            gsub(/[^A-Za-z]/, "-", name)
        }
        inside && /^    / { print substr($0, 5) >(count "-" name ".sh") }' "$readme"
    sed -i "s|/usr/share/dnn-torch|$models|g" ./*.sh
}

describe()
{
    ffprobe -v error -count_frames -select_streams v:0 -of csv=p=0 \
        -show_entries stream=width,height,nb_read_frames "$1"
}

# psnr RESULT OTHER: of the whole clips, in the size of the other one.
psnr()
{
    ffmpeg -nostdin -hide_banner -i "$1" -i "$2" \
        -filter_complex "[0]scale=160:120:flags=area[a];[a][1]psnr" -f null - 2>&1 |
        sed -n 's/.*Parsed_psnr.* average:\([0-9.inf]*\).*/\1/p'
}

is()
{
    awk "BEGIN { inf = 1e9; exit !($1) }"
}

# check_result INPUT OUTPUT FACTOR
check_result()
{
    local input=$1 output=$2 wanted found near
    wanted=$((160 * $3)),$((120 * $3)),$frames
    found=$(describe "$output") || return 1
    [ "$found" = "$wanted" ] || fail "$output is $found instead of $wanted" || return 1
    near=$(psnr "$output" "$input")
    echo "$output: $found; $near dB from $input"
    is "$near > 10 && $near < 50" || fail "$output is $near dB from $input" || return 1
}

# What was noise must be less: as good as the clip before the noise, or nearer to it.
check_denoised()
{
    local before after
    before=$(psnr noisy.mp4 original.mkv)
    after=$(psnr clean.mp4 original.mkv)
    echo "noisy.mp4 is $before dB from the clip without noise, clean.mp4 $after dB"
    is "$after > $before + 2" || fail "clean.mp4 gained less than 2 dB"
}

# run_block FILE: input, output and model are what its words say.
run_block()
{
    local input output factor=1
    cat "$1"
    bash -eu "$1" || fail "$1 failed" || return 1
    input=$(sed -n 's/.* -i \([^ ]*\).*/\1/p' "$1")
    output=$(sed -n '$s/.* //p' "$1")
    ! grep -q '2x\.pt' "$1" || factor=2
    check_result "$input" "$output" "$factor" || return 1
    [ "$output" != clean.mp4 ] || check_denoised || return 1
    echo "1 passed, 0 failed, 0 skipped"
}

case ${1:-} in
-h | --help)
    usage
    exit 0
    ;;
'' | -*)
    usage >&2
    exit 2
    ;;
esac
for program in dnn-torch ffmpeg ffprobe; do
    command -v "$program" >/dev/null || {
        echo "readme-tasks.sh: there is no $program in PATH" >&2
        exit "$unavailable"
    }
done
models=$(realpath "$models")
mkdir -p "$1"
cd "$1"
rm -f ./*.sh ./*.mp4 ./*.mkv

make_clips
extract_blocks
blocks=([0-9]-*.sh)
[ ${#blocks[@]} = 6 ] || { fail "six blocks expected, found: ${blocks[*]}"; exit 1; }
for block in "${blocks[@]}"; do
    stage "${block%.sh}" run_block "$block" || :
done
finish
