// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "fused_reference.h"

#include "engines/torch/machine/processor_quirks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <variant>

namespace engine_torch::fused
{
namespace
{

// Before any test, as the engine does it before any model.
[[maybe_unused]] const bool are_avoided = avoid_unsound_instructions();

// The sample of weights [outer][inner][y][x].
double weight_of(const Weights &weights, Pair kernel, int64_t inner_count, int64_t outer,
                 int64_t inner, int64_t y, int64_t x)
{
    const int64_t plane = outer * inner_count + inner;
    return weights[static_cast<size_t>((plane * kernel.y + y) * kernel.x + x)];
}

double activated(const Activation &it, double x)
{
    switch (it.kind) {
    case ActivationKind::relu:
        return std::max(x, 0.0);
    case ActivationKind::leaky_relu:
        return x < 0 ? x * it.alpha : x;
    case ActivationKind::elu:
        return x < 0 ? it.alpha * std::expm1(x) : x;
    case ActivationKind::gelu_erf:
        return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case ActivationKind::gelu_tanh:
        return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case ActivationKind::silu:
        return x / (1 + std::exp(-x));
    case ActivationKind::tanh:
        return std::tanh(x);
    case ActivationKind::sigmoid:
        return 1 / (1 + std::exp(-x));
    case ActivationKind::hard_sigmoid:
        return std::clamp(x + 3, 0.0, 6.0) / 6;
    case ActivationKind::hard_swish:
        return x * std::clamp(x + 3, 0.0, 6.0) / 6;
    case ActivationKind::clamp:
        return std::clamp<double>(x, it.alpha, it.beta);
    }
    return 0;
}

// Fills `out` by asking for each sample.
template <class Sample> void fill(Plane &out, const Sample &sample)
{
    for (int64_t c = 0; c < out.channels; c++)
        for (int64_t y = 0; y < out.extent.height; y++)
            for (int64_t x = 0; x < out.extent.width; x++)
                out.at(c, y, x) = sample(c, y, x);
}

struct Interpreter {
    std::vector<const Plane *> inputs;
    Plane &out;

    const Plane &in() const { return *inputs.front(); }

    void operator()(const Convolution &it) const
    {
        const int64_t in_each = in().channels / it.groups, out_each = it.out_channels / it.groups;
        fill(out, [&](int64_t c, int64_t y, int64_t x) {
            double sum = it.bias.empty() ? 0 : it.bias[static_cast<size_t>(c)];
            for (int64_t i = 0; i < in_each; i++)
                for (int64_t v = 0; v < it.kernel.y; v++)
                    for (int64_t u = 0; u < it.kernel.x; u++)
                        sum += weight_of(it.weights, it.kernel, in_each, c, i, v, u) *
                               in().get(c / out_each * in_each + i,
                                        y * it.stride.y - it.padding.y + v * it.dilation.y,
                                        x * it.stride.x - it.padding.x + u * it.dilation.x);
            return sum;
        });
    }

    // Spreads each input sample, as the operation is defined.
    void operator()(const TransposedConvolution &it) const
    {
        const int64_t in_each = in().channels / it.groups, out_each = it.out_channels / it.groups;
        fill(out, [&](int64_t c, int64_t, int64_t) {
            return it.bias.empty() ? 0 : it.bias[static_cast<size_t>(c)];
        });
        for (int64_t i = 0; i < in().channels; i++)
            for (int64_t o = 0; o < out_each; o++)
                for (int64_t y = 0; y < in().extent.height; y++)
                    for (int64_t x = 0; x < in().extent.width; x++)
                        spread(it, i, i / in_each * out_each + o, o, y, x);
    }

    void spread(const TransposedConvolution &it, int64_t from, int64_t to, int64_t to_in_group,
                int64_t y, int64_t x) const
    {
        for (int64_t v = 0; v < it.kernel.y; v++)
            for (int64_t u = 0; u < it.kernel.x; u++) {
                const int64_t row = y * it.stride.y - it.padding.y + v;
                const int64_t column = x * it.stride.x - it.padding.x + u;
                if (row >= 0 && row < out.extent.height && column >= 0 && column < out.extent.width)
                    out.at(to, row, column) +=
                        in().get(from, y, x) * weight_of(it.weights, it.kernel,
                                                         it.out_channels / it.groups, from,
                                                         to_in_group, v, u);
            }
    }

    void operator()(const Activation &it) const
    {
        fill(out, [&](auto c, auto y, auto x) { return activated(it, in().get(c, y, x)); });
    }

    void operator()(const Prelu &it) const
    {
        fill(out, [&](auto c, auto y, auto x) {
            const double value = in().get(c, y, x);
            return value < 0 ? value * it.slopes[static_cast<size_t>(c)] : value;
        });
    }

    void operator()(const Affine &it) const
    {
        fill(out, [&](auto c, auto y, auto x) {
            const auto channel = static_cast<size_t>(c);
            return in().get(c, y, x) * it.scales[channel] + it.shifts[channel];
        });
    }

    void operator()(const Binary &it) const
    {
        fill(out, [&](auto c, auto y, auto x) {
            const double a = in().get(c, y, x), b = inputs[1]->get(c, y, x);
            return it.kind == BinaryKind::add        ? a + b
                   : it.kind == BinaryKind::multiply ? a * b
                                                     : a - b;
        });
    }

    void operator()(const Concatenation &) const
    {
        int64_t first = 0;
        for (const Plane *input : inputs) {
            for (int64_t c = 0; c < input->channels; c++)
                for (int64_t y = 0; y < out.extent.height; y++)
                    for (int64_t x = 0; x < out.extent.width; x++)
                        out.at(first + c, y, x) = input->get(c, y, x);
            first += input->channels;
        }
    }

    void operator()(const Slice &it) const
    {
        fill(out, [&](auto c, auto y, auto x) { return in().get(c + it.first, y, x); });
    }

    void operator()(const PixelShuffle &it) const
    {
        const int64_t f = it.factor;
        fill(out, [&](int64_t c, int64_t y, int64_t x) {
            return in().get((c * f + y % f) * f + x % f, y / f, x / f);
        });
    }

    void operator()(const PixelUnshuffle &it) const
    {
        const int64_t f = it.factor;
        fill(out, [&](int64_t c, int64_t y, int64_t x) {
            return in().get(c / (f * f), y * f + c / f % f, x * f + c % f);
        });
    }

    void operator()(const Interpolation &it) const
    {
        if (it.kind == InterpolationKind::nearest)
            return fill(out, [&](int64_t c, int64_t y, int64_t x) {
                return in().get(c, y / it.factor.y, x / it.factor.x);
            });
        fill(out, [&](int64_t c, int64_t y, int64_t x) {
            const double row = source(y, it.factor.y), column = source(x, it.factor.x);
            const auto top = static_cast<int64_t>(row), left = static_cast<int64_t>(column);
            const int64_t bottom = std::min(top + 1, in().extent.height - 1);
            const int64_t right = std::min(left + 1, in().extent.width - 1);
            const double v = row - static_cast<double>(top), u = column - static_cast<double>(left);
            return (1 - v) * ((1 - u) * in().get(c, top, left) + u * in().get(c, top, right)) +
                   v * ((1 - u) * in().get(c, bottom, left) + u * in().get(c, bottom, right));
        });
    }

    static double source(int64_t place, int64_t factor)
    {
        return std::max(0.0,
                        (static_cast<double>(place) + 0.5) / static_cast<double>(factor) - 0.5);
    }

    void operator()(const Padding &it) const
    {
        fill(out, [&](int64_t c, int64_t y, int64_t x) {
            const int64_t row = y - it.top, column = x - it.left;
            const bool is_inside =
                row >= 0 && row < in().extent.height && column >= 0 && column < in().extent.width;
            return is_inside ? in().get(c, row, column) : it.value;
        });
    }
};

} // namespace

Plane::Plane(int64_t of_channels, Extent of_extent)
    : channels(of_channels), extent(of_extent),
      samples(static_cast<size_t>(of_channels * of_extent.height * of_extent.width))
{
}

double &Plane::at(int64_t channel, int64_t y, int64_t x)
{
    return samples[static_cast<size_t>((channel * extent.height + y) * extent.width + x)];
}

double Plane::get(int64_t channel, int64_t y, int64_t x) const
{
    if (y < 0 || y >= extent.height || x < 0 || x >= extent.width)
        return 0;
    return samples[static_cast<size_t>((channel * extent.height + y) * extent.width + x)];
}

Plane interpret(const Graph &graph, const Plane &input)
{
    const std::vector<Extent> extents = extents_of(graph, input.extent);
    std::map<ValueId, Plane> values;
    values.emplace(graph.input(), input);
    for (const Node &node : graph.nodes()) {
        Plane out(graph.values()[node.output].channels, extents[node.output]);
        std::vector<const Plane *> inputs;
        for (const ValueId value : node.inputs)
            inputs.push_back(&values.at(value));
        std::visit(Interpreter{inputs, out}, node.operation);
        values.emplace(node.output, std::move(out));
    }
    return values.at(graph.output());
}

} // namespace engine_torch::fused
