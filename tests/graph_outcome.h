// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What comes of a graph string, told in words: by libavfilter's parsers and by ours, which
// have dnn_torch as a built-in filter under another name of the same length.
#pragma once

#include "host/libavfilter/real_registry.h"
#include "host/libavfilter/registry.h"

#include <lavfi_abi.h>

extern "C" {
#include <libavutil/log.h>
}

#include <regex>
#include <string>

namespace dnn_torch
{

constexpr const char *built_in = "normalize";

inline const AVFilter *const *ours_alone()
{
    static const lavfi_abi::Filter ours = [] {
        lavfi_abi::Filter made =
            *reinterpret_cast<const lavfi_abi::Filter *>(avfilter_get_by_name(built_in));
        lavfi_abi::public_part(made).name = "dnn_torch";
        return made;
    }();
    static const AVFilter *const list[] = {&lavfi_abi::public_part(ours), nullptr};
    return list;
}

} // namespace dnn_torch

namespace graph_outcome
{

using dnn_torch::built_in;

inline std::string logged;

inline void log_to_string(void *context, int level, const char *format, va_list arguments)
{
    char line[4096];
    static int prefix = 1;
    if (level > AV_LOG_WARNING)
        return;
    av_log_format_line2(context, level, format, arguments, line, sizeof(line), &prefix);
    logged += line;
}

inline FilterRegistry libavfilter_itself()
{
    FilterRegistry registry{};
    registry.get_by_name = avfilter_get_by_name;
    registry.iterate = av_filter_iterate;
    registry.graph_parse = avfilter_graph_parse;
    registry.graph_parse2 = avfilter_graph_parse2;
    registry.graph_parse_ptr = avfilter_graph_parse_ptr;
#if LIBAVFILTER_VERSION_MAJOR >= 9
    registry.segment_parse = avfilter_graph_segment_parse;
    registry.segment_create_filters = avfilter_graph_segment_create_filters;
    registry.segment_apply = avfilter_graph_segment_apply;
#endif
    return registry;
}

// ---- what came of a parse -----------------------------------------------------

inline std::string name_of(const AVFilterContext *filter)
{
    return filter ? std::string(filter->name) + "(" + filter->filter->name + ")" : "none";
}

inline std::string tell_ends(const AVFilterInOut *end)
{
    std::string text;
    for (; end; end = end->next)
        text += std::string(end->name ? end->name : "-") + "=" + name_of(end->filter_ctx) + ":" +
                std::to_string(end->pad_idx) + " ";
    return text;
}

inline std::string tell_graph(const AVFilterGraph *graph)
{
    std::string text;
    for (unsigned i = 0; i < graph->nb_filters; i++) {
        const AVFilterContext *filter = graph->filters[i];
        text += name_of(filter);
        for (unsigned pad = 0; pad < filter->nb_outputs; pad++)
            if (const AVFilterLink *link = filter->outputs[pad])
                text += " ->" + name_of(link->dst) + (link->src == filter ? "" : " not its own");
        text += "\n";
    }
    return text;
}

inline std::string without_addresses(const std::string &text)
{
    return std::regex_replace(text, std::regex("@ 0x[0-9a-f]+"), "@");
}

using Parse = int (*)(const FilterRegistry &, AVFilterGraph *, const std::string &,
                      AVFilterInOut **, AVFilterInOut **);

inline std::string outcome(const FilterRegistry &registry, Parse parse, const std::string &text)
{
    AVFilterGraph *graph = avfilter_graph_alloc();
    graph->nb_threads = 1; // a pool for each graph takes long on a busy machine
    AVFilterInOut *inputs = nullptr, *outputs = nullptr;
    logged.clear();
    int ret = parse(registry, graph, text, &inputs, &outputs);
    std::string told =
        "returns " + std::to_string(ret) + "\n" + without_addresses(logged) + tell_graph(graph);
    // What is left in them by a failure is nobody's.
    if (ret >= 0)
        told += "in " + tell_ends(inputs) + "\nout " + tell_ends(outputs) + "\n";
    if (ret >= 0 && graph->scale_sws_opts)
        told += graph->scale_sws_opts;
    avfilter_inout_free(&inputs);
    avfilter_inout_free(&outputs);
    avfilter_graph_free(&graph);
    return told;
}

inline int parse2(const FilterRegistry &registry, AVFilterGraph *graph, const std::string &text,
                  AVFilterInOut **inputs, AVFilterInOut **outputs)
{
    return registry.graph_parse2(graph, text.c_str(), inputs, outputs);
}

// As ffplay: with a source and a sink of its own, and its own context for the log.
inline int parse_ptr(const FilterRegistry &registry, AVFilterGraph *graph, const std::string &text,
                     AVFilterInOut **inputs, AVFilterInOut **outputs)
{
    AVFilterContext *source = nullptr, *sink = nullptr;
    avfilter_graph_create_filter(&source, avfilter_get_by_name("buffer"), "src",
                                 "video_size=16x8:pix_fmt=gray:time_base=1/25", nullptr, graph);
    avfilter_graph_create_filter(&sink, avfilter_get_by_name("nullsink"), "snk", nullptr, nullptr,
                                 graph);
    *outputs = avfilter_inout_alloc();
    **outputs = {av_strdup("in"), source, 0, nullptr};
    *inputs = avfilter_inout_alloc();
    **inputs = {av_strdup("out"), sink, 0, nullptr};
    return registry.graph_parse_ptr(graph, text.c_str(), inputs, outputs, nullptr);
}

#if LIBAVFILTER_VERSION_MAJOR >= 9
inline int segments(const FilterRegistry &registry, AVFilterGraph *graph, const std::string &text,
                    AVFilterInOut **inputs, AVFilterInOut **outputs)
{
    AVFilterGraphSegment *segment = nullptr;
    int ret = registry.segment_parse(graph, text.c_str(), 0, &segment);
    if (ret >= 0)
        ret = registry.segment_create_filters(segment, 0);
    if (ret >= 0)
        ret = registry.segment_apply(segment, 0, inputs, outputs);
    avfilter_graph_segment_free(&segment);
    return ret;
}
#endif

// With one filter's name in the place of the other's.
inline std::string with_name(const std::string &text, const std::string &word,
                             const std::string &name)
{
    return std::regex_replace(text, std::regex(word), name);
}

} // namespace graph_outcome
