// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Samples a picture where a grid says, as grid_sample() does: bilinearly, beyond the border its
// last samples, corners aligned.  Safe on several threads at once for different results.
#pragma once

#include "graph.h"

#include <cstdint>

namespace engine_torch::fused
{

// Planes of floats, one behind the other.
struct Planes {
    const float *samples;
    int64_t channels;
    Extent extent;
};

// `grid` has two numbers from -1 to 1 for each sample of a plane of the result: across and down.
void warp(const Planes &from, const float *grid, Extent made, float *to);

} // namespace engine_torch::fused
