#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Checks the filter on a machine with a GPU that has PyTorch and compilers, and
# need have no FFmpeg, no root and no network.
set -eu -o pipefail

usage() {
    cat <<'END_USAGE'
usage: check-gpu.sh pack DIR
       check-gpu.sh run DIR [--device cuda|xpu|cpu] [--only build|agree|networks|use|memory|bench]
                            [--torch PREFIX] [--work DIR] [--out FILE] [--quick]

pack  on a Debian machine that builds this project: puts a small FFmpeg and what
      else a build needs into DIR, 4 MiB, to be carried to the other machine.
      Its glibc must not be newer than the other one's: bookworm's is 2.36.
run   there, from the same tree: builds the engine with the PyTorch of `python3`,
      runs the checks, and ends in "N passed, N failed, N skipped". What is built
      lies in --work and is used again.

--torch   the folder of PyTorch, or of an unpacked libtorch; of python3 if not given
--work    a folder; /tmp/dnn-torch-check-gpu-UID if not given
--out     a file for the tables; DIR/results.md if not given
--quick   small frames, to see that the checks run; the rates mean nothing
--only    may be given more than once; without it, all; build is done in any case
PYTHON in the environment is the interpreter, python3 if not given.
END_USAGE
}

# ---- here ---------------------------------------------------------------------

# Installed files of these packages, as they are; names differ between suites.
packages() {
    dpkg-query -W -f '${Package}\n' libhwy-dev 'libhwy1*' libseccomp-dev libsodium-dev 'libsodium2*' \
        libxxhash-dev libxxhash0 nlohmann-json3-dev zlib1g-dev pkgconf-bin libpkgconf3 \
        meson ninja-build 2>/dev/null
}

pack() {
    need_tools dpkg-query tar strip
    "$root/scripts/build-patched-ffmpeg.sh" - "$root/out/patched-ffmpeg"
    mkdir -p "$folder"
    local list work
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    cp -R "$root/out/patched-ffmpeg" "$work/ffmpeg"
    rm -rf "$work/ffmpeg/share" "$work"/ffmpeg/.[sl]*
    find "$work/ffmpeg" -type f \( -name '*.so*' -o -path '*/bin/*' \) -exec strip {} +
    tar -C "$work" -czf "$folder/ffmpeg.tar.gz" ffmpeg
    # Package lists have folders as well, and documentation that nobody needs there.
    list=$(packages) || die "a package of those that packages() lists is not installed"
    # shellcheck disable=SC2086 # names of packages
    dpkg -L $list | sed '\|/usr/share/pkgconfig/|p; \|/usr/share/|d' | sort -u | while read -r path; do
        if [ -f "$path" ] || [ -L "$path" ]; then printf '%s\n' "$path"; fi
    done >"$work/list"
    tar -czf "$folder/tools.tar.gz" -T "$work/list" 2>/dev/null
    du -sh "$folder"/*.tar.gz
}

# ---- there --------------------------------------------------------------------

unpack_tools() {
    [ -e "$folder/ffmpeg.tar.gz" ] || die "$folder has no ffmpeg.tar.gz; make it with pack"
    mkdir -p "$work/root"
    tar -C "$work/root" -xzf "$folder/tools.tar.gz"
    tar -C "$work/root" -xzf "$folder/ffmpeg.tar.gz"
    local prefix=$work/root/ffmpeg file
    find "$work/root" -name '*.pc' | while read -r file; do
        case $file in
        "$prefix"/*) sed -i "s|^prefix=.*|prefix=$prefix|; s|=/.*/patched-ffmpeg|=$prefix|" "$file" ;;
        *) sed -i "s|=/usr|=$work/root/usr|; s|-I/usr|-I$work/root/usr|" "$file" ;;
        esac
    done
}

set_environment() {
    local usr=$work/root/usr
    local libraries
    libraries=$(dirname "$(find "$usr/lib" -name 'libhwy.so*' | head -n 1)")
    PKG_CONFIG_PATH=$work/root/ffmpeg/lib/pkgconfig:$libraries/pkgconfig:$usr/share/pkgconfig
    # What is installed there comes first, since it fits its Python.
    PATH=$PATH:$usr/bin
    LD_LIBRARY_PATH=$work/root/ffmpeg/lib:$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export PKG_CONFIG_PATH PATH LD_LIBRARY_PATH
    command -v pkg-config >/dev/null || ln -s "$(command -v pkgconf)" "$usr/bin/pkg-config"
    ffmpeg=$work/root/ffmpeg/bin/ffmpeg
    "$ffmpeg" -version >/dev/null || die "$ffmpeg does not run here; was it packed on a newer system?"
}

run_meson() {
    if meson --version >/dev/null 2>&1; then
        meson "$@"
    else
        PYTHONPATH=$work/root/usr/lib/python3/dist-packages "$python" \
            "$work/root/usr/bin/meson" "$@"
    fi
}

# Called where errors do not end the script.  Debug information costs a third of the time and serves nobody here.
build() {
    [ -e "$work/build/build.ninja" ] ||
        run_meson setup "$work/build" "$root" -Dtorch_prefix="$torch" -Dtorch=enabled \
            -Dtests=disabled -Dwerror=false -Ddebug=false || return
    ninja -C "$work/build" -k 0 plugin/dnn-torch plugin/device-probe plugin/engine-torch.so \
        plugin/engine-isolated.so plugin/engine-host plugin/model-tool \
        plugin/libdnn_torch_preload.so benchmarks/device_loop \
        "plugin/host-lavfi$(pkg-config --modversion libavfilter | cut -d . -f 1).so"
}

run() {
    mkdir -p "$work"
    [ -e "$work/root/ffmpeg/bin/ffmpeg" ] || unpack_tools
    set_environment
    [ -n "$torch" ] || torch=$("$python" -c 'import torch; print(torch.__path__[0])') ||
        die "$python has no PyTorch; name another with PYTHON, or its folder with --torch"
    local start=$SECONDS
    if ! build >"$work/build.log" 2>&1; then
        # Compilers that fail side by side bury the first of them.
        grep -m 20 -A 4 -E 'FAILED|ERROR|error: ' "$work/build.log" >&2 || true
        tail -n 20 "$work/build.log" >&2
        printf 'failed: build; the log is %s\n0 passed, 1 failed, 0 skipped\n' "$work/build.log"
        exit 1
    fi
    printf 'passed: build, in %s s, with %s\n' $((SECONDS - start)) "$torch"
    if [ "${parts[*]-}" = build ]; then
        printf '1 passed, 0 failed, 0 skipped\n'
        return
    fi
    local part words=()
    for part in "${parts[@]}"; do
        [ "$part" = build ] || words+=(--only "$part")
    done
    "$python" "$root/benchmarks/check_device.py" --build "$work/build" --work "$work/checks" \
        --ffmpeg "$ffmpeg" --device "$device" --out "$out" "${words[@]}" "${quick[@]}"
}

# ---- which of them ------------------------------------------------------------

root=$(dirname "$(dirname "$(realpath "$0")")")
# shellcheck source=scripts/ffmpeg-build.sh
. "$root/scripts/ffmpeg-build.sh"

case ${1-} in
pack | run) command=$1 ;;
-h | --help)
    usage
    exit 0
    ;;
*) die "pack or run? see --help" ;;
esac
[ -n "${2-}" ] || die "no folder is given; see --help"
folder=$(realpath -m "$2")
shift 2

python=${PYTHON-python3} torch='' device=cuda work='' out='' parts=() quick=()
while [ $# -gt 0 ]; do
    case $1 in
    --quick)
        quick=(--quick)
        shift
        continue
        ;;
    --device | --only | --torch | --work | --out) [ $# -gt 1 ] || die "$1 wants a word" ;;
    *) die "unknown: $1; see --help" ;;
    esac
    case $1 in
    --device) device=$2 ;;
    --only) parts+=("$2") ;;
    --torch) torch=$(realpath -e "$2") ;;
    --work) work=$(realpath -m "$2") ;;
    --out) out=$(realpath -m "$2") ;;
    esac
    shift 2
done
work=${work:-${TMPDIR:-/tmp}/dnn-torch-check-gpu-$(id -u)}
out=${out:-$folder/results.md}
$command
