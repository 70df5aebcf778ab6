/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * Includes the lavfi_abi/vN.h of the libavfilter headers that were included before it.
 * For C and C++, with FFmpeg's own headers as well as with installed ones. Include
 * libavfilter/version.h (or version_major.h) first.
 */
#ifndef LAVFI_ABI_SELECT_H
#define LAVFI_ABI_SELECT_H

#ifndef LIBAVFILTER_VERSION_MAJOR
#error "include <libavfilter/version.h> first"
#endif

#define LAVFI_ABI_JOIN_(a, b) a##b
#define LAVFI_ABI_JOIN(a, b) LAVFI_ABI_JOIN_(a, b)
#define LAVFI_ABI_QUOTE_(text) #text
#define LAVFI_ABI_QUOTE(text) LAVFI_ABI_QUOTE_(text)
/* clang-format off: blanks would become part of the file name */
#define LAVFI_ABI_FILE LAVFI_ABI_QUOTE(LAVFI_ABI_JOIN(v, LIBAVFILTER_VERSION_MAJOR).h)
/* clang-format on */

#if __has_include(LAVFI_ABI_FILE)
#include LAVFI_ABI_FILE
#else
#error "the ABI of this libavfilter major is not pinned: add lavfi_abi/vN.h for it"
#endif

#if defined(LAVFI_ABI_MAJOR) && LAVFI_ABI_MAJOR != LIBAVFILTER_VERSION_MAJOR
#error "lavfi_abi/vN.h pins another major than its name says"
#endif

/* Two releases may share a major, as 8.0 and 8.1 do: the early one, up to EARLY_LAST, and
 * the late one, from LATE_FIRST on. A number that differs has an EARLY_ twin. */
#ifndef LAVFI_ABI_EARLY_LAST
#define LAVFI_ABI_EARLY_LAST LAVFI_ABI_WINDOW_LAST
#define LAVFI_ABI_LATE_FIRST (LAVFI_ABI_WINDOW_LAST + 1)
#endif
#ifndef LAVFI_ABI_EARLY_FORMATS_PIXFMT_LIST
#define LAVFI_ABI_EARLY_FORMATS_PIXFMT_LIST LAVFI_ABI_FORMATS_PIXFMT_LIST
#endif
#ifndef LAVFI_ABI_EARLY_LINK_OUTCFG
#define LAVFI_ABI_EARLY_LINK_OUTCFG LAVFI_ABI_LINK_OUTCFG
#endif

/* Such a number, by its name without LAVFI_ABI_, in a version. */
#define LAVFI_ABI_IN(version, name)                                                                \
    ((version) < LAVFI_ABI_LATE_FIRST ? LAVFI_ABI_EARLY_##name : LAVFI_ABI_##name)

#define LAVFI_ABI_IN_WINDOW(version)                                                               \
    (((version) >= LAVFI_ABI_WINDOW_FIRST && (version) <= LAVFI_ABI_EARLY_LAST) ||                 \
     ((version) >= LAVFI_ABI_LATE_FIRST && (version) <= LAVFI_ABI_WINDOW_LAST))

#endif
