#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds the Debian packages and tries them as a user would, in a system that
# has nothing but ffmpeg.
set -eu -o pipefail

usage()
{
    cat <<'END'
usage: check-packages.sh [--suite SUITE] [STEP...]

  build    source and binary packages from the working tree, in out/packages
  lint     lintian, of which no error may remain, and the dependencies
  install  in a clean system: install, dnn-torch doctor, filter a clip, purge;
           nothing may be left behind
  engine   in a clean system: build an engine with the -dev package

All of them, in this order, without a STEP; the later ones use what build left.
Needs root, and may install packages that building and checking need.

  --suite SUITE           does it in a chroot of trixie or sid (see suites.sh)
  DNN_TORCH_PACKAGES      where packages are left (out/packages)
  DNN_TORCH_MIRROR        Debian mirror (the one of this system's apt)
  DNN_TORCH_APT_OPTIONS   further options for apt
  DEB_BUILD_OPTIONS       for the build: nocheck, for one
  JOBS                    for the build: as many compilers (one for each core)

The last line is "N passed, N failed, N skipped"; the exit code is 0 if nothing
failed.
END
}

die()
{
    echo "check-packages.sh: $*" >&2
    exit 1
}

cd "$(dirname "$(dirname "$(realpath "$0")")")"
# shellcheck source=scripts/stages.sh
. scripts/stages.sh

packages=$(realpath -m "${DNN_TORCH_PACKAGES:-out/packages}")
source_name=$(sed -n 's/^Source: //p' debian/control)
version=$(sed -n "s/^  version: '\(.*\)',$/\1/p" meson.build)
version_of_release=$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)

temporary=
trap '[ -z "$temporary" ] || rm -rf --one-file-system "$temporary"' EXIT

make_temporary()
{
    temporary=$(mktemp -d)
    chmod 755 "$temporary"
}

apt()
{
    # shellcheck disable=SC2086 # options to split
    DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
        ${DNN_TORCH_APT_OPTIONS:-} "$@" </dev/null
}

need()
{
    command -v "$1" >/dev/null && return
    apt update
    apt install "$1"
}

# ---- build ------------------------------------------------------------------

# What git would commit; without git or a repository, all but what is built.
copy_tree()
{
    if git -c safe.directory="$PWD" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git -c safe.directory="$PWD" ls-files -z --cached --others --exclude-standard |
            while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done
    else
        find . \( -path './build*' -o -path ./out \) -prune -o -type f -print0
    fi | tar --null --files-from=- -cf - | tar -C "$1" -xf -
}

step_build()
{
    local tree
    [ "${version_of_release%-*}" = "$version" ] ||
        die "meson.build is at $version and debian/changelog at $version_of_release"
    if ! command -v dh >/dev/null || ! dpkg-checkbuilddeps; then
        apt update
        apt build-dep ./
    fi
    make_temporary
    tree=$temporary/$source_name-$version
    mkdir "$tree"
    copy_tree "$tree"
    tar -C "$temporary" --exclude="$source_name-$version/debian" --owner=0 --group=0 \
        -cJf "$temporary/${source_name}_$version.orig.tar.xz" "$source_name-$version"
    # debhelper gives the build a home of its own.
    export CCACHE_DIR=${CCACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/ccache}
    export DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS-} parallel=${JOBS:-$(nproc)}"
    (cd "$tree" && PATH=/usr/lib/ccache:$PATH dpkg-buildpackage -us -uc)
    rm -rf "$packages"
    mkdir -p "$packages"
    find "$temporary" -maxdepth 1 -type f -exec mv -t "$packages" {} +
    ls -l "$packages"
}

# ---- lint -------------------------------------------------------------------

# The shared objects and the control file have to agree on what they were built for.
check_dependencies()
{
    local depends major release
    depends=$(dpkg-deb --field "$package" Depends)
    echo "Depends: $depends"
    major=$(dpkg-deb --contents "$package" | sed -n 's,.*/host-lavfi\([0-9]*\)\.so$,\1,p')
    release=$(sed -n 's/^#define LAVFI_ABI_RELEASES  *"\([0-9.]*\).*/\1/p' \
        "subprojects/lavfi-abi/include/lavfi_abi/v$major.h")
    [[ $depends =~ libavfilter$major\ \(\>=\ [0-9]+:$release ]] ||
        die "the module for libavfilter $major, from FFmpeg $release on, is not in Depends"
    [[ $depends =~ libtorch[0-9] ]] || die "LibTorch is not in Depends"
}

step_lint()
{
    need lintian
    check_dependencies
    lintian --allow-root --info --display-info --pedantic --fail-on error \
        "$packages/${source_name}_$version_of_release"_*.changes
}

# ---- a clean system ---------------------------------------------------------

clean=

make_clean_system()
{
    local mirror suite
    need mmdebstrap
    read -r mirror suite < <(scripts/debian-archive.sh)
    make_temporary
    clean=$temporary/clean
    mmdebstrap --mode=root --variant=minbase --include=ffmpeg --dpkgopt=force-unsafe-io \
        --aptopt='Acquire::Check-Valid-Until "false"' \
        "$suite" "$clean" "${DNN_TORCH_MIRROR:-$mirror}"
    cp --dereference /etc/resolv.conf "$clean/etc/resolv.conf"
    mkdir "$clean/tmp/packages"
    cp "$packages"/*.deb debian/tests/* "$clean/tmp/packages"
}

# A mount namespace for each command: no mount can be left behind. In a chroot
# of suites.sh the root is no mount, and what is mounted is private already.
in_clean()
{
    local propagation=private
    unshare --mount --propagation private true 2>/dev/null || propagation=unchanged
    # shellcheck disable=SC2016 # the inner shell's arguments
    unshare --mount --propagation "$propagation" sh -euc '
        mount -t proc proc "$0/proc"
        mount -t sysfs -o ro sysfs "$0/sys"
        exec chroot "$0" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            HOME=/nonexistent LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"' "$clean" "$@"
}

apt_in_clean()
{
    # shellcheck disable=SC2086 # options to split
    in_clean apt-get -q -y --no-install-recommends ${DNN_TORCH_APT_OPTIONS:-} "$@" </dev/null
}

# All but what apt, dpkg and the dynamic linker keep for themselves.
files_in_clean()
{
    (cd "$clean" && find . \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp/packages \
        -o -path './var/cache/apt/*' -o -path './var/lib/apt/*' -o -path './var/lib/dpkg/*' \
        -o -path './var/cache/ldconfig/*' -o -path ./etc/ld.so.cache -o -path './var/log/*' \
        \) -prune -o -printf '%y %m %p %l\n') | LC_ALL=C sort
}

# Its dependencies come first, by themselves: what some library below LibTorch
# leaves in /etc when it goes is none of ours.
step_install()
{
    local trace
    make_clean_system
    apt_in_clean update
    apt_in_clean satisfy "$(dpkg-deb --field "$package" Depends)"
    files_in_clean >"$temporary/before"
    apt_in_clean install "./tmp/packages/$(basename "$package")"
    [ "$(in_clean dnn-torch --version)" = "dnn-torch $version" ] || die "dnn-torch is not $version"
    in_clean /tmp/packages/filter-a-clip
    in_clean dpkg --verify "$source_name"
    apt_in_clean purge "$source_name"
    files_in_clean >"$temporary/after"
    diff "$temporary/before" "$temporary/after" || die "the package left these behind"
    trace=$(grep -rli 'dnn.torch' "$clean/etc" "$clean/var/lib/dpkg" || :)
    [ -z "$trace" ] || die "not forgotten in $trace"
    apt_in_clean autoremove --purge
    in_clean ffmpeg -version >/dev/null
    echo "nothing was left behind among $(wc -l <"$temporary/after") files"
}

step_engine()
{
    make_clean_system
    apt_in_clean update
    apt_in_clean install gcc libc6-dev pkgconf \
        "./tmp/packages/$(basename "$package")" "./tmp/packages/$(basename "$dev_package")"
    in_clean /tmp/packages/compile-an-engine
}

# ---- all of it --------------------------------------------------------------

find_packages()
{
    local architecture
    architecture=$(dpkg --print-architecture)
    package=$packages/${source_name}_${version_of_release}_$architecture.deb
    dev_package=$packages/$source_name-dev_${version_of_release}_$architecture.deb
    [ "$1" = build ] || [ -e "$package" ] || die "there is no $package; build first"
}

steps=()
suite=
while [ $# -gt 0 ]; do
    case $1 in
    --suite)
        suite=${2:?--suite needs a name}
        shift
        ;;
    --step) # from below: a process of its own, which ends at the first failure
        find_packages "$2"
        "step_$2"
        echo "1 passed, 0 failed, 0 skipped"
        exit
        ;;
    build | lint | install | engine) steps+=("$1") ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
    shift
done
[ "$(id -u)" = 0 ] || die "needs root"
[ ${#steps[@]} -gt 0 ] || steps=(build lint install engine)

if [ -n "$suite" ]; then
    scripts/suites.sh make "$suite"
    export DNN_TORCH_PASS="${DNN_TORCH_PASS-} DEB_BUILD_OPTIONS"
    exec scripts/suites.sh run "$suite" scripts/check-packages.sh "${steps[@]}"
fi
for step in "${steps[@]}"; do
    stage "$step" scripts/check-packages.sh --step "$step" || break
done
finish
