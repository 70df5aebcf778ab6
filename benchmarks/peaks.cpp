// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What one core of this machine can do at most, as JSON: operations in a second with all operands
// in registers, and bytes read in a second.  null: the processor has no such instruction, or this
// compiler does not know it.  A multiplication and an addition are two operations.
//
//   fp32, bf16, int8   GFLOP/s, the last two with sums in fp32 and in 32 bits
//   l2, memory         GB/s
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace
{

using Clock = std::chrono::steady_clock;

constexpr int rounds = 7;
constexpr int sums = 12; // so many that none waits for the one before
volatile double sink;

// Returns how much of `work`, of which a call does `amount`, there is in a second: in the best of
// some rounds, for others use the machine too.
template <class Work> double rate(double amount, Work work)
{
    constexpr std::chrono::milliseconds enough(20);
    double best = 0;
    for (int round = 0; round < rounds; round++) {
        const auto start = Clock::now();
        double done = 0;
        do {
            work();
            done += amount;
        } while (Clock::now() - start < enough);
        best = std::max(best, done / std::chrono::duration<double>(Clock::now() - start).count());
    }
    return best / 1e9;
}

constexpr int times = 4096;

#if defined(__x86_64__)
// The sums go through registers that the compiler does not see through.
#define STEP(sum, step)                                                                            \
    sum = step(sum);                                                                               \
    asm volatile("" : "+v"(sum))
#define REPEAT(type, zero, step)                                                                   \
    type a = zero, b = a, c = a, d = a, e = a, f = a, g = a, h = a, i = a, j = a, k = a, l = a;    \
    for (int time = 0; time < times; time++) {                                                     \
        STEP(a, step);                                                                             \
        STEP(b, step);                                                                             \
        STEP(c, step);                                                                             \
        STEP(d, step);                                                                             \
        STEP(e, step);                                                                             \
        STEP(f, step);                                                                             \
        STEP(g, step);                                                                             \
        STEP(h, step);                                                                             \
        STEP(i, step);                                                                             \
        STEP(j, step);                                                                             \
        STEP(k, step);                                                                             \
        STEP(l, step);                                                                             \
    }

__attribute__((target("avx2,fma"))) void multiply_fp32()
{
    const __m256 one = _mm256_set1_ps(0.5F);
#define MULTIPLY(sum) _mm256_fmadd_ps(one, one, sum)
    REPEAT(__m256, one, MULTIPLY)
#undef MULTIPLY
}

__attribute__((target("avx512f"))) void multiply_wide_fp32()
{
    const __m512 one = _mm512_set1_ps(0.5F);
#define MULTIPLY(sum) _mm512_fmadd_ps(one, one, sum)
    REPEAT(__m512, one, MULTIPLY)
#undef MULTIPLY
}

__attribute__((target("avx512f,avx512bf16"))) void multiply_bf16()
{
    const __m512 zero = _mm512_setzero_ps();
    const __m512bh one = _mm512_cvtne2ps_pbh(zero, zero);
#define MULTIPLY(sum) _mm512_dpbf16_ps(sum, one, one)
    REPEAT(__m512, zero, MULTIPLY)
#undef MULTIPLY
}

__attribute__((target("avx2"))) void multiply_int8_in_pairs()
{
    const __m256i one = _mm256_set1_epi8(1), ones = _mm256_set1_epi16(1);
#define MULTIPLY(sum) _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(sum, one), ones))
    REPEAT(__m256i, one, MULTIPLY)
#undef MULTIPLY
}

__attribute__((target("avx512f,avx512vnni"))) void multiply_int8()
{
    const __m512i one = _mm512_set1_epi8(1);
#define MULTIPLY(sum) _mm512_dpbusd_epi32(sum, one, one)
    REPEAT(__m512i, one, MULTIPLY)
#undef MULTIPLY
}

double operations(double lanes)
{
    return 2 * lanes * sums * times;
}

double fp32()
{
    if (__builtin_cpu_supports("avx512f"))
        return rate(operations(16), multiply_wide_fp32);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return rate(operations(8), multiply_fp32);
    return 0;
}

double bf16()
{
    return __builtin_cpu_supports("avx512bf16") ? rate(operations(32), multiply_bf16) : 0;
}

double int8()
{
    if (__builtin_cpu_supports("avx512vnni"))
        return rate(operations(64), multiply_int8);
    return __builtin_cpu_supports("avx2") ? rate(operations(32), multiply_int8_in_pairs) : 0;
}
#else
double fp32()
{
    return 0;
}
double bf16()
{
    return 0;
}
double int8()
{
    return 0;
}
#endif

double reading(size_t bytes)
{
    const std::vector<uint64_t> memory(bytes / sizeof(uint64_t), 1);
    return rate(static_cast<double>(bytes), [&] {
        uint64_t sum = 0;
        for (const uint64_t number : memory)
            sum += number;
        sink = static_cast<double>(sum);
    });
}

std::string shown(double rate)
{
    return rate > 0 ? std::to_string(rate) : "null";
}

} // namespace

int main()
{
    constexpr size_t in_l2 = size_t{1} << 18, in_memory = size_t{1} << 28;
    std::printf("{\"fp32\": %s, \"bf16\": %s, \"int8\": %s, \"l2\": %s, \"memory\": %s}\n",
                shown(fp32()).c_str(), shown(bf16()).c_str(), shown(int8()).c_str(),
                shown(reading(in_l2)).c_str(), shown(reading(in_memory)).c_str());
}
