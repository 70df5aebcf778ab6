// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Vectors of floats for kernels that keep sums in registers.  All of this must be inlined into
// code that is compiled for processors which have them.
#pragma once

#include "rows.h"
#include "vector_math.h"

#include <cstdint>

namespace engine_torch::fused
{

template <int lanes> struct Vector {
    typedef float Type __attribute__((vector_size(lanes * sizeof(float))));
    typedef uint32_t Bits __attribute__((vector_size(lanes * sizeof(uint32_t))));
    typedef uint16_t UpperBits __attribute__((vector_size(lanes * sizeof(uint16_t))));
};

// Of any alignment.
template <class V> FUSED_INLINE void load(const float *from, V &vector)
{
    __builtin_memcpy(&vector, from, sizeof vector);
}

template <class V> FUSED_INLINE void load(const Bf16 *from, V &vector)
{
    using Kinds = Vector<sizeof(V) / sizeof(float)>;
    typename Kinds::UpperBits upper;
    __builtin_memcpy(&upper, from, sizeof upper);
    const auto bits = __builtin_convertvector(upper, typename Kinds::Bits) << 16;
    __builtin_memcpy(&vector, &bits, sizeof vector);
}

template <class V> FUSED_INLINE void store(const V &vector, float *to)
{
    __builtin_memcpy(to, &vector, sizeof vector);
}

// For how many pixels the sums of two planes fit into registers.
template <int lanes> constexpr int pixels_at_once = lanes == 16 ? 12 : 6;

// Adds `count` products to the sums of some pixels and planes.  A pixel's samples are contiguous,
// and the next pixel is `pixel_step` further.  Weights are [sample][plane][lane].
template <class V, int pixels, int planes>
FUSED_INLINE void add_products(const float *samples, int64_t pixel_step, const float *weights,
                               int64_t count, V (&sums)[pixels][planes])
{
    constexpr int64_t lanes = sizeof(V) / sizeof(float);
    for (int64_t i = 0; i < count; i++) {
        V each[planes];
#pragma GCC unroll 16
        for (int plane = 0; plane < planes; plane++)
            load(weights + (i * planes + plane) * lanes, each[plane]);
#pragma GCC unroll 16
        for (int pixel = 0; pixel < pixels; pixel++) {
            const float sample = samples[pixel * pixel_step + i];
#pragma GCC unroll 16
            for (int plane = 0; plane < planes; plane++)
                sums[pixel][plane] += sample * each[plane];
        }
    }
}

} // namespace engine_torch::fused
