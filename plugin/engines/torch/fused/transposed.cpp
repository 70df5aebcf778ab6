// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "transposed.h"

#include "rounding.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace engine_torch::fused
{
namespace
{

// The original's tap for a tap of the phased convolution.  Taps run backwards, because the original
// scatters what this one gathers.
int64_t source_tap(int64_t tap, int64_t taps, int64_t phase, int64_t stride)
{
    return phase + stride * (taps - 1 - tap);
}

struct Phasing {
    const TransposedConvolution &from;
    int64_t in_each, out_each; // channels in a group
    Pair taps;

    float weight(int64_t in, int64_t out, Pair tap, Pair phase) const
    {
        const int64_t y = source_tap(tap.y, taps.y, phase.y, from.stride.y);
        const int64_t x = source_tap(tap.x, taps.x, phase.x, from.stride.x);
        if (y >= from.kernel.y || x >= from.kernel.x)
            return 0;
        const int64_t plane = in * out_each + out % out_each;
        return from.weights[static_cast<size_t>((plane * from.kernel.y + y) * from.kernel.x + x)];
    }

    // `channel` counts as depth to space does: original channel, phase.y, phase.x.
    void append_channel(int64_t channel, std::vector<float> &weights) const
    {
        const Pair phase = {channel / from.stride.x % from.stride.y, channel % from.stride.x};
        const int64_t out = channel / (from.stride.x * from.stride.y);
        for (int64_t in = 0; in < in_each; in++)
            for (int64_t y = 0; y < taps.y; y++)
                for (int64_t x = 0; x < taps.x; x++)
                    weights.push_back(weight(out / out_each * in_each + in, out, {y, x}, phase));
    }
};

} // namespace

bool is_wasteful_in_phases(int64_t weights, Pair kernel, Pair stride)
{
    // Few weights cost nothing.  A kernel of 1x1 and a stride of 2 make four times as many.
    constexpr double few_weights = 1e6, most_times = 4;
    const auto times = [](int64_t extent, int64_t step) {
        return static_cast<double>(divide_up(extent, step) * step) / static_cast<double>(extent);
    };
    if (stride.y < 1 || stride.x < 1)
        return false; // makes no sense; Graph reports it
    const double more = times(kernel.y, stride.y) * times(kernel.x, stride.x);
    return more > most_times && more * static_cast<double>(weights) > few_weights;
}

PhasedConvolution in_phases(const TransposedConvolution &original, int64_t in_channels, Extent in,
                            Extent out)
{
    const Pair taps = {divide_up(original.kernel.y, original.stride.y),
                       divide_up(original.kernel.x, original.stride.x)};
    const Phasing phasing = {original, in_channels / original.groups,
                             original.out_channels / original.groups, taps};
    const int64_t phases = original.stride.y * original.stride.x;
    Convolution made = {.out_channels = original.out_channels * phases,
                        .groups = original.groups,
                        .kernel = taps,
                        .stride = {},
                        .dilation = {},
                        .padding = {taps.y - 1, taps.x - 1},
                        .weights = {},
                        .bias = {}};
    std::vector<float> weights;
    for (int64_t channel = 0; channel < made.out_channels; channel++)
        phasing.append_channel(channel, weights);
    made.weights = std::move(weights);
    if (!original.bias.empty())
        for (int64_t channel = 0; channel < made.out_channels; channel++)
            made.bias.push_back(original.bias[static_cast<size_t>(channel / phases)]);
    const Extent extent = {divide_up(original.padding.y + out.height, original.stride.y),
                           divide_up(original.padding.x + out.width, original.stride.x)};
    return {made, {extent.height, std::max(extent.width, in.width)}};
}

} // namespace engine_torch::fused
