#!/bin/sh
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds what the filter needs and doubles a small clip: once by ffmpeg's bicubic
# scaler, once by each of two nets in models/, one of them a file of weights alone.
# Prints how close each comes to the clip that the small one was made from, and
# fails where a net is not the closer by PSNR, or upscale2x.pt by SSIM.
# Then the same with noise, beside two of ffmpeg's denoisers, each at the best of
# several settings. Says how long it will take, which it measures.
#
# usage: demo.sh
#
#   BUILD_DIR  build folder, "build" unless told
#   FFMPEG     program to run the filter in, "ffmpeg" unless told
set -eu
cd "$(dirname "$0")/.."

build=${BUILD_DIR:-build}
ffmpeg=${FFMPEG:-ffmpeg}
launcher=$build/plugin/dnn-torch
out=out/demo
# libswscale halves the chroma of RGB on the way unless told not to.
exactly=accurate_rnd+full_chroma_int+full_chroma_inp

fail()
{
    echo "demo.sh: $*" >&2
    exit 1
}

seconds()
{
    date +%s
}

# next WORD...: says what comes now, and when.
next()
{
    step=$((${step:-0} + 1))
    elapsed=$(($(seconds) - started))
    printf '\n[%d:%02d] %d of 5: %s\n' $((elapsed / 60)) $((elapsed % 60)) "$step" "$*"
}

quietly()
{
    "$@" >"$work/log" 2>&1 && return
    tail -n 40 "$work/log" >&2
    fail "failed: $*"
}

run_ffmpeg()
{
    "$ffmpeg" -nostdin -hide_banner -loglevel error -y "$@"
}

install_packages()
{
    scripts/install-packages.sh || echo "demo.sh: going on with what is installed" >&2
    command -v "$ffmpeg" >/dev/null || fail "there is no $ffmpeg"
}

# Building takes as long as compiling one header, so many times on one core.
headers_in_build=420

# Prints how many minutes building takes on this machine, "3:30".
building_time()
{
    before=$(date +%s%N)
    "${CXX:-c++}" -std=c++20 -O2 -x c++ -c plugin/base/standard_headers.h -o "$work/header.o" ||
        fail "${CXX:-c++} does not compile C++20"
    each=$((($(date +%s%N) - before) / 1000000))
    all=$((headers_in_build * each / 1000 / $(nproc)))
    printf '%d:%02d' $((all / 60)) $((all % 60))
}

build_plugin()
{
    [ -f "$build/build.ninja" ] || quietly meson setup "$build" -Djoined=true -Ddebug=false
    NINJA_STATUS='  %f of %t, %e s: ' ninja -C "$build" demo-programs ||
        fail "the build failed"
    [ -x "$launcher" ] || fail "the build has made no $launcher"
}

# The sources draw without antialiasing, hence four times as large. All is kept
# in RGB without loss, so that nothing but the scalers is compared.
make_clips()
{
    big=size=2560x1440:rate=25
    zoom=start_scale=1.5:end_scale=0.02:end_pts=50
    run_ffmpeg \
        -f lavfi -i "mandelbrot=$big:$zoom:maxiter=100,trim=end_frame=50" \
        -f lavfi -i "testsrc2=$big,trim=end_frame=25" \
        -filter_complex "[0]scale=640:360:flags=area+$exactly,format=gbrp[fractal];
                         [1]scale=640:360:flags=area+$exactly,format=gbrp[chart];
                         [fractal][chart]concat" \
        -pix_fmt bgr0 -c:v ffv1 "$work/wanted.mkv"
    run_ffmpeg -i "$work/wanted.mkv" -vf "scale=320:180:flags=bicubic+$exactly" \
        -pix_fmt bgr0 -c:v ffv1 "$work/small.mkv"
    run_ffmpeg -i "$work/small.mkv" -vf "scale=640:360:flags=bicubic+$exactly" \
        -pix_fmt bgr0 -c:v ffv1 "$work/bicubic.mkv"
}

run_launched()
{
    "$launcher" run "$ffmpeg" -nostdin -hide_banner -loglevel error -y "$@"
}

# upscale MODEL CLIP
upscale()
{
    run_launched -i "$work/small.mkv" -vf "dnn_torch=models/$1" -pix_fmt bgr0 -c:v ffv1 "$2"
}

# score CLIP FILTER WANTED FORMAT: "PSNR SSIM" of what the filter makes of the clip.
score()
{
    scores=$("$ffmpeg" -nostdin -hide_banner -i "$1" -i "$3" -filter_complex \
        "[0]$2,format=$4,split[a][b];[1]format=$4,split[c][d];[a][c]psnr;[b][d]ssim" -f null - 2>&1 |
        sed -n 's/.*Parsed_psnr.* average:\([0-9.]*\).*/1 \1/p
                s/.*Parsed_ssim.* All:\([0-9.]*\).*/2 \1/p' | sort | cut -d ' ' -f 2 | paste -s -d ' ')
    case $scores in
    *[0-9]\ [0-9]*) echo "$scores" ;;
    *) fail "ffmpeg gave no PSNR or SSIM for $2 on ${1##*/}" ;;
    esac
}

show_head()
{
    printf '%-20s %7s %10s\n' '' PSNR SSIM
}

show_score()
{
    # shellcheck disable=SC2086 # two numbers
    printf '%-20s %5.2f dB %8.4f\n' "$1" $2
}

# check_that_it_wins SCORE OTHER NAME
check_that_it_wins()
{
    awk "BEGIN { exit !(${1% *} > ${2% *} && ${1#* } > ${2#* }) }" ||
        fail "the net does not beat $3 in both"
}

# check_that_it_is_closer SCORE OTHER NAME: by PSNR, whatever SSIM says.
check_that_it_is_closer()
{
    awk "BEGIN { exit !(${1% *} > ${2% *}) }" || fail "a net is not closer than $3"
}

compare()
{
    bicubic=$(score "$work/bicubic.mkv" null "$work/wanted.mkv" gbrp)
    show_head
    show_score bicubic "$bicubic"
    for model in compact2x.pth upscale2x.pt; do
        net=$(score "$work/$model.mkv" null "$work/wanted.mkv" gbrp)
        show_score "$model" "$net"
        check_that_it_is_closer "$net" "$bicubic" bicubic
    done
    check_that_it_wins "$net" "$bicubic" bicubic
}

# As video is: YUV, and other noise in each frame.
make_noisy_clip()
{
    run_ffmpeg -i "$work/wanted.mkv" -vf "select=not(mod(n\,3)),scale=flags=area+$exactly" \
        -pix_fmt yuv420p -c:v ffv1 "$work/quiet.mkv"
    run_ffmpeg -i "$work/quiet.mkv" -vf noise=alls=20:allf=t -c:v ffv1 "$work/noise.mkv"
}

denoise()
{
    run_launched -i "$work/noise.mkv" -vf "dnn_torch=models/denoise.pt,scale=flags=$exactly" \
        -pix_fmt yuv420p -c:v ffv1 "$work/denoise.mkv"
}

denoised_score()
{
    score "$1" "$2" "$work/quiet.mkv" yuv420p
}

# best_of FILTER SETTING...: sets best to the one with the highest PSNR, and best_score.
best_of()
{
    filter=$1 best_score=0
    shift
    for setting in "$@"; do
        got=$(denoised_score "$work/noise.mkv" "$filter=$setting")
        awk "BEGIN { exit !(${got% *} > ${best_score% *}) }" || continue
        best=$filter=$setting best_score=$got
    done
    show_score "$best" "$best_score"
}

compare_denoisers()
{
    noisy=$(denoised_score "$work/noise.mkv" null)
    show_head
    show_score noise "$noisy"
    best_of hqdn3d 4 10:10:10:10 20:20:10:10 30:30:10:10 40:40:10:10 50:50:10:10
    best_of nlmeans s=1 s=6 s=9 s=12
    net=$(denoised_score "$work/denoise.mkv" null)
    show_score denoise.pt "$net"
    check_that_it_wins "$net" "$noisy" "the noise"
}

show_clip()
{
    encoder='mpeg4 -q:v 2'
    if "$ffmpeg" -hide_banner -encoders 2>/dev/null | grep -q ' libx264 '; then
        encoder='libx264 -crf 14'
    fi
    # shellcheck disable=SC2086 # a list to split
    run_ffmpeg -i "$work/upscale2x.pt.mkv" -pix_fmt yuv420p -c:v $encoder "$out/upscaled.mp4"
}

# part INPUT FRAME CROP LABEL: filters that cut a part out of a frame and enlarge it.
part()
{
    echo "[$1]select=eq(n\\,$2),setpts=0,crop=$3,scale=iw*5:ih*5:flags=neighbor+$exactly$4"
}

draw_pair()
{
    fractal='40 128:72:256:150'
    chart='66 128:72:40:90'
    # shellcheck disable=SC2086 # a frame and a crop each
    run_ffmpeg -i "$work/bicubic.mkv" -i "$work/upscale2x.pt.mkv" -filter_complex \
        "$(part 0 $fractal "$1")[a];$(part 1 $fractal "$2")[b];[a][b]hstack[upper];
         $(part 0 $chart '')[c];$(part 1 $chart '')[d];[c][d]hstack[lower];
         [upper][lower]vstack" -frames:v 1 -update 1 "$out/side-by-side.png"
}

# Not every ffmpeg can write, nor does every machine have a font.
show_pair()
{
    label="fontsize=24:fontcolor=white:box=1:boxcolor=black@0.6:boxborderw=8:x=12:y=12"
    draw_pair ",drawtext=text=bicubic:$label" ",drawtext=text=dnn_torch:$label" 2>"$work/log" ||
        draw_pair '' ''
}

mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

install_packages
started=$(seconds)
next "building the filter and LibTorch's engine, about $(building_time) minutes"
build_plugin
next "making a clip and halving it, 10 s"
make_clips
next "doubling it again, by each net, 30 s"
upscale compact2x.pth "$work/compact2x.pth.mkv"
upscale upscale2x.pt "$work/upscale2x.pt.mkv"
compare
next "adding noise to the clip and removing it, each way at the best of several settings, 40 s"
make_noisy_clip
denoise
compare_denoisers
next "keeping what there is to look at, 5 s"
show_clip
show_pair
echo "$out/upscaled.mp4       the clip as the net doubled it"
echo "$out/side-by-side.png   parts of it five times as large: bicubic left, the net right"
