// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Adds input pads to one instance of a filter.  libavfilter's own function for that,
// ff_append_inpad(), is hidden.
#pragma once

extern "C" {
#include <libavfilter/avfilter.h>
}

#include <string>

namespace dnn_torch
{

// Call it in init(), before any input of `ctx` is linked.  libavfilter frees the pad with `ctx`.
// Returns 0, or AVERROR(ENOMEM), which leaves `ctx` intact.
int append_input_pad(AVFilterContext *ctx, const std::string &name);

} // namespace dnn_torch
