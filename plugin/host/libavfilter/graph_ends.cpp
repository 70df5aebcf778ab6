// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "graph_ends.h"

#include "host/ffmpeg_pointers.h"

extern "C" {
#include <libavutil/avstring.h>
#include <libavutil/log.h>
}

#include <cstring>
#include <new>
#include <utility>

namespace dnn_torch
{

AVFilterInOut *Ends::release()
{
    return std::exchange(first, nullptr);
}

AVFilterInOut *Ends::extract(const char *label)
{
    AVFilterInOut **at = &first;
    while (*at && (!label || !(*at)->name || strcmp((*at)->name, label) != 0))
        at = &(*at)->next;
    AVFilterInOut *found = *at;
    if (found) {
        *at = found->next;
        found->next = nullptr;
    }
    return found;
}

AVFilterInOut *Ends::take_first()
{
    AVFilterInOut *taken = first;
    if (taken) {
        first = taken->next;
        taken->next = nullptr;
    }
    return taken;
}

void Ends::append(AVFilterInOut *list)
{
    AVFilterInOut **at = &first;
    while (*at)
        at = &(*at)->next;
    *at = list;
}

void Ends::prepend(AVFilterInOut *end)
{
    end->next = first;
    first = end;
}

AVFilterInOut *make_end(char *name, AVFilterContext *filter, int pad)
{
    TextPointer owned(name);
    AVFilterInOut *end = avfilter_inout_alloc();
    if (!end)
        throw std::bad_alloc();
    *end = {owned.release(), filter, pad, nullptr};
    return end;
}

void skip_whitespace(const char **at)
{
    *at += strspn(*at, " \n\t\r");
}

char *parse_label(const char **at, void *log_ctx)
{
    const char *start = *at;
    ++*at;
    TextPointer name(av_get_token(at, "]"));
    if (!name)
        throw std::bad_alloc();
    if (!*name) {
        av_log(log_ctx, AV_LOG_ERROR, "Bad (empty?) label found in the following: \"%s\".\n",
               start);
        return nullptr;
    }
    if (**at != ']') {
        av_log(log_ctx, AV_LOG_ERROR, "Mismatched '[' found in the following: \"%s\".\n", start);
        return nullptr;
    }
    ++*at;
    return name.release();
}

int parse_scaler_options(const char **at, char **options, void *log_ctx)
{
    if (strncmp(*at, "sws_flags=", strlen("sws_flags=")) != 0)
        return 0;
    const char *end = strchr(*at, ';');
    if (!end) {
        av_log(log_ctx, AV_LOG_ERROR, "sws_flags not terminated with ';'.\n");
        return AVERROR(EINVAL);
    }
    *at += strlen("sws_");
    av_freep(options);
    *options = av_strndup(*at, static_cast<size_t>(end - *at));
    *at = end + 1;
    return *options ? 0 : AVERROR(ENOMEM);
}

int fail_graph(AVFilterGraph *graph, int error)
{
    while (graph->nb_filters)
        avfilter_free(graph->filters[0]);
    av_freep(&graph->filters);
    return error;
}

} // namespace dnn_torch
