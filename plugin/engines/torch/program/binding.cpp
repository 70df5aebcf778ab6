// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "binding.h"

#include "base/compose.h"
#include "engines/torch/failure.h"
#include "states.h"

#include <algorithm>
#include <array>
#include <ATen/ops/full.h>
#include <ATen/ops/nan_to_num.h>
#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

namespace engine_torch
{
namespace
{

constexpr std::array<std::pair<const char *, at::ScalarType>, 5> picture_types = {
    {{"float32", at::kFloat},
     {"uint8", at::kByte},
     {"float64", at::kDouble},
     {"float16", at::kHalf},
     {"bfloat16", at::kBFloat16}}};

constexpr size_t most_combinations = 32; // to give all constants
constexpr size_t most_tries = 256;

void add(std::vector<at::ScalarType> &types, at::ScalarType type)
{
    if (std::find(types.begin(), types.end(), type) == types.end())
        types.push_back(type);
}

bool is_picture_type(at::ScalarType type)
{
    return std::any_of(picture_types.begin(), picture_types.end(),
                       [&](const auto &each) { return each.second == type; });
}

// float32 first, because most models take it; then the types of the weights.
std::vector<at::ScalarType> types_to_try(const RequestedBinding &asked,
                                         const torch::jit::Module &module)
{
    if (asked.type)
        return {*asked.type};
    std::vector<at::ScalarType> types = {at::kFloat};
    for (const at::Tensor &parameter : module.parameters())
        if (is_picture_type(parameter.scalar_type()))
            add(types, parameter.scalar_type());
    for (const auto &[name, type] : picture_types)
        add(types, type);
    return types;
}

// chw before nhw: they are the same for one picture, and one picture at a time is always right.
// Both before hwc: hwc pictures of one channel look like a batch of rows to nhw.
std::vector<Layout> layouts_to_try(const RequestedBinding &asked)
{
    if (asked.as_list && asked.layout)
        return {ends_with_channels(*asked.layout) ? Layout::nhwc : Layout::nchw};
    if (asked.layout)
        return {*asked.layout};
    if (asked.segment.length > 0)
        return {Layout::ntchw, Layout::tchw, Layout::nchw, Layout::ncthw, Layout::cthw};
    if (asked.as_list)
        return {Layout::nchw, Layout::nhwc};
    if (asked.frames > 1)
        return {Layout::nchw, Layout::ntchw, Layout::ncthw, Layout::tchw, Layout::cthw};
    return {Layout::nchw, Layout::nhwc, Layout::chw, Layout::nhw, Layout::hwc, Layout::hw};
}

// Returns all combinations of the ways to pass each constant.
std::vector<std::vector<Constant>> constants_to_try(const ConstantChoices &choices)
{
    std::vector<std::vector<Constant>> all = {{}};
    for (const std::vector<Constant> &of_one : choices) {
        std::vector<std::vector<Constant>> longer;
        for (const std::vector<Constant> &begin : all)
            for (const Constant &constant : of_one) {
                longer.push_back(begin);
                longer.back().push_back(constant);
            }
        longer.resize(std::min(longer.size(), most_combinations));
        all = std::move(longer);
    }
    return all;
}

// NaN becomes 0, as in all integer samples that leave the filter.
at::Tensor quantised(const at::Tensor &floats)
{
    return at::nan_to_num(floats, 0.0).round_().clamp_(0, 255).to(at::kByte);
}

std::optional<Layout> layout_from(const char *key, const std::string &name)
{
    const std::optional<Layout> layout = find_layout(name);
    if (!layout && !name.empty())
        throw Failure(
            DNN_TORCH_BAD_OPTION,
            dnn_torch::concat(key, "=", name, " is unknown; choose among ", layout_names()));
    return layout;
}

// Takes "-2..2".
void take_frames(const std::string &text, RequestedBinding &asked)
{
    constexpr int64_t most = 64;
    if (text.empty())
        return;
    int64_t first = 0, last = 0;
    const char *const begin = text.data(), *const end = begin + text.size();
    const auto parsed = std::from_chars(begin, end, first);
    const bool has_dots = end - parsed.ptr > 2 && parsed.ptr[0] == '.' && parsed.ptr[1] == '.';
    const auto rest = has_dots ? std::from_chars(parsed.ptr + 2, end, last) : parsed;
    const bool is_good = has_dots && rest.ec == std::errc() && rest.ptr == end && first <= 0 &&
                         first > -most && last >= 0 && last - first < most;
    if (!is_good)
        throw Failure(DNN_TORCH_BAD_OPTION,
                      dnn_torch::concat("frames=", text, " is not FIRST..LAST around 0, of ", most,
                                        " frames at most"));
    asked.frames = last - first + 1;
    asked.current = -first;
}

// Takes "15", or "15 repeat".
void take_length(const std::string &text, RequestedBinding &asked)
{
    constexpr int64_t most = 256;
    if (text.empty())
        return;
    const char *const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, asked.segment.length);
    const std::string_view rest(parsed.ptr, static_cast<size_t>(end - parsed.ptr));
    asked.segment.repeats = rest == " repeat";
    if (parsed.ec != std::errc() || asked.segment.length < 1 || asked.segment.length > most ||
        !(rest.empty() || asked.segment.repeats))
        throw Failure(DNN_TORCH_BAD_OPTION,
                      dnn_torch::concat("length=", text, " is not 1 to ", most, " frames"));
}

void check_segment(const RequestedBinding &asked)
{
    for (const std::optional<Layout> &layout : {asked.layout, asked.output_layout})
        if (layout && asked.segment.length > 0 && !can_be_segment(*layout))
            throw Failure(DNN_TORCH_BAD_OPTION,
                          dnn_torch::concat("layout=", name_of(*layout),
                                            ": a segment is ntchw, ncthw, tchw, cthw, or nchw with "
                                            "the frames' channels one after the other"));
}

constexpr std::array<Results, 3> all_results = {Results::picture, Results::maps, Results::tensors};

const char *name_of(Constant::Kind kind)
{
    switch (kind) {
    case Constant::Kind::scalar:
        return "scalar";
    case Constant::Kind::vector:
        return "vector";
    case Constant::Kind::state:
        return "state";
    case Constant::Kind::plane:
        return "plane";
    case Constant::Kind::picture:
        return "picture";
    case Constant::Kind::ratio:
        return "ratio";
    default:
        return "value";
    }
}

} // namespace

std::optional<at::ScalarType> find_type(const std::string &name)
{
    for (const auto &[known, type] : picture_types)
        if (name == known)
            return type;
    return std::nullopt;
}

std::string type_names()
{
    std::string names;
    for (const auto &[name, type] : picture_types)
        dnn_torch::add_to_list(names, name);
    return names;
}

const char *type_name(at::ScalarType type)
{
    for (const auto &[name, known] : picture_types)
        if (type == known)
            return name;
    switch (type) {
    case at::kBool:
        return "bool";
    case at::kChar:
        return "int8";
    case at::kShort:
        return "int16";
    case at::kInt:
        return "int32";
    case at::kLong:
        return "int64";
    default:
        return at::isComplexType(type) ? "complex numbers" : c10::toString(type);
    }
}

const char *name_of(Results results)
{
    switch (results) {
    case Results::maps:
        return "maps";
    case Results::tensors:
        return "tensors";
    default:
        return "picture";
    }
}

Results parse_results(const std::string &name)
{
    std::string names;
    for (const Results results : all_results) {
        if (name == name_of(results))
            return results;
        dnn_torch::add_to_list(names, name_of(results));
    }
    if (!name.empty())
        throw Failure(DNN_TORCH_BAD_OPTION,
                      dnn_torch::concat("results=", name, " is unknown; choose among ", names));
    return Results::picture;
}

std::string Binding::text() const
{
    std::string text;
    if (!is_plain())
        text = dnn_torch::concat(type_name(type), " ", engine_torch::name_of(layout));
    if (segment.length > 0)
        text += dnn_torch::concat(" segments of up to ", segment.length);
    for (const Constant &constant : constants)
        dnn_torch::add_to_list(text, dnn_torch::concat(constant.name, " ", name_of(constant.kind),
                                                       constant.is_whole ? " whole" : "",
                                                       in_words(constant.state)));
    return text;
}

RequestedBinding requested_binding(const std::string &type, const std::string &layout,
                                   const std::string &output_layout, const std::string &frames,
                                   const std::string &length, const ConstantChoices &constants)
{
    RequestedBinding asked = {.type = find_type(type),
                              .layout = layout_from("input_layout", layout),
                              .output_layout = layout_from("output_layout", output_layout),
                              .constants = constants};
    take_frames(frames, asked);
    take_length(length, asked);
    check_segment(asked);
    if (asked.output_layout && has_frames(*asked.output_layout) && asked.segment.length == 0)
        throw Failure(DNN_TORCH_BAD_OPTION,
                      dnn_torch::concat("output_layout=", output_layout,
                                        ": a result is one frame, and has no dimension for time"));
    if (!asked.type && !type.empty())
        throw Failure(
            DNN_TORCH_BAD_OPTION,
            dnn_torch::concat("input_type=", type, " is unknown; choose among ", type_names()));
    if (!type.empty() || !layout.empty() || !output_layout.empty())
        asked.text = dnn_torch::concat("; ", type, "/", layout, "/", output_layout);
    if (asked.frames > 1)
        asked.text += dnn_torch::concat("; frames=", asked.frames);
    if (asked.segment.length > 0)
        asked.text += dnn_torch::concat("; length=", length);
    return asked;
}

std::vector<Binding> bindings_to_try(const RequestedBinding &asked,
                                     const torch::jit::Module &module)
{
    const auto constants = constants_to_try(asked.constants);
    const auto types = types_to_try(asked, module);
    std::vector<Binding> bindings;
    for (const Layout layout : layouts_to_try(asked))
        for (const at::ScalarType type : types)
            for (const std::vector<Constant> &given : constants)
                if (bindings.size() < most_tries)
                    bindings.push_back({.type = type,
                                        .layout = layout,
                                        .frames = asked.frames,
                                        .current = asked.current,
                                        .segment = asked.segment,
                                        .constants = given});
    return bindings;
}

at::Tensor bound(const at::Tensor &pictures, const Binding &binding, const c10::Device &device)
{
    if (binding.segment.length == 0 && has_frames(binding.layout) &&
        pictures.size(1) % binding.frames != 0)
        throw Failure(DNN_TORCH_BAD_INPUT,
                      dnn_torch::concat(pictures.size(1), " channels are not those of ",
                                        binding.frames, " frames"));
    const at::Tensor in_order = binding.segment.length > 0
                                    ? as_segment(pictures, binding.layout, binding.segment)
                                    : in_layout(pictures, binding.layout, binding.frames);
    const at::Tensor floats = in_order.to(device, at::kFloat, true);
    const at::Tensor numbers =
        binding.type == at::kByte ? quantised(floats) : floats.to(binding.type);
    return numbers.contiguous();
}

c10::IValue value_of(const Constant &constant, const Binding &binding, const at::Tensor &pictures,
                     at::ScalarType type, const c10::Device &device, const at::Tensor &numbers)
{
    if (constant.kind == Constant::Kind::value)
        return constant.value;
    if (constant.kind == Constant::Kind::ratio)
        return ratio_for(pictures);
    if (constant.kind == Constant::Kind::state) {
        const int64_t channels = pictures.size(1) / binding.frames;
        const at::Tensor first =
            first_value(constant, pictures.narrow(1, binding.current * channels, channels),
                        at::TensorOptions(device).dtype(type));
        if (!first.defined())
            return {};
        const bool is_alike = has_channels(binding.layout) && !has_frames(binding.layout);
        return in_layout(first, is_alike ? binding.layout : Layout::nchw, 1).contiguous();
    }
    const at::Tensor first = binding.segment.length > 0 ? pictures.narrow(0, 0, 1) : pictures;
    const at::Tensor tensor = tensor_of(
        constant, numbers.defined() ? numbers : at::full({}, constant.number, at::kDouble), first,
        at::TensorOptions(device).dtype(type));
    if (constant.kind != Constant::Kind::plane)
        return tensor;
    const Layout layout = has_frames(binding.layout) ? Layout::nchw : binding.layout;
    return in_layout(tensor, layout, 1).contiguous();
}

} // namespace engine_torch
