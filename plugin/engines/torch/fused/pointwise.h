// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What oneDNN cannot do at the end of a layer, or does more slowly: passes over rows that are still
// in the cache.
#pragma once

#include "graph.h"
#include "rows.h"

#include <cstddef>
#include <span>
#include <variant>
#include <vector>

namespace engine_torch::fused
{

// Parameters for each channel have a number for each padded channel of the layout.
struct PreparedPrelu {
    std::vector<float> slopes;
};

struct PreparedAffine {
    std::vector<float> scales, shifts;
};

// Sums of products of quantised samples, as integers in the place of floats: sum * scale + shift.
// Only the first step may be one.
struct PreparedRescale {
    std::vector<float> scales, shifts;
};

// The other operand is the next one of those that apply_tail() is given.
struct PreparedBinary {
    BinaryKind kind;
    bool reversed;
};

using PreparedStep =
    std::variant<Activation, PreparedPrelu, PreparedAffine, PreparedBinary, PreparedRescale>;

// How many floats apply_tail() needs as scratch memory for rows of that layout.
size_t tail_scratch(const RowLayout &layout);

// Changes a row in place.  `others` are rows of the same layout.  Sample is float or Bf16.  Safe on
// several threads at once for different rows and scratch memory.
template <class Sample>
void apply_tail(std::span<const PreparedStep> steps, Sample *row, const RowLayout &layout,
                std::span<const Sample *const> others, float *scratch);

// One sample, as the passes compute it.
float activate(const Activation &activation, float x);

} // namespace engine_torch::fused
