// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "initialise.h"

namespace dnn_torch
{

const bool grammar_comes_first = false;

int initialise_filter(AVFilterContext *ctx, const FilterText &text, void *log_ctx)
{
    int ret = avfilter_init_str(ctx, text.has_arguments ? text.arguments.c_str() : nullptr);
    if (ret < 0)
        av_log(log_ctx, AV_LOG_ERROR, "Error initializing filter '%s'%s%s%s\n", text.name.c_str(),
               text.has_arguments ? " with args '" : "", text.arguments.c_str(),
               text.has_arguments ? "'" : "");
    return ret;
}

void log_too_many_inputs(const FilterText &text, void *log_ctx)
{
    av_log(log_ctx, AV_LOG_ERROR, "Too many inputs specified for the \"%s\" filter.\n",
           text.name.c_str());
}

void add_segment_wrappers(FilterRegistry &) {}

} // namespace dnn_torch
