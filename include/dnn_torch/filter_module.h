/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * The interface of a filter module.  The preload object, the launcher's doctor, and
 * an FFmpeg built with the patch under patches/ open it.
 *
 * A module is a shared object named `host-lavfiN.so`, N being the libavfilter
 * major that it was built for, and exports filter_module_open().
 */
#ifndef DNN_TORCH_FILTER_MODULE_H
#define DNN_TORCH_FILTER_MODULE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct AVClass;
struct AVFilter;
struct AVFilterContext;
struct AVFilterGraph;
struct AVFilterGraphSegment;
struct AVFilterInOut;
struct AVFilterPad;
struct AVFrame;

/** Raised with every change of a layout or a meaning below. */
#define FILTER_MODULE_ABI 3u

/** The name of the one symbol that a module exports. */
#define FILTER_MODULE_SYMBOL "filter_module_open"

/** The names of all our filters begin with this; nothing else is looked up here. */
#define DNN_TORCH_FILTER_PREFIX "dnn_torch"

/**
 * libavfilter's functions that look up filters, parse graphs and return their
 * frames.  A module gets the real functions and returns a set of wrappers.  The
 * functions of segments are NULL if the libavfilter has none (before FFmpeg 6.0),
 * and so is pad_count if it no longer has it (since 6.0).
 */
typedef struct FilterRegistry {
    const struct AVFilter *(*get_by_name)(const char *name);
    const struct AVFilter *(*iterate)(void **opaque);
    int (*graph_parse)(struct AVFilterGraph *graph, const char *filters,
                       struct AVFilterInOut *inputs, struct AVFilterInOut *outputs, void *log_ctx);
    int (*graph_parse2)(struct AVFilterGraph *graph, const char *filters,
                        struct AVFilterInOut **inputs, struct AVFilterInOut **outputs);
    int (*graph_parse_ptr)(struct AVFilterGraph *graph, const char *filters,
                           struct AVFilterInOut **inputs, struct AVFilterInOut **outputs,
                           void *log_ctx);
    int (*segment_parse)(struct AVFilterGraph *graph, const char *filters, int flags,
                         struct AVFilterGraphSegment **segment);
    int (*segment_create_filters)(struct AVFilterGraphSegment *segment, int flags);
    int (*segment_apply)(struct AVFilterGraphSegment *segment, int flags,
                         struct AVFilterInOut **inputs, struct AVFilterInOut **outputs);
    int (*pad_count)(const struct AVFilterPad *pads);
    /** Its children are the options of all filters, which `ffmpeg -h full` prints. */
    const struct AVClass *(*get_class)(void);
    /**
     * If ffmpeg frees a graph and builds it anew in mid-stream, the new graph first
     * returns the frames that are still in our filters.
     */
    void (*graph_free)(struct AVFilterGraph **graph);
    int (*graph_request_oldest)(struct AVFilterGraph *graph);
    int (*sink_get_frame)(struct AVFilterContext *sink, struct AVFrame *frame, int flags);
} FilterRegistry;

typedef struct FilterModule {
    uint32_t abi;                          /**< FILTER_MODULE_ABI of the module's build */
    const char *name;                      /**< for messages: "ffmpeg-dnn-torch 0.1.0" */
    uint32_t built_against;                /**< LIBAVFILTER_VERSION_INT of the module's build */
    const struct AVFilter *const *filters; /**< ends with NULL */
    const FilterRegistry *wrappers;        /**< serve the filters above as if built-in */

    /**
     * Sends frames through a private graph.  Returns NULL if they pass, otherwise one
     * line that says why not and names both versions.  Runs once, by itself before the
     * first graph with a filter of ours; libavfilter logs meanwhile.
     */
    const char *(*self_test)(void);
} FilterModule;

typedef struct FilterModuleHost {
    uint32_t abi;           /**< FILTER_MODULE_ABI of the caller's build */
    uint32_t lavfi_version; /**< what the running avfilter_version() returns */
    /** The real functions; NULL if the libavfilter looks the filters up by itself. */
    const FilterRegistry *real;
    char *message; /**< on refusal: the reason, as one line */
    size_t message_size;
} FilterModuleHost;

/**
 * Returns the module, which lives as long as the shared object.  Returns NULL for
 * another ABI, or for a libavfilter whose version or struct layouts are not among the
 * pinned ones.  Safe to call from any thread, and more than once.
 */
typedef const FilterModule *FilterModuleOpen(const FilterModuleHost *host);

#ifdef __cplusplus
}
#endif

#endif
