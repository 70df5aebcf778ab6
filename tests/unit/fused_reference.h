// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a fused graph means, sample by sample, in doubles.
#pragma once

#include "engines/torch/fused/graph.h"

#include <cstdint>
#include <vector>

namespace engine_torch::fused
{

// A picture in planes.  Samples outside it are zero.
struct Plane {
    int64_t channels = 0;
    Extent extent;
    std::vector<double> samples;

    Plane(int64_t of_channels, Extent of_extent);
    double &at(int64_t channel, int64_t y, int64_t x);
    double get(int64_t channel, int64_t y, int64_t x) const;
};

Plane interpret(const Graph &graph, const Plane &input);

} // namespace engine_torch::fused
