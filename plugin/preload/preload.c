/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The preload object.  It wraps libavfilter's functions that look filters up, and asks
 * the host module if a name may be ours.  It also wraps those with which ffmpeg takes
 * frames from a graph and frees it.  It links to neither libavfilter nor LibTorch, and
 * opens nothing until such a name occurs or a program lists the filters.
 */
#include "base/lavfi_registry.h"
#include "base/module_path.h"
#include "base/standard_error.h"
#include "lavfi.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
/* The caller's address; only valid in the exported function itself. */
#define CALLER __builtin_return_address(0)

/* ---- the host module of a libavfilter ------------------------------------- */

static void refuse(const char *reason)
{
    if (dnn_torch_has_standard_error())
        fprintf(stderr, "dnn_torch: the filters are not offered: %s\n", reason);
}

static const FilterModule *open_module_file(const Lavfi *lavfi, const char *path, char *reason,
                                            size_t size)
{
    FilterModuleHost host = {.abi = FILTER_MODULE_ABI,
                             .lavfi_version = lavfi->version,
                             .real = &lavfi->real,
                             .message = reason,
                             .message_size = size};
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    FilterModuleOpen *open = NULL;

    if (handle)
        *(void **)&open = dlsym(handle, FILTER_MODULE_SYMBOL);
    if (!open)
        snprintf(reason, size, "%s", dlerror());
    return open ? open(&host) : NULL;
}

static const FilterModule *open_module(const Lavfi *lavfi, char *reason, size_t size)
{
    char file_name[64], path[PATH_MAX];
    unsigned version = lavfi->version;

    snprintf(file_name, sizeof(file_name), "host-lavfi%u.so", version >> 16);
    if (dnn_torch_find_module((const void *)&open_module, file_name, path, sizeof(path)))
        return open_module_file(lavfi, path, reason, size);
    snprintf(reason, size, "this is libavfilter %u.%u.%u, and there is no %s in %s", version >> 16,
             version >> 8 & 255, version & 255, file_name, path);
    return NULL;
}

/*
 * Holds no lock, because dlopen() runs constructors, which may call us or wait for
 * threads that do.  Concurrent threads all ask and get the same answer.
 */
static void ask_for_module(Lavfi *lavfi)
{
    char reason[PATH_MAX + 128] = "";
    const FilterModule *nothing = NULL, *module = open_module(lavfi, reason, sizeof(reason));

    if (module)
        atomic_compare_exchange_strong(&lavfi->module, &nothing, module);
    if (!atomic_exchange(&lavfi->asked, true) && !module)
        refuse(reason);
}

static const FilterModule *module_of(Lavfi *lavfi)
{
    static _Thread_local bool asking; /* calls of the opening module get the real functions */

    if (!atomic_load(&lavfi->asked) && !asking) {
        asking = true;
        ask_for_module(lavfi);
        asking = false;
    }
    return atomic_load(&lavfi->module);
}

/* ---- the functions for a call ----------------------------------------------- */

static const FilterRegistry none;

static const FilterRegistry *real(const Lavfi *lavfi)
{
    return lavfi ? &lavfi->real : &none;
}

/* Returns the module's wrappers, or the real functions if there is no module. */
static const FilterRegistry *extended(void *caller)
{
    static atomic_flag has_reported = ATOMIC_FLAG_INIT;
    Lavfi *lavfi = dnn_torch_lavfi_of(caller);
    if (!lavfi && !atomic_flag_test_and_set(&has_reported))
        refuse("no libavfilter is loaded");
    const FilterModule *module = lavfi ? module_of(lavfi) : NULL;
    return module ? module->wrappers : real(lavfi);
}

static const FilterRegistry *registry_for(void *caller, const char *text)
{
    bool is_ours = text && strstr(text, DNN_TORCH_FILTER_PREFIX);
    return is_ours ? extended(caller) : real(dnn_torch_lavfi_of(caller));
}

/* For segments, pads and graphs, which can contain a filter of ours only if the module is open. */
static const FilterRegistry *registry_for_object(void *caller)
{
    Lavfi *lavfi = dnn_torch_lavfi_of(caller);
    const FilterModule *module = lavfi ? atomic_load(&lavfi->module) : NULL;
    return module ? module->wrappers : real(lavfi);
}

/* ---- the wrapped entry points ------------------------------------------- */

EXPORT const struct AVFilter *avfilter_get_by_name(const char *name)
{
    const FilterRegistry *use = registry_for(CALLER, name);
    return use->get_by_name ? use->get_by_name(name) : NULL;
}

EXPORT const struct AVFilter *av_filter_iterate(void **opaque)
{
    const FilterRegistry *use = extended(CALLER);
    return use->iterate ? use->iterate(opaque) : NULL;
}

EXPORT const struct AVClass *avfilter_get_class(void)
{
    const FilterRegistry *use = extended(CALLER);
    return use->get_class ? use->get_class() : NULL;
}

EXPORT int avfilter_graph_parse(struct AVFilterGraph *graph, const char *filters,
                                struct AVFilterInOut *inputs, struct AVFilterInOut *outputs,
                                void *log_ctx)
{
    const FilterRegistry *use = registry_for(CALLER, filters);
    return use->graph_parse ? use->graph_parse(graph, filters, inputs, outputs, log_ctx) : -ENOSYS;
}

EXPORT int avfilter_graph_parse2(struct AVFilterGraph *graph, const char *filters,
                                 struct AVFilterInOut **inputs, struct AVFilterInOut **outputs)
{
    const FilterRegistry *use = registry_for(CALLER, filters);
    return use->graph_parse2 ? use->graph_parse2(graph, filters, inputs, outputs) : -ENOSYS;
}

EXPORT int avfilter_graph_parse_ptr(struct AVFilterGraph *graph, const char *filters,
                                    struct AVFilterInOut **inputs, struct AVFilterInOut **outputs,
                                    void *log_ctx)
{
    const FilterRegistry *use = registry_for(CALLER, filters);
    return use->graph_parse_ptr ? use->graph_parse_ptr(graph, filters, inputs, outputs, log_ctx)
                                : -ENOSYS;
}

EXPORT int avfilter_graph_segment_parse(struct AVFilterGraph *graph, const char *filters, int flags,
                                        struct AVFilterGraphSegment **segment)
{
    const FilterRegistry *use = registry_for(CALLER, filters);
    return use->segment_parse ? use->segment_parse(graph, filters, flags, segment) : -ENOSYS;
}

EXPORT int avfilter_graph_segment_create_filters(struct AVFilterGraphSegment *segment, int flags)
{
    const FilterRegistry *use = registry_for_object(CALLER);
    return use->segment_create_filters ? use->segment_create_filters(segment, flags) : -ENOSYS;
}

EXPORT int avfilter_graph_segment_apply(struct AVFilterGraphSegment *segment, int flags,
                                        struct AVFilterInOut **inputs,
                                        struct AVFilterInOut **outputs)
{
    const FilterRegistry *use = registry_for_object(CALLER);
    return use->segment_apply ? use->segment_apply(segment, flags, inputs, outputs) : -ENOSYS;
}

EXPORT int avfilter_pad_count(const struct AVFilterPad *pads)
{
    const FilterRegistry *use = registry_for_object(CALLER);
    return use->pad_count ? use->pad_count(pads) : -ENOSYS;
}

EXPORT void avfilter_graph_free(struct AVFilterGraph **graph)
{
    const FilterRegistry *use = registry_for_object(CALLER);
    if (use->graph_free)
        use->graph_free(graph);
}

EXPORT int avfilter_graph_request_oldest(struct AVFilterGraph *graph)
{
    const FilterRegistry *use = registry_for_object(CALLER);
    return use->graph_request_oldest ? use->graph_request_oldest(graph) : -ENOSYS;
}

EXPORT int av_buffersink_get_frame_flags(struct AVFilterContext *sink, struct AVFrame *frame,
                                         int flags)
{
    const FilterRegistry *use = registry_for_object(CALLER);
    return use->sink_get_frame ? use->sink_get_frame(sink, frame, flags) : -ENOSYS;
}

/* Compiles only if each function of the list is wrapped above, with the right type. */
#define WRAPPED_BY(member, symbol) .member = symbol,
__attribute__((unused)) static const FilterRegistry wrapped = {
    DNN_TORCH_WRAPPED_FUNCTIONS(WRAPPED_BY)};
