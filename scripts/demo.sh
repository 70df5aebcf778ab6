#!/bin/sh
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds what the filter needs. Halves a clip of real footage and doubles it again, by
# ffmpeg's scalers and by two nets in models/, one of them a file of weights alone; then
# adds noise to it, and removes it by ffmpeg's denoisers, each at the best of several
# settings, and by two nets; then drops every other frame, and makes it again by ffmpeg's
# filters and by a net. Prints how close each comes to the clip, and writes a page and a
# picture to look at. Fails where a net is not closer than the scalers, than the noise, or
# than the frames repeated. Says how long it will take, which it measures.
#
# The footage is that of Debian's package opencv-doc (96 MB), which is fetched while the
# build runs and is not installed. Without it the clip is drawn.
#
# usage: demo.sh
#
#   BUILD_DIR  build folder, "build" unless told
#   FFMPEG     program to run the filter in, "ffmpeg" unless told
#   FOOTAGE    where the footage is kept, "out/photographs" unless told
set -eu
cd "$(dirname "$0")/.."

build=${BUILD_DIR:-build}
ffmpeg=${FFMPEG:-ffmpeg}
launcher=$build/plugin/dnn-torch
out=out/demo
footage=${FOOTAGE:-out/photographs}
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
    printf '\n[%d:%02d] %d of 4: %s\n' $((elapsed / 60)) $((elapsed % 60)) "$step" "$*"
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
headers_in_build=285

# compile_header OPTION
compile_header()
{
    # shellcheck disable=SC2086 # CXX may be "ccache g++"
    ${CXX:-c++} -std=c++20 -O2 -x c++ "$1" plugin/base/standard_headers.h -o "$work/header" ||
        fail "${CXX:-c++} does not compile C++20"
}

# Prints how many minutes building takes on this machine, "3:30".
building_time()
{
    compile_header -E # reads the files, which the disk may take long for
    before=$(date +%s%N)
    compile_header -c
    each=$((($(date +%s%N) - before) / 1000000))
    all=$((headers_in_build * each / 1000 / $(nproc)))
    printf '%d:%02d' $((all / 60)) $((all % 60))
}

build_plugin()
{
    [ -f "$build/build.ninja" ] || quietly meson setup "$build" -Djoined=true -Ddebug=false -Doptimization=1
    NINJA_STATUS='  %f of %t, %e s: ' ninja -C "$build" demo-programs ||
        fail "the build failed"
    [ -x "$launcher" ] || fail "the build has made no $launcher"
}

street=$footage/usr/share/doc/opencv-doc/examples/data/vtest.avi

# In the background. It leaves the footage, or nothing.
fetch_footage()
{
    [ ! -f "$street" ] || return 0
    mkdir -p "$work/archive/unpacked"
    (cd "$work/archive" && exec apt-get -q -o APT::Sandbox::User=root download opencv-doc) &&
        dpkg-deb -x "$work"/archive/*.deb "$work/archive/unpacked" &&
        mkdir -p "$footage" && cp -r "$work/archive/unpacked/usr" "$footage/.new.$$" &&
        mkdir -p "$footage/usr/share/doc" &&
        mv "$footage/.new.$$/share/doc/opencv-doc" "$footage/usr/share/doc/"
    rm -rf "$work/archive" "$footage/.new.$$"
}

# Two seconds of a street. A drawing is made four times as large, because nothing
# smooths what ffmpeg's sources draw.
make_clips()
{
    if wait "$fetching" && [ -f "$street" ]; then
        run_ffmpeg -i "$street" -an -vf trim=start_frame=100:end_frame=120,setpts=PTS-STARTPTS \
            -pix_fmt yuv420p -c:v ffv1 "$work/wanted.mkv"
        region=260:195:300:130 rate=10
    else
        echo "the footage could not be fetched; the clip is drawn"
        run_ffmpeg -f lavfi -i testsrc2=size=2560x1440:rate=25 -frames:v 20 \
            -vf "scale=640:360:flags=area+$exactly" -pix_fmt yuv420p -c:v ffv1 "$work/wanted.mkv"
        region=256:144:40:90 rate=25
    fi
    run_ffmpeg -i "$work/wanted.mkv" -vf "scale=iw/2:ih/2:flags=bicubic+$exactly" \
        -pix_fmt yuv420p -c:v ffv1 "$work/small.mkv"
    run_ffmpeg -i "$work/wanted.mkv" -vf "select=not(mod(n\,4)),noise=alls=20:allf=t" \
        -pix_fmt yuv420p -c:v ffv1 "$work/noise.mkv"
    run_ffmpeg -i "$work/wanted.mkv" -vf "select=not(mod(n\,4))" \
        -pix_fmt yuv420p -c:v ffv1 "$work/quiet.mkv"
    run_ffmpeg -i "$work/wanted.mkv" -vf framestep=2 -pix_fmt yuv420p -c:v ffv1 "$work/half.mkv"
    run_ffmpeg -i "$work/wanted.mkv" -pix_fmt yuv420p -c:v ffv1 -vf \
        trim=start_frame=1:end_frame=18,setpts=PTS-STARTPTS,framestep=2 "$work/dropped.mkv"
}

# run_model MODEL CLIP RESULT [FILTER [OPTIONS]]
run_model()
{
    "$launcher" run "$ffmpeg" -nostdin -hide_banner -loglevel error -y -i "$2" \
        -vf "${4:-dnn_torch}=models/$1:stats=$work/stats${5:-}" -pix_fmt yuv420p -c:v ffv1 "$3" ||
        fail "models/$1 failed"
    milliseconds=$(sed -n 's/.*"forward":\([0-9]*\).*/\1 ms/p' "$work/stats")
}

# score CLIP FILTER WANTED: "PSNR SSIM" of luma of what the filter makes of the clip.
score()
{
    scores=$("$ffmpeg" -nostdin -hide_banner -i "$1" -i "$3" -filter_complex \
        "[0]$2,format=yuv420p,split[a][b];[1]split[c][d];[a][c]psnr;[b][d]ssim" -f null - 2>&1 |
        sed -n 's/.*PSNR y:\([0-9.]*\).*/1 \1/p; s/.*SSIM Y:\([0-9.]*\).*/2 \1/p' |
        sort | cut -d ' ' -f 2 | paste -s -d ' ')
    case $scores in
    *[0-9]\ [0-9]*) echo "$scores" ;;
    *) fail "ffmpeg gave no PSNR or SSIM for $2 on ${1##*/}" ;;
    esac
}

show_head()
{
    printf '\n%-30s %7s %10s %14s\n' "$1" PSNR SSIM "model's time"
}

# show_score NAME SCORE [TIME]
show_score()
{
    # shellcheck disable=SC2086 # two numbers
    printf '  %-28s %5.2f dB %8.4f %14s\n' "$1" $2 "${3:-}"
}

# is_closer SCORE OTHER: by PSNR.
is_closer()
{
    awk "BEGIN { exit !(${1% *} > ${2% *}) }"
}

# best_of FILTER SETTING...: shows the one with the highest PSNR, and keeps it in best.
best_of()
{
    filter=$1 best_score=0
    shift
    for setting in "$@"; do
        got=$(score "$work/noise.mkv" "$filter=$setting" "$work/quiet.mkv")
        if is_closer "$got" "$best_score"; then
            best=$filter=$setting best_score=$got
        fi
    done
    show_score "$best" "$best_score"
}

# show_model MODEL INPUT WANTED: runs it, and shows its score, which is then in $net.
show_model()
{
    run_model "$1" "$2" "$work/$1.mkv"
    net=$(score "$work/$1.mkv" null "$3")
    show_score "$1" "$net" "$milliseconds"
}

compare_scalers()
{
    show_head "half the size, doubled by"
    for scaler in bicubic lanczos; do
        scaled=$(score "$work/small.mkv" "scale=iw*2:ih*2:flags=$scaler+$exactly" "$work/wanted.mkv")
        show_score "$scaler" "$scaled"
    done
    for model in compact2x.pth upscale2x.pt; do
        show_model "$model" "$work/small.mkv" "$work/wanted.mkv"
        is_closer "$net" "$scaled" || fail "$model is not closer than lanczos"
    done
}

compare_denoisers()
{
    show_head "noise, removed by"
    noisy=$(score "$work/noise.mkv" null "$work/quiet.mkv")
    show_score "nothing" "$noisy"
    best_of hqdn3d 4 10 20 40
    best_of nlmeans s=4 s=8 s=12
    for model in denoise.pt denoise_video.pt; do
        show_model "$model" "$work/noise.mkv" "$work/quiet.mkv"
        is_closer "$net" "$noisy" || fail "$model is not closer than the noise"
    done
}

compare_interpolators()
{
    show_head "each second frame, made by"
    dropped="select=mod(n\,2)*lt(n\,18),settb=AVTB,setpts=PTS-STARTPTS"
    repeated=$(score "$work/half.mkv" "fps=$rate,$dropped" "$work/dropped.mkv")
    show_score repeating "$repeated"
    for filter in "framerate=fps=$rate:interp_start=0:interp_end=255:scene=100" "minterpolate=fps=$rate"; do
        made=$(score "$work/half.mkv" "$filter,$dropped" "$work/dropped.mkv")
        show_score "${filter%%=*}" "$made"
    done
    model=interpolate.pt
    run_model $model "$work/half.mkv" "$work/$model.mkv" dnn_torch_interpolate ":fps=$rate"
    net=$(score "$work/$model.mkv" "$dropped" "$work/dropped.mkv")
    show_score $model "$net" "$milliseconds"
    is_closer "$net" "$repeated" || fail "$model is not closer than the frame before"
}

# part INPUT FILTERS LABEL: filters that cut a part out of the first frame and enlarge it.
part()
{
    echo "[$1]trim=end_frame=1,setpts=0,$2crop=$region,scale=iw*3:ih*3:flags=neighbor+$exactly$3"
}

# Above the doubled clip, below the noisy one: before left, after right.
draw_pairs()
{
    run_ffmpeg -i "$work/small.mkv" -i "$work/upscale2x.pt.mkv" -i "$work/noise.mkv" \
        -i "$work/denoise.pt.mkv" -filter_complex \
        "$(part 0 "scale=iw*2:ih*2:flags=bicubic+$exactly," "$1")[a];$(part 1 '' "$2")[b];
         $(part 2 '' "$3")[c];$(part 3 '' "$4")[d];
         [a][b]hstack[upper];[c][d]hstack[lower];[upper][lower]vstack,format=rgb24" \
        -frames:v 1 -update 1 "$out/side-by-side.png"
}

# Not every ffmpeg can write, nor does every machine have a font.
show_pairs()
{
    label="fontsize=24:fontcolor=white:box=1:boxcolor=black@0.6:boxborderw=8:x=12:y=12"
    draw_pairs ",drawtext=text=bicubic:$label" ",drawtext=text=upscale2x.pt:$label" \
        ",drawtext=text=noise:$label" ",drawtext=text=denoise.pt:$label" 2>"$work/log" ||
        draw_pairs '' '' '' ''
}

# Background jobs of a script ignore SIGINT.
end()
{
    [ -z "${fetching:-}" ] || pkill -P "$fetching" 2>/dev/null || :
    [ -z "${fetching:-}" ] || kill "$fetching" 2>/dev/null || :
    rm -rf "$work" "$footage/.new.$$"
}

mkdir -p "$out"
work=$(mktemp -d)
trap end EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

install_packages
started=$(seconds)
forecast=$(building_time)
fetch_footage >"$work/fetched" 2>&1 &
fetching=$!
next "building the filter and LibTorch's engine, about $forecast minutes"
build_plugin
next "making the clips"
make_clips
next "doubling a clip, removing noise and making dropped frames, 60 s"
compare_scalers
compare_denoisers
compare_interpolators
next "writing what there is to look at, 10 s"
show_pairs
quietly "$launcher" compare "$work/small.mkv" models/compact2x.pth models/upscale2x.pt \
    --frames 1 --ffmpeg "$ffmpeg" --reference "$work/wanted.mkv" --html "$out/index.html"
echo "$out/index.html         the same frames of each net, to compare in a browser"
echo "$out/side-by-side.png   parts of the clips, three times as large"
