// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "bf16_units.h"

#include "simd_target.h"

#include <stdexcept>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace engine_torch::fused
{

#ifdef __x86_64__

namespace
{

#define FOR_BF16 gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")

template <int planes> [[FOR_BF16]] void sum_planes(const Bf16Products &it)
{
    __m512 sums[bf16_pixels_at_once][planes];
#pragma GCC unroll 16
    for (int pixel = 0; pixel < bf16_pixels_at_once; pixel++)
#pragma GCC unroll 2
        for (int plane = 0; plane < planes; plane++)
            sums[pixel][plane] = _mm512_setzero_ps();
    const Bf16 *weights = it.weights;
    for (int64_t pair = 0; pair < it.pairs; pair++, weights += planes * 2 * bf16_lanes) {
        __m512bh each[planes];
#pragma GCC unroll 2
        for (int plane = 0; plane < planes; plane++)
            __builtin_memcpy(&each[plane], weights + plane * 2 * bf16_lanes, sizeof each[plane]);
#pragma GCC unroll 16
        for (int pixel = 0; pixel < bf16_pixels_at_once; pixel++) {
            int two = 0;
            __builtin_memcpy(&two, it.samples + pixel * it.pixel_step + 2 * pair, sizeof two);
            const auto both = reinterpret_cast<__m512bh>(_mm512_set1_epi32(two));
#pragma GCC unroll 2
            for (int plane = 0; plane < planes; plane++)
                sums[pixel][plane] = _mm512_dpbf16_ps(sums[pixel][plane], both, each[plane]);
        }
    }
#pragma GCC unroll 16
    for (int pixel = 0; pixel < bf16_pixels_at_once; pixel++)
#pragma GCC unroll 2
        for (int plane = 0; plane < planes; plane++)
            _mm512_storeu_ps(it.sums + pixel * it.sum_step + plane * bf16_lanes,
                             sums[pixel][plane]);
}

} // namespace

bool has_bf16_units()
{
    static const bool found =
        simd_target() == SimdTarget::avx512 && __builtin_cpu_supports("avx512bf16");
    return found;
}

[[FOR_BF16]] void round_vectors(const float *from, int64_t count, Bf16 *to, int64_t to_step)
{
    for (int64_t i = 0; i < count; i++) {
        const __m256bh rounded = _mm512_cvtneps_pbh(_mm512_loadu_ps(from + i * bf16_lanes));
        __builtin_memcpy(to + i * to_step, &rounded, sizeof rounded);
    }
}

void sum_products(const Bf16Products &products, int64_t planes)
{
    if (planes == 2)
        sum_planes<2>(products);
    else
        sum_planes<1>(products);
}

#else

bool has_bf16_units()
{
    return false;
}

void round_vectors(const float *, int64_t, Bf16 *, int64_t)
{
    throw std::logic_error("no processor of this kind has bf16 units that are known");
}

void sum_products(const Bf16Products &, int64_t)
{
    throw std::logic_error("no processor of this kind has bf16 units that are known");
}

#endif

} // namespace engine_torch::fused
