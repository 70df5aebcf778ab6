// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "variants.h"

#include "base/compose.h"
#include "engine_kit/fork_safety.h"
#include "engines/torch/failure.h"
#include "engines/torch/fusing/fuse.h"
#include "engines/torch/machine/blas.h"
#include "engines/torch/machine/device.h"
#include "engines/torch/machine/random_scope.h"
#include "engines/torch/machine/run_scope.h"
#include "forks.h"
#include "graph_checks.h"
#include "rewrites.h"
#include "states.h"

#include <algorithm>
#include <array>
#include <ATen/core/grad_mode.h>
#include <ATen/core/Tensor.h>
#include <ATen/Parallel.h>
#include <functional>
#include <mutex>
#include <torch/csrc/jit/passes/inliner.h>

namespace engine_torch
{
namespace
{

using torch::jit::Block;
using torch::jit::Module;
using torch::jit::Node;

constexpr std::array<VariantKind, 5> kinds = {VariantKind::saved, VariantKind::frozen,
                                              VariantKind::channels_last, VariantKind::inference,
                                              VariantKind::fused};

using Change = std::function<at::Tensor(const at::Tensor &)>;

bool is_tensor_constant(const Node &node)
{
    return node.kind() == c10::prim::Constant && node.hasAttribute(c10::attr::value) &&
           node.kindOf(c10::attr::value) == torch::jit::AttributeKind::t;
}

void change_constants(Block &block, const Change &change)
{
    for (Node *node : nodes_in(block))
        if (is_tensor_constant(*node)) {
            const at::Tensor changed = change(node->t(c10::attr::value));
            node->t_(c10::attr::value, changed);
            node->output()->inferTypeFrom(changed);
        }
}

// Tensors of rank 0 do not decide the type of a result, so they can stay exact.
at::Tensor converted(const at::Tensor &tensor, at::ScalarType type)
{
    return tensor.scalar_type() == at::kFloat && tensor.dim() > 0 ? tensor.to(type) : tensor;
}

at::Tensor with_channels_last(const at::Tensor &tensor)
{
    return tensor.dim() == 4 && tensor.layout() == at::kStrided
               ? tensor.contiguous(at::MemoryFormat::ChannelsLast)
               : tensor;
}

// Held while a copy is made: LibTorch names its type in a table that all copies of a model share.
std::mutex cloning;

// Returns a copy with a graph of its own, which shares the weights.
Module with_own_graph(const Module &frozen)
{
    [[maybe_unused]] static const bool once = (keep_over_fork<cloning>(), true);
    const std::lock_guard<std::mutex> lock(cloning);
    return frozen.clone(true);
}

// Returns a copy with a graph of its own.
Module with_constants(const Module &frozen, const Change &change)
{
    Module copy = with_own_graph(frozen);
    change_constants(*copy.get_method("forward").graph()->block(), change);
    return copy;
}

// Does not use Module::to(), which would also convert integers such as indices.
Module with_parameters(const Module &plain, at::ScalarType type)
{
    Module copy = plain.deepcopy();
    const auto convert = [type](const at::Tensor &tensor) {
        tensor.set_data(converted(tensor, type));
    };
    for (const at::Tensor &parameter : copy.parameters())
        convert(parameter);
    for (const at::Tensor &buffer : copy.buffers())
        convert(buffer);
    return copy;
}

Module frozen_in(const Source &source, Precision precision)
{
    if (!source.frozen)
        throw Failure(DNN_TORCH_BAD_MODEL, "the model cannot be frozen");
    if (!is_half(precision))
        return *source.frozen;
    return with_constants(*source.frozen, [type = scalar_type_of(precision)](const auto &tensor) {
        return converted(tensor, type);
    });
}

Module module_of(const Source &source, VariantKind kind, Precision precision)
{
    const at::NoGradGuard no_gradients;
    if (kind == VariantKind::saved)
        return is_half(precision) ? with_parameters(source.plain, scalar_type_of(precision))
                                  : source.plain;
    const Module frozen = frozen_in(source, precision);
    if (precision == Precision::bf16 && source.device.is_cpu())
        interpolate_in_floats(frozen);
    if (kind == VariantKind::channels_last)
        return with_constants(frozen, with_channels_last);
    if (kind == VariantKind::frozen)
        return frozen;
    // optimize_for_inference() changes the graph that it gets.
    Module copy = with_own_graph(frozen);
    return torch::jit::optimize_for_inference(copy);
}

FusedNumbers numbers_of(Precision precision)
{
    if (precision == Precision::int8)
        return FusedNumbers::int8;
    return precision == Precision::bf16 ? FusedNumbers::bf16 : FusedNumbers::fp32;
}

Variant fused_form(const Source &source, Precision precision, int64_t channels)
{
    const bool is_slow =
        precision == Precision::fp16 || (precision == Precision::bf16 && !computes_bf16_fast());
    if (!can_fuse())
        throw Failure(DNN_TORCH_BAD_MODEL, "this engine was built without oneDNN");
    if (!source.device.is_cpu() || !source.binding.is_plain() || is_slow)
        throw Failure(DNN_TORCH_BAD_MODEL, "fused programs are for frames as planes of floats, on "
                                           "processors that have the precision");
    const Module frozen = frozen_in(source, precision);
    auto fused = with_fused_programs(with_own_graph(frozen), source.input_name,
                                     source.binding.frame_channels(channels),
                                     {numbers_of(precision), source.weights_on_each_node});
    if (!fused)
        throw Failure(DNN_TORCH_BAD_MODEL, "it has no layers that fused programs know");
    if (precision == Precision::bf16) {
        interpolate_in_floats(frozen);
        interpolate_in_floats(*fused);
    }
    // int8 must not give other numbers with more threads.
    if (precision == Precision::int8)
        return {VariantKind::fused, precision, *fused};
    return {VariantKind::fused, precision, *fused,
            std::make_shared<const Variant>(Variant{VariantKind::frozen, precision, frozen})};
}

at::ScalarType type_of(Precision precision)
{
    return is_half(precision) ? scalar_type_of(precision) : at::kFloat;
}

// Returns a dense copy: a slice of the channels would have gaps between pictures.
at::Tensor channels_of(const at::Tensor &images, int64_t first, int64_t count)
{
    return images.size(1) == count ? images : images.narrow(1, first, count).contiguous();
}

at::Tensor input_of(const Variant &variant, const Source &source, const at::Tensor &images)
{
    if (!source.binding.is_plain()) {
        const at::Tensor input = bound(images, source.binding, source.device);
        return source.writes_input && input.is_alias_of(images) ? input.clone() : input;
    }
    const auto type = type_of(variant.precision);
    const auto layout = variant.kind == VariantKind::channels_last ? at::MemoryFormat::ChannelsLast
                                                                   : at::MemoryFormat::Contiguous;
    const at::Tensor input =
        images.to(at::TensorOptions(source.device).dtype(type), true, false, layout);
    return source.writes_input && input.is_alias_of(images) ? input.clone() : input;
}

// The type of the model's numbers, also if it takes integer pictures.
at::ScalarType number_type_of(const Variant &variant, const Source &source)
{
    const at::ScalarType type = source.binding.type;
    return at::isFloatingType(type) && type != at::kFloat ? type : type_of(variant.precision);
}

c10::IValue listed(const at::Tensor &pictures)
{
    c10::List<at::Tensor> list;
    for (int64_t i = 0; i < pictures.size(0); i++)
        list.push_back(pictures.select(0, i));
    return list;
}

c10::IValue value_of(const Variant &variant, const Source &source, const at::Tensor &images)
{
    const at::Tensor input = input_of(variant, source, images);
    return source.asked.as_list ? listed(input) : c10::IValue(input);
}

// A model may write to its arguments.
at::Tensor given_tensor(const at::Tensor &tensor, const Source &source)
{
    return source.writes_input ? tensor.clone() : tensor;
}

// For an argument that takes a number and no tensor.  A word stays what it is.
c10::IValue as_number(const Constant &constant, const at::Tensor &number)
{
    if (constant.value.isString())
        return constant.value;
    if (number.numel() != 1 || (number.dim() > 0 && !constant.changes))
        throw Failure(DNN_TORCH_BAD_INPUT, "the model takes one number as " + constant.name);
    const double given = number.item<double>();
    return constant.value.isInt() ? c10::IValue(static_cast<int64_t>(given)) : c10::IValue(given);
}

// What the caller gave for this run, or else what the option `inputs` says.
c10::IValue argument_of(const Constant &constant, const Variant &variant, const Source &source,
                        const at::Tensor &frames, const RunArguments &given)
{
    const at::ScalarType type = number_type_of(variant, source);
    if (const auto state = given.states.find(constant.name); state != given.states.end())
        return given_tensor(state->second.to(source.device), source);
    const auto found = given.values.find(constant.name);
    if (found == given.values.end())
        return value_of(constant, source.binding, frames, type, source.device);
    const at::Tensor &value = found->second;
    if (constant.kind == Constant::Kind::value || constant.kind == Constant::Kind::ratio)
        return as_number(constant, value);
    if (value.dim() == 0 || constant.changes)
        return value_of(constant, source.binding, frames, type, source.device, value);
    return value.to(source.device, constant.is_whole ? at::kLong : type, false, true);
}

torch::jit::Kwargs arguments_of(const Variant &variant, const Source &source,
                                const at::Tensor &images, const RunArguments &given)
{
    const Binding &binding = source.binding;
    int64_t next = binding.frame_channels(images.size(1));
    if (next < 1)
        throw Failure(DNN_TORCH_BAD_INPUT, "the input only has channels for the extra pictures");
    const at::Tensor frames = channels_of(images, 0, next);
    torch::jit::Kwargs arguments = {{source.input_name, value_of(variant, source, frames)}};
    for (const Constant &constant : binding.constants) {
        if (constant.kind != Constant::Kind::picture) {
            arguments[constant.name] = argument_of(constant, variant, source, frames, given);
            continue;
        }
        arguments[constant.name] =
            input_of(variant, source, channels_of(images, next, constant.channels));
        next += constant.channels;
    }
    return arguments;
}

} // namespace

const char *name_of(VariantKind kind)
{
    switch (kind) {
    case VariantKind::frozen:
        return "frozen";
    case VariantKind::channels_last:
        return "channels_last";
    case VariantKind::inference:
        return "inference";
    case VariantKind::fused:
        return "fused";
    default:
        return "saved";
    }
}

std::optional<VariantKind> find_variant(const std::string &name)
{
    for (const VariantKind kind : kinds)
        if (name == name_of(kind))
            return kind;
    return std::nullopt;
}

std::string variant_names()
{
    std::string names;
    for (const VariantKind kind : kinds)
        dnn_torch::add_to_list(names, name_of(kind));
    return names;
}

std::string Variant::text() const
{
    if (kind == VariantKind::saved)
        return precision == Precision::fp32 ? "as saved"
                                            : std::string(name_of(precision)) + ", as saved";
    return std::string(name_of(precision)) + ", " + name_of(kind);
}

std::string Variant::threaded_text() const
{
    return threaded ? threaded->text() + " (fused programs use one thread)" : "";
}

std::optional<Module> freeze(const Source &source, std::string &reason)
{
    if (source.forks) {
        reason = "it starts tasks (torch.jit.fork) and does not wait for each of them by itself";
        return std::nullopt;
    }
    try {
        // torch::jit::freeze() inlines methods and then frees those of its copy, but when an
        // operator fails, LibTorch still asks them for their names.  Code inlined before refers to
        // the methods of the plain module, which stay alive.
        torch::jit::Inline(*source.plain.get_method("forward").graph());
        return torch::jit::freeze(source.plain, c10::nullopt, !source.branches_on_data);
    } catch (const std::exception &error) {
        reason = words_of(error);
        return std::nullopt;
    }
}

bool Source::runs_alone() const
{
    return draws_random_numbers || (device.is_cpu() && blas_is_for_one_thread());
}

Variant make_variant(const Source &source, VariantKind kind, Precision precision, int64_t channels)
{
    if (precision == Precision::int8 && kind != VariantKind::fused)
        throw Failure(DNN_TORCH_BAD_MODEL, "int8 is only for fused programs");
    if (kind == VariantKind::fused)
        return fused_form(source, precision, channels);
    Variant variant = {kind, precision, module_of(source, kind, precision)};
    // Weights are converted on this thread's stream, but sessions read them on theirs.
    wait_for(source.device);
    return variant;
}

bool Source::has_numbers_for_one() const
{
    return std::any_of(binding.constants.begin(), binding.constants.end(), is_for_one);
}

bool Source::has_states() const
{
    return std::any_of(binding.constants.begin(), binding.constants.end(),
                       [](const auto &each) { return each.kind == Constant::Kind::state; });
}

c10::IValue run_as(const Variant &variant, const Source &source, const at::Tensor &images,
                   const RunArguments &given)
{
    if (variant.threaded && at::get_num_threads() > 1)
        return run_as(*variant.threaded, source, images, given);
    std::optional<RandomScope> seeded;
    if (source.draws_random_numbers)
        seeded.emplace(given.number, source.device);
    const RunScope scope(source.device);
    const auto arguments = arguments_of(variant, source, images, given);
    return source.forks ? run_forward(variant.module, arguments)
                        : variant.module.get_method("forward")({}, arguments);
}

c10::IValue run_for_trial(const Variant &variant, const Source &source, const at::Tensor &images)
{
    c10::IValue first = run_as(variant, source, images);
    if (!source.has_states())
        return first;
    const RunArguments next = {
        .number = 0, .states = next_states(first, source, {}, images), .values = {}};
    return c10::ivalue::Tuple::create({first, run_as(variant, source, images, next)});
}

} // namespace engine_torch
