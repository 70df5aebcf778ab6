// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "recipe.h"

#include "node_constants.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>

namespace engine_torch
{
namespace
{

using fused::Activation;
using fused::ActivationKind;
using fused::Affine;
using fused::Binary;
using fused::BinaryKind;
using fused::Operation;
using fused::Pair;
using torch::jit::Node;
using torch::jit::Value;
using Made = std::optional<Recipe>;

constexpr float infinity = std::numeric_limits<float>::infinity();
// Beyond these numbers nothing makes sense, and products of them leave their integers.
constexpr int64_t most = 1 << 16, most_factor = 64;

// A node whose value is asked for, and what is known of its inputs.
struct Call {
    const Node &node;
    const Value &output;
    const Channels &channels;

    size_t count() const { return node.inputs().size(); }
    const Value *input(size_t i) const { return i < count() ? node.input(i) : nullptr; }
    bool is_picture(size_t i) const { return i < count() && channels.of(input(i)) > 0; }
    int64_t channels_of(size_t i) const { return channels.of(input(i)); }
};

Made step_of(const Value *picture, Operation operation)
{
    return Recipe{{picture}, {{std::move(operation), {{picture}}}}};
}

Made same(const Call &call)
{
    return call.is_picture(0) ? Made({{call.input(0)}, {}, true}) : std::nullopt;
}

Made pointwise(const Call &call, Operation operation)
{
    return call.is_picture(0) ? step_of(call.input(0), std::move(operation)) : std::nullopt;
}

Made activation(const Call &call, ActivationKind kind, std::optional<double> alpha = 0,
                std::optional<double> beta = 0)
{
    if (!alpha || !beta)
        return std::nullopt;
    return pointwise(call, Activation{kind, static_cast<float>(*alpha), static_cast<float>(*beta)});
}

// ---- convolutions ----------------------------------------------------------------------

// What the operators for convolutions have in common, wherever it stands among their inputs.
struct Kernel {
    std::optional<at::Tensor> weights;
    std::optional<std::vector<float>> bias;
    std::optional<Pair> stride, padding, dilation, output_padding = Pair{0, 0};
    std::optional<int64_t> groups;
    bool is_transposed = false;

    bool is_known() const
    {
        return weights && weights->dim() == 4 && weights->numel() > 0 && bias && groups &&
               *groups > 0 && *groups <= most && is_sane(stride) && is_sane(padding) &&
               is_sane(dilation) && is_sane(output_padding);
    }

    static bool is_sane(const std::optional<Pair> &pair)
    {
        return pair && pair->y >= 0 && pair->y <= most && pair->x >= 0 && pair->x <= most;
    }
};

std::optional<std::vector<float>> bias_of(const Value *value)
{
    if (is_none(value))
        return std::vector<float>();
    const auto tensor = float_constant(value);
    return tensor && tensor->dim() == 1 ? std::optional(numbers_of(*tensor)) : std::nullopt;
}

Made convolution(const Call &call, const Kernel &kernel)
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
                                                         .weights = numbers_of(weights),
                                                         .bias = *kernel.bias});
    if (!(*kernel.dilation == Pair{1, 1}))
        return std::nullopt;
    return step_of(call.input(0),
                   fused::TransposedConvolution{.out_channels = weights.size(1) * *kernel.groups,
                                                .groups = *kernel.groups,
                                                .kernel = size,
                                                .stride = *kernel.stride,
                                                .padding = *kernel.padding,
                                                .output_padding = *kernel.output_padding,
                                                .weights = numbers_of(weights),
                                                .bias = *kernel.bias});
}

// padding="same": one more at the bottom right, where it cannot be the same on both sides.
Made convolution_with_words(const Call &call, Kernel kernel, const std::string &padding)
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

// conv2d(input, weight, bias, stride, padding, dilation, groups)
Made conv2d(const Call &call)
{
    const Kernel kernel = {.weights = float_constant(call.input(1)),
                           .bias = bias_of(call.input(2)),
                           .stride = pair_constant(call.input(3)),
                           .padding = pair_constant(call.input(4)),
                           .dilation = pair_constant(call.input(5)),
                           .groups = whole_constant(call.input(6))};
    if (const auto words = word_constant(call.input(4)))
        return convolution_with_words(call, kernel, *words);
    return convolution(call, kernel);
}

// conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation)
Made conv_transpose2d(const Call &call)
{
    return convolution(call, {.weights = float_constant(call.input(1)),
                              .bias = bias_of(call.input(2)),
                              .stride = pair_constant(call.input(3)),
                              .padding = pair_constant(call.input(4)),
                              .dilation = pair_constant(call.input(7)),
                              .output_padding = pair_constant(call.input(5)),
                              .groups = whole_constant(call.input(6)),
                              .is_transposed = true});
}

// _convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
Made any_convolution(const Call &call)
{
    const auto is_transposed = truth_constant(call.input(6));
    if (!is_transposed)
        return std::nullopt;
    return convolution(call, {.weights = float_constant(call.input(1)),
                              .bias = bias_of(call.input(2)),
                              .stride = pair_constant(call.input(3)),
                              .padding = pair_constant(call.input(4)),
                              .dilation = pair_constant(call.input(5)),
                              .output_padding = pair_constant(call.input(7)),
                              .groups = whole_constant(call.input(8)),
                              .is_transposed = *is_transposed});
}

// ---- sample by sample ------------------------------------------------------------------

// batch_norm(input, weight, bias, mean, variance, training, momentum, eps)
Made batch_norm(const Call &call)
{
    const auto mean = float_constant(call.input(3)), variance = float_constant(call.input(4));
    const auto training = truth_constant(call.input(5));
    const auto eps = number_constant(call.input(7));
    if (!call.is_picture(0) || !mean || !variance || training != false || !eps)
        return std::nullopt;
    const auto channels = static_cast<size_t>(call.channels_of(0));
    const std::vector<float> means = numbers_of(*mean), variances = numbers_of(*variance);
    const auto weights = channel_constants(call.input(1), 1, call.channels_of(0));
    const auto biases = channel_constants(call.input(2), 0, call.channels_of(0));
    if (means.size() != channels || variances.size() != channels || !weights || !biases)
        return std::nullopt;
    Affine affine;
    for (size_t i = 0; i < channels; i++) {
        const double scale = (*weights)[i] / std::sqrt(variances[i] + *eps);
        affine.scales.push_back(static_cast<float>(scale));
        affine.shifts.push_back(static_cast<float>((*biases)[i] - means[i] * scale));
    }
    return step_of(call.input(0), std::move(affine));
}

Made prelu(const Call &call)
{
    const auto slopes = float_constant(call.input(1));
    if (!call.is_picture(0) || !slopes)
        return std::nullopt;
    std::vector<float> numbers = numbers_of(*slopes);
    const auto channels = static_cast<size_t>(call.channels_of(0));
    if (numbers.size() == 1)
        numbers.resize(channels, numbers.front());
    if (numbers.size() != channels)
        return std::nullopt;
    return step_of(call.input(0), fused::Prelu{std::move(numbers)});
}

// elu(input, alpha, scale, input_scale)
Made elu(const Call &call)
{
    if (number_constant(call.input(2)) != 1.0 || number_constant(call.input(3)) != 1.0)
        return std::nullopt;
    return activation(call, ActivationKind::elu, number_constant(call.input(1)));
}

// gelu(input, approximate), or without the word in older files.
Made gelu(const Call &call)
{
    const auto word = call.count() > 1 ? word_constant(call.input(1)) : std::string("none");
    if (word == "none")
        return activation(call, ActivationKind::gelu_erf);
    return word == "tanh" ? activation(call, ActivationKind::gelu_tanh) : std::nullopt;
}

std::optional<double> limit(const Value *value, double otherwise)
{
    return is_none(value) ? otherwise : number_constant(value);
}

// clamp(input, low, high), where both are numbers.
Made clamp(const Call &call)
{
    return activation(call, ActivationKind::clamp, limit(call.input(1), -infinity),
                      limit(call.input(2), infinity));
}

Made affine(const Value *picture, double scale, const std::vector<float> &scales, double shift,
            const std::vector<float> &shifts)
{
    Affine made = {scales, shifts};
    for (float &each : made.scales)
        each = static_cast<float>(each * scale);
    for (float &each : made.shifts)
        each = static_cast<float>(each * shift);
    return step_of(picture, std::move(made));
}

// a * first + b * second, where one of them may be a constant.
Made sum(const Call &call, double first, double second)
{
    if (call.is_picture(0) && call.is_picture(1)) {
        if (call.channels_of(0) != call.channels_of(1))
            return std::nullopt;
        const auto channels = static_cast<size_t>(call.channels_of(0));
        Recipe recipe = {{call.input(0), call.input(1)}, {}};
        std::vector<Recipe::Operand> operands = {{call.input(0)}, {call.input(1)}};
        const double factors[] = {first, second};
        // a - b and a + b need no factor.
        const bool subtracts = first == 1 && second == -1;
        for (size_t i = 0; i < 2 && !subtracts; i++)
            if (factors[i] != 1) {
                const auto factor = static_cast<float>(factors[i]);
                recipe.steps.push_back(
                    {Affine{std::vector<float>(channels, factor), std::vector<float>(channels, 0)},
                     {operands[i]}});
                operands[i] = {nullptr, recipe.steps.size() - 1};
            }
        recipe.steps.push_back(
            {Binary{subtracts ? BinaryKind::subtract : BinaryKind::add}, operands});
        return recipe;
    }
    const size_t picture = call.is_picture(0) ? 0 : 1;
    if (!call.is_picture(picture))
        return std::nullopt;
    const int64_t channels = call.channels_of(picture);
    const auto constants = channel_constants(call.input(1 - picture), std::nullopt, channels);
    if (!constants)
        return std::nullopt;
    return affine(call.input(picture), picture == 0 ? first : second,
                  std::vector<float>(static_cast<size_t>(channels), 1),
                  picture == 0 ? second : first, *constants);
}

// add(first, second, alpha) and the like; alpha is 1 where it is left out.
std::optional<double> alpha_of(const Call &call)
{
    return call.count() > 2 ? number_constant(call.input(2)) : 1;
}

Made add(const Call &call)
{
    const auto alpha = alpha_of(call);
    return alpha ? sum(call, 1, *alpha) : std::nullopt;
}

Made subtract(const Call &call)
{
    const auto alpha = alpha_of(call);
    return alpha ? sum(call, 1, -*alpha) : std::nullopt;
}

// second - alpha * first
Made subtract_reversed(const Call &call)
{
    const auto alpha = alpha_of(call);
    return alpha ? sum(call, -*alpha, 1) : std::nullopt;
}

Made multiply(const Call &call)
{
    if (call.is_picture(0) && call.is_picture(1)) {
        if (call.channels_of(0) != call.channels_of(1))
            return std::nullopt;
        return Recipe{{call.input(0), call.input(1)},
                      {{Binary{BinaryKind::multiply}, {{call.input(0)}, {call.input(1)}}}}};
    }
    const size_t picture = call.is_picture(0) ? 0 : 1;
    if (!call.is_picture(picture))
        return std::nullopt;
    const int64_t channels = call.channels_of(picture);
    const auto constants = channel_constants(call.input(1 - picture), std::nullopt, channels);
    if (!constants)
        return std::nullopt;
    return affine(call.input(picture), 1, *constants, 1,
                  std::vector<float>(static_cast<size_t>(channels), 0));
}

// By a constant, and without rounding to whole numbers.
Made divide(const Call &call)
{
    if (!call.is_picture(0) || call.count() != 2)
        return std::nullopt;
    auto constants = channel_constants(call.input(1), std::nullopt, call.channels_of(0));
    if (!constants)
        return std::nullopt;
    for (float &each : *constants)
        each = 1 / each;
    return affine(call.input(0), 1, *constants, 1, std::vector<float>(constants->size(), 0));
}

Made negate(const Call &call)
{
    if (!call.is_picture(0))
        return std::nullopt;
    const auto channels = static_cast<size_t>(call.channels_of(0));
    return affine(call.input(0), -1, std::vector<float>(channels, 1), 1,
                  std::vector<float>(channels, 0));
}

// ---- channels and pixels ---------------------------------------------------------------

bool is_channel_axis(std::optional<int64_t> axis)
{
    return axis == 1 || axis == -3;
}

// cat(list, axis)
Made concatenate(const Call &call)
{
    const auto *const list = call.input(0)->node();
    if (list->kind() != c10::prim::ListConstruct || !stays_as_made(call.input(0)) ||
        !is_channel_axis(whole_constant(call.input(1))))
        return std::nullopt;
    Recipe recipe;
    std::vector<Recipe::Operand> operands;
    for (const Value *part : list->inputs()) {
        if (!call.channels.of(part))
            return std::nullopt;
        recipe.pictures.push_back(part);
        operands.push_back({part});
    }
    if (operands.empty())
        return std::nullopt;
    recipe.steps.push_back({fused::Concatenation(), operands});
    return recipe;
}

Made some_channels(const Value *picture, int64_t channels, int64_t first, int64_t end)
{
    first = std::clamp<int64_t>(first < 0 ? first + channels : first, 0, channels);
    end = std::clamp<int64_t>(end < 0 ? end + channels : end, 0, channels);
    if (first >= end)
        return std::nullopt;
    auto made = step_of(picture, fused::Slice{first, end - first});
    made->is_view = true;
    return made;
}

// slice(input, axis, start, end, step)
Made slice(const Call &call)
{
    const auto axis = whole_constant(call.input(1));
    const auto start = limit(call.input(2), 0);
    const auto end = limit(call.input(3), static_cast<double>(INT64_MAX));
    if (!call.is_picture(0) || !axis || !start || !end || whole_constant(call.input(4)) != 1)
        return std::nullopt;
    const bool is_all = *start == 0 && *end >= static_cast<double>(INT32_MAX);
    if (is_all)
        return same(call);
    if (!is_channel_axis(axis) || std::abs(*start) > 1e9)
        return std::nullopt;
    return some_channels(call.input(0), call.channels_of(0), static_cast<int64_t>(*start),
                         static_cast<int64_t>(std::min(*end, 1e9)));
}

// The sizes of the parts that chunk(input, count, axis), split(input, size, axis) and
// split_with_sizes(input, sizes, axis) make, or none.
std::vector<int64_t> parts_of(const Node &node, int64_t channels)
{
    std::vector<int64_t> parts;
    if (node.inputs().size() < 3 || !is_channel_axis(whole_constant(node.input(2))))
        return parts;
    if (const auto sizes = whole_list_constant(node.input(1)))
        return std::accumulate(sizes->begin(), sizes->end(), int64_t{0}) == channels ? *sizes
                                                                                     : parts;
    const auto number = whole_constant(node.input(1));
    if (!number || *number < 1)
        return parts;
    const bool counts = node.kind() == c10::Symbol::aten("chunk");
    const int64_t count = std::min(*number, channels);
    const int64_t each = counts ? (channels + count - 1) / count : count;
    for (int64_t left = channels; left > 0; left -= each)
        parts.push_back(std::min(each, left));
    return parts;
}

Made part(const Node &splitting, int64_t place, const Channels &channels)
{
    static const std::vector<std::string> known = {"chunk", "split", "split_with_sizes"};
    const bool is_known =
        splitting.kind().is_aten() &&
        std::find(known.begin(), known.end(), splitting.kind().toUnqualString()) != known.end();
    if (!is_known || !channels.of(splitting.input(0)) || !stays_as_made(splitting.output()))
        return std::nullopt;
    const Value *const picture = splitting.input(0);
    const std::vector<int64_t> parts = parts_of(splitting, channels.of(picture));
    const auto count = static_cast<int64_t>(parts.size());
    if (place < 0)
        place += count;
    if (place < 0 || place >= count || parts[static_cast<size_t>(place)] < 1)
        return std::nullopt;
    const int64_t first = std::accumulate(parts.begin(), parts.begin() + place, int64_t{0});
    return some_channels(picture, channels.of(picture), first,
                         first + parts[static_cast<size_t>(place)]);
}

Made list_item(const Call &call)
{
    const auto place = whole_constant(call.input(1));
    return place ? part(*call.input(0)->node(), *place, call.channels) : std::nullopt;
}

Made unpacked(const Call &call)
{
    return part(*call.input(0)->node(), static_cast<int64_t>(call.output.offset()), call.channels);
}

// A list that is split by LibTorch's own passes.
Made constant_chunk(const Call &call)
{
    const int64_t channels = call.channels_of(0);
    const int64_t count = std::min(call.node.i(c10::attr::chunks), channels);
    if (!is_channel_axis(call.node.i(c10::attr::dim)) || count < 1)
        return std::nullopt;
    const int64_t each = (channels + count - 1) / count;
    const auto place = static_cast<int64_t>(call.output.offset());
    return some_channels(call.input(0), channels, place * each,
                         std::min(channels, (place + 1) * each));
}

template <class Shuffle> Made shuffle(const Call &call)
{
    const auto factor = whole_constant(call.input(1));
    if (!factor || *factor < 1 || *factor > most_factor)
        return std::nullopt;
    return pointwise(call, Shuffle{*factor});
}

// Whole factors for height and width, or nullopt.
std::optional<Pair> factors(const Value *size, const Value *scales)
{
    const auto list = number_list_constant(scales);
    if (!is_none(size) || !list || list->size() != 2)
        return std::nullopt;
    for (const double factor : *list)
        if (!(factor >= 1 && factor <= most_factor))
            return std::nullopt;
    const Pair made = {static_cast<int64_t>((*list)[0]), static_cast<int64_t>((*list)[1])};
    const bool are_whole =
        static_cast<double>(made.y) == (*list)[0] && static_cast<double>(made.x) == (*list)[1];
    return are_whole ? std::optional(made) : std::nullopt;
}

// upsample_nearest2d(input, size, scales)
Made nearest(const Call &call)
{
    const auto factor = call.count() == 3 ? factors(call.input(1), call.input(2)) : std::nullopt;
    if (!factor)
        return std::nullopt;
    return pointwise(call, fused::Interpolation{fused::InterpolationKind::nearest, *factor});
}

// upsample_bilinear2d(input, size, align_corners, scales)
Made bilinear(const Call &call)
{
    const auto factor = call.count() == 4 ? factors(call.input(1), call.input(3)) : std::nullopt;
    if (!factor || truth_constant(call.input(2)) != false)
        return std::nullopt;
    return pointwise(call, fused::Interpolation{fused::InterpolationKind::bilinear, *factor});
}

// [left, right, top, bottom], of which the last two may be missing.
Made constants_around(const Call &call, const std::optional<double> &value)
{
    auto sizes = whole_list_constant(call.input(1));
    if (!sizes || !value || (sizes->size() != 2 && sizes->size() != 4))
        return std::nullopt;
    sizes->resize(4);
    if (std::any_of(sizes->begin(), sizes->end(),
                    [](int64_t size) { return size < 0 || size > most; }))
        return std::nullopt;
    return pointwise(call, fused::Padding{(*sizes)[2], (*sizes)[3], (*sizes)[0], (*sizes)[1],
                                          static_cast<float>(*value)});
}

// pad(input, sizes, mode, value)
Made pad(const Call &call)
{
    if (word_constant(call.input(2)) != "constant")
        return std::nullopt;
    return constants_around(call, limit(call.input(3), 0));
}

Made dropout(const Call &call)
{
    return truth_constant(call.input(2)) == false ? same(call) : std::nullopt;
}

// ---- all of them -----------------------------------------------------------------------

using Reader = Made (*)(const Call &);

template <ActivationKind kind> Made plain_activation(const Call &call)
{
    return activation(call, kind);
}

const std::map<std::string, Reader> readers = {
    {"_convolution", any_convolution},
    {"_convolution_mode", conv2d},
    {"_upsample_nearest_exact2d", nearest}, // the same for whole factors
    {"add", add},
    {"add_", add},
    {"batch_norm", batch_norm},
    {"cat", concatenate},
    {"clamp", clamp},
    {"clamp_", clamp},
    {"clamp_max",
     [](const Call &call) {
         return activation(call, ActivationKind::clamp, -infinity, number_constant(call.input(1)));
     }},
    {"clamp_min",
     [](const Call &call) {
         return activation(call, ActivationKind::clamp, number_constant(call.input(1)), infinity);
     }},
    {"constant_pad_nd",
     [](const Call &call) { return constants_around(call, limit(call.input(2), 0)); }},
    {"contiguous", same},
    {"conv2d", conv2d},
    {"conv_transpose2d", conv_transpose2d},
    {"convolution", any_convolution},
    {"detach", same},
    {"div", divide},
    {"div_", divide},
    {"dropout", dropout},
    {"elu", elu},
    {"elu_", elu},
    {"feature_dropout", dropout},
    {"gelu", gelu},
    {"hardsigmoid", plain_activation<ActivationKind::hard_sigmoid>},
    {"hardsigmoid_", plain_activation<ActivationKind::hard_sigmoid>},
    {"hardswish", plain_activation<ActivationKind::hard_swish>},
    {"hardswish_", plain_activation<ActivationKind::hard_swish>},
    {"hardtanh",
     [](const Call &call) {
         return activation(call, ActivationKind::clamp, number_constant(call.input(1)),
                           number_constant(call.input(2)));
     }},
    {"hardtanh_",
     [](const Call &call) {
         return activation(call, ActivationKind::clamp, number_constant(call.input(1)),
                           number_constant(call.input(2)));
     }},
    {"leaky_relu",
     [](const Call &call) {
         return activation(call, ActivationKind::leaky_relu, number_constant(call.input(1)));
     }},
    {"leaky_relu_",
     [](const Call &call) {
         return activation(call, ActivationKind::leaky_relu, number_constant(call.input(1)));
     }},
    {"mul", multiply},
    {"mul_", multiply},
    {"neg", negate},
    {"pad", pad},
    {"pixel_shuffle", shuffle<fused::PixelShuffle>},
    {"pixel_unshuffle", shuffle<fused::PixelUnshuffle>},
    {"prelu", prelu},
    {"relu", plain_activation<ActivationKind::relu>},
    {"relu6", [](const Call &call) { return activation(call, ActivationKind::clamp, 0, 6); }},
    {"relu6_", [](const Call &call) { return activation(call, ActivationKind::clamp, 0, 6); }},
    {"relu_", plain_activation<ActivationKind::relu>},
    {"rsub", subtract_reversed},
    {"sigmoid", plain_activation<ActivationKind::sigmoid>},
    {"sigmoid_", plain_activation<ActivationKind::sigmoid>},
    {"silu", plain_activation<ActivationKind::silu>},
    {"silu_", plain_activation<ActivationKind::silu>},
    {"slice", slice},
    {"sub", subtract},
    {"sub_", subtract},
    {"tanh", plain_activation<ActivationKind::tanh>},
    {"tanh_", plain_activation<ActivationKind::tanh>},
    {"upsample_bilinear2d", bilinear},
    {"upsample_nearest2d", nearest},
};

bool is_tensor(const Value &value)
{
    return value.type()->isSubtypeOf(*c10::TensorType::get());
}

} // namespace

std::optional<Recipe> recipe_of(const Value &value, const Channels &channels)
{
    const Node &node = *value.node();
    const Call call = {node, value, channels};
    if (!is_tensor(value) || node.inputs().empty())
        return std::nullopt;
    if (node.kind() == c10::prim::ListUnpack)
        return unpacked(call);
    if (node.kind() == c10::prim::ConstantChunk)
        return constant_chunk(call);
    if (node.kind() == c10::aten::__getitem__)
        return list_item(call);
    if (!node.kind().is_aten())
        return std::nullopt;
    const auto reader = readers.find(node.kind().toUnqualString());
    return reader == readers.end() ? std::nullopt : reader->second(call);
}

} // namespace engine_torch
