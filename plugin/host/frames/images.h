// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Batches of pictures as models see them, and the numbers that models use for samples.
#pragma once

#include "convert.h"
#include "host/size.h"

#include <array>
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
    int64_t predecessor_distance = 0; // for an input: as DnnTorchRun::predecessor_distance
    int32_t more = 0;                 // for an input: as DnnTorchRun::more
};

// Return a view of floats without gaps.  float_planes() has planar channels, float_pixels()
// interleaved ones.
Images float_planes(float *data, int batch, int channels, Size size);
Images float_pixels(float *data, int batch, int channels, Size size);

// Black is `low` and white is `high`; then each channel of the model, in its own order, becomes
// (number - mean) / deviation.  `high` differs from `low`, and no deviation is 0.
struct PictureNumbers {
    bool is_bgr = false;
    float low = 0, high = 1;
    std::array<float, 3> mean = {0, 0, 0}, deviation = {1, 1, 1};

    bool operator==(const PictureNumbers &) const = default;
};

// The numbers that become black and white where numbers have no fixed range, such as depth.  White
// may be the smaller one.
struct DepthLimits {
    float black = 0, white = 1;

    bool operator==(const DepthLimits &) const = default;
};

inline NumberMap map_of(const PictureNumbers &numbers)
{
    NumberMap map{};
    for (size_t c = 0; c < 3; c++) {
        map.factor[c] = (numbers.high - numbers.low) / numbers.deviation[c];
        map.offset[c] = (numbers.low - numbers.mean[c]) / numbers.deviation[c];
    }
    // Alpha is scaled to the range, but not normalised.
    map.factor[3] = numbers.high - numbers.low;
    map.offset[3] = numbers.low;
    return map;
}

// Whether the model takes fractions of white, R first.
inline bool are_plain(const PictureNumbers &numbers)
{
    return numbers == PictureNumbers{};
}

} // namespace dnn_torch
