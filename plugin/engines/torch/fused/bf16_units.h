// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Loops with the processor's instructions for bf16, if it has them for vectors of 16 lanes.
#pragma once

#include "rows.h"
#include "vectors.h"

#include <cstdint>

namespace engine_torch::fused
{

// Whether these functions may be called.
bool has_bf16_units();

constexpr int64_t bf16_lanes = 16;
constexpr int bf16_pixels_at_once = pixels_at_once<bf16_lanes>;

// Rounds contiguous vectors of 16 samples and puts them `to_step` samples apart.
void round_vectors(const float *from, int64_t count, Bf16 *to, int64_t to_step);

// Products of two neighbouring samples are added at once.
struct Bf16Products {
    const Bf16 *samples = nullptr; // contiguous; the next pixel is `pixel_step` further
    int64_t pixel_step = 0;
    const Bf16 *weights = nullptr; // [pair of samples][plane][lane][sample of the pair]
    int64_t pairs = 0;
    float *sums = nullptr; // [pixel][plane][lane]; the next pixel is `sum_step` further
    int64_t sum_step = 0;
};

// Sums for bf16_pixels_at_once pixels and one or two planes.
void sum_products(const Bf16Products &products, int64_t planes);

} // namespace engine_torch::fused
