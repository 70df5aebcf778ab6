// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// libavfilter's parsers of graph strings, with our filters among its own.
//
// libavfilter's look filters up where nobody can intervene.  These are the same
// parsers over its exported functions, word for word in what they do and log.  One
// implementation follows libavfilter before segments (5.1), the other those with
// segments (6.0 and later).
#pragma once

#include "dnn_torch/filter_module.h"

extern "C" {
#include <libavfilter/avfilter.h>
}

namespace dnn_torch
{

// avfilter_graph_parse2(); may throw.
int parse_graph(AVFilterGraph *graph, const char *text, AVFilterInOut **inputs,
                AVFilterInOut **outputs);

// avfilter_graph_parse_ptr(); may throw.
int parse_graph_between(AVFilterGraph *graph, const char *text, AVFilterInOut **open_inputs,
                        AVFilterInOut **open_outputs, void *log_ctx);

// Sets all that parse; those of segments where this libavfilter has them.
void add_parsers(FilterRegistry &wrappers);

// The wrappers of segments alone, where there are any.
void add_segment_parsers(FilterRegistry &wrappers);

} // namespace dnn_torch
