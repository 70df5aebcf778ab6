#!/bin/sh
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Installs what building and testing needs, on Debian 12, 13 and sid. Where all
# of it is installed already, apt is not called at all.
#
# usage: install-packages.sh [--browser | --list | --missing]
#
#   --browser  chromium as well, in which the page of dnn-torch compare is tested;
#              that test is skipped without it
#   --list     only print the names
#   --missing  only print the names of those that are not installed
#   DNN_TORCH_APT_OPTIONS  further options for apt, such as
#              "-o Acquire::Check-Valid-Until=false" for an archive whose index
#              has expired
set -eu

table()
{
    cat <<'END'
g++               compiles
meson             builds
ninja-build       builds, for meson
pkg-config        tells meson where the libraries are
ccache            makes the second build a short one
clang-tidy        looks at the sources that a change touches
ffmpeg            is what the filters are for; tests run it and ffplay
libavfilter-dev   is what the host module lives in
libavformat-dev   records of what was found go through it; tests read and write files
libavcodec-dev    decodes the file that int8 is calibrated with; tests encode with it
libavutil-dev     frames, options and logging
libswscale-dev    scales chroma along with luma
libtorch-dev      is what the engine runs models with
libdnnl-dev       is what LibTorch computes convolutions with, and so do fused programs
libopenblas0-pthread multiplies matrices for LibTorch, some twenty times as fast as libblas3
libopenblas0-serial does so wrongly in several threads: a test sees that this is noticed
libhwy-dev        vectorises pixel conversions
libxxhash-dev     tells by their content whether model files are the same
nlohmann-json3-dev writes JSON: statistics, devices, inspect and bench
libsodium-dev     hashes model files
libseccomp-dev    refuses system calls to the process that runs a model
libze-dev         headers of Level Zero, by which Intel GPUs are found
libgtest-dev      unit tests
python3-pytest    all other tests
python3-numpy     the tests compare frames with it
python3-torch     the tests make their models with it, and the reference results
python3-onnx      writes ONNX files for the tests, and says what each operator must return
python3-torchvision models with its operators are tested, and its library serves them
rpm               reads the spec file, for its test
python3-av        is a program that opens libavfilter with RTLD_LOCAL
mpv               is one that seeks and changes its filters while it plays
melt              is one that lists all filters and creates each by itself
slurmctld         is given slices by dnn-torch farm, with the next three: a whole Slurm
slurmd            runs them
slurm-client      has sbatch
munge             is how Slurm knows who asks
parallel          distributes slices as well
python3-yaml      reads the job that is printed for Kubernetes
dpkg-dev          unpacks FFmpeg's source, for the check of the pinned ABI
make              builds the patched FFmpeg
patch             patches it
nasm              and assembles its faster half
zlib1g-dev        unpacks the records of model files; for png in the patched FFmpeg
xz-utils          Debian's source packages are compressed with it
ca-certificates   mirrors that speak https
git               says which files belong to the working tree
END
}

packages()
{
    table | cut -d ' ' -f 1
}

# In sid ffplay is no part of the package ffmpeg; elsewhere there is no package of that name.  Debian
# 12 has no ONNX Runtime, which runs the ONNX files that are not read here.
packages_here()
{
    packages
    [ -z "$browser" ] || printf '%s\n' chromium chromium-driver
    for package in ffplay libonnxruntime-dev; do
        [ -z "$(apt-cache madison "$package" 2>/dev/null)" ] || echo "$package"
    done
}

missing()
{
    packages_here=$(packages_here)
    # The statuses of all at once; dpkg-query fails for names that it does not know.
    # shellcheck disable=SC2016,SC2086 # dpkg-query's braces; and a list to split
    installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $packages_here 2>/dev/null |
        sed -n 's/ installed$//p') || :
    echo "$packages_here" | while read -r package; do
        echo "$installed" | grep -qxF -e "$package" || echo "$package"
    done
}

in_a_line()
{
    paste -s -d ' '
}

as_root()
{
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "install-packages.sh: needs root (or sudo) to install: $wanted" >&2
        exit 1
    fi
}

browser=
case ${1:-} in
--browser) browser=yes ;;
--list)
    packages
    exit 0
    ;;
--missing)
    missing
    exit 0
    ;;
'') ;;
*)
    sed -n 's/^# \{0,1\}//; /^usage:/,/^set -eu/{/^set -eu/!p;}' "$0" >&2
    exit 2
    ;;
esac

wanted=$(missing | in_a_line)
[ -n "$wanted" ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "install-packages.sh: this is no Debian system; install what corresponds to: $wanted" >&2
    exit 1
fi

echo "install-packages.sh: installing $wanted"
# sudo hands the environment on only where it is told to, hence env.
# shellcheck disable=SC2086 # lists to split
as_root env DEBIAN_FRONTEND=noninteractive apt-get -q ${DNN_TORCH_APT_OPTIONS:-} update ||
    echo "install-packages.sh: apt could not update all of its lists; going on with what it has" >&2
wanted=$(missing | in_a_line)
# shellcheck disable=SC2086
as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
    ${DNN_TORCH_APT_OPTIONS:-} install $wanted </dev/null

wanted=$(missing | in_a_line)
if [ -n "$wanted" ]; then
    echo "install-packages.sh: apt is done and yet these are not installed: $wanted" >&2
    exit 1
fi
