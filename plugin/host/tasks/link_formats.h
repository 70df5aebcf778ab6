// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Which pixel formats go in and come out for what a model takes and makes.
#pragma once

#include "host/probing/model_probe.h"

extern "C" {
#include <libavutil/pixfmt.h>
}

#include <vector>

namespace dnn_torch
{

// The lists live for ever.  If `out` is null, results have the formats that results_like() tells.
struct LinkFormats {
    const AVPixelFormat *in, *out;
};

LinkFormats link_formats(const FoundChannels &found, As as);

// What results of a frame's own channels may become: the frame's format, which is the first.  YUV
// that a model sees as RGB may also become YUV of finer chroma or more bits, and RGB, which all
// hold what the model made.
std::vector<AVPixelFormat> results_like(AVPixelFormat format, int channels);

// The same of colours that are made for frames of any format: those of gray become RGB.
std::vector<AVPixelFormat> coloured_results(AVPixelFormat format);

// The same of a list of other channels.  Colours that are made of gray of 8 bits have 8 bits, and
// more of more.
std::vector<AVPixelFormat> result_formats_for(AVPixelFormat format, const AVPixelFormat *results);

} // namespace dnn_torch
