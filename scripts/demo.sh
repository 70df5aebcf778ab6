#!/bin/sh
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds the plugin and doubles a small clip with it: once by ffmpeg's bicubic
# scaler, once by the net in models/. Prints how close each comes to the clip
# that the small one was made from, and fails where the net is not the closer.
# Then the same with noise, against ffmpeg's denoisers.
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

build_plugin()
{
    [ -f "$build/build.ninja" ] || quietly meson setup "$build"
    quietly meson compile -C "$build"
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

upscale()
{
    run_launched -i "$work/small.mkv" -vf dnn_torch=models/upscale2x.pt -pix_fmt bgr0 -c:v ffv1 \
        "$work/net.mkv"
}

# measure CLIP FILTER FIELD [CLIP FORMAT]: what ffmpeg's psnr or ssim filter says of a clip.
measure()
{
    score=$("$ffmpeg" -nostdin -hide_banner -i "$1" -i "${4:-$work/wanted.mkv}" -filter_complex \
        "[0]format=${5:-gbrp}[got];[1]format=${5:-gbrp}[wanted];[got][wanted]$2" -f null - 2>&1 |
        sed -n "s/.*Parsed_$2.*[[:space:]]$3:\([0-9.]*\).*/\1/p")
    [ -n "$score" ] || fail "ffmpeg gave no $2 for ${1##*/}"
    echo "$score"
}

compare()
{
    bicubic_psnr=$(measure "$work/bicubic.mkv" psnr average)
    bicubic_ssim=$(measure "$work/bicubic.mkv" ssim All)
    net_psnr=$(measure "$work/net.mkv" psnr average)
    net_ssim=$(measure "$work/net.mkv" ssim All)
    printf '%-8s %9s %8s\n' '' PSNR SSIM
    printf '%-8s %6.2f dB %8.4f\n' bicubic "$bicubic_psnr" "$bicubic_ssim" \
        'the net' "$net_psnr" "$net_ssim"
}

check_that_the_net_wins()
{
    awk "BEGIN { exit !($net_psnr > $bicubic_psnr && $net_ssim > $bicubic_ssim) }" ||
        fail "the net does not beat bicubic in both"
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
    run_ffmpeg -i "$work/noise.mkv" -vf hqdn3d -c:v ffv1 "$work/hqdn3d.mkv"
    run_ffmpeg -i "$work/noise.mkv" -vf nlmeans -c:v ffv1 "$work/nlmeans.mkv"
    run_launched -i "$work/noise.mkv" -vf "dnn_torch=models/denoise.pt,scale=flags=$exactly" \
        -pix_fmt yuv420p -c:v ffv1 "$work/denoise.mkv"
}

compare_denoisers()
{
    printf '%-10s %7s %10s\n' '' PSNR SSIM
    for way in noise hqdn3d nlmeans denoise; do
        psnr=$(measure "$work/$way.mkv" psnr average "$work/quiet.mkv" yuv420p)
        ssim=$(measure "$work/$way.mkv" ssim All "$work/quiet.mkv" yuv420p)
        printf '%-10s %5.2f dB %8.4f\n' "$way" "$psnr" "$ssim"
        [ "$way" = denoise ] || others=${others:-}${others:+,}$psnr
    done
    awk "BEGIN { n = split(\"$others\", other, \",\"); for (i in other) lost += $psnr <= other[i]
                 exit n != 3 || lost }" || fail "the net does not beat ffmpeg's denoisers"
}

show_clip()
{
    encoder='mpeg4 -q:v 2'
    if "$ffmpeg" -hide_banner -encoders 2>/dev/null | grep -q ' libx264 '; then
        encoder='libx264 -crf 14'
    fi
    # shellcheck disable=SC2086 # a list to split
    run_ffmpeg -i "$work/net.mkv" -pix_fmt yuv420p -c:v $encoder "$out/upscaled.mp4"
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
    run_ffmpeg -i "$work/bicubic.mkv" -i "$work/net.mkv" -filter_complex \
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
build_plugin
echo "demo.sh: making a clip, halving it, doubling it again"
make_clips
upscale
compare
check_that_the_net_wins
echo "demo.sh: the same clip with noise, and without it again"
make_noisy_clip
denoise
compare_denoisers
show_clip
show_pair
echo "$out/upscaled.mp4       the clip as the net doubled it"
echo "$out/side-by-side.png   parts of it five times as large: bicubic left, the net right"
