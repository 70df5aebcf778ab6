/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lavfi_registry.h"

#include <dlfcn.h>

#define PUT(field, symbol) *(void **)&registry.field = dlsym(lavfi, symbol)

FilterRegistry dnn_torch_registry_of(void *lavfi)
{
    FilterRegistry registry;

    PUT(get_by_name, "avfilter_get_by_name");
    PUT(iterate, "av_filter_iterate");
    PUT(get_class, "avfilter_get_class");
    PUT(graph_parse, "avfilter_graph_parse");
    PUT(graph_parse2, "avfilter_graph_parse2");
    PUT(graph_parse_ptr, "avfilter_graph_parse_ptr");
    PUT(segment_parse, "avfilter_graph_segment_parse");
    PUT(segment_create_filters, "avfilter_graph_segment_create_filters");
    PUT(segment_apply, "avfilter_graph_segment_apply");
    PUT(pad_count, "avfilter_pad_count");
    return registry;
}
