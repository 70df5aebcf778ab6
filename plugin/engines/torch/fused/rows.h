// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How a row of a tensor is laid out, and the types of its samples.  A row is always contiguous, so
// that bands of any height are contiguous too.
#pragma once

#include "rounding.h"
#include "simd_target.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace engine_torch::fused
{

enum class Precision { fp32, bf16 };

enum class Arrangement {
    interleaved, // the channels of a pixel side by side: oneDNN's nhwc
    blocked      // 8 or 16 channels of a pixel side by side, block after block in a row
};

// Samples as bytes, quantised: a sample is step * (byte - zero).
struct Quantisation {
    float step = 1;
    uint8_t zero = 0;
};

// All arrangements are `planes` times `width` times `lanes` samples.
struct RowLayout {
    int64_t channels = 0, lanes = 1, width = 0;
    std::optional<Quantisation> quantisation = std::nullopt; // else: the program's precision

    int64_t planes() const { return divide_up(channels, lanes); }
    int64_t padded_channels() const { return planes() * lanes; }
    int64_t samples() const { return padded_channels() * width; }
    size_t place(int64_t channel, int64_t x) const
    {
        return static_cast<size_t>((channel / lanes * width + x) * lanes + channel % lanes);
    }
};

// Channels of a pixel that are side by side in blocked layouts: those of one vector, as in oneDNN.
inline int64_t block_lanes()
{
    return simd_target() == SimdTarget::avx512 ? 16 : 8;
}

struct Bf16 {
    uint16_t bits;
};

inline float to_float(float sample)
{
    return sample;
}

inline float to_float(Bf16 sample)
{
    return std::bit_cast<float>(static_cast<uint32_t>(sample.bits) << 16);
}

inline void assign(float &sample, float value)
{
    sample = value;
}

// Rounds to nearest even, as PyTorch does.
inline void assign(Bf16 &sample, float value)
{
    const auto bits = std::bit_cast<uint32_t>(value);
    const uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);
    const uint32_t not_a_number = bits | 0x400000; // adding must not make it infinite
    sample.bits = static_cast<uint16_t>((value == value ? rounded : not_a_number) >> 16);
}

inline size_t bytes_of(Precision precision)
{
    return precision == Precision::bf16 ? sizeof(Bf16) : sizeof(float);
}

inline size_t row_bytes_of(const RowLayout &layout, Precision precision)
{
    return static_cast<size_t>(layout.samples()) * (layout.quantisation ? 1 : bytes_of(precision));
}

} // namespace engine_torch::fused
