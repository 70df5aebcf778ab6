// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What the numbers of a picture are to a model.
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

inline NumberMap map_of(const PictureNumbers &numbers)
{
    NumberMap map{};
    for (size_t c = 0; c < 3; c++) {
        map.factor[c] = (numbers.high - numbers.low) / numbers.deviation[c];
        map.offset[c] = (numbers.low - numbers.mean[c]) / numbers.deviation[c];
    }
    return map;
}

// Whether a model takes fractions of white, R first.
inline bool are_plain(const PictureNumbers &numbers)
{
    return numbers == PictureNumbers{};
}

} // namespace dnn_torch
