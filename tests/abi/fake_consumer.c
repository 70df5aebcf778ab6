/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A user of the fake libavfilter: gets that one's answers, and no others. */
#include "consumer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

const void *avfilter_get_by_name(const char *name);
const void *av_filter_iterate(void **cursor);
int avfilter_graph_parse2(void *graph, const char *text, void **inputs, void **outputs);
int avfilter_graph_parse_ptr(void *graph, const char *text, void **inputs, void **outputs,
                             void *log_ctx);

static int report(const char *way, bool good)
{
    printf("%s fake %s\n", good ? "ok" : "FAILED", way);
    fflush(stdout);
    return good ? 0 : 1;
}

static bool lists_its_own(void)
{
    void *cursor = NULL;
    return av_filter_iterate(&cursor) && !av_filter_iterate(&cursor);
}

int consume(const char *model)
{
    const char *text = "null,dnn_torch=x";
    int failed = 0;

    (void)model;
    failed += report("get_by_name", avfilter_get_by_name("only_in_fake") &&
                                        !avfilter_get_by_name("null") &&
                                        !avfilter_get_by_name("dnn_torch"));
    failed += report("iterate", lists_its_own());
    failed += report("graph_parse2", avfilter_graph_parse2(NULL, text, NULL, NULL) == -4242);
    failed +=
        report("graph_parse_ptr", avfilter_graph_parse_ptr(NULL, text, NULL, NULL, NULL) == -4343);
    return failed;
}
