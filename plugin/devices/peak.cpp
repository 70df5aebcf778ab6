// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "peak.h"

#include <algorithm>
#include <chrono>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dnn_torch
{
namespace
{

// A processor starts two vector operations per cycle, with a latency of some 4 to 6 cycles: that
// many independent sums keep it busy.
constexpr int sums = 12;
constexpr int rounds = 1 << 17;
constexpr double operations_of_product = 2;

// Each returns the total of its sums, so that the compiler does not remove them.
using Work = float (*)(float factor);

struct Kernel {
    Work work;
    int width; // floats in a vector
};

#if defined(__x86_64__)

[[gnu::target("avx512f")]] float work_in_avx512(float factor)
{
    __m512 sum[sums];
    std::fill(std::begin(sum), std::end(sum), _mm512_set1_ps(factor));
    const __m512 by = _mm512_set1_ps(factor);
    for (int round = 0; round < rounds; round++)
#pragma GCC unroll 12 // or the sums would be in memory
        for (__m512 &each : sum)
            each = _mm512_fmadd_ps(each, by, by);
    __m512 all = sum[0];
    for (const __m512 &each : sum)
        all = _mm512_add_ps(all, each);
    return _mm512_cvtss_f32(all);
}

[[gnu::target("avx2,fma")]] float work_in_avx2(float factor)
{
    __m256 sum[sums];
    std::fill(std::begin(sum), std::end(sum), _mm256_set1_ps(factor));
    const __m256 by = _mm256_set1_ps(factor);
    for (int round = 0; round < rounds; round++)
#pragma GCC unroll 12 // or the sums would be in memory
        for (__m256 &each : sum)
            each = _mm256_fmadd_ps(each, by, by);
    __m256 all = sum[0];
    for (const __m256 &each : sum)
        all = _mm256_add_ps(all, each);
    return _mm256_cvtss_f32(all);
}

#endif

using FourFloats [[gnu::vector_size(16)]] = float;

float work_in_four(float factor)
{
    const FourFloats by = {factor, factor, factor, factor};
    FourFloats sum[sums];
    std::fill(std::begin(sum), std::end(sum), by);
    for (int round = 0; round < rounds; round++)
#pragma GCC unroll 12 // or the sums would be in memory
        for (FourFloats &each : sum)
            each = each * by + by;
    FourFloats all = sum[0];
    for (const FourFloats &each : sum)
        all += each;
    return all[0];
}

Kernel widest()
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return {work_in_avx512, 16};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return {work_in_avx2, 8};
#endif
    return {work_in_four, 4};
}

// Disturbances only make runs longer, so the shortest counts.
double measure()
{
    using Clock = std::chrono::steady_clock;
    constexpr int runs = 8;
    const Kernel kernel = widest();
    volatile float factor = 0.5F, result = 0;
    double shortest = 1;
    for (int run = 0; run < runs; run++) {
        const auto start = Clock::now();
        result = kernel.work(factor);
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        shortest = std::min(shortest, seconds);
    }
    static_cast<void>(result);
    return operations_of_product * rounds * sums * kernel.width / shortest;
}

} // namespace

double peak_operations_of_core()
{
    static const double peak = measure();
    return peak;
}

} // namespace dnn_torch
