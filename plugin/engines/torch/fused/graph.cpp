// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "graph.h"

#include <numeric>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace engine_torch::fused
{
namespace
{

using Inputs = std::vector<Value>;

constexpr int64_t most_stride = 16;

void require(bool holds, const std::string &otherwise)
{
    if (!holds)
        throw GraphError(otherwise);
}

bool is_positive(Pair pair)
{
    return pair.y > 0 && pair.x > 0;
}
bool is_natural(Pair pair)
{
    return pair.y >= 0 && pair.x >= 0;
}

template <class Numbers> void require_count(const Numbers &numbers, int64_t count, const char *what)
{
    require(static_cast<int64_t>(numbers.size()) == count,
            std::string(what) + " has " + std::to_string(numbers.size()) + " numbers, not " +
                std::to_string(count));
}

void require_groups(int64_t groups, int64_t in_channels, int64_t out_channels)
{
    require(groups > 0 && out_channels > 0 && in_channels % groups == 0 &&
                out_channels % groups == 0,
            std::to_string(in_channels) + " and " + std::to_string(out_channels) +
                " channels cannot be in " + std::to_string(groups) + " groups");
}

Value scaled(Value value, int64_t channels, Pair by, Pair divided_by)
{
    return {channels, times(value.scale_y, by.y, divided_by.y),
            times(value.scale_x, by.x, divided_by.x)};
}

// Returns the result of an operation for its inputs.  Throws GraphError.
struct Outcome {
    const Inputs &inputs;

    const Value &first() const { return inputs.front(); }

    template <class Kernel> void check_kernel(const Kernel &kernel, int64_t weights) const
    {
        require(is_positive(kernel.kernel) && is_positive(kernel.stride) &&
                    is_natural(kernel.padding),
                "a convolution has a kernel, a stride or a padding that makes no sense");
        require_count(kernel.weights, weights * kernel.kernel.y * kernel.kernel.x,
                      "a convolution's weight");
        if (!kernel.bias.empty())
            require_count(kernel.bias, kernel.out_channels, "a convolution's bias");
    }

    Value operator()(const Convolution &it) const
    {
        require_groups(it.groups, first().channels, it.out_channels);
        require(is_positive(it.dilation), "a convolution has a dilation that makes no sense");
        check_kernel(it, it.out_channels * (first().channels / it.groups));
        return scaled(first(), it.out_channels, {}, it.stride);
    }

    Value operator()(const TransposedConvolution &it) const
    {
        require_groups(it.groups, first().channels, it.out_channels);
        // Each phase of a stride becomes a layer's channels.
        require(it.stride.y <= most_stride && it.stride.x <= most_stride,
                "a transposed convolution has a stride above " + std::to_string(most_stride));
        require(is_natural(it.output_padding) && it.output_padding.y < it.stride.y &&
                    it.output_padding.x < it.stride.x,
                "a transposed convolution's output padding is not less than its stride");
        check_kernel(it, first().channels * (it.out_channels / it.groups));
        return scaled(first(), it.out_channels, it.stride, {});
    }

    Value operator()(const Activation &) const { return first(); }

    Value operator()(const Prelu &it) const
    {
        require_count(it.slopes, first().channels, "a PReLU");
        return first();
    }

    Value operator()(const Affine &it) const
    {
        require_count(it.scales, first().channels, "a scale");
        require_count(it.shifts, first().channels, "a shift");
        return first();
    }

    Value operator()(const Binary &) const
    {
        const Value &second = inputs.at(1);
        require(first().channels == second.channels, std::to_string(first().channels) + " and " +
                                                         std::to_string(second.channels) +
                                                         " channels cannot be added or multiplied");
        require_scale(second);
        return first();
    }

    Value operator()(const Concatenation &) const
    {
        Value joined = first();
        joined.channels = 0;
        for (const Value &input : inputs) {
            require_scale(input);
            joined.channels += input.channels;
        }
        return joined;
    }

    Value operator()(const Slice &it) const
    {
        require(it.first >= 0 && it.count > 0 && it.first + it.count <= first().channels,
                "a slice is not within its " + std::to_string(first().channels) + " channels");
        return scaled(first(), it.count, {}, {});
    }

    Value operator()(const PixelShuffle &it) const
    {
        require(it.factor > 0 && first().channels % (it.factor * it.factor) == 0,
                std::to_string(first().channels) + " channels cannot be shuffled by " +
                    std::to_string(it.factor));
        return scaled(first(), first().channels / (it.factor * it.factor), {it.factor, it.factor},
                      {});
    }

    Value operator()(const PixelUnshuffle &it) const
    {
        require(it.factor > 0, "pixels cannot be unshuffled by " + std::to_string(it.factor));
        return scaled(first(), first().channels * it.factor * it.factor, {},
                      {it.factor, it.factor});
    }

    Value operator()(const Interpolation &it) const
    {
        require(is_positive(it.factor), "an interpolation has no factor above zero");
        return scaled(first(), first().channels, it.factor, {});
    }

    Value operator()(const Padding &it) const
    {
        require(it.top >= 0 && it.bottom >= 0 && it.left >= 0 && it.right >= 0,
                "a padding below zero is not known");
        return first();
    }

    void require_scale(const Value &other) const
    {
        require(first().scale_y == other.scale_y && first().scale_x == other.scale_x,
                "values of different scales cannot be joined");
    }
};

void require_inputs(const Operation &operation, size_t count)
{
    if (std::holds_alternative<Concatenation>(operation))
        return require(count > 0, "nothing is concatenated");
    const size_t wanted = std::holds_alternative<Binary>(operation) ? 2 : 1;
    require(count == wanted,
            "an operation has " + std::to_string(count) + " inputs, not " + std::to_string(wanted));
}

Extent filtered(Extent in, const Convolution &it)
{
    const int64_t high = in.height + 2 * it.padding.y - it.dilation.y * (it.kernel.y - 1) - 1;
    const int64_t wide = in.width + 2 * it.padding.x - it.dilation.x * (it.kernel.x - 1) - 1;
    require(high >= 0 && wide >= 0, "the picture is smaller than a convolution's kernel");
    return {high / it.stride.y + 1, wide / it.stride.x + 1};
}

Extent spread(Extent in, const TransposedConvolution &it)
{
    const Extent out = {
        (in.height - 1) * it.stride.y - 2 * it.padding.y + it.kernel.y + it.output_padding.y,
        (in.width - 1) * it.stride.x - 2 * it.padding.x + it.kernel.x + it.output_padding.x};
    require(out.height > 0 && out.width > 0, "nothing is left of a transposed convolution");
    return out;
}

Extent unshuffled(Extent in, int64_t factor)
{
    require(in.height % factor == 0 && in.width % factor == 0,
            std::to_string(in.width) + "x" + std::to_string(in.height) +
                " cannot be unshuffled by " + std::to_string(factor));
    return {in.height / factor, in.width / factor};
}

Extent extent_after(const Operation &operation, Extent in)
{
    if (const auto *it = std::get_if<Convolution>(&operation))
        return filtered(in, *it);
    if (const auto *it = std::get_if<TransposedConvolution>(&operation))
        return spread(in, *it);
    if (const auto *it = std::get_if<PixelShuffle>(&operation))
        return {in.height * it->factor, in.width * it->factor};
    if (const auto *it = std::get_if<PixelUnshuffle>(&operation))
        return unshuffled(in, it->factor);
    if (const auto *it = std::get_if<Interpolation>(&operation))
        return {in.height * it->factor.y, in.width * it->factor.x};
    if (const auto *it = std::get_if<Padding>(&operation))
        return {in.height + it->top + it->bottom, in.width + it->left + it->right};
    return in;
}

// More fits into no machine's memory, and products of larger numbers would overflow.
void require_room(Extent extent, int64_t channels)
{
    constexpr int64_t most_rows = 1 << 20, most_samples = int64_t{1} << 40;
    require(extent.height <= most_rows && extent.width <= most_rows &&
                extent.height * extent.width <= most_samples / channels,
            "a layer makes a picture that is too large");
}

} // namespace

Ratio times(Ratio ratio, int64_t numerator, int64_t denominator)
{
    const Ratio product = {ratio.numerator * numerator, ratio.denominator * denominator};
    const int64_t common = std::gcd(product.numerator, product.denominator);
    return {product.numerator / common, product.denominator / common};
}

Graph::Graph(int64_t channels)
{
    values_.push_back({channels, {}, {}});
    require(channels > 0, "a picture has " + std::to_string(channels) + " channels");
}

ValueId Graph::add(Operation operation, std::vector<ValueId> inputs)
{
    require_inputs(operation, inputs.size());
    Inputs values;
    for (const ValueId input : inputs) {
        require(input < values_.size(), "there is no value " + std::to_string(input));
        values.push_back(values_[input]);
    }
    const Value made = std::visit(Outcome{values}, operation);
    values_.push_back(made);
    nodes_.push_back({std::move(operation), std::move(inputs), values_.size() - 1});
    return output_ = values_.size() - 1;
}

void Graph::set_output(ValueId value)
{
    require(value < values_.size(), "there is no value " + std::to_string(value));
    output_ = value;
}

std::vector<Extent> extents_of(const Graph &graph, Extent input)
{
    require(input.height > 0 && input.width > 0, "a picture has no pixels");
    require_room(input, graph.values()[graph.input()].channels);
    std::vector<Extent> extents(graph.values().size());
    extents[graph.input()] = input;
    for (const Node &node : graph.nodes()) {
        const Extent first = extents[node.inputs.front()];
        for (const ValueId other : node.inputs)
            require(extents[other] == first, "values of " + std::to_string(first.width) + "x" +
                                                 std::to_string(first.height) + " and " +
                                                 std::to_string(extents[other].width) + "x" +
                                                 std::to_string(extents[other].height) +
                                                 " cannot be joined");
        extents[node.output] = extent_after(node.operation, first);
        require_room(extents[node.output], graph.values()[node.output].channels);
    }
    return extents;
}

} // namespace engine_torch::fused
