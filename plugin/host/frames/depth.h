// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Maps of numbers without fixed limits, such as depth, as pictures.
#pragma once

#include "images.h"
#include "picture_numbers.h"

#include <optional>

extern "C" {
#include <libavutil/frame.h>
}

namespace dnn_torch
{

// Returns the numbers for picture `index`, whose samples are floats: those of the limits, or
// where there are none, those of the smallest and the largest finite sample.  A picture without
// two different samples is black.
PictureNumbers depth_numbers(const Images &images, int index,
                             const std::optional<DepthLimits> &limits);

// Copies picture `index`, of one channel, to a grey frame of floats, as it is.
void copy_floats(const Images &images, int index, AVFrame *frame);

// Such a frame as a picture.
Images images_in(const AVFrame *frame);

// Fills `result` from picture `index`, whose samples are floats.  Returns whether there was a NaN.
bool write_depth(const Images &images, int index, const std::optional<DepthLimits> &limits,
                 AVFrame *result);

// Puts infinite samples of a grey frame of floats, and those beyond the limits, between 0 and 1.
// Changes no other frame.
void limit_floats(AVFrame *frame);

} // namespace dnn_torch
