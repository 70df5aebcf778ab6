// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Batches of pictures as models see them.
#pragma once

#include "convert.h"
#include "host/size.h"

#include <cstdint>

namespace dnn_torch
{

// A view of a batch of images in memory that it does not own.
// Sample (n, c, y, x) is at data + n*batch_stride + c*channel_stride + y*row_stride +
// x*column_stride; all strides are in bytes.
struct Images {
    void *data = nullptr;
    Element element = Element::f32; // for floats, 1.0 is white
    int32_t batch = 0, channels = 0, height = 0, width = 0;
    int64_t batch_stride = 0, channel_stride = 0, row_stride = 0, column_stride = 0;
    int32_t white = 0;   // for integers: the value of 1.0
    int32_t had_nan = 0; // for an output of integers: 1 if a sample was NaN, which became 0
    int64_t number = 0;  // for an input: the number of its first picture in the stream, from 0 on
    int64_t behind = 0;  // for an input: as DnnTorchRun::behind
    int32_t more = 0;    // for an input: as DnnTorchRun::more
};

// Return a view of floats without gaps.  float_planes() has planar channels, float_pixels()
// interleaved ones.
Images float_planes(float *data, int batch, int channels, Size size);
Images float_pixels(float *data, int batch, int channels, Size size);

} // namespace dnn_torch
