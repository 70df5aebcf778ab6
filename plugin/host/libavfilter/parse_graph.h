// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// libavfilter's parsers of graph strings, with our filters among its own.
//
// libavfilter's own parsers look filters up internally, where they cannot be wrapped.
// These parsers call its exported functions, and do and log exactly the same.  One
// implementation follows FFmpeg 5.1, the other one FFmpeg 6.0 and later, which have segments.
#pragma once

#include "dnn_torch/filter_module.h"

extern "C" {
#include <libavfilter/avfilter.h>
}

namespace dnn_torch
{

// Like avfilter_graph_parse2(), but may throw.
int parse_graph(AVFilterGraph *graph, const char *text, AVFilterInOut **inputs,
                AVFilterInOut **outputs);

// Like avfilter_graph_parse_ptr(), but may throw.
int parse_graph_between(AVFilterGraph *graph, const char *text, AVFilterInOut **open_inputs,
                        AVFilterInOut **open_outputs, void *log_ctx);

// Sets all functions that parse, those of segments only if this libavfilter has them.
void add_parsers(FilterRegistry &wrappers);

// Sets the functions of segments, if there are any.
void add_segment_parsers(FilterRegistry &wrappers);

} // namespace dnn_torch
