// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Convolutions in int8: inputs are quantised to 8 bits, and weights are integers.
//
// Sums of products are exact integers, the same on all processors.  Weights have 7 bits: older
// processors add products in pairs, and pairs of larger ones would overflow 16 bits.
#pragma once

#include "rows.h"
#include "stages.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace engine_torch::fused
{

// The range of samples that were seen.  It always includes zero.
struct Range {
    float low = 0, high = 0;

    void add(float sample)
    {
        low = sample < low ? sample : low;
        high = sample > high ? sample : high;
    }
};

// By convolution, in the order in which they run; nullopt: it is computed in floats.
using LayerRanges = std::vector<std::optional<Range>>;

// Zero is represented exactly, so that padding is exact.  Samples beyond the range get the nearest
// value.
Quantisation quantisation_for(const Range &range);

// How sums of products of quantised samples become results of the convolution.
struct Int8Scales {
    Quantisation quantisation;         // of the input
    int64_t left = 0, right = 0;       // columns of zeros around the input
    std::vector<float> scales, shifts; // by channel: sum * scale + shift
};

// A convolution whose weights are whole numbers.
struct Int8Layer {
    Int8Scales scales;
    Convolution convolution;
};

// Each channel of the result has a scale of its own.  The layer has no bias: it is in the shifts.
Int8Layer int8_layer(const Convolution &convolution, const Quantisation &quantisation);

// Returns how many columns of zeros the convolution reads on the right.
int64_t right_padding(const Convolution &convolution, int64_t in_width, int64_t out_width);

// Quantises a row of any arrangement into an interleaved one.  NaN counts as below the range.
// Returns the sum of the squares of what was cut off beyond the range, with the step as unit; NaN
// if there is such a sample.  Safe on several threads at once for different rows.
double quantise_row(const float *from, const RowLayout &in, int64_t left, uint8_t *to,
                    const RowLayout &out);

} // namespace engine_torch::fused
