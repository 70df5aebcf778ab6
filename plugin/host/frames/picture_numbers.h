// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The numbers that a model uses for a picture's samples.
#pragma once

#include "convert.h"

#include <array>

namespace dnn_torch
{

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
