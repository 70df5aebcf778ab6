// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "states.h"

#include "base/compose.h"
#include "engines/torch/failure.h"
#include "returned_tensors.h"
#include "variants.h"

#include <algorithm>
#include <ATen/ops/upsample_bilinear2d.h>
#include <ATen/ops/zeros.h>
#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;
using First = StateInput::First;

constexpr int64_t most_channels = 65536, most_scale = 16;

[[noreturn]] void refuse(const std::string &name, const std::string &text)
{
    throw Failure(DNN_TORCH_BAD_OPTION,
                  concat("inputs=", name, "=state=", text,
                         ": a state is OUTPUT or OUTPUT/FIRST, where FIRST is none, frame, zeros, "
                         "CHANNELS or CHANNELSxSCALE, as in 64x0.5"));
}

template <class Number>
std::optional<Number> number_in(std::string_view text, Number least, Number most)
{
    Number number = 0;
    const char *const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    const bool is_good =
        parsed.ec == std::errc() && parsed.ptr == end && number >= least && number <= most;
    return is_good ? std::optional(number) : std::nullopt;
}

std::optional<StateInput> zeros_in(std::string_view text)
{
    const size_t cross = text.find('x');
    const auto channels = number_in<int64_t>(text.substr(0, cross), 1, most_channels);
    std::optional<double> scale = 1;
    if (cross != std::string_view::npos)
        scale = number_in<double>(text.substr(cross + 1), 1.0 / most_scale, most_scale);
    if (!channels || !scale)
        return std::nullopt;
    return StateInput{.first = First::zeros, .channels = *channels, .scale = *scale};
}

// A model that takes None knows best what to begin with.  For others nothing tells the shape of a
// state: it is the frame's, one that stretches to any, or that of an enlarged result.
std::vector<StateInput> guesses(bool may_be_none)
{
    if (may_be_none)
        return {{.first = First::none}};
    return {{.first = First::zeros},
            {.first = First::zeros, .channels = 1, .scale = 0},
            {.first = First::zeros, .scale = 2},
            {.first = First::zeros, .scale = 4}};
}

std::vector<StateInput> states_in(std::string_view first, bool may_be_none)
{
    if (first.empty() || (first == "zeros" && !may_be_none))
        return guesses(may_be_none);
    if (first == "zeros")
        return guesses(false);
    if (first == "none" && may_be_none)
        return guesses(true);
    if (first == "frame")
        return {{.first = First::frame},
                {.first = First::frame, .scale = 2},
                {.first = First::frame, .scale = 4}};
    const std::optional<StateInput> zeros = zeros_in(first);
    return zeros ? std::vector{*zeros} : std::vector<StateInput>{};
}

std::string shape_in_words(const at::Tensor &tensor)
{
    std::ostringstream words;
    words << tensor.sizes();
    return words.str();
}

// A bare tensor has no name and counts as number 0.
const ReturnedTensor *find_state(const std::vector<ReturnedTensor> &tensors,
                                 const Constant &constant, Absent absent)
{
    if (tensors.size() == 1 && tensors[0].name.empty() && constant.state.output == "0")
        return &tensors[0];
    const ReturnedTensor *const found = find(tensors, constant.state.output);
    if (found && found->tensor.defined())
        return found;
    if (absent == Absent::none && constant.state.first == First::none)
        return nullptr;
    const std::string names = names_of(tensors);
    throw Failure(DNN_TORCH_BAD_OPTION,
                  concat("inputs=", constant.name, "=state=", constant.state.output,
                         ": the model returned no such tensor; it returned ",
                         names.empty() ? "one without a name, which is 0" : names));
}

void expect_dense(const Constant &constant, const at::Tensor &tensor)
{
    if (tensor.layout() != at::kStrided)
        throw Failure(DNN_TORCH_BAD_OUTPUT,
                      concat("the model's state ", constant.name, " is a sparse tensor"));
}

void expect_alike(const Constant &constant, const NamedTensors &before, const at::Tensor &now)
{
    const auto known = before.find(constant.name);
    if (known == before.end())
        return;
    if (known->second.scalar_type() != now.scalar_type())
        throw Failure(DNN_TORCH_BAD_OUTPUT,
                      concat("the model's state ", constant.name, " changes its type from ",
                             type_name(known->second.scalar_type()), " to ",
                             type_name(now.scalar_type()), " between two frames"));
    if (known->second.sizes() != now.sizes())
        throw Failure(DNN_TORCH_BAD_OUTPUT,
                      concat("the model's state ", constant.name, " changes its shape from ",
                             shape_in_words(known->second), " to ", shape_in_words(now),
                             " between two frames of the same size"));
}

// A view would keep all of the memory that it shows a part of.
at::Tensor own_copy(const at::Tensor &tensor, const at::Tensor &images)
{
    const bool is_whole =
        tensor.is_contiguous() && tensor.storage().nbytes() == static_cast<size_t>(tensor.nbytes());
    return is_whole && !tensor.is_alias_of(images) ? tensor : tensor.clone();
}

} // namespace

std::vector<Constant> state_choices(const std::string &name, const std::string &text,
                                    bool may_be_none)
{
    const size_t slash = text.find('/');
    const std::string output = text.substr(0, slash);
    const std::string first = slash == std::string::npos ? "" : text.substr(slash + 1);
    const bool has_empty_part = output.empty() || (slash != std::string::npos && first.empty());
    const std::vector<StateInput> states = states_in(first, may_be_none);
    if (has_empty_part || states.empty())
        refuse(name, text);
    std::vector<Constant> choices;
    for (StateInput state : states) {
        state.output = output;
        choices.push_back({.name = name, .kind = Constant::Kind::state, .state = state});
    }
    return choices;
}

std::string in_words(const StateInput &state)
{
    if (state.output.empty())
        return "";
    const char *first = state.first == First::none    ? "none"
                        : state.first == First::frame ? "frame"
                                                      : "zeros";
    return concat(" ", state.output, " ", first, " ", state.channels, "x",
                  std::to_string(state.scale));
}

at::Tensor first_value(const Constant &constant, const at::Tensor &pictures,
                       const at::TensorOptions &options)
{
    const StateInput &state = constant.state;
    if (state.first == First::none)
        return {};
    const auto scaled = [&](int64_t extent) {
        return std::max<int64_t>(
            1, static_cast<int64_t>(static_cast<double>(extent) * state.scale + 0.5));
    };
    const int64_t height = scaled(pictures.size(2)), width = scaled(pictures.size(3));
    if (state.first == First::frame)
        return at::upsample_bilinear2d(pictures.to(options.device()), {height, width}, false)
            .to(options.dtype().toScalarType())
            .contiguous();
    const int64_t channels = state.channels > 0 ? state.channels : pictures.size(1);
    return at::zeros({pictures.size(0), channels, height, width}, options);
}

NamedTensors next_states(const c10::IValue &returned, const Source &source,
                         const NamedTensors &before, const at::Tensor &images, Absent absent)
{
    NamedTensors states;
    if (!source.has_states())
        return states;
    const std::vector<ReturnedTensor> tensors = tensors_in(returned);
    for (const Constant &constant : source.binding.constants) {
        if (constant.kind != Constant::Kind::state)
            continue;
        const ReturnedTensor *const found = find_state(tensors, constant, absent);
        if (!found)
            continue;
        expect_dense(constant, found->tensor);
        expect_alike(constant, before, found->tensor);
        states[constant.name] = own_copy(found->tensor, images);
    }
    return states;
}

} // namespace engine_torch
