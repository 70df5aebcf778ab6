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

#endif
