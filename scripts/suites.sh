#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Other Debian suites on this system, as chroots that are kept between runs.
set -eu -o pipefail

usage()
{
    cat <<'END'
usage: suites.sh make SUITE              makes the chroot, or makes it anew where
                                         it is too old; else does nothing
       suites.sh run SUITE COMMAND...    runs a command there, in a fresh copy of
                                         the working tree
       suites.sh path SUITE              prints where the chroot is

SUITE is bookworm, trixie or sid, with all that building and testing needs; or one
of these with -clean behind it, which has ffmpeg and nothing else, and is there to
be copied: nobody runs anything in it. Needs root.

  DNN_TORCH_SUITES       where the chroots are kept (/var/cache/dnn-torch-suites)
  DNN_TORCH_SUITES_DAYS  the age in days from which one is made anew (14); where
                         that fails, the old one stays and is used
  DNN_TORCH_MIRROR       Debian mirror (the one of this system's apt)
  DNN_TORCH_PASS         names of further variables for the command; DNN_TORCH_*,
                         CI, JOBS and the proxies it has anyway
END
}

root=$(dirname "$(dirname "$(realpath "$0")")")
suites=${DNN_TORCH_SUITES:-/var/cache/dnn-torch-suites}
days=${DNN_TORCH_SUITES_DAYS:-14}
# Where things are inside of a chroot.
source_dir=/build/ffmpeg-dnn-torch
ccache_dir=/var/cache/ccache

say()
{
    echo "suites.sh: $*" >&2
}

die()
{
    say "$*"
    exit 1
}

# That mmdebstrap went through is known from the rename in make_suite(); what
# can break later is an installation that is interrupted.
usable()
{
    [ -x "$1/usr/bin/env" ] && [ -z "$(chroot "$1" dpkg --audit 2>&1)" ]
}

too_old()
{
    [ -n "$(find "$1/var/lib/dpkg/status" -mtime "+$days" 2>/dev/null)" ]
}

# In mount and process namespaces of its own wherever the kernel gives them:
# neither mounts nor processes can then be left behind, even by a SIGKILL.
isolated()
{
    if unshare --mount --pid --fork --kill-child true 2>/dev/null; then
        setpriv --pdeathsig KILL \
            unshare --mount --propagation private --pid --fork --kill-child --mount-proc "$@"
    else
        "$@"
    fi
}

# Built beside its place and renamed, so that one that was interrupted is never
# taken for a whole one.
make_suite()
{
    local suite=${1%-clean} directory=$2 mirror packages=ffmpeg
    mirror=${DNN_TORCH_MIRROR:-$("$root/scripts/debian-archive.sh" | cut -d ' ' -f 1)}
    [ "$suite" != "$1" ] || packages=$("$root/scripts/install-packages.sh" --list | paste -s -d ,)
    rm -rf --one-file-system "$directory.tmp"
    # A suite that nobody uses for a while has an index that looks expired.
    isolated mmdebstrap --mode=root --variant=minbase --include="$packages" \
        --aptopt='Acquire::Check-Valid-Until "false"' --dpkgopt=force-unsafe-io \
        "$suite" "$directory.tmp" "$mirror" || return
    rm -rf --one-file-system "$directory.old"
    [ ! -e "$directory" ] || mv "$directory" "$directory.old"
    mv "$directory.tmp" "$directory"
    rm -rf --one-file-system "$directory.old"
}

need_mmdebstrap()
{
    command -v mmdebstrap >/dev/null || {
        # shellcheck disable=SC2086 # options to split
        DEBIAN_FRONTEND=noninteractive apt-get -q ${DNN_TORCH_APT_OPTIONS:-} update
        # shellcheck disable=SC2086
        DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
            ${DNN_TORCH_APT_OPTIONS:-} install mmdebstrap </dev/null
    } >&2
}

# One user at a time: the working tree's copy and apt are in the chroot.
lock_suite()
{
    mkdir -p "$suites"
    exec 9>"$suites/$1.lock"
    flock --nonblock 9 || {
        say "waiting for another run that uses $1"
        flock 9
    }
}

command_make()
{
    local suite=$1 directory=$suites/$1
    lock_suite "$suite"
    if [ -e "$directory" ] && ! usable "$directory"; then
        say "$directory is broken; making it anew"
    elif [ -e "$directory" ] && ! too_old "$directory"; then
        return 0
    fi
    need_mmdebstrap
    say "making $suite in $directory"
    if make_suite "$suite" "$directory" >&2; then
        return 0
    fi
    rm -rf --one-file-system "$directory.tmp"
    if [ -e "$directory" ] && usable "$directory"; then
        say "NOT MADE ANEW: $suite cannot be installed at the moment; using the one from $(
            date -r "$directory/var/lib/dpkg/status" +%F)"
        return 0
    fi
    die "$suite cannot be installed at the moment"
}

# What git would commit, also where nothing is committed yet; without git or a
# repository, all but the usual build folders.
copy_tree()
{
    local destination=$1
    rm -rf "$destination"
    mkdir -p "$destination"
    if git -C "$root" -c safe.directory="$root" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git -C "$root" -c safe.directory="$root" ls-files -z --cached --others --exclude-standard |
            (cd "$root" && while IFS= read -r -d '' file; do
                [ ! -e "$file" ] || printf '%s\0' "$file"
            done)
    else
        (cd "$root" && find . -mindepth 1 \( -path './build*' -o -name .git -o -path ./out \) -prune \
            -o -type f -print0)
    fi | tar -C "$root" --null --files-from=- -cf - | tar -C "$destination" -xf -
}

# Variables for the command: the few that mean the same inside.
passed_environment()
{
    local name
    for name in $(compgen -e); do
        case $name in
        DNN_TORCH_SUITES*) ;;
        DNN_TORCH_* | CI | JOBS | http_proxy | https_proxy | no_proxy | TERM)
            printf '%s=%s\0' "$name" "${!name}"
            ;;
        esac
    done
    for name in ${DNN_TORCH_PASS:-}; do
        printf '%s=%s\0' "$name" "${!name-}"
    done
}

command_run()
{
    local suite=$1
    lock_suite "$suite"
    usable "$suites/$suite" || die "there is no $suite yet: suites.sh make $suite"
    # The shell in there is process 1 and has to outlive the command, to collect
    # what that leaves behind.
    isolated "$0" enter "$@"
}

mounted=()
mount_into()
{
    local target=${!#}
    mkdir -p "$target"
    if mount "$@" 2>/dev/null; then
        mounted=("$target" ${mounted[@]+"${mounted[@]}"})
    else
        say "cannot mount $target here; going on without"
    fi
}

unmount_all()
{
    local target
    for target in ${mounted[@]+"${mounted[@]}"}; do
        umount "$target" || umount --lazy "$target"
    done
    mounted=()
}

command_enter()
{
    local suite=$1 directory=$suites/$1 status=0 environment
    shift
    trap unmount_all EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP

    copy_tree "$directory$source_dir"
    cp --dereference /etc/resolv.conf "$directory/etc/resolv.conf"
    mount_into -t proc proc "$directory/proc"
    # LibTorch reads the caches' sizes there, and complains where it cannot.
    mount_into -t sysfs -o ro sysfs "$directory/sys"
    mount_into -t tmpfs tmpfs "$directory/dev/shm"
    # Outside of the chroot, for the next one that is made.
    mkdir -p "$suites/ccache/$suite"
    mount_into --bind "$suites/ccache/$suite" "$directory$ccache_dir"

    mapfile -d '' environment < <(passed_environment)
    # shellcheck disable=SC2016 # the inner shell's arguments
    chroot "$directory" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        HOME=/root LANG=C.UTF-8 LC_ALL=C.UTF-8 "CCACHE_DIR=$ccache_dir" "${environment[@]}" \
        bash -c 'cd "$1" && shift && "$@"' run "$source_dir" "$@" || status=$?
    return "$status"
}

case ${1:-} in
-h | --help)
    usage
    exit 0
    ;;
make | run | path | enter) ;;
*)
    usage >&2
    exit 2
    ;;
esac
action=$1
shift
case ${1:-} in
bookworm | trixie | forky | sid) ;;
bookworm-clean | trixie-clean | forky-clean | sid-clean)
    [ "$action" = make ] || [ "$action" = path ] || die "nothing is run in $1 itself"
    ;;
*) die "no suite, or none that is known: '${1:-}'" ;;
esac
if [ "$action" = path ]; then
    echo "$suites/$1"
    exit 0
fi
[ "$(id -u)" = 0 ] || die "needs root"
"command_$action" "$@"
