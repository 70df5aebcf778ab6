// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The pixel formats that frames may have, and what a model sees of each.
#pragma once

#include "convert.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

namespace dnn_torch
{

// Each list lives for ever and ends with AV_PIX_FMT_NONE.
const AVPixelFormat *formats_for_any_model();
const AVPixelFormat *formats_for_rgb_models();
const AVPixelFormat *formats_for_luma_models();

// The channels that the model sees of a frame of that format: 3 for RGB, 1
// for grey and YUV.
int model_channels(AVPixelFormat format);

// Whether it sees the component of that number, as libavutil counts them.
bool model_sees(const AVPixFmtDescriptor &format, int component);

int sample_bytes(const AVPixFmtDescriptor &format);

// Only for formats that are in the lists.
RowLayout row_layout(AVPixelFormat format);

} // namespace dnn_torch
