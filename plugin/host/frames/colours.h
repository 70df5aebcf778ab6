// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Returns what the samples of a YUV frame mean in R, G and B.
#pragma once

#include "convert.h"

extern "C" {
#include <libavutil/frame.h>
}

namespace dnn_torch
{

// Whether the frame says that its samples have the full range, or its format's name does.
bool is_full_range(const AVFrame *frame);

// Uses the frame's matrix and range.  Like ffmpeg's scale filter, assumes BT.601 if the matrix is
// unknown or none of YUV, and the limited range if the range is unknown.
Colours colours_of(const AVFrame *frame);

// Returns libswscale's coefficients for the frame's Y, U and V.  Like ffmpeg's scale filter,
// assumes BT.601 if the frame does not say.
const int *matrix_of(const AVFrame *frame);

} // namespace dnn_torch
