// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Graph strings at random: one with dnn_torch in it is parsed as the same string
// with a built-in filter in that place.  Here dnn_torch is that very filter under
// another name of the same length.  GRAPH_PARSE_SEED and GRAPH_PARSE_COUNT in the
// environment make a longer run.
#include "filters/filters.h"
#include "gate/self_test.h"
#include "registration/registry.h"

#include <lavfi_abi.h>

extern "C" {
#include <libavutil/log.h>
}

#include <cstdlib>
#include <gtest/gtest.h>
#include <random>
#include <regex>
#include <string>
#include <vector>

namespace dnn_torch
{

constexpr const char *built_in = "normalize";

const AVFilter *dnn_torch_filter()
{
    static const lavfi_abi::Filter ours = [] {
        lavfi_abi::Filter made =
            *reinterpret_cast<const lavfi_abi::Filter *>(avfilter_get_by_name(built_in));
        lavfi_abi::public_part(made).name = "dnn_torch";
        return made;
    }();
    return &lavfi_abi::public_part(ours);
}

const char *gate_fault()
{
    return nullptr;
}

} // namespace dnn_torch

namespace
{

using namespace dnn_torch;

std::string logged;

void log_to_string(void *context, int level, const char *format, va_list arguments)
{
    char line[4096];
    static int prefix = 1;
    if (level > AV_LOG_WARNING)
        return;
    av_log_format_line2(context, level, format, arguments, line, sizeof(line), &prefix);
    logged += line;
}

FilterRegistry libavfilter_itself()
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

std::string name_of(const AVFilterContext *filter)
{
    return filter ? std::string(filter->name) + "(" + filter->filter->name + ")" : "none";
}

std::string tell_ends(const AVFilterInOut *end)
{
    std::string text;
    for (; end; end = end->next)
        text += std::string(end->name ? end->name : "-") + "=" + name_of(end->filter_ctx) + ":" +
                std::to_string(end->pad_idx) + " ";
    return text;
}

std::string tell_graph(const AVFilterGraph *graph)
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

std::string without_addresses(const std::string &text)
{
    return std::regex_replace(text, std::regex("@ 0x[0-9a-f]+"), "@");
}

using Parse = int (*)(const FilterRegistry &, AVFilterGraph *, const std::string &,
                      AVFilterInOut **, AVFilterInOut **);

std::string outcome(const FilterRegistry &registry, Parse parse, const std::string &text)
{
    AVFilterGraph *graph = avfilter_graph_alloc();
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

int parse2(const FilterRegistry &registry, AVFilterGraph *graph, const std::string &text,
           AVFilterInOut **inputs, AVFilterInOut **outputs)
{
    return registry.graph_parse2(graph, text.c_str(), inputs, outputs);
}

// As ffplay: with a source and a sink of its own, and its own context for the log.
int parse_ptr(const FilterRegistry &registry, AVFilterGraph *graph, const std::string &text,
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
int segments(const FilterRegistry &registry, AVFilterGraph *graph, const std::string &text,
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

// ---- the strings ----------------------------------------------------------------

std::string random_text(std::minstd_rand &random)
{
    static const std::vector<std::string> words = {"[",
                                                   "]",
                                                   ",",
                                                   ";",
                                                   "=",
                                                   "@",
                                                   "'",
                                                   "\\",
                                                   ":",
                                                   " ",
                                                   "a",
                                                   "b",
                                                   "[a]",
                                                   "[b]",
                                                   "[in]",
                                                   "[out]",
                                                   "null",
                                                   "split",
                                                   "anullsrc",
                                                   "sws_flags=bicubic;",
                                                   ",null",
                                                   ";[a]null",
                                                   "FILTER",
                                                   "FILTER",
                                                   "FILTER",
                                                   ",FILTER",
                                                   "FILTER@",
                                                   "FILTER@x",
                                                   "FILTER=",
                                                   "FILTER=whitept=white",
                                                   "FILTER=black:white",
                                                   "FILTER=blackpt=gray",
                                                   "FILTER=nosuch=1",
                                                   ";[a]FILTER",
                                                   "[a]FILTER[b]"};
    std::string text;
    for (size_t i = 1 + random() % 7; i > 0; i--)
        text += words[random() % words.size()];
    return text;
}

std::string with_name(const std::string &text, const std::string &word, const std::string &name)
{
    return std::regex_replace(text, std::regex(word), name);
}

size_t number_from(const char *variable, size_t otherwise)
{
    const char *text = getenv(variable);
    return text ? strtoul(text, nullptr, 10) : otherwise;
}

class GraphParse : public testing::TestWithParam<std::pair<const char *, Parse>>
{
};

TEST_P(GraphParse, IsThatOfABuiltInFilter)
{
    const FilterRegistry real = libavfilter_itself();
    set_real_registry(real);
    av_log_set_callback(log_to_string);
    std::minstd_rand random(static_cast<unsigned>(number_from("GRAPH_PARSE_SEED", 1)));
    size_t count = number_from("GRAPH_PARSE_COUNT", 4000), differences = 0, good = 0;
    for (size_t i = 0; i < count && differences < 10; i++) {
        std::string text = random_text(random);
        std::string ours = with_name(text, "FILTER", "dnn_torch");
        std::string theirs = with_name(text, "FILTER", built_in);
        std::string expected = outcome(real, GetParam().second, theirs);
        std::string found = outcome(*registry_wrappers(), GetParam().second, ours);
        EXPECT_EQ(with_name(found, "dnn_torch", built_in), expected) << ours;
        differences += with_name(found, "dnn_torch", built_in) != expected;
        good += expected.rfind("returns -", 0) != 0;
    }
    av_log_set_callback(av_log_default_callback);
    EXPECT_GT(good, count / 50);
}

INSTANTIATE_TEST_SUITE_P(Ways, GraphParse,
                         testing::Values(std::pair{"parse2", &parse2},
#if LIBAVFILTER_VERSION_MAJOR >= 9
                                         std::pair{"segments", &segments},
#endif
                                         std::pair{"parse_ptr", &parse_ptr}),
                         [](const auto &way) { return way.param.first; });

} // namespace
