// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "pointwise.h"

#include "simd_target.h"
#include "vector_math.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace engine_torch::fused
{
namespace
{

// This many samples stay in the first level of the cache through all steps.
constexpr int64_t samples_at_once = 2048;

// Some pixels of one plane.
struct Piece {
    float *samples;
    int64_t pixels, lanes;

    int64_t count() const { return pixels * lanes; }
};

template <ActivationKind kind> FUSED_INLINE float activated(float x, float alpha, float beta)
{
    if constexpr (kind == ActivationKind::relu)
        return x < 0 ? 0 : x;
    if constexpr (kind == ActivationKind::leaky_relu) {
        const float below = x * alpha;
        return x < 0 ? below : x;
    }
    if constexpr (kind == ActivationKind::elu) {
        const float below = alpha * (exponential(x) - 1);
        return x < 0 ? below : x;
    }
    if constexpr (kind == ActivationKind::gelu_erf)
        return 0.5f * x * (1 + error_function(x * 0.70710678118654752f));
    if constexpr (kind == ActivationKind::gelu_tanh)
        return 0.5f * x *
               (1 + hyperbolic_tangent(0.79788456080286536f * (x + 0.044715f * x * x * x)));
    if constexpr (kind == ActivationKind::silu)
        return x * logistic(x);
    if constexpr (kind == ActivationKind::tanh)
        return hyperbolic_tangent(x);
    if constexpr (kind == ActivationKind::sigmoid)
        return logistic(x);
    if constexpr (kind == ActivationKind::hard_sigmoid)
        return clamped(x + 3, 0, 6) / 6;
    if constexpr (kind == ActivationKind::hard_swish)
        return x * clamped(x + 3, 0, 6) / 6;
    return clamped(x, alpha, beta);
}

// Calls with the kind as a constant, so that the loop has no branch.
template <class Body> void with_kind(ActivationKind kind, const Body &body)
{
    using enum ActivationKind;
    switch (kind) {
    case relu:
        return body(std::integral_constant<ActivationKind, relu>());
    case leaky_relu:
        return body(std::integral_constant<ActivationKind, leaky_relu>());
    case elu:
        return body(std::integral_constant<ActivationKind, elu>());
    case gelu_erf:
        return body(std::integral_constant<ActivationKind, gelu_erf>());
    case gelu_tanh:
        return body(std::integral_constant<ActivationKind, gelu_tanh>());
    case silu:
        return body(std::integral_constant<ActivationKind, silu>());
    case tanh:
        return body(std::integral_constant<ActivationKind, tanh>());
    case sigmoid:
        return body(std::integral_constant<ActivationKind, sigmoid>());
    case hard_sigmoid:
        return body(std::integral_constant<ActivationKind, hard_sigmoid>());
    case hard_swish:
        return body(std::integral_constant<ActivationKind, hard_swish>());
    case clamp:
        return body(std::integral_constant<ActivationKind, clamp>());
    }
}

void apply(const Activation &step, const Piece &piece, const float *)
{
    with_kind(step.kind, [&](auto kind) {
        float *const samples = piece.samples;
        const int64_t count = piece.count();
        const float alpha = step.alpha, beta = step.beta;
        run_vectorized([=]() __attribute__((always_inline)) {
            for (int64_t i = 0; i < count; i++)
                samples[i] = activated<decltype(kind)::value>(samples[i], alpha, beta);
        });
    });
}

void apply_for_channels(const float *slopes, const Piece &piece)
{
    const Piece it = piece;
    run_vectorized([=]() __attribute__((always_inline)) {
        for (int64_t pixel = 0; pixel < it.pixels; pixel++)
            for (int64_t lane = 0; lane < it.lanes; lane++) {
                const float x = it.samples[pixel * it.lanes + lane];
                const float below = x * slopes[lane];
                it.samples[pixel * it.lanes + lane] = x < 0 ? below : x;
            }
    });
}

void apply_for_channels(const float *scales, const float *shifts, const Piece &piece)
{
    const Piece it = piece;
    run_vectorized([=]() __attribute__((always_inline)) {
        for (int64_t pixel = 0; pixel < it.pixels; pixel++)
            for (int64_t lane = 0; lane < it.lanes; lane++) {
                float &x = it.samples[pixel * it.lanes + lane];
                x = x * scales[lane] + shifts[lane];
            }
    });
}

void rescale_for_channels(const float *scales, const float *shifts, const Piece &piece)
{
    const Piece it = piece;
    run_vectorized([=]() __attribute__((always_inline)) {
        for (int64_t pixel = 0; pixel < it.pixels; pixel++)
            for (int64_t lane = 0; lane < it.lanes; lane++) {
                float &x = it.samples[pixel * it.lanes + lane];
                x = static_cast<float>(std::bit_cast<int32_t>(x)) * scales[lane] + shifts[lane];
            }
    });
}

template <class Join> void join_with(const Piece &piece, const float *other, const Join &join)
{
    float *const samples = piece.samples;
    const int64_t count = piece.count();
    run_vectorized([=]() __attribute__((always_inline)) {
        for (int64_t i = 0; i < count; i++)
            samples[i] = join(samples[i], other[i]);
    });
}

void apply(const PreparedBinary &step, const Piece &piece, const float *other)
{
    if (step.kind == BinaryKind::add)
        return join_with(piece, other, [](float x, float y) { return x + y; });
    if (step.kind == BinaryKind::multiply)
        return join_with(piece, other, [](float x, float y) { return x * y; });
    if (step.reversed)
        return join_with(piece, other, [](float x, float y) { return y - x; });
    join_with(piece, other, [](float x, float y) { return x - y; });
}

void apply_step(const PreparedStep &step, const Piece &piece, int64_t channel, const float *other)
{
    if (const auto *prelu = std::get_if<PreparedPrelu>(&step))
        apply_for_channels(prelu->slopes.data() + channel, piece);
    else if (const auto *affine = std::get_if<PreparedAffine>(&step))
        apply_for_channels(affine->scales.data() + channel, affine->shifts.data() + channel, piece);
    else if (const auto *rescale = std::get_if<PreparedRescale>(&step))
        rescale_for_channels(rescale->scales.data() + channel, rescale->shifts.data() + channel,
                             piece);
    else if (const auto *binary = std::get_if<PreparedBinary>(&step))
        apply(*binary, piece, other);
    else
        apply(std::get<Activation>(step), piece, nullptr);
}

// The samples as floats: themselves, or a copy.
float *widened(float *samples, int64_t, float *)
{
    return samples;
}
const float *widened(const float *samples, int64_t, float *)
{
    return samples;
}

float *widened(const Bf16 *samples, int64_t count, float *scratch)
{
    run_vectorized([=]() __attribute__((always_inline)) {
        for (int64_t i = 0; i < count; i++)
            scratch[i] = to_float(samples[i]);
    });
    return scratch;
}

void put_back(const float *, int64_t, float *) {}

void put_back(const float *wide, int64_t count, Bf16 *samples)
{
    run_vectorized([=]() __attribute__((always_inline)) {
        for (int64_t i = 0; i < count; i++)
            assign(samples[i], wide[i]);
    });
}

int64_t pixels_of_run(const RowLayout &layout)
{
    return std::max<int64_t>(1, samples_at_once / layout.lanes);
}

} // namespace

size_t tail_scratch(const RowLayout &layout)
{
    return static_cast<size_t>(2 * pixels_of_run(layout) * layout.lanes);
}

template <class Sample>
void apply_tail(std::span<const PreparedStep> steps, Sample *row, const RowLayout &layout,
                std::span<const Sample *const> others, float *scratch)
{
    const int64_t at_once = pixels_of_run(layout);
    float *const other_scratch = scratch + at_once * layout.lanes;
    for (int64_t plane = 0; plane < layout.planes(); plane++)
        for (int64_t x = 0; x < layout.width; x += at_once) {
            const int64_t start = (plane * layout.width + x) * layout.lanes;
            const int64_t pixels = std::min(at_once, layout.width - x);
            const int64_t count = pixels * layout.lanes;
            const Piece piece = {widened(row + start, count, scratch), pixels, layout.lanes};
            size_t operand = 0;
            for (const PreparedStep &step : steps) {
                const bool joins = std::holds_alternative<PreparedBinary>(step);
                const float *const other =
                    joins ? widened(others[operand++] + start, count, other_scratch) : nullptr;
                apply_step(step, piece, plane * layout.lanes, other);
            }
            put_back(piece.samples, count, row + start);
        }
}

template void apply_tail(std::span<const PreparedStep>, float *, const RowLayout &,
                         std::span<const float *const>, float *);
template void apply_tail(std::span<const PreparedStep>, Bf16 *, const RowLayout &,
                         std::span<const Bf16 *const>, float *);

float activate(const Activation &activation, float x)
{
    apply(activation, {&x, 1, 1}, nullptr);
    return x;
}

} // namespace engine_torch::fused
