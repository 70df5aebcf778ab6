# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154 # root and destdir
#
# For the scripts that build an FFmpeg. To be sourced; `root` is the repository,
# `destdir` where the build goes.

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# testing and unstable carry the name of the coming release in VERSION_CODENAME;
# the "/sid" alone tells them from it.
own_suite() (
    # shellcheck source=/dev/null
    . /etc/os-release
    case ${PRETTY_NAME-} in
    */sid*) echo sid ;;
    *) echo "${VERSION_CODENAME-unknown}" ;;
    esac
)

# The upstream version of the FFmpeg that this system has.
own_version() {
    local version
    # shellcheck disable=SC2016 # the braces are dpkg-query's, not the shell's
    version=$(dpkg-query -W -f '${source:Version}' libavfilter-dev 2>/dev/null) ||
        die "libavfilter-dev is not installed, so there is no version to build; name a source"
    version=${version#*:}
    version=${version%-*}
    printf '%s\n' "${version%%[+~]*}"
}

source_version() { # SOURCE
    if [ -d "$1" ]; then
        cat "$1/RELEASE"
    else
        tar -xOf "$1" --wildcards --no-wildcards-match-slash '*/RELEASE'
    fi
}

# Prints the unpacked tree or the tarball to build from.
fetch() {
    # A mirror that is a snapshot, or behind a cache, looks expired to apt.
    DNN_TORCH_APT_OPTIONS="-o Acquire::Check-Valid-Until=false ${DNN_TORCH_APT_OPTIONS-}" \
        "$root/scripts/fetch-ffmpeg-source.sh"
}

unpack() { # SOURCE TREE
    mkdir "$2"
    if [ -d "$1" ]; then
        cp -R "$1/." "$2"
    else
        tar -xf "$1" -C "$2" --strip-components=1
    fi
}

# enable KIND NAME...: one option per line.
enable() {
    local kind=$1
    shift
    printf -- "--enable-$kind=%s\n" "$@"
}

# Options for whatever the system has of compilers and assemblers.
toolchain_options() {
    if command -v ccache >/dev/null; then
        printf '%s\n' '--cc=ccache gcc' '--cxx=ccache g++'
    fi
    if ! command -v nasm >/dev/null && ! command -v yasm >/dev/null; then
        printf '%s\n' --disable-x86asm
    fi
}

run_configure() { # OPTION...
    ./configure "$@" || {
        tail -n 20 ffbuild/config.log >&2
        die "configure failed"
    }
}

# Those who run side by side may all ask for the same build.
lock_destination() {
    mkdir -p "$destdir"
    exec 9>"$destdir/.lock"
    flock 9
}

# up_to_date STAMP: was $destdir built from the same?
up_to_date() {
    [ -e "$destdir/.stamp" ] && [ "$(cat "$destdir/.stamp")" = "$1" ]
}

need_tools() {
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null || die "$tool is needed and is not installed"
    done
}
