/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * What a filter module looks like to whoever opens it: the preload object, the
 * launcher's doctor, or an FFmpeg built with the patch under patches/.
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

/** Filters of ours all have names that begin so; nothing else is looked up here. */
#define DNN_TORCH_FILTER_PREFIX "dnn_torch"

/**
 * libavfilter's ways from a filter's name to a filter, and from a graph to its
 * frames.  As a set of the real functions it goes into a module; as a set of
 * wrappers it comes out.  The functions of segments are NULL where the
 * libavfilter has none (before 6.0), and pad_count where it has it no longer
 * (since 6.0).
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
     * Where ffmpeg frees a graph and makes it anew in mid-stream, frames that are in our
     * filters come out of the new one first.
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
    const FilterRegistry *wrappers;        /**< serve the filters above as if built in */

    /**
     * Sends frames through a private graph; NULL where they pass, otherwise one line
     * that says why not and names both versions.  Runs once, and by itself before
     * the first graph with a filter of ours; libavfilter logs meanwhile.
     */
    const char *(*self_test)(void);
} FilterModule;

typedef struct FilterModuleHost {
    uint32_t abi;           /**< FILTER_MODULE_ABI of the caller's build */
    uint32_t lavfi_version; /**< what the running avfilter_version() returns */
    /** The real functions; NULL from a libavfilter that looks the filters up by itself. */
    const FilterRegistry *real;
    char *message; /**< on refusal: one line that says why */
    size_t message_size;
} FilterModuleHost;

/**
 * Returns the module, which lives as long as the shared object, or NULL after a
 * refusal: another ABI, or a libavfilter outside the pinned window or with other
 * layouts than the pinned ones.  Safe to call from any thread, and more than once.
 */
typedef const FilterModule *FilterModuleOpen(const FilterModuleHost *host);

#ifdef __cplusplus
}
#endif

#endif
