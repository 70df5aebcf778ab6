// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Linear interpolation along one axis of a grid of values.  Pure numbers; any thread.
#pragma once

#include <cstddef>
#include <vector>

namespace dnn_torch
{

// The position of a pixel between two values of the grid.
struct Between {
    ptrdiff_t first, second;
    float weight; // of the second
};

// Returns the positions of `count` pixels that cover `extent` values from `begin` on, in a grid of
// `limit` values.  Pixels are areas: the middle of the first value is at 0.5.
std::vector<Between> positions(double begin, double extent, int count, int limit);

// A value with weight 0 does not count, even if it is NaN.
inline float mixed(float one, float other, float weight)
{
    return weight > 0 ? one + (other - one) * weight : one;
}

} // namespace dnn_torch
