/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A libavfilter as a program brings its own along: what it answers is its alone.
 * FAKE_LAVFI_VERSION in the environment is its version. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct AVFilter {
    const char *name;
};

static const struct AVFilter only = {"only_in_fake"};

EXPORT unsigned avfilter_version(void);
EXPORT const struct AVFilter *avfilter_get_by_name(const char *name);
EXPORT const struct AVFilter *av_filter_iterate(void **cursor);
EXPORT int avfilter_graph_parse2(void *graph, const char *text, void **inputs, void **outputs);
EXPORT int avfilter_graph_parse_ptr(void *graph, const char *text, void **inputs, void **outputs,
                                    void *log_ctx);

unsigned avfilter_version(void)
{
    const char *version = getenv("FAKE_LAVFI_VERSION");
    return version ? (unsigned)strtoul(version, NULL, 10) : 99u << 16;
}

const struct AVFilter *avfilter_get_by_name(const char *name)
{
    return name && !strcmp(name, only.name) ? &only : NULL;
}

const struct AVFilter *av_filter_iterate(void **cursor)
{
    const struct AVFilter *found = *cursor ? NULL : &only;
    *cursor = (void *)1;
    return found;
}

int avfilter_graph_parse2(void *graph, const char *text, void **inputs, void **outputs)
{
    (void)graph, (void)text, (void)inputs, (void)outputs;
    return -4242;
}

int avfilter_graph_parse_ptr(void *graph, const char *text, void **inputs, void **outputs,
                             void *log_ctx)
{
    (void)graph, (void)text, (void)inputs, (void)outputs, (void)log_ctx;
    return -4343;
}
