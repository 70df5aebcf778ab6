// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Tells libavfilter which formats a filter takes and makes, where the two differ.  libavfilter's
// own functions for that are hidden.
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
// end with AV_PIX_FMT_NONE, and are copied.  Returns 0, or AVERROR(ENOMEM).
int set_link_formats(AVFilterContext *ctx, std::span<const AVPixelFormat *const> in,
                     const AVPixelFormat *out);

// The same: what is known of the format of the frames that will come, of which a filter takes
// those in `taken`.  libavfilter asks in rounds, and each round lets it know more.
struct ComingFormat {
    bool is_pending;                     // a filter of ours before it has not said what it makes
    std::optional<AVPixelFormat> format; // as libavfilter will choose it, if it has no other choice
};
ComingFormat format_to_come(AVFilterLink *link, const AVPixelFormat *taken);

} // namespace dnn_torch
