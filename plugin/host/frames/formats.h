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

// Each list lives for ever and ends with AV_PIX_FMT_NONE.  RGB models also take YUV without
// subsampling, because only the filter itself keeps the frames' own matrix and range on the way
// to RGB and back.
const AVPixelFormat *formats_for_any_model();
const AVPixelFormat *formats_for_rgb_models();
const AVPixelFormat *formats_for_luma_models();
const AVPixelFormat *full_chroma_formats(); // YUV without subsampling, in planes

// For callers that first convert frames to one of those: all RGB and YUV; all, luma first.
const AVPixelFormat *formats_with_colours();
const AVPixelFormat *formats_with_luma_first();

// The formats of outputs and inputs of models whose output is of another kind than their input.
const AVPixelFormat *grey_formats();       // without alpha
const AVPixelFormat *opaque_rgb_formats(); // without alpha or padding
const AVPixelFormat *rgb_formats_with_alpha();
const AVPixelFormat *formats_with_alpha(int channels); // for models with so many channels
const AVPixelFormat *any_formats_with_alpha();

bool is_rgb(const AVPixFmtDescriptor &format);
bool is_rgb(AVPixelFormat format);
bool has_alpha(const AVPixFmtDescriptor &format);
bool has_alpha(AVPixelFormat format);
// Whether the format itself says that the range is the full one: yuvj*.
bool has_forced_range(AVPixelFormat format);

// Returns how many channels of this format a model sees that takes both 1 and 3: 3 of RGB, 1 of
// grey and YUV.
int model_channels(AVPixelFormat format);

// Whether a model with this number of channels needs R, G and B, and the format has Y, U
// and V.
bool needs_colours(AVPixelFormat format, int channels);

int sample_bytes(const AVPixFmtDescriptor &format);

// The format must be in the list for models with this number of channels.  The caller sets the
// colours.  `first_component` is the first channel.
RowLayout row_layout(AVPixelFormat format, int channels, int first_component = 0);

} // namespace dnn_torch
