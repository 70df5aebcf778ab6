// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "int8.h"

#include "simd_target.h"
#include "vector_math.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

namespace engine_torch::fused
{
namespace
{

constexpr float most_code = 255, most_weight = 63;
// Steps of a smaller span may have no finite reciprocal.
constexpr float smallest_span = 1e-30f;

// The scale of one channel's weights, and the sum of the rounded ones.
struct ChannelWeights {
    float scale = 1;
    double sum = 0;
};

ChannelWeights round_weights(float *weights, size_t count)
{
    float most = 0;
    for (size_t i = 0; i < count; i++)
        most = std::max(most, std::abs(weights[i]));
    ChannelWeights made = {.scale = most > smallest_span ? most / most_weight : 1};
    for (size_t i = 0; i < count; i++) {
        weights[i] = std::nearbyint(weights[i] / made.scale);
        made.sum += static_cast<double>(weights[i]);
    }
    return made;
}

struct Rounding {
    float per_step, zero;
};

// Squares of what was cut off.  Several sums, because one would have to wait for each addition.
constexpr int64_t cut_sums = 16;
using CutOff = std::array<float, cut_sums>;

FUSED_INLINE uint8_t quantised(float sample, const Rounding &rounding, float &cut_off)
{
    const float exact = sample * rounding.per_step + rounding.zero;
    const float not_below = exact > 0 ? exact : 0; // also what is not a number
    const float limited = not_below < most_code ? not_below : most_code;
    const float apart = exact - limited;
    cut_off += apart * apart;
    return static_cast<uint8_t>(static_cast<int32_t>(limited + 0.5f));
}

// A pointer to bytes may alias anything, also the rounding: hence __restrict and the copies.
FUSED_INLINE void quantise_run(const float *__restrict from, uint8_t *__restrict to, int64_t count,
                               const Rounding rounding, CutOff &cut_off)
{
    const float per_step = rounding.per_step, zero = rounding.zero;
    float sums[cut_sums];
    std::copy_n(cut_off.data(), cut_sums, sums);
    int64_t i = 0;
    for (; i + cut_sums <= count; i += cut_sums)
        for (int64_t lane = 0; lane < cut_sums; lane++)
            to[i + lane] = quantised(from[i + lane], {per_step, zero}, sums[lane]);
    for (; i < count; i++)
        to[i] = quantised(from[i], {per_step, zero}, sums[0]);
    std::copy_n(sums, cut_sums, cut_off.data());
}

void quantise_samples(const float *from, uint8_t *to, int64_t count, const Rounding &rounding,
                      CutOff &cut_off)
{
    const Rounding by = rounding;
    CutOff *const sums = &cut_off;
    run_vectorized([=]() __attribute__((always_inline)) {
        quantise_run(from, to, count, by, *sums);
    });
}

// Some channels of each pixel.
void quantise_lanes(const float *from, int64_t from_step, uint8_t *to, int64_t to_step,
                    int64_t pixels, int64_t count, const Rounding &rounding, CutOff &cut_off)
{
    const Rounding by = rounding;
    CutOff *const sums = &cut_off;
    run_vectorized([=]() __attribute__((always_inline)) {
        for (int64_t x = 0; x < pixels; x++)
            quantise_run(from + x * from_step, to + x * to_step, count, by, *sums);
    });
}

} // namespace

Quantisation quantisation_for(const Range &range)
{
    const float span = range.high - range.low;
    if (!(span > smallest_span) || !std::isfinite(span))
        return {1 / most_code, 0};
    const float step = span / most_code;
    return {step, static_cast<uint8_t>(std::nearbyint(-range.low / step))};
}

Int8Layer int8_layer(const Convolution &convolution, const Quantisation &quantisation)
{
    Int8Layer layer = {{.quantisation = quantisation, .scales = {}, .shifts = {}}, convolution};
    std::vector<float> weights = convolution.weights.copy();
    std::vector<float> bias = convolution.bias;
    const auto channels = static_cast<size_t>(convolution.out_channels);
    bias.resize(channels);
    const size_t each = weights.size() / channels;
    for (size_t channel = 0; channel < channels; channel++) {
        const ChannelWeights made = round_weights(weights.data() + channel * each, each);
        const double scale =
            static_cast<double>(made.scale) * static_cast<double>(quantisation.step);
        layer.scales.scales.push_back(static_cast<float>(scale));
        layer.scales.shifts.push_back(static_cast<float>(static_cast<double>(bias[channel]) -
                                                         scale * quantisation.zero * made.sum));
    }
    layer.convolution.weights = std::move(weights);
    layer.convolution.bias.clear();
    return layer;
}

int64_t right_padding(const Convolution &convolution, int64_t in_width, int64_t out_width)
{
    const int64_t reach = convolution.dilation.x * (convolution.kernel.x - 1) + 1;
    const int64_t needed = (out_width - 1) * convolution.stride.x + reach;
    return std::max<int64_t>(0, needed - in_width - convolution.padding.x);
}

double quantise_row(const float *from, const RowLayout &in, int64_t left, uint8_t *to,
                    const RowLayout &out)
{
    CutOff cut_off = {};
    const Rounding rounding = {1 / out.quantisation->step,
                               static_cast<float>(out.quantisation->zero)};
    const int64_t right = out.width - left - in.width;
    std::memset(to, out.quantisation->zero, static_cast<size_t>(left * out.lanes));
    uint8_t *const picture = to + left * out.lanes;
    std::memset(picture + in.width * out.lanes, out.quantisation->zero,
                static_cast<size_t>(right * out.lanes));
    if (in.lanes == out.lanes)
        quantise_samples(from, picture, in.samples(), rounding, cut_off);
    else
        for (int64_t plane = 0; plane < in.planes(); plane++)
            quantise_lanes(from + plane * in.width * in.lanes, in.lanes, picture + plane * in.lanes,
                           out.lanes, in.width, std::min(in.lanes, in.channels - plane * in.lanes),
                           rounding, cut_off);
    return std::accumulate(cut_off.begin(), cut_off.end(), 0.0);
}

} // namespace engine_torch::fused
