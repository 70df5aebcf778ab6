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

// Each list lives for ever and ends with AV_PIX_FMT_NONE.  Models of RGB take YUV
// without subsampling as well: only who knows the frames' own matrix and range can
// bring colours back to what they were.
const AVPixelFormat *formats_for_any_model();
const AVPixelFormat *formats_for_rgb_models();
const AVPixelFormat *formats_for_luma_models();

// The channels that a model which takes any number sees of a frame of that format: 3
// for RGB, 1 for grey and YUV.
int model_channels(AVPixelFormat format);

// Whether a model of 3 channels needs R, G and B made from Y, U and V.
bool needs_colours(AVPixelFormat format, int channels);

int sample_bytes(const AVPixFmtDescriptor &format);

// Only for formats that are in the lists of models of so many channels.  Colours are
// the caller's to set.
RowLayout row_layout(AVPixelFormat format, int channels);

} // namespace dnn_torch
