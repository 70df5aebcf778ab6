// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The extents of a batch of pictures.  Needs no LibTorch.
#pragma once

#include <cstdint>

namespace engine_torch
{

struct Shape {
    int32_t batch, channels, height, width;
    // The least and the largest number that pictures have.
    float low = 0, high = 1;

    float range() const { return high - low; }
    // Pictures of other extents with the same numbers.
    Shape sized(int32_t other_batch, int32_t rows, int32_t columns) const
    {
        return {other_batch, channels, rows, columns, low, high};
    }
    bool is_empty() const { return batch < 1 || channels < 1 || height < 1 || width < 1; }
};

} // namespace engine_torch
