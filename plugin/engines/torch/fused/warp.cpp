// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "warp.h"

#include "simd_target.h"

namespace engine_torch::fused
{
namespace
{

// A sample to the left or above, how far on the next one is, and what share that one has.
struct Place {
    int64_t first, step;
    float share;
};

// NaN is the first sample.
[[gnu::always_inline]] inline Place place_of(float coordinate, int64_t size)
{
    const auto last = static_cast<float>(size - 1);
    float at = (coordinate + 1.0F) * (last / 2.0F);
    at = at > 0.0F ? at : 0.0F;
    at = at < last ? at : last;
    const auto first = static_cast<int64_t>(at);
    return {first, first + 1 < size ? 1 : 0, at - static_cast<float>(first)};
}

[[gnu::always_inline]] inline void warp_samples(const Planes &from, const float *grid,
                                                int64_t count, float *to)
{
    const auto [height, width] = from.extent;
    const int64_t plane = height * width;
    for (int64_t i = 0; i < count; i++) {
        const Place x = place_of(grid[2 * i], width), y = place_of(grid[2 * i + 1], height);
        const int64_t below = y.step * width;
        const float right = x.share, left = 1.0F - right, down = y.share, up = 1.0F - down;
        const float *sample = from.samples + y.first * width + x.first;
        for (int64_t c = 0; c < from.channels; c++, sample += plane)
            to[c * count + i] = sample[0] * (up * left) + sample[x.step] * (up * right) +
                                sample[below] * (down * left) +
                                sample[below + x.step] * (down * right);
    }
}

} // namespace

void warp(const Planes &from, const float *grid, Extent made, float *to)
{
    const int64_t count = made.height * made.width;
    run_vectorized([&]() __attribute__((always_inline)) { warp_samples(from, grid, count, to); });
}

} // namespace engine_torch::fused
