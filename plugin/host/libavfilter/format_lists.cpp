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

} // namespace

int set_link_formats(AVFilterContext *ctx, const AVPixelFormat *in, const AVPixelFormat *out)
{
    for (unsigned i = 0; i < ctx->nb_inputs; i++)
        if (AVFilterLink *link = ctx->inputs[i])
            if (int ret = set_formats(lavfi_abi::destination_formats(link), in); ret < 0)
                return ret;
    for (unsigned i = 0; i < ctx->nb_outputs; i++)
        if (AVFilterLink *link = ctx->outputs[i])
            if (int ret = set_formats(lavfi_abi::source_formats(link), out); ret < 0)
                return ret;
    return 0;
}

} // namespace dnn_torch
