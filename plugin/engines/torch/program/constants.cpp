// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "constants.h"

#include "base/compose.h"
#include "engines/torch/failure.h"
#include "states.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

// Takes "auto", too.
constexpr const char *ratio_argument = "downsample_ratio";

[[noreturn]] void refuse_option(const std::string &words)
{
    throw Failure(DNN_TORCH_BAD_OPTION, words);
}

[[noreturn]] void refuse_value(const std::string &name, const std::string &text, const char *takes)
{
    refuse_option(concat("inputs=", name, "=", text, ": the model takes ", takes, " there"));
}

std::optional<double> number_in(std::string_view text)
{
    double number = 0;
    const char *const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    // Larger numbers overflow a float.
    const bool is_number = parsed.ec == std::errc() && parsed.ptr == end && !text.empty() &&
                           std::isfinite(number) && std::abs(number) < 3e38;
    return is_number ? std::optional(number) : std::nullopt;
}

// Numbers that each frame has of its own.
bool is_of_frame(std::string_view text)
{
    return text == "number" || text == "time";
}

bool is_whole(double number)
{
    constexpr double exact = 9007199254740992; // 2^53
    return std::abs(number) <= exact && std::trunc(number) == number;
}

// Removes the word before "=" or ":" if it is a kind of tensor.
std::optional<Constant::Kind> take_kind(std::string_view &text)
{
    const size_t end = text.find_first_of("=:");
    if (end == std::string_view::npos)
        return std::nullopt;
    const std::string_view word = text.substr(0, end);
    const std::optional<Constant::Kind> kind =
        word == "scalar"    ? std::optional(Constant::Kind::scalar)
        : word == "vector"  ? std::optional(Constant::Kind::vector)
        : word == "plane"   ? std::optional(Constant::Kind::plane)
        : word == "picture" ? std::optional(Constant::Kind::picture)
        : word == "state"   ? std::optional(Constant::Kind::state)
                            : std::nullopt;
    if (kind)
        text.remove_prefix(end + 1);
    return kind;
}

Constant picture_from(const std::string &name, std::optional<double> channels)
{
    constexpr double most = 4;
    if (!channels || !is_whole(*channels) || *channels < 1 || *channels > most)
        refuse_option(concat("inputs=", name, "=picture=CHANNELS takes 1 to 4 channels"));
    return {
        .name = name, .kind = Constant::Kind::picture, .channels = static_cast<int64_t>(*channels)};
}

std::vector<Constant> tensors_from(const std::string &name, const std::string &text,
                                   bool may_be_none)
{
    std::string_view rest = text;
    const std::optional<Constant::Kind> wanted = take_kind(rest);
    if (wanted == Constant::Kind::state)
        return state_choices(name, std::string(rest), may_be_none);
    const bool changes = is_of_frame(rest) && wanted != Constant::Kind::picture;
    const std::optional<double> number = changes ? 0 : number_in(rest);
    if (wanted == Constant::Kind::picture)
        return {picture_from(name, number)};
    if (!number)
        refuse_value(name, text,
                     "a tensor: a number, plane=NUMBER, vector=NUMBER or scalar=NUMBER");
    const bool may_be_whole = is_whole(*number) && rest != "time";
    std::vector<Constant> choices;
    for (const bool whole : {false, true})
        for (const Constant::Kind kind :
             {Constant::Kind::scalar, Constant::Kind::vector, Constant::Kind::plane})
            if ((!wanted || kind == *wanted) && (!whole || may_be_whole))
                choices.push_back({.name = name,
                                   .kind = kind,
                                   .number = *number,
                                   .changes = changes,
                                   .is_whole = whole});
    return choices;
}

Constant as_value(const std::string &name, c10::IValue value)
{
    return {.name = name, .kind = Constant::Kind::value, .value = std::move(value)};
}

Constant number_from(const std::string &name, const std::string &text, const c10::Type &type)
{
    if (text == "auto" && name == ratio_argument && type.kind() == c10::TypeKind::FloatType)
        return {.name = name, .kind = Constant::Kind::ratio};
    const bool takes_whole = type.kind() == c10::TypeKind::IntType;
    if (is_of_frame(text) && !(takes_whole && text == "time"))
        return {.name = name,
                .kind = Constant::Kind::value,
                .value = takes_whole ? c10::IValue(int64_t{0}) : c10::IValue(0.0),
                .changes = true};
    const std::optional<double> number = number_in(text);
    if (!number || (takes_whole && !is_whole(*number)))
        refuse_value(name, text, takes_whole ? "a whole number" : "a number");
    if (name == ratio_argument && (*number <= 0 || *number > 1))
        refuse_value(name, text,
                     "the share of the frame's size that the model works on, above 0 "
                     "and at most 1, or auto");
    if (takes_whole)
        return as_value(name, static_cast<int64_t>(*number));
    return as_value(name, *number);
}

Constant truth_from(const std::string &name, const std::string &text)
{
    if (text != "0" && text != "1" && text != "true" && text != "false")
        refuse_value(name, text, "0 or 1");
    return as_value(name, text == "1" || text == "true");
}

std::vector<Constant> constants_from(const std::string &name, const std::string &text,
                                     const c10::TypePtr &type, bool may_be_none = false)
{
    switch (type->kind()) {
    case c10::TypeKind::OptionalType:
        if (text == "none")
            return {as_value(name, c10::IValue())};
        return constants_from(name, text, type->expectRef<c10::OptionalType>().getElementType(),
                              true);
    case c10::TypeKind::TensorType:
        return tensors_from(name, text, may_be_none);
    case c10::TypeKind::FloatType:
    case c10::TypeKind::IntType:
    case c10::TypeKind::NumberType:
        return {number_from(name, text, *type)};
    case c10::TypeKind::BoolType:
        return {truth_from(name, text)};
    case c10::TypeKind::StringType:
        return {as_value(name, text)};
    default:
        refuse_option(concat("inputs=", name, "=", text, ": the model takes a ", type->repr_str(),
                             " there, which cannot be given as a number"));
    }
}

// The module itself is the first argument.
std::string names_of(const std::vector<c10::Argument> &arguments, const std::string &input_name)
{
    std::string names;
    for (size_t i = 1; i < arguments.size(); i++)
        if (arguments[i].name() != input_name)
            dnn_torch::add_to_list(names, arguments[i].name());
    return names;
}

const c10::Argument &find(const std::vector<c10::Argument> &arguments, const std::string &name,
                          const std::string &input_name)
{
    if (name == input_name)
        refuse_option(concat("inputs=", name, " is the input that gets the pictures"));
    for (size_t i = 1; i < arguments.size(); i++)
        if (arguments[i].name() == name)
            return arguments[i];
    const std::string names = names_of(arguments, input_name);
    refuse_option(concat("inputs=", name, ": the model has no such input; ",
                         names.empty() ? "it only takes pictures" : "it has " + names));
}

} // namespace

GivenConstants parse_constants(const std::string &text)
{
    GivenConstants given;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('|', begin), text.size());
        const size_t equals = std::min(text.find('=', begin), end);
        const std::string name = text.substr(begin, equals - begin);
        if (name.empty() || equals + 1 >= end)
            refuse_option(
                concat("inputs takes NAME=VALUE or NAME=VALUE|NAME=VALUE, not '", text, "'"));
        const bool is_known = std::any_of(given.begin(), given.end(),
                                          [&](const auto &each) { return each.first == name; });
        if (is_known)
            refuse_option(concat("inputs has ", name, " twice"));
        given.emplace_back(name, text.substr(equals + 1, end - equals - 1));
        begin = end + 1;
    }
    return given;
}

ConstantChoices constant_choices(const GivenConstants &given, const torch::jit::Module &module,
                                 const std::string &input_name)
{
    const auto &arguments = module.get_method("forward").function().getSchema().arguments();
    ConstantChoices choices;
    for (const auto &[name, text] : given)
        choices.push_back(constants_from(name, text, find(arguments, name, input_name).type()));
    return choices;
}

const char *const matting_contract =
    R"({"task": "matte", "scale": 1, "tiling": "global", "input": {"channels": 3, "order": "rgb", )"
    R"("range": [0, 1]}, "inputs": {"r1": "state=2", "r2": "state=3", "r3": "state=4", )"
    R"("r4": "state=5"}, "output": {"as": "alpha"}})";

bool is_matting(const torch::jit::Module &module)
{
    const auto method = module.find_method("forward");
    if (!method)
        return false;
    const auto &arguments = method->function().getSchema().arguments();
    const auto takes = [&](std::string_view name, c10::TypeKind kind) {
        return std::any_of(arguments.begin(), arguments.end(), [&](const c10::Argument &each) {
            return each.name() == name && each.type()->kind() == kind;
        });
    };
    return takes(ratio_argument, c10::TypeKind::FloatType) &&
           takes("r1", c10::TypeKind::OptionalType) && takes("r4", c10::TypeKind::OptionalType);
}

void add_matting_ratio(const torch::jit::Module &module, GivenConstants &given)
{
    const bool is_given = std::any_of(
        given.begin(), given.end(), [](const auto &each) { return each.first == ratio_argument; });
    if (!is_given && is_matting(module))
        given.emplace_back(ratio_argument, "auto");
}

int64_t extra_channels(const std::vector<Constant> &constants)
{
    int64_t channels = 0;
    for (const Constant &constant : constants)
        channels += constant.channels;
    return channels;
}

double ratio_for(const at::Tensor &pictures)
{
    constexpr double longest = 512;
    return std::min(longest / static_cast<double>(std::max(pictures.size(2), pictures.size(3))),
                    1.0);
}

bool is_for_one(const Constant &constant)
{
    return constant.changes && constant.kind != Constant::Kind::vector &&
           constant.kind != Constant::Kind::plane;
}

at::Tensor tensor_of(const Constant &constant, const at::Tensor &numbers,
                     const at::Tensor &pictures, const at::TensorOptions &options)
{
    const int64_t batch = pictures.size(0);
    const int64_t most = constant.kind == Constant::Kind::scalar ? 1 : batch;
    if (numbers.dim() > 1 || (numbers.numel() != 1 && numbers.numel() != most))
        throw Failure(DNN_TORCH_BAD_INPUT,
                      concat(dnn_torch::counted(numbers.numel(), "number"), " as ", constant.name,
                             " for ", dnn_torch::counted(batch, "picture")));
    const at::Tensor given = numbers.to(constant.is_whole ? options.dtype(at::kLong) : options);
    const auto filled = [&](at::IntArrayRef shape, at::IntArrayRef extents) {
        return given.reshape(shape).expand(extents).clone(at::MemoryFormat::Contiguous);
    };
    switch (constant.kind) {
    case Constant::Kind::plane:
        return filled({-1, 1, 1, 1}, {batch, 1, pictures.size(2), pictures.size(3)});
    case Constant::Kind::vector:
        return filled({-1}, {batch});
    default:
        return filled({}, {});
    }
}

} // namespace engine_torch
