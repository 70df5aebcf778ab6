// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A network as plain data: values, and the nodes that make them.  Needs no LibTorch and no oneDNN.
// It is built from a model's graph; Program::compile() makes it run.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace engine_torch::fused
{

// Why a graph cannot be built or compiled, in one line.
class GraphError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

using ValueId = size_t;

// Always in lowest terms.
struct Ratio {
    int64_t numerator = 1, denominator = 1;

    friend bool operator==(const Ratio &, const Ratio &) = default;
};

Ratio times(Ratio ratio, int64_t numerator, int64_t denominator);

// For vertical and horizontal, in this order, as PyTorch has it.
struct Pair {
    int64_t y = 1, x = 1;

    friend bool operator==(const Pair &, const Pair &) = default;
};

struct Extent {
    int64_t height = 0, width = 0;

    friend bool operator==(const Extent &, const Extent &) = default;
};

struct Value {
    int64_t channels = 0;
    Ratio scale_y, scale_x; // of the input's size; what padding adds or takes does not count
};

// Numbers that all copies share, because networks have many.
class Weights
{
public:
    Weights() = default;
    Weights(std::vector<float> numbers) : size_(numbers.size())
    {
        const auto kept = std::make_shared<const std::vector<float>>(std::move(numbers));
        numbers_ = {kept, kept->data()};
    }
    // Numbers that have other owners too; the pointer keeps them alive.
    Weights(std::shared_ptr<const float> numbers, size_t size)
        : numbers_(std::move(numbers)), size_(size)
    {
    }

    size_t size() const { return size_; }
    const float *data() const { return numbers_.get(); }
    float operator[](size_t i) const { return numbers_.get()[i]; }
    // Returns numbers that may be changed.
    std::vector<float> copy() const { return {data(), data() + size_}; }

private:
    std::shared_ptr<const float> numbers_;
    size_t size_ = 0;
};

// Weights are [out_channels][in_channels / groups][kernel.y][kernel.x].  `bias` may be empty.
struct Convolution {
    int64_t out_channels = 0, groups = 1;
    Pair kernel, stride, dilation, padding = {0, 0};
    Weights weights;
    std::vector<float> bias;
};

// Weights are [in_channels][out_channels / groups][kernel.y][kernel.x].  `bias` may be empty.
struct TransposedConvolution {
    int64_t out_channels = 0, groups = 1;
    Pair kernel, stride, padding = {0, 0}, output_padding = {0, 0};
    Weights weights;
    std::vector<float> bias;
};

enum class ActivationKind {
    relu,
    leaky_relu, // alpha: the slope below zero
    elu,        // alpha
    gelu_erf,
    gelu_tanh,
    silu,
    tanh,
    sigmoid,
    hard_sigmoid,
    hard_swish,
    clamp // from alpha to beta
};

struct Activation {
    ActivationKind kind = ActivationKind::relu;
    float alpha = 0, beta = 0;
};

struct Prelu {
    std::vector<float> slopes; // one for each channel
};

// x * scale + shift, both for each channel: a batch norm, or a constant that is added or
// multiplied.
struct Affine {
    std::vector<float> scales, shifts;
};

enum class BinaryKind { add, subtract, multiply };

struct Binary {
    BinaryKind kind = BinaryKind::add;
};

struct Concatenation {
};

struct Slice {
    int64_t first = 0, count = 0; // channels
};

struct PixelShuffle {
    int64_t factor = 1;
};

struct PixelUnshuffle {
    int64_t factor = 1;
};

enum class InterpolationKind { nearest, bilinear }; // bilinear: align_corners=False

struct Interpolation {
    InterpolationKind kind = InterpolationKind::nearest;
    Pair factor;
};

// Negative numbers are refused: they would crop.
struct Padding {
    int64_t top = 0, bottom = 0, left = 0, right = 0;
    float value = 0;
};

using Operation =
    std::variant<Convolution, TransposedConvolution, Activation, Prelu, Affine, Binary,
                 Concatenation, Slice, PixelShuffle, PixelUnshuffle, Interpolation, Padding>;

struct Node {
    Operation operation;
    std::vector<ValueId> inputs;
    ValueId output = 0;
};

// Nodes are in an order in which they can run.  Not safe to change on two threads at once.
class Graph
{
public:
    // The input is value 0.  Throws GraphError if `channels` is no number of channels.
    explicit Graph(int64_t channels);

    // Adds a node and returns the value that it makes.  Throws GraphError, and changes nothing, if
    // the operation does not fit the inputs.
    ValueId add(Operation operation, std::vector<ValueId> inputs);

    // Throws GraphError if there is no such value.
    void set_output(ValueId value);

    const std::vector<Value> &values() const { return values_; }
    const std::vector<Node> &nodes() const { return nodes_; }
    ValueId input() const { return 0; }
    ValueId output() const { return output_; }

private:
    std::vector<Value> values_;
    std::vector<Node> nodes_;
    ValueId output_ = 0;
};

// Returns the size of every value for an input of that size.  Throws GraphError if sizes do not
// fit, such as those of two values that are added.
std::vector<Extent> extents_of(const Graph &graph, Extent input);

} // namespace engine_torch::fused
