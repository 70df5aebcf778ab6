// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format_lists.h"

#include <lavfi_abi.h>

extern "C" {
#include <libavutil/error.h>
#include <libavutil/mem.h>
}

#include <algorithm>
#include <cerrno>
#include <utility>

namespace dnn_torch
{
namespace
{

using lavfi_abi::FormatList;

template <class T> T *allocate(size_t count)
{
    return static_cast<T *>(av_calloc(count, sizeof(T)));
}

void free_list(FormatList *list)
{
    if (list) {
        av_free(list->formats);
        av_free(list->refs);
    }
    av_free(list);
}

// Returns a list that `place` alone points to; null if there is no memory.
FormatList *make_list(const AVPixelFormat *formats, FormatList **place)
{
    size_t count = 0;
    while (formats[count] != AV_PIX_FMT_NONE)
        count++;
    auto *list = allocate<FormatList>(1);
    if (!list)
        return nullptr;
    list->formats = allocate<int>(count);
    list->refs = allocate<FormatList **>(1);
    if (!list->formats || !list->refs) {
        free_list(list);
        return nullptr;
    }
    std::copy_n(formats, count, list->formats);
    list->nb_formats = static_cast<unsigned>(count);
    list->refs[0] = place;
    list->refcount = 1;
    return list;
}

// What is there already was merged with the other end of the link, and stays.
int set_formats(FormatList **place, const AVPixelFormat *formats)
{
    if (!*place)
        *place = make_list(formats, place);
    return *place ? 0 : AVERROR(ENOMEM);
}

// Whoever chooses a format for one place then chooses it for both.
int share(FormatList *list, FormatList **place)
{
    auto *refs = static_cast<FormatList ***>(
        av_realloc_array(list->refs, list->refcount + 1, sizeof(*list->refs)));
    if (!refs)
        return AVERROR(ENOMEM);
    list->refs = refs;
    refs[list->refcount++] = place;
    *place = list;
    return 0;
}

// One list for both places.
int set_common_formats(FormatList **one, FormatList **other, const AVPixelFormat *formats)
{
    if (!*one && *other)
        std::swap(one, other);
    if (int ret = set_formats(one, formats); ret < 0 || *other)
        return ret;
    return share(*one, other);
}

} // namespace

int set_link_formats(AVFilterContext *ctx, std::span<const AVPixelFormat *const> in,
                     const AVPixelFormat *out)
{
    AVFilterLink *const first = ctx->inputs[0], *const result = ctx->outputs[0];
    if (first && result && in[0] == out)
        if (int ret = set_common_formats(lavfi_abi::destination_formats(first),
                                         lavfi_abi::source_formats(result), out);
            ret < 0)
            return ret;
    for (unsigned i = 0; i < ctx->nb_inputs; i++)
        if (AVFilterLink *link = ctx->inputs[i])
            if (int ret = set_formats(lavfi_abi::destination_formats(link), in[i]); ret < 0)
                return ret;
    for (unsigned i = 0; i < ctx->nb_outputs; i++)
        if (AVFilterLink *link = ctx->outputs[i])
            if (int ret = set_formats(lavfi_abi::source_formats(link), out); ret < 0)
                return ret;
    return 0;
}

} // namespace dnn_torch
