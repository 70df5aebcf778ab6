// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format_lists.h"

#include <lavfi_abi.h>

extern "C" {
#include <libavutil/avstring.h>
#include <libavutil/error.h>
#include <libavutil/mem.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>
#include <vector>

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

// Returns a list to which only `place` points; null if there is no memory.
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

// Keeps an existing list, because it was merged with the other end of the link.
int set_formats(FormatList **place, const AVPixelFormat *formats)
{
    if (!*place)
        *place = make_list(formats, place);
    return *place ? 0 : AVERROR(ENOMEM);
}

// Makes both places share the list, so that a choice for one place is the choice for both.
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

int set_common_formats(FormatList **one, FormatList **other, const AVPixelFormat *formats)
{
    if (!*one && *other)
        std::swap(one, other);
    if (int ret = set_formats(one, formats); ret < 0 || *other)
        return ret;
    return share(*one, other);
}

// Chooses among formats like libavfilter, see pick_format() in its avfiltergraph.c.
AVPixelFormat best_of(std::span<const AVPixelFormat> formats, AVPixelFormat for_frames_of)
{
    const int alpha = av_pix_fmt_desc_get(for_frames_of)->nb_components % 2 == 0;
    AVPixelFormat best = AV_PIX_FMT_NONE;
    for (const AVPixelFormat format : formats)
        best = av_find_best_pix_fmt_of_2(best, format, for_frames_of, alpha, nullptr);
    return best;
}

std::vector<AVPixelFormat> listed(const FormatList *list)
{
    std::vector<AVPixelFormat> formats;
    for (unsigned i = 0; list && i < list->nb_formats; i++)
        formats.push_back(static_cast<AVPixelFormat>(list->formats[i]));
    return formats;
}

// Returns the format that libavfilter will choose among `formats` for the link; it depends on the
// first input of the link's source.
AVPixelFormat chosen_for(const AVFilterLink *link, std::span<const AVPixelFormat> formats)
{
    if (formats.size() == 1)
        return formats.front();
    const AVFilterContext *const source = link->src;
    if (formats.empty() || source->nb_inputs == 0 || source->inputs[0]->type != AVMEDIA_TYPE_VIDEO)
        return AV_PIX_FMT_NONE;
    AVFilterLink *const before = source->inputs[0];
    const AVPixelFormat frames = chosen_for(before, listed(*lavfi_abi::source_formats(before)));
    return frames == AV_PIX_FMT_NONE ? frames : best_of(formats, frames);
}

// Returns whether a filter of ours has not set its formats yet, from the link's source upwards.
bool is_pending(AVFilterLink *link)
{
    if (!*lavfi_abi::source_formats(link) &&
        av_strstart(link->src->filter->name, "dnn_torch", nullptr))
        return true;
    for (unsigned i = 0; i < link->src->nb_inputs; i++)
        if (is_pending(link->src->inputs[i]))
            return true;
    return false;
}

} // namespace

ComingFormat format_to_come(AVFilterLink *link, const AVPixelFormat *taken)
{
    if (is_pending(link))
        return {.is_pending = true, .format = {}};
    std::vector<AVPixelFormat> all, both;
    for (; *taken != AV_PIX_FMT_NONE; taken++)
        all.push_back(*taken);
    const std::vector<AVPixelFormat> given = listed(*lavfi_abi::source_formats(link));
    std::copy_if(given.begin(), given.end(), std::back_inserter(both), [&](AVPixelFormat format) {
        return std::find(all.begin(), all.end(), format) != all.end();
    });
    AVPixelFormat coming = chosen_for(link, both.empty() ? given : both);
    if (both.empty() && coming != AV_PIX_FMT_NONE) // libavfilter will insert a conversion
        coming = best_of(all, coming);
    if (coming == AV_PIX_FMT_NONE)
        return {.is_pending = false, .format = {}};
    return {.is_pending = false, .format = coming};
}

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
