// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The part that is the same with and without segments: avfilter_graph_parse(), and the
// C interface.
#include "parse_graph.h"

#include "graph_ends.h"
#include "host/guard.h"

extern "C" {
#include <libavutil/mem.h>
}

namespace dnn_torch
{
namespace
{

// The first open end may lack a name.
void name_first(const Ends &ends, const char *name)
{
    if (ends.first && !ends.first->name)
        ends.first->name = av_strdup(name);
}

int connect_inputs(const Ends &inputs, Ends &open_outputs, void *log_ctx)
{
    for (AVFilterInOut *end = inputs.first; end; end = end->next) {
        if (!end->name) {
            av_log(log_ctx, AV_LOG_ERROR, "Not enough inputs specified for the \"%s\" filter.\n",
                   end->filter_ctx->filter->name);
            return AVERROR(EINVAL);
        }
        Ends match(open_outputs.extract(end->name));
        if (!match.first)
            continue;
        int ret =
            avfilter_link(match.first->filter_ctx, static_cast<unsigned>(match.first->pad_idx),
                          end->filter_ctx, static_cast<unsigned>(end->pad_idx));
        if (ret < 0)
            return ret;
    }
    return 0;
}

int connect_outputs(const Ends &outputs, Ends &open_inputs, const char *text, void *log_ctx)
{
    for (AVFilterInOut *end = outputs.first; end; end = end->next) {
        if (!end->name) {
            av_log(log_ctx, AV_LOG_ERROR,
                   "Invalid filterchain containing an unlabelled output pad: \"%s\"\n", text);
            return AVERROR(EINVAL);
        }
        Ends match(open_inputs.extract(end->name));
        if (!match.first)
            continue;
        int ret =
            avfilter_link(end->filter_ctx, static_cast<unsigned>(end->pad_idx),
                          match.first->filter_ctx, static_cast<unsigned>(match.first->pad_idx));
        if (ret < 0)
            return ret;
    }
    return 0;
}

int parse_and_connect(AVFilterGraph *graph, const char *text, Ends &open_inputs, Ends &open_outputs,
                      void *log_ctx)
{
    Ends inputs, outputs;
    int ret = parse_graph(graph, text, &inputs.first, &outputs.first);
    if (ret < 0)
        return ret;
    name_first(inputs, "in");
    if ((ret = connect_inputs(inputs, open_outputs, log_ctx)) < 0)
        return ret;
    name_first(outputs, "out");
    return connect_outputs(outputs, open_inputs, text, log_ctx);
}

// Takes ownership of the ends, even if it fails.
int graph_parse(AVFilterGraph *graph, const char *text, AVFilterInOut *inputs,
                AVFilterInOut *outputs, void *log_ctx) noexcept
{
    Ends open_inputs(inputs), open_outputs(outputs);
    int ret = guarded(
        graph, [&] { return parse_and_connect(graph, text, open_inputs, open_outputs, log_ctx); });
    return ret < 0 ? fail_graph(graph, ret) : ret;
}

int graph_parse2(AVFilterGraph *graph, const char *text, AVFilterInOut **inputs,
                 AVFilterInOut **outputs) noexcept
{
    *inputs = *outputs = nullptr;
    int ret = guarded(graph, [&] { return parse_graph(graph, text, inputs, outputs); });
    return ret < 0 ? fail_graph(graph, ret) : ret;
}

int graph_parse_ptr(AVFilterGraph *graph, const char *text, AVFilterInOut **inputs,
                    AVFilterInOut **outputs, void *log_ctx) noexcept
{
    int ret =
        guarded(graph, [&] { return parse_graph_between(graph, text, inputs, outputs, log_ctx); });
    return ret < 0 ? fail_graph(graph, ret) : ret;
}

} // namespace

void add_parsers(FilterRegistry &wrappers)
{
    wrappers.graph_parse = graph_parse;
    wrappers.graph_parse2 = graph_parse2;
    wrappers.graph_parse_ptr = graph_parse_ptr;
    add_segment_parsers(wrappers);
}

} // namespace dnn_torch
