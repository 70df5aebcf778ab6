/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include "consumer.h"

#include <libavfilter/avfilter.h>
#include <libavfilter/version.h>
#include <libavutil/log.h>
#include <libavutil/opt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int report(const char *way, bool good)
{
    printf("%s %s\n", good ? "ok" : "FAILED", way);
    fflush(stdout);
    return good ? 0 : 1;
}

static bool has_ours(const AVFilterGraph *graph)
{
    for (unsigned i = 0; i < graph->nb_filters; i++)
        if (!strcmp(graph->filters[i]->filter->name, "dnn_torch"))
            return graph->filters[i]->nb_inputs == 1 && graph->nb_filters == 2;
    return false;
}

static bool listed_once(void)
{
    void *cursor = NULL;
    int found = 0;
    for (const AVFilter *filter; (filter = av_filter_iterate(&cursor));)
        found += !strcmp(filter->name, "dnn_torch");
    return found == 1 && !av_filter_iterate(&cursor) && !av_filter_iterate(&cursor);
}

static bool found_by_name(void)
{
    const AVFilter *filter = avfilter_get_by_name("dnn_torch");
    return filter && !strcmp(filter->name, "dnn_torch") && avfilter_get_by_name("null") &&
           !avfilter_get_by_name("dnn_torch_nonsense") && !avfilter_get_by_name("nonsense");
}

static bool has_its_options(void)
{
    void *cursor = NULL;
    int found = 0, all = 0;
    for (const AVClass *child; (child = av_opt_child_class_iterate(avfilter_get_class(), &cursor));
         all++)
        found += !strcmp(child->class_name, "dnn_torch");
    return found == 1 && all > 20 && !strcmp(avfilter_get_class()->class_name, "AVFilter");
}

static bool parse2(AVFilterGraph *graph, const char *text)
{
    AVFilterInOut *inputs = NULL, *outputs = NULL;
    bool good = avfilter_graph_parse2(graph, text, &inputs, &outputs) >= 0 && has_ours(graph) &&
                inputs && outputs && !strcmp(outputs->filter_ctx->filter->name, "dnn_torch");
    avfilter_inout_free(&inputs);
    avfilter_inout_free(&outputs);
    return good;
}

static bool parse_ptr(AVFilterGraph *graph, const char *text)
{
    AVFilterInOut *inputs = NULL, *outputs = NULL;
    bool good =
        avfilter_graph_parse_ptr(graph, text, &inputs, &outputs, NULL) >= 0 && has_ours(graph);
    avfilter_inout_free(&inputs);
    avfilter_inout_free(&outputs);
    return good;
}

static bool parse(AVFilterGraph *graph, const char *text)
{
    return avfilter_graph_parse(graph, text, NULL, NULL, NULL) >= 0 && has_ours(graph);
}

#if LIBAVFILTER_VERSION_MAJOR >= 9
static bool segment_apply(AVFilterGraph *graph, const char *text)
{
    AVFilterGraphSegment *segment = NULL;
    AVFilterInOut *inputs = NULL, *outputs = NULL;
    bool good = avfilter_graph_segment_parse(graph, text, 0, &segment) >= 0 &&
                avfilter_graph_segment_apply(segment, 0, &inputs, &outputs) >= 0 && has_ours(graph);
    avfilter_graph_segment_free(&segment);
    avfilter_inout_free(&inputs);
    avfilter_inout_free(&outputs);
    return good;
}

static bool segment_create_filters(AVFilterGraph *graph, const char *text)
{
    AVFilterGraphSegment *segment = NULL;
    bool good = avfilter_graph_segment_parse(graph, text, 0, &segment) >= 0 &&
                avfilter_graph_segment_create_filters(segment, 0) >= 0 && has_ours(graph);
    avfilter_graph_segment_free(&segment);
    return good;
}
#endif

#if LIBAVFILTER_VERSION_MAJOR < 9
static bool pads_are_counted(void)
{
    const AVFilter *ours = avfilter_get_by_name("dnn_torch");
    const AVFilter *theirs = avfilter_get_by_name("overlay");
    return ours && theirs && avfilter_pad_count(ours->inputs) == 1 &&
           avfilter_pad_count(ours->outputs) == 1 && avfilter_pad_count(theirs->inputs) == 2 &&
           avfilter_pad_count(NULL) == 0;
}
#endif

static int try_parser(const char *way, bool (*parser)(AVFilterGraph *, const char *),
                      const char *text)
{
    AVFilterGraph *graph = avfilter_graph_alloc();
    int failed = report(way, graph && parser(graph, text));
    avfilter_graph_free(&graph);
    return failed;
}

int consume(const char *model)
{
    char text[4096];
    int failed = 0;

    av_log_set_level(AV_LOG_ERROR);
    snprintf(text, sizeof(text), "[in]null,dnn_torch=%s:engine=fake[out]", model);
    failed += report("avfilter_get_by_name", found_by_name());
    failed += report("av_filter_iterate", listed_once());
    failed += report("avfilter_get_class", has_its_options());
#if LIBAVFILTER_VERSION_MAJOR < 9
    failed += report("avfilter_pad_count", pads_are_counted());
#endif
    failed += try_parser("avfilter_graph_parse2", parse2, text);
    failed += try_parser("avfilter_graph_parse_ptr", parse_ptr, text);
    failed += try_parser("avfilter_graph_parse", parse, text);
#if LIBAVFILTER_VERSION_MAJOR >= 9
    failed += try_parser("avfilter_graph_segment_apply", segment_apply, text);
    failed += try_parser("avfilter_graph_segment_create_filters", segment_create_filters, text);
#endif
    return failed;
}
