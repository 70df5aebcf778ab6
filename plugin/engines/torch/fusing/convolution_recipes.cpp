// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "engines/torch/fused/transposed.h"
#include "node_constants.h"
#include "recipe_call.h"

#include <optional>
#include <string>
#include <vector>

namespace engine_torch
{
namespace
{

using fused::Pair;
using torch::jit::Value;

// The arguments that all operators for convolutions have, whatever their positions.
struct Kernel {
    std::optional<at::Tensor> weights;
    std::optional<std::vector<float>> bias;
    std::optional<Pair> stride, padding, dilation, output_padding = Pair{0, 0};
    std::optional<int64_t> groups;
    bool is_transposed = false;

    bool is_known() const
    {
        return weights && weights->dim() == 4 && weights->numel() > 0 && bias && groups &&
               *groups > 0 && *groups <= most_pixels && is_sane(stride) && is_sane(padding) &&
               is_sane(dilation) && is_sane(output_padding);
    }

    static bool is_sane(const std::optional<Pair> &pair)
    {
        return pair && pair->y >= 0 && pair->y <= most_pixels && pair->x >= 0 &&
               pair->x <= most_pixels;
    }
};

std::optional<std::vector<float>> bias_of(const Value *value)
{
    if (is_none(value))
        return std::vector<float>();
    const auto tensor = float_constant(value);
    return tensor && tensor->dim() == 1 ? std::optional(numbers_of(*tensor)) : std::nullopt;
}

MaybeRecipe convolution(const Call &call, const Kernel &kernel)
{
    if (!kernel.is_known())
        return std::nullopt;
    const at::Tensor &weights = *kernel.weights;
    const Pair size = {weights.size(2), weights.size(3)};
    const int64_t in = kernel.is_transposed ? weights.size(0) : weights.size(1) * *kernel.groups;
    if (call.channels_of(0) && call.channels_of(0) != in)
        return std::nullopt;
    if (!kernel.is_transposed)
        return step_of(call.input(0), fused::Convolution{.out_channels = weights.size(0),
                                                         .groups = *kernel.groups,
                                                         .kernel = size,
                                                         .stride = *kernel.stride,
                                                         .dilation = *kernel.dilation,
                                                         .padding = *kernel.padding,
                                                         .weights = weights_in(weights),
                                                         .bias = *kernel.bias});
    if (!(*kernel.dilation == Pair{1, 1}) ||
        fused::is_wasteful_in_phases(weights.numel(), size, *kernel.stride))
        return std::nullopt;
    return step_of(call.input(0),
                   fused::TransposedConvolution{.out_channels = weights.size(1) * *kernel.groups,
                                                .groups = *kernel.groups,
                                                .kernel = size,
                                                .stride = *kernel.stride,
                                                .padding = *kernel.padding,
                                                .output_padding = *kernel.output_padding,
                                                .weights = weights_in(weights),
                                                .bias = *kernel.bias});
}

// padding="same": if it cannot be the same on both sides, one more at the bottom right.
MaybeRecipe convolution_with_words(const Call &call, Kernel kernel, const std::string &padding)
{
    kernel.padding = Pair{0, 0};
    if (!kernel.is_known())
        return std::nullopt;
    const int64_t high = kernel.dilation->y * (kernel.weights->size(2) - 1);
    const int64_t wide = kernel.dilation->x * (kernel.weights->size(3) - 1);
    auto made = convolution(call, kernel);
    if (!made || padding == "valid")
        return made;
    if (padding != "same" || !(*kernel.stride == Pair{1, 1}))
        return std::nullopt;
    made->steps.insert(made->steps.begin(),
                       {fused::Padding{high / 2, high - high / 2, wide / 2, wide - wide / 2, 0},
                        {{call.input(0)}}});
    made->steps.back().operands = {{nullptr, 0}};
    return made;
}

// The positions of an operator's arguments; 0: it has no such argument.
struct Places {
    size_t stride, padding, dilation, output_padding, groups;
};

Kernel kernel_of(const Call &call, const Places &places, bool is_transposed)
{
    const auto pair = [&](size_t place) {
        return place ? pair_constant(call.input(place)) : std::optional(Pair{0, 0});
    };
    return {.weights = float_constant(call.input(1)),
            .bias = bias_of(call.input(2)),
            .stride = pair(places.stride),
            .padding = pair(places.padding),
            .dilation = pair(places.dilation),
            .output_padding = pair(places.output_padding),
            .groups = whole_constant(call.input(places.groups)),
            .is_transposed = is_transposed};
}

// conv2d(input, weight, bias, stride, padding, dilation, groups)
MaybeRecipe conv2d(const Call &call)
{
    const Kernel kernel = kernel_of(call, {3, 4, 5, 0, 6}, false);
    if (const auto words = word_constant(call.input(4)))
        return convolution_with_words(call, kernel, *words);
    return convolution(call, kernel);
}

// conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation)
MaybeRecipe conv_transpose2d(const Call &call)
{
    return convolution(call, kernel_of(call, {3, 4, 7, 5, 6}, true));
}

// _convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
MaybeRecipe any_convolution(const Call &call)
{
    const auto is_transposed = truth_constant(call.input(6));
    if (!is_transposed)
        return std::nullopt;
    return convolution(call, kernel_of(call, {3, 4, 5, 7, 8}, *is_transposed));
}

} // namespace

const RecipeReaders &convolution_readers()
{
    static const RecipeReaders readers = {
        {"_convolution", any_convolution},
        {"_convolution_mode", conv2d},
        {"conv2d", conv2d},
        {"conv_transpose2d", conv_transpose2d},
        {"convolution", any_convolution},
    };
    return readers;
}

} // namespace engine_torch
