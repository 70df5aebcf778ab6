// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "node_constants.h"
#include "recipe_call.h"

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace engine_torch
{
namespace
{

using fused::Activation;
using fused::ActivationKind;
using fused::Affine;
using fused::Binary;
using fused::BinaryKind;

constexpr float infinity = std::numeric_limits<float>::infinity();

MaybeRecipe activation(const Call &call, ActivationKind kind, std::optional<double> alpha = 0,
                       std::optional<double> beta = 0)
{
    if (!alpha || !beta)
        return std::nullopt;
    return pointwise(call, Activation{kind, static_cast<float>(*alpha), static_cast<float>(*beta)});
}

// batch_norm(input, weight, bias, mean, variance, training, momentum, eps)
MaybeRecipe batch_norm(const Call &call)
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

MaybeRecipe prelu(const Call &call)
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
MaybeRecipe elu(const Call &call)
{
    if (number_constant(call.input(2)) != 1.0 || number_constant(call.input(3)) != 1.0)
        return std::nullopt;
    return activation(call, ActivationKind::elu, number_constant(call.input(1)));
}

// gelu(input, approximate), or without the word in older files.
MaybeRecipe gelu(const Call &call)
{
    const auto word = call.count() > 1 ? word_constant(call.input(1)) : std::string("none");
    if (word == "none")
        return activation(call, ActivationKind::gelu_erf);
    return word == "tanh" ? activation(call, ActivationKind::gelu_tanh) : std::nullopt;
}

// clamp(input, low, high), where both are numbers.
MaybeRecipe clamp(const Call &call)
{
    return activation(call, ActivationKind::clamp, number_or(call.input(1), -infinity),
                      number_or(call.input(2), infinity));
}

MaybeRecipe clamp_max(const Call &call)
{
    return activation(call, ActivationKind::clamp, -infinity, number_constant(call.input(1)));
}

MaybeRecipe clamp_min(const Call &call)
{
    return activation(call, ActivationKind::clamp, number_constant(call.input(1)), infinity);
}

MaybeRecipe hardtanh(const Call &call)
{
    return activation(call, ActivationKind::clamp, number_constant(call.input(1)),
                      number_constant(call.input(2)));
}

MaybeRecipe relu6(const Call &call)
{
    return activation(call, ActivationKind::clamp, 0, 6);
}

MaybeRecipe leaky_relu(const Call &call)
{
    return activation(call, ActivationKind::leaky_relu, number_constant(call.input(1)));
}

// Returns that number for each channel of a picture.
std::vector<float> repeated(const Call &call, size_t picture, double number)
{
    return std::vector<float>(static_cast<size_t>(call.channels_of(picture)),
                              static_cast<float>(number));
}

MaybeRecipe scaled(const Call &call, size_t picture, std::vector<float> scales)
{
    return step_of(call.input(picture), Affine{std::move(scales), repeated(call, picture, 0)});
}

// Which of two operands is the picture, and the other one's numbers.
struct WithConstant {
    size_t picture;
    std::vector<float> constants;
};

std::optional<WithConstant> with_constant(const Call &call)
{
    const size_t picture = call.is_picture(0) ? 0 : 1;
    if (!call.is_picture(picture))
        return std::nullopt;
    auto constants =
        channel_constants(call.input(1 - picture), std::nullopt, call.channels_of(picture));
    if (!constants)
        return std::nullopt;
    return WithConstant{picture, std::move(*constants)};
}

// a * first + b * second, where one of them may be a constant.
MaybeRecipe sum(const Call &call, double first, double second)
{
    if (call.is_picture(0) && call.is_picture(1)) {
        if (call.channels_of(0) != call.channels_of(1))
            return std::nullopt;
        Recipe recipe = {{call.input(0), call.input(1)}, {}};
        std::vector<Recipe::Operand> operands = {{call.input(0)}, {call.input(1)}};
        const double factors[] = {first, second};
        // a - b and a + b need no factor.
        const bool subtracts = first == 1 && second == -1;
        for (size_t i = 0; i < 2 && !subtracts; i++)
            if (factors[i] != 1) {
                recipe.steps.push_back(
                    {Affine{repeated(call, i, factors[i]), repeated(call, i, 0)}, {operands[i]}});
                operands[i] = {nullptr, recipe.steps.size() - 1};
            }
        recipe.steps.push_back(
            {Binary{subtracts ? BinaryKind::subtract : BinaryKind::add}, operands});
        return recipe;
    }
    auto operands = with_constant(call);
    if (!operands)
        return std::nullopt;
    auto &[picture, constants] = *operands;
    for (float &each : constants)
        each = static_cast<float>(each * (picture == 0 ? second : first));
    return step_of(
        call.input(picture),
        Affine{repeated(call, picture, picture == 0 ? first : second), std::move(constants)});
}

// add(first, second, alpha) and the like; alpha is 1 where it is left out.
std::optional<double> alpha_of(const Call &call)
{
    return call.count() > 2 ? number_constant(call.input(2)) : 1;
}

MaybeRecipe add(const Call &call)
{
    const auto alpha = alpha_of(call);
    return alpha ? sum(call, 1, *alpha) : std::nullopt;
}

MaybeRecipe subtract(const Call &call)
{
    const auto alpha = alpha_of(call);
    return alpha ? sum(call, 1, -*alpha) : std::nullopt;
}

// second - alpha * first
MaybeRecipe subtract_reversed(const Call &call)
{
    const auto alpha = alpha_of(call);
    return alpha ? sum(call, -*alpha, 1) : std::nullopt;
}

MaybeRecipe multiply(const Call &call)
{
    if (call.is_picture(0) && call.is_picture(1)) {
        if (call.channels_of(0) != call.channels_of(1))
            return std::nullopt;
        return Recipe{{call.input(0), call.input(1)},
                      {{Binary{BinaryKind::multiply}, {{call.input(0)}, {call.input(1)}}}}};
    }
    auto operands = with_constant(call);
    return operands ? scaled(call, operands->picture, std::move(operands->constants))
                    : std::nullopt;
}

// By a constant, and without rounding to whole numbers.
MaybeRecipe divide(const Call &call)
{
    if (!call.is_picture(0) || call.count() != 2)
        return std::nullopt;
    auto constants = channel_constants(call.input(1), std::nullopt, call.channels_of(0));
    if (!constants)
        return std::nullopt;
    for (float &each : *constants)
        each = 1 / each;
    return scaled(call, 0, std::move(*constants));
}

MaybeRecipe negate(const Call &call)
{
    return call.is_picture(0) ? scaled(call, 0, repeated(call, 0, -1)) : std::nullopt;
}

template <ActivationKind kind> MaybeRecipe plain_activation(const Call &call)
{
    return activation(call, kind);
}

} // namespace

const RecipeReaders &sample_readers()
{
    static const RecipeReaders readers = {
        {"add", add},
        {"add_", add},
        {"batch_norm", batch_norm},
        {"clamp", clamp},
        {"clamp_", clamp},
        {"clamp_max", clamp_max},
        {"clamp_min", clamp_min},
        {"div", divide},
        {"div_", divide},
        {"elu", elu},
        {"elu_", elu},
        {"gelu", gelu},
        {"hardsigmoid", plain_activation<ActivationKind::hard_sigmoid>},
        {"hardsigmoid_", plain_activation<ActivationKind::hard_sigmoid>},
        {"hardswish", plain_activation<ActivationKind::hard_swish>},
        {"hardswish_", plain_activation<ActivationKind::hard_swish>},
        {"hardtanh", hardtanh},
        {"hardtanh_", hardtanh},
        {"leaky_relu", leaky_relu},
        {"leaky_relu_", leaky_relu},
        {"mul", multiply},
        {"mul_", multiply},
        {"neg", negate},
        {"prelu", prelu},
        {"relu", plain_activation<ActivationKind::relu>},
        {"relu6", relu6},
        {"relu6_", relu6},
        {"relu_", plain_activation<ActivationKind::relu>},
        {"rsub", subtract_reversed},
        {"sigmoid", plain_activation<ActivationKind::sigmoid>},
        {"sigmoid_", plain_activation<ActivationKind::sigmoid>},
        {"silu", plain_activation<ActivationKind::silu>},
        {"silu_", plain_activation<ActivationKind::silu>},
        {"sub", subtract},
        {"sub_", subtract},
        {"tanh", plain_activation<ActivationKind::tanh>},
        {"tanh_", plain_activation<ActivationKind::tanh>},
    };
    return readers;
}

} // namespace engine_torch
