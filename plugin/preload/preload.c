/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The preload object: stands before libavfilter's ways to a filter and asks the
 * host module whenever a name of ours may be meant.  Links to neither
 * libavfilter nor LibTorch, has no constructor, and opens nothing until such a
 * name turns up or somebody lists the filters.
 */
#include "dnn_torch/filter_module.h"
#include "module_path.h"

#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define PUT(field, symbol) *(void **)&registry.field = lavfi_symbol(symbol)

static FilterRegistry registry;
static pthread_once_t registry_once = PTHREAD_ONCE_INIT;
static const FilterModule *module;
static pthread_once_t module_once = PTHREAD_ONCE_INIT;

/* ---- the libavfilter that is loaded ------------------------------------- */

static int is_lavfi(struct dl_phdr_info *info, size_t size, void *handle)
{
    (void)size;
    const char *slash = strrchr(info->dlpi_name, '/');
    if (strncmp(slash ? slash + 1 : info->dlpi_name, "libavfilter", strlen("libavfilter")) != 0)
        return 0;
    *(void **)handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    return *(void **)handle != NULL;
}

/* RTLD_NEXT knows nothing of a libavfilter that was opened with RTLD_LOCAL. */
static void *lavfi_symbol(const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    void *handle = NULL;
    if (symbol)
        return symbol;
    dl_iterate_phdr(is_lavfi, &handle);
    return handle ? dlsym(handle, name) : NULL;
}

static void find_registry(void)
{
    PUT(get_by_name, "avfilter_get_by_name");
    PUT(iterate, "av_filter_iterate");
    PUT(graph_parse, "avfilter_graph_parse");
    PUT(graph_parse2, "avfilter_graph_parse2");
    PUT(graph_parse_ptr, "avfilter_graph_parse_ptr");
    PUT(segment_parse, "avfilter_graph_segment_parse");
    PUT(segment_create_filters, "avfilter_graph_segment_create_filters");
    PUT(segment_apply, "avfilter_graph_segment_apply");
    PUT(pad_count, "avfilter_pad_count");
}

static const FilterRegistry *real(void)
{
    pthread_once(&registry_once, find_registry);
    return &registry;
}

/* ---- the host module for it --------------------------------------------- */

static void refuse(const char *reason)
{
    fprintf(stderr, "dnn_torch: the filters are not offered: %s\n", reason);
}

static void open_module_file(unsigned version, const char *path)
{
    char reason[512] = "";
    FilterModuleHost host = {FILTER_MODULE_ABI, version, real(), reason, sizeof(reason)};
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    FilterModuleOpen *open = NULL;

    if (handle)
        *(void **)&open = dlsym(handle, FILTER_MODULE_SYMBOL);
    if (!open) {
        refuse(dlerror());
        return;
    }
    module = open(&host);
    if (!module)
        refuse(reason);
}

static void open_module(void)
{
    char file_name[64], path[PATH_MAX], reason[PATH_MAX + 128];
    unsigned (*lavfi_version)(void) = NULL;

    *(void **)&lavfi_version = lavfi_symbol("avfilter_version");
    if (!lavfi_version) {
        refuse("no libavfilter is loaded");
        return;
    }
    unsigned version = lavfi_version();
    snprintf(file_name, sizeof(file_name), "host-lavfi%u.so", version >> 16);
    if (dnn_torch_find_module(&module_once, file_name, path, sizeof(path))) {
        open_module_file(version, path);
        return;
    }
    snprintf(reason, sizeof(reason), "this is libavfilter %u.%u.%u, and there is no %s in %s",
             version >> 16, version >> 8 & 255, version & 255, file_name, path);
    refuse(reason);
}

/* The wrappers of the module, or the real functions where there is none. */
static const FilterRegistry *extended(void)
{
    pthread_once(&module_once, open_module);
    return module ? module->wrappers : real();
}

static const FilterRegistry *registry_for(const char *text)
{
    return text && strstr(text, DNN_TORCH_FILTER_PREFIX) ? extended() : real();
}

/* A segment or pads can be a filter's of ours only if its name made us open the module. */
static const FilterRegistry *registry_for_object(void)
{
    return module ? extended() : real();
}

/* ---- the wrapped entry points ------------------------------------------- */

EXPORT const struct AVFilter *avfilter_get_by_name(const char *name)
{
    const FilterRegistry *use = registry_for(name);
    return use->get_by_name ? use->get_by_name(name) : NULL;
}

EXPORT const struct AVFilter *av_filter_iterate(void **opaque)
{
    const FilterRegistry *use = extended();
    return use->iterate ? use->iterate(opaque) : NULL;
}

EXPORT int avfilter_graph_parse(struct AVFilterGraph *graph, const char *filters,
                                struct AVFilterInOut *inputs, struct AVFilterInOut *outputs,
                                void *log_ctx)
{
    const FilterRegistry *use = registry_for(filters);
    return use->graph_parse ? use->graph_parse(graph, filters, inputs, outputs, log_ctx) : -ENOSYS;
}

EXPORT int avfilter_graph_parse2(struct AVFilterGraph *graph, const char *filters,
                                 struct AVFilterInOut **inputs, struct AVFilterInOut **outputs)
{
    const FilterRegistry *use = registry_for(filters);
    return use->graph_parse2 ? use->graph_parse2(graph, filters, inputs, outputs) : -ENOSYS;
}

EXPORT int avfilter_graph_parse_ptr(struct AVFilterGraph *graph, const char *filters,
                                    struct AVFilterInOut **inputs, struct AVFilterInOut **outputs,
                                    void *log_ctx)
{
    const FilterRegistry *use = registry_for(filters);
    return use->graph_parse_ptr ? use->graph_parse_ptr(graph, filters, inputs, outputs, log_ctx)
                                : -ENOSYS;
}

EXPORT int avfilter_graph_segment_parse(struct AVFilterGraph *graph, const char *filters, int flags,
                                        struct AVFilterGraphSegment **segment)
{
    const FilterRegistry *use = registry_for(filters);
    return use->segment_parse ? use->segment_parse(graph, filters, flags, segment) : -ENOSYS;
}

EXPORT int avfilter_graph_segment_create_filters(struct AVFilterGraphSegment *segment, int flags)
{
    const FilterRegistry *use = registry_for_object();
    return use->segment_create_filters ? use->segment_create_filters(segment, flags) : -ENOSYS;
}

EXPORT int avfilter_graph_segment_apply(struct AVFilterGraphSegment *segment, int flags,
                                        struct AVFilterInOut **inputs,
                                        struct AVFilterInOut **outputs)
{
    const FilterRegistry *use = registry_for_object();
    return use->segment_apply ? use->segment_apply(segment, flags, inputs, outputs) : -ENOSYS;
}

EXPORT int avfilter_pad_count(const struct AVFilterPad *pads)
{
    const FilterRegistry *use = registry_for_object();
    return use->pad_count ? use->pad_count(pads) : -ENOSYS;
}
