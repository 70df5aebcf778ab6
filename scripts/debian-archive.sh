#!/bin/sh
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Prints "URI SUITE": the Debian archive, and the suite of it, that this
# system's apt uses. Security archives and other vendors are passed over.
#
# usage: debian-archive.sh [--all] [APT_DIR]
#
#   --all    a line for every suite of Debian's main archive, updates and
#            security included, the one above being the first
#   APT_DIR  where apt's sources are described (/etc/apt)
set -eu

all=
if [ "${1:-}" = --all ]; then
    all=yes
    shift
fi
apt_dir=${1:-/etc/apt}

# One line "URI SUITE COMPONENT..." per entry, from both forms that apt reads.
entries()
{
    for file in "$apt_dir"/sources.list.d/*.sources; do
        [ -r "$file" ] || continue
        # apt continues a field on lines that begin with a blank.
        awk '
            function flush(  u, s, i, j) {
                if (types ~ /(^| )deb( |$)/ && tolower(enabled) !~ /^ *no *$/)
                    for (i = split(uris, u, " "); i >= 1; i--)
                        for (j = split(suites, s, " "); j >= 1; j--)
                            print u[i], s[j], components
                types = uris = suites = components = enabled = field = ""
            }
            /^#/ { next }
            /^[ \t]*$/ { flush(); next }
            /^[^ \t]/ { field = tolower($1); sub(/:.*/, "", field); sub(/^[^:]*:/, "") }
            { gsub(/[ \t]+/, " ") }
            field == "types" { types = types $0 }
            field == "uris" { uris = uris $0 }
            field == "suites" { suites = suites $0 }
            field == "components" { components = components $0 }
            field == "enabled" { enabled = enabled $0 }
            END { flush() }' "$file"
    done
    for file in "$apt_dir"/sources.list "$apt_dir"/sources.list.d/*.list; do
        [ -r "$file" ] || continue
        sed -n 's/#.*//; s/^[[:space:]]*deb[[:space:]]\{1,\}\(\[[^]]*\][[:space:]]*\)\{0,1\}//p' "$file"
    done
}

# Lines "RANK URI SUITE". Vendors use Debian's suite names too; Debian's own
# archive ends in /debian, on every mirror and (with a date behind) in its
# snapshots.
ranked=$(entries | awk '
    $0 !~ /[ \t]main([ \t]|$)/ { next }
    !match($2, /^(bookworm|trixie|forky|duke|sid|unstable|testing|stable|oldstable)/) { next }
    {
        behind = substr($2, RLENGTH + 1)
        if (behind ~ /^(-updates|-security|\/updates)$/)
            rank = 9
        else if (behind == "")
            rank = $1 ~ /\/debian\/?$/ ? 1 : $1 ~ /\/archive\/debian\// ? 2 : $1 ~ /^mirror\+file:/ ? 3 : 4
        else
            next
        print rank, $1, $2
    }' | sort -s -n -k 1,1)
case $ranked in
[1-4]*) ;;
*)
    echo "debian-archive.sh: no Debian archive among the apt sources in $apt_dir" >&2
    exit 1
    ;;
esac

echo "$ranked" | while read -r rank uri suite; do
    # A list of mirrors is a file of this system, which a chroot has not.
    case $uri in
    mirror+file:*) uri=$(sed -n 's/[[:space:]#].*//; /./{p;q;}' "${uri#mirror+file:}") ;;
    esac
    case $rank in
    [1-4]) [ -z "${printed:-}" ] || continue ;;
    *) [ -n "$all" ] || continue ;;
    esac
    printed=yes
    echo "$uri $suite"
done
