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

  build        source and binary packages from the working tree
  lint         lintian, which may have nothing to say, and the dependencies
  install      in a clean system: install, doctor, completions, filter a clip,
               README's tasks, purge; nothing may be left behind
  autopkgtest  in a clean system: the tests under debian/tests, as Debian runs them

All of them, in this order, without a STEP; the later ones use what build left.
One more by its name alone:

  reproduce    builds once more, without the compiler's cache, in another place,
               time zone and language; the packages must be the same to the byte

Needs root, and may install packages that building and checking need.

  --suite SUITE           builds in a chroot of bookworm, trixie or sid (see
                          suites.sh); without it on this system
  DNN_TORCH_PACKAGES      where packages are left: out/packages; with --suite
                          /var/cache/dnn-torch-packages in the chroot
  DNN_TORCH_SUITES        where the clean systems are kept too (see suites.sh)
  DNN_TORCH_APT_OPTIONS   further options for apt
  DEB_BUILD_OPTIONS       for the build: nocheck, for one, where the tests ran
                          already
  JOBS                    for the build: as many compilers (one for each core)

The last line is "N passed, N failed, N skipped"; the exit code is 0 if nothing
failed, and 3 where the archive does not give what anything needs.
END
}

say()
{
    echo "check-packages.sh: $*" >&2
}

die()
{
    say "$*"
    exit 1
}

cd "$(dirname "$(dirname "$(realpath "$0")")")"
# shellcheck source=scripts/stages.sh
. scripts/stages.sh

source_name=$(sed -n 's/^Source: //p' debian/control)
version=$(sed -n "s/^  version: '\(.*\)',$/\1/p" meson.build)
version_of_release=$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
architecture=$(dpkg --print-architecture)

temporary=
clean=
clean_up()
{
    [ -n "$temporary" ] || return 0
    [ -z "$clean" ] || umount --recursive "$clean"
    rm -rf --one-file-system "$temporary"
}
trap clean_up EXIT

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

# need PROGRAM [ACTION WORD]: from the package of that name, if not otherwise said.
need()
{
    command -v "$1" >/dev/null && return
    apt update && apt "${2:-install}" "${3:-$1}" || exit "$unavailable"
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

# build_packages OPTION...: dpkg-buildpackage in $temporary.
build_packages()
{
    local tree=$temporary/$source_name-$version
    mkdir "$tree"
    copy_tree "$tree"
    tar -C "$temporary" --exclude="$source_name-$version/debian" --owner=0 --group=0 --sort=name \
        --mtime="@$(dpkg-parsechangelog --show-field Timestamp)" \
        -cJf "$temporary/${source_name}_$version.orig.tar.xz" "$source_name-$version"
    (cd "$tree" && dpkg-buildpackage -us -uc "$@")
}

step_build()
{
    local profiles=
    [ "${version_of_release%-*}" = "$version" ] ||
        die "meson.build is at $version and debian/changelog at $version_of_release"
    [[ " ${DEB_BUILD_OPTIONS:-} " != *" nocheck "* ]] || profiles=nocheck
    need dh build-dep ./
    dpkg-checkbuilddeps -P"$profiles" || apt build-dep ./ || exit "$unavailable"
    make_temporary
    # debhelper gives the build a home of its own, and each build is elsewhere.
    export CCACHE_DIR=${CCACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/ccache}
    export CCACHE_BASEDIR=$temporary CCACHE_NOHASHDIR=true CCACHE_SLOPPINESS=pch_defines,time_macros
    export DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS-} parallel=${JOBS:-$(nproc)}"
    PATH=/usr/lib/ccache:$PATH build_packages
    rm -rf "$packages"
    mkdir -p "$packages"
    find "$temporary" -maxdepth 1 -type f -exec mv -t "$packages" {} +
    ls -l "$packages"
}

step_reproduce()
{
    local file other different=0
    make_temporary
    export DEB_BUILD_OPTIONS="nocheck parallel=${JOBS:-$(nproc)}" TZ=Pacific/Kiritimati LC_ALL=C CCACHE_DISABLE=1
    (umask 027 && build_packages -b)
    for file in "$packages"/*.deb; do
        other=$temporary/$(basename "$file")
        cmp "$file" "$other" && continue
        different=1
        diff <(dpkg-deb --info "$file" md5sums) <(dpkg-deb --info "$other" md5sums) || :
    done
    [ "$different" = 0 ] || die "another build made other packages"
    echo "the same to the byte"
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

# Two warnings are meant for others: one for whoever uploads the package, and one
# for the lintian of an older suite than that which the package is written for.
step_lint()
{
    need lintian
    check_dependencies
    lintian --allow-root --info --display-info --pedantic --fail-on error,warning \
        --suppress-tags initial-upload-closes-no-bugs,newer-standards-version \
        "$packages/${source_name}_${version_of_release}_$architecture.changes"
}

# ---- a clean system ---------------------------------------------------------

# A copy of the suite's system that has nothing but ffmpeg. In the mount
# namespace of this step, so that no mount is left behind.
make_clean_system()
{
    local base
    scripts/suites.sh make "$suite-clean" || exit "$unavailable"
    base=$(scripts/suites.sh path "$suite-clean")
    # Until this step ends, nobody makes it anew.
    exec 8<"$base.lock"
    flock --shared 8
    make_temporary
    mkdir "$temporary/clean" "$temporary/changes" "$temporary/work"
    mount -t overlay -o "lowerdir=$base,upperdir=$temporary/changes,workdir=$temporary/work" \
        overlay "$temporary/clean" 2>/dev/null || {
        cp -a "$base/." "$temporary/changes"
        mount --bind "$temporary/changes" "$temporary/clean"
    }
    clean=$temporary/clean
    mount -t proc proc "$clean/proc"
    mount -t sysfs -o ro sysfs "$clean/sys"
    mkdir -p "$clean/dev/pts"
    mount -t devpts devpts "$clean/dev/pts"
    cp --dereference /etc/resolv.conf "$clean/etc/resolv.conf"
    mkdir "$clean/tmp/packages"
    cp "$packages"/*.deb "$clean/tmp/packages"
}

in_clean()
{
    chroot "$clean" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        HOME=/nonexistent LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

apt_in_clean()
{
    # shellcheck disable=SC2086 # options to split
    in_clean apt-get -q -y --no-install-recommends ${DNN_TORCH_APT_OPTIONS:-} "$@" </dev/null
}

# sid's archive goes on while the chroot that the packages were built in stays.
update_clean()
{
    apt_in_clean update || exit "$unavailable"
    apt_in_clean --simulate install "./tmp/packages/$(basename "$package")" \
        >"$temporary/simulated" 2>&1 && return
    cat "$temporary/simulated"
    say "$suite has moved on since its chroot was made; DNN_TORCH_SUITES_DAYS=0 makes it anew"
    exit "$unavailable"
}

# All but what apt, dpkg, the dynamic linker and man-db keep for themselves.
files_in_clean()
{
    (cd "$clean" && find . \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp/packages \
        -o -path './var/cache/apt/*' -o -path './var/lib/apt/*' -o -path './var/lib/dpkg/*' \
        -o -path './var/cache/ldconfig/*' -o -path ./etc/ld.so.cache -o -path './var/log/*' \
        -o -path './var/cache/man/*' \) -prune -o -printf '%y %m %p %l\n') | LC_ALL=C sort
}

# ---- install ----------------------------------------------------------------

# apt does not take the package together with another version of a library than
# what it was built for, and says that the library is why.
refused_beside()
{
    local other=$clean/tmp/packages/other.deb
    mkdir -p "$temporary/other/DEBIAN"
    printf '%s\n' "Package: $1" "Version: $2" "Architecture: $architecture" 'Multi-Arch: same' \
        'Maintainer: nobody <nobody@example.org>' 'Description: another version' \
        >"$temporary/other/DEBIAN/control"
    dpkg-deb --root-owner-group --build "$temporary/other" "$other" >/dev/null
    ! apt_in_clean --simulate install ./tmp/packages/other.deb \
        "./tmp/packages/$(basename "$package")" >"$temporary/refused" 2>&1 ||
        die "the package can be installed together with $1 $2"
    grep -qE "(Depends|Conflicts): $1" "$temporary/refused" || {
        cat "$temporary/refused"
        die "that is not about $1"
    }
    rm "$other"
    echo "not to be installed together with $1 $2"
}

check_refusals()
{
    local name
    for name in $(dpkg-deb --field "$package" Depends | grep -oE 'lib(avfilter|torch)[0-9.]+' | sort -u); do
        refused_beside "$name" 0~old
    done
}

check_installed_files()
{
    [ "$(in_clean dnn-torch --version)" = "dnn-torch $version" ] || die "dnn-torch is not $version"
    in_clean dnn-torch doctor
    # shellcheck disable=SC2016 # what that shell expands
    in_clean bash -c '. /usr/share/bash-completion/completions/dnn-torch
        COMP_WORDS=(dnn-torch d) COMP_CWORD=1
        _dnn_torch
        [[ " ${COMPREPLY[*]} " = *" doctor "* ]]' || die "bash does not complete dnn-torch d"
    [ -e "$clean/usr/share/zsh/vendor-completions/_dnn-torch" ] || die "no completion for zsh"
    gzip -t "$clean/usr/share/man/man1/dnn-torch.1.gz" "$clean/usr/share/man/man7/dnn_torch.7.gz"
    in_clean dpkg --verify "$source_name" "$source_name-farm"
    in_clean dnn-torch farm --help >/dev/null
}

# What README tells users to type, with what they have installed.
try_readme()
{
    if [ ! -e scripts/readme-tasks.sh ]; then
        skip "README's tasks" "there is no scripts/readme-tasks.sh"
        return
    fi
    mkdir "$clean/tmp/source"
    copy_tree "$clean/tmp/source"
    in_clean env HOME=/tmp/home /tmp/source/scripts/readme-tasks.sh /tmp/tasks
    rm -rf "$clean"/tmp/{home,source,tasks}
}

# Its dependencies come first, by themselves: what some library below LibTorch
# leaves in /etc when it goes is none of ours.
step_install()
{
    local trace
    make_clean_system
    update_clean
    check_refusals
    apt_in_clean satisfy "$(dpkg-deb --field "$package" Depends), python3"
    files_in_clean >"$temporary/before"
    apt_in_clean install "./tmp/packages/$(basename "$package")"
    ! in_clean dnn-torch farm --help 2>"$temporary/told" || die "the package has farm in it"
    grep -q 'install ffmpeg-dnn-torch-farm' "$temporary/told" || die "$(cat "$temporary/told")"
    apt_in_clean install "./tmp/packages/$(basename "$farm")"
    check_installed_files
    cp debian/tests/filter-a-clip debian/tests/farm-a-clip "$clean/tmp/packages"
    in_clean /tmp/packages/filter-a-clip
    in_clean /tmp/packages/farm-a-clip
    try_readme
    apt_in_clean purge "$source_name-farm" "$source_name"
    files_in_clean >"$temporary/after"
    diff "$temporary/before" "$temporary/after" || die "the package left these behind"
    trace=$(grep -rli 'dnn.torch' "$clean/etc" "$clean/var/lib/dpkg" || :)
    [ -z "$trace" ] || die "not forgotten in $trace"
    apt_in_clean autoremove --purge
    in_clean ffmpeg -version >/dev/null
    echo "nothing was left behind among $(wc -l <"$temporary/after") files"
}

# ---- autopkgtest ------------------------------------------------------------

step_autopkgtest()
{
    need autopkgtest
    make_clean_system
    update_clean
    mkdir "$temporary/source"
    copy_tree "$temporary/source"
    # Two slashes: there is nothing to be built there.
    autopkgtest "$packages"/*.deb "$temporary/source//" -- chroot "$clean"
}

# ---- all of it --------------------------------------------------------------

find_packages()
{
    packages=$(realpath -m "${DNN_TORCH_PACKAGES:-out/packages}")
    package=$packages/${source_name}_${version_of_release}_$architecture.deb
    farm=$packages/$source_name-farm_${version_of_release}_all.deb
    [ "$1" = build ] || [ -e "$package" ] || die "there is no $package; build first"
}

steps=()
suite=
chroot=
while [ $# -gt 0 ]; do
    case $1 in
    --suite)
        suite=${2:?--suite needs a name}
        chroot=yes
        shift
        ;;
    --step) # from below: a process of its own, which ends at the first failure
        suite=${3:?}
        find_packages "$2"
        "step_$2"
        passed=1
        finish
        exit
        ;;
    build | lint | install | autopkgtest | reproduce) steps+=("$1") ;;
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
[ ${#steps[@]} -gt 0 ] || steps=(build lint install autopkgtest)

if [ -n "$chroot" ]; then
    inside=${DNN_TORCH_PACKAGES:-/var/cache/dnn-torch-packages}
    outside=$(scripts/suites.sh path "$suite")/$inside
    export DNN_TORCH_PASS="${DNN_TORCH_PASS-} DEB_BUILD_OPTIONS"
else
    read -r _ suite < <(scripts/debian-archive.sh)
    inside=${DNN_TORCH_PACKAGES:-out/packages}
    outside=$inside
fi

# Packages are made in the suite's chroot, and tried in a copy of its clean system.
run_step()
{
    case $1 in
    install | autopkgtest)
        DNN_TORCH_PACKAGES=$outside unshare --mount --propagation private \
            scripts/check-packages.sh --step "$1" "$suite"
        ;;
    *)
        [ -z "$chroot" ] || scripts/suites.sh make "$suite" || return "$unavailable"
        DNN_TORCH_PACKAGES=$inside ${chroot:+scripts/suites.sh run "$suite"} \
            scripts/check-packages.sh --step "$1" "$suite"
        ;;
    esac
}

for step in "${steps[@]}"; do
    status=0
    stage "$step" run_step "$step" || status=$?
    [ "$status" != "$unavailable" ] || skip "$step" "$suite's archive does not give what it needs"
    [ "$status" = 0 ] || break
done
finish || {
    [ "$failed" != 0 ] || exit "$unavailable"
    exit 1
}
