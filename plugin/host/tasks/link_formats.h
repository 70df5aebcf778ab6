// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The pixel formats of the filter's links, from a model's input and output channels.
#pragma once

#include "host/probing/model_probe.h"

extern "C" {
#include <libavutil/pixfmt.h>
}

#include <vector>

namespace dnn_torch
{

// The lists are static.  If `out` is null, results have the formats that results_like() returns.
struct LinkFormats {
    const AVPixelFormat *in, *out;
};

LinkFormats link_formats(const FoundChannels &found, As as);

// Returns the formats of results with the same channels as the frame.  The frame's own format is
// the first.  If the model gets YUV as RGB, others are YUV of finer chroma or more bits, and RGB:
// all of them hold the model's whole output.
std::vector<AVPixelFormat> results_like(AVPixelFormat format, int channels);

// The same for a model that adds colours: gray frames become RGB.
std::vector<AVPixelFormat> coloured_results(AVPixelFormat format);

// Returns the formats in the list `results` that suit frames of `format`.  Of gray frames, 8 bits
// become 8 bits, and more become more.
std::vector<AVPixelFormat> result_formats_for(AVPixelFormat format, const AVPixelFormat *results);

} // namespace dnn_torch
