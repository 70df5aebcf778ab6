// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Compares the pinned numbers with our own declarations or with the installed
// headers, whichever of the two declares a type.
#include <lavfi_abi.h>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace
{
using lavfi_abi::Filter;
using lavfi_abi::FormatList;
using lavfi_abi::Pad;

// FFmpeg's internal constants are in no installed header: ours replace them.
constexpr int FF_FILTER_FORMATS_PASSTHROUGH = lavfi_abi::formats_passthrough;
constexpr int FF_FILTER_FORMATS_QUERY_FUNC = lavfi_abi::formats_query_function;
constexpr int FF_FILTER_FORMATS_PIXFMT_LIST =
    lavfi_abi::formats_pixel_list(LIBAVFILTER_VERSION_INT);
constexpr int AVFILTERPAD_FLAG_NEEDS_WRITABLE = lavfi_abi::pad_flag_needs_writable;
constexpr int AVFILTERPAD_FLAG_FREE_NAME = lavfi_abi::pad_flag_free_name;
constexpr int FF_FILTER_FLAG_HWFRAME_AWARE = lavfi_abi::internal_flag_hwframe_aware;

#define SIZE(type, size) static_assert(sizeof(type) == (size), "sizeof(" #type ") is not " #size);
#define OFFSET(type, field, offset)                                                                \
    static_assert(offsetof(type, field) == (offset), #type "." #field " is not at " #offset);
#define TYPE(type, field, ...)                                                                     \
    static_assert(                                                                                 \
        std::is_same_v<std::remove_reference_t<decltype((std::declval<type &>().field))>,          \
                       std::type_identity_t<__VA_ARGS__>>,                                         \
        #type "." #field " is no " #__VA_ARGS__);
#define VALUE(constant, value) static_assert((constant) == (value), #constant " is not " #value);

#include "layout_facts.h"

static_assert(!lavfi_abi::in_window(lavfi_abi::window_first - 1));
static_assert(!lavfi_abi::in_window(lavfi_abi::window_last + 1));
static_assert(!lavfi_abi::in_window(LAVFI_ABI_EARLY_LAST + 1));
static_assert(!lavfi_abi::in_window(0));
} // namespace
