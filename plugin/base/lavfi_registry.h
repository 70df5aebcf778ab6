/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/** Fills a FilterRegistry with the functions of a libavfilter. */
#ifndef DNN_TORCH_LAVFI_REGISTRY_H
#define DNN_TORCH_LAVFI_REGISTRY_H

#include "dnn_torch/filter_module.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The only list of the wrapped functions: USE(member, symbol).  `member` is the name in
 * FilterRegistry, `symbol` the name that libavfilter exports.
 */
#define DNN_TORCH_WRAPPED_FUNCTIONS(USE)                                                           \
    USE(get_by_name, avfilter_get_by_name)                                                         \
    USE(iterate, av_filter_iterate)                                                                \
    USE(get_class, avfilter_get_class)                                                             \
    USE(graph_parse, avfilter_graph_parse)                                                         \
    USE(graph_parse2, avfilter_graph_parse2)                                                       \
    USE(graph_parse_ptr, avfilter_graph_parse_ptr)                                                 \
    USE(segment_parse, avfilter_graph_segment_parse)                                               \
    USE(segment_create_filters, avfilter_graph_segment_create_filters)                             \
    USE(segment_apply, avfilter_graph_segment_apply)                                               \
    USE(pad_count, avfilter_pad_count)                                                             \
    USE(graph_free, avfilter_graph_free)                                                           \
    USE(graph_request_oldest, avfilter_graph_request_oldest)                                       \
    USE(sink_get_frame, av_buffersink_get_frame_flags)

/**
 * Returns the functions of the libavfilter with this dlopen() handle.  A function that
 * this libavfilter lacks is NULL.
 */
FilterRegistry dnn_torch_registry_of(void *lavfi);

#ifdef __cplusplus
}
#endif

#endif
