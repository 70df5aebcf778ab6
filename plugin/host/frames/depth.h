// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Converts maps of numbers without fixed limits, such as depth, to pictures.
#pragma once

#include "images.h"

#include <optional>

extern "C" {
#include <libavutil/frame.h>
}

namespace dnn_torch
{

// Returns the numbers for picture `index`, whose samples are floats: the limits, or if there are
// none, the smallest and the largest finite sample.  A picture whose samples are all the same is
// black.
PictureNumbers depth_numbers(const Images &images, int index,
                             const std::optional<DepthLimits> &limits);

// Copies picture `index`, of one channel, unchanged to planes of floats.
void copy_floats(const Images &images, int index, const Images &to);

// Returns a view of a grey frame of floats.
Images images_in(const AVFrame *frame);

// Fills `result` from picture `index`, whose samples are floats.  Returns whether there was a NaN.
bool write_depth(const Images &images, int index, const std::optional<DepthLimits> &limits,
                 AVFrame *result);

// Clamps the samples of a grey frame of floats to 0..1; they are beyond it where infinite or
// outside of the limits.  Leaves frames of other formats alone.
void limit_floats(AVFrame *frame);

} // namespace dnn_torch
