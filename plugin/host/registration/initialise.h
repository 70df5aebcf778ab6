// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What libavfilter's own graph parser does with a filter and its arguments, in
// its words.  One implementation serves libavfilter before segments (5.1), the
// other those with segments (6.0 and later).
#pragma once

#include "graph_text.h"

#include "dnn_torch/filter_module.h"

extern "C" {
#include <libavfilter/avfilter.h>
}

namespace dnn_torch
{

// Whether a fault in a graph's text is told, with that text, before a filter that
// is not there.
extern const bool grammar_comes_first;

// Sets the filter's options from its text and initialises it; logs what fails.
// The context stays its graph's.
int initialise_filter(AVFilterContext *ctx, const FilterText &text, void *log_ctx);

// The complaint of a filter with one input that was given several labels.
void log_too_many_inputs(const FilterText &text, void *log_ctx);

// The wrappers of segments where this libavfilter has them, otherwise none.
void add_segment_wrappers(FilterRegistry &wrappers);

} // namespace dnn_torch
