// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Functions of floats without branches and calls, which compilers turn into vectors.  They are off
// by a few units in the last place at most, as those of LibTorch are.  NaN stays NaN.
#pragma once

#include <bit>
#include <cstdint>

namespace engine_torch::fused
{

#define FUSED_INLINE [[gnu::always_inline]] inline

FUSED_INLINE float clamped(float x, float low, float high)
{
    const float not_below = x < low ? low : x;
    return not_below > high ? high : not_below;
}

// Cephes' expf.  2^n comes from the bits of a sum that is so large that its mantissa holds n.
FUSED_INLINE float exponential(float x)
{
    constexpr float log2_e = 1.44269504088896341f, shift = 12582912.0f;
    const float limited = clamped(x, -87.0f, 88.0f);
    const float shifted = limited * log2_e + shift;
    const float n = shifted - shift;
    const float r = (limited - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    const float fraction = p * r * r + r + 1.0f;
    const uint32_t bits = (std::bit_cast<uint32_t>(shifted) + 127) << 23;
    return fraction * std::bit_cast<float>(bits);
}

FUSED_INLINE float logistic(float x)
{
    return 1.0f / (1.0f + exponential(-x));
}

// The rational function that Eigen uses.
FUSED_INLINE float hyperbolic_tangent(float x)
{
    const float t = clamped(x, -7.90531110763549805f, 7.90531110763549805f);
    const float s = t * t;
    float p = -2.76076847742355e-16f;
    p = p * s + 2.00018790482477e-13f;
    p = p * s + -8.60467152213735e-11f;
    p = p * s + 5.12229709037114e-08f;
    p = p * s + 1.48572235717979e-05f;
    p = p * s + 6.37261928875436e-04f;
    p = p * s + 4.89352455891786e-03f;
    float q = 1.19825839466702e-06f;
    q = q * s + 1.18534705686654e-04f;
    q = q * s + 2.26843463243900e-03f;
    q = q * s + 4.89352518554385e-03f;
    return t * p / q;
}

// The rational function that Eigen uses.
FUSED_INLINE float error_function(float x)
{
    const float t = clamped(x, -4.0f, 4.0f);
    const float s = t * t;
    float p = -2.72614225801306e-10f;
    p = p * s + 2.77068142495902e-08f;
    p = p * s + -2.10102402082508e-06f;
    p = p * s + -5.69250639462346e-05f;
    p = p * s + -7.34990630326855e-04f;
    p = p * s + -2.95459980854025e-03f;
    p = p * s + -1.60960333262415e-02f;
    float q = -1.45660718464996e-05f;
    q = q * s + -2.13374055278905e-04f;
    q = q * s + -1.68282697438203e-03f;
    q = q * s + -7.37332916720468e-03f;
    q = q * s + -1.42647390514189e-02f;
    return t * p / q;
}

} // namespace engine_torch::fused
