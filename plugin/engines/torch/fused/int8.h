// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Convolutions in int8: what they read as codes of 8 bits, and weights as whole numbers.
//
// Sums of products are exact whole numbers, so that all processors get the same ones.  Weights have
// 7 bits: older processors add products in pairs, and pairs of larger ones would leave their 16
// bits.
#pragma once

#include "rows.h"
#include "stages.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace engine_torch::fused
{

// What samples were seen.  Zero always counts.
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

// Zero has a code of its own, so that padding is exact.  Samples beyond the range get the nearest
// code.
Codes codes_for(const Range &range);

// How sums of products of codes become what the convolution makes.
struct Int8Scales {
    Codes codes;                       // of the input
    int64_t left = 0, right = 0;       // columns of zeros around the input
    std::vector<float> scales, shifts; // by channel: sum * scale + shift
};

// A convolution whose weights are whole numbers.
struct Int8Layer {
    Int8Scales scales;
    Convolution convolution;
};

// Each channel of the result has a scale of its own.  The layer has no bias: it is in the shifts.
Int8Layer int8_layer(const Convolution &convolution, const Codes &codes);

// So many columns of zeros does the convolution read on the right.
int64_t right_padding(const Convolution &convolution, int64_t in_width, int64_t out_width);

// Makes a row of codes, interleaved, from one of any arrangement.  Not a number counts as below the
// range.  Returns the sum of the squares of what was cut off beyond the codes, with their step as
// unit; not a number if there is a sample that is none.  Safe on several threads at once for
// different rows.
double quantise_row(const float *from, const RowLayout &in, int64_t left, uint8_t *to,
                    const RowLayout &out);

} // namespace engine_torch::fused
