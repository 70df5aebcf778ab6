// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Sets the formats of a filter's inputs and outputs if the two differ.  libavfilter's own functions
// for that are hidden.
#pragma once

extern "C" {
#include <libavfilter/avfilter.h>
}

#include <optional>
#include <span>

namespace dnn_torch
{

// For a query function: sets the formats of all links of `ctx` that have none yet.  `in` has a list
// for each input.  If `out` is the list of the first input, frames keep their format.  The lists
// end with AV_PIX_FMT_NONE and are copied.  Returns 0, or AVERROR(ENOMEM).
int set_link_formats(AVFilterContext *ctx, std::span<const AVPixelFormat *const> in,
                     const AVPixelFormat *out);

// Also for a query function: predicts the input's format for a filter that takes those in `taken`.
// libavfilter negotiates in rounds, and each round makes more known.
struct ComingFormat {
    bool is_pending;                     // an earlier filter of ours has not set its formats yet
    std::optional<AVPixelFormat> format; // libavfilter's choice, if it is determined
};
ComingFormat format_to_come(AVFilterLink *link, const AVPixelFormat *taken);

} // namespace dnn_torch
