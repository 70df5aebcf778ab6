/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Compares the pinned numbers with FFmpeg's own declarations. scripts/check-abi.sh
 * compiles it, and never runs it, in a configured tree of FFmpeg's sources. */
#include <stddef.h>
#include <stdint.h>

#include "libavfilter/version.h"

#include "libavfilter/avfilter.h"
/* 8.0 removed internal.h and moved its declarations to filters.h; before 7.1,
 * filters.h had none of them. */
#if __has_include("libavfilter/internal.h")
#include "libavfilter/internal.h"
#endif
#include "libavfilter/filters.h"
#include "libavfilter/formats.h"

#include "lavfi_abi/select.h"

typedef AVFilterPad Pad;
typedef struct AVFilterFormats FormatList;
#if LAVFI_ABI_HAS_FFFILTER
typedef FFFilter Filter;
#else
typedef AVFilter Filter;
#endif

#define SIZE(type, size) _Static_assert(sizeof(type) == (size), "sizeof(" #type ") is not " #size);
#define OFFSET(type, field, offset)                                                                \
    _Static_assert(offsetof(type, field) == (offset), #type "." #field " is not at " #offset);
#define TYPE(type, field, ...)                                                                     \
    _Static_assert(__builtin_types_compatible_p(__typeof__(((type *)0)->field), __VA_ARGS__),      \
                   #type "." #field " is no " #__VA_ARGS__);
#define VALUE(constant, value) _Static_assert((constant) == (value), #constant " is not " #value);

#include "layout_facts.h"

_Static_assert(LAVFI_ABI_IN_WINDOW(LIBAVFILTER_VERSION_INT),
               "these sources are outside the window that the pinned ABI claims");
