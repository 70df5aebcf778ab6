// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "convolution.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <variant>

namespace engine_torch::fused
{
namespace
{

using dnnl::algorithm;
using dnnl::memory;
using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;

Type source_type(const ConvolutionSizes &sizes)
{
    return sizes.is_int8 ? Type::u8 : type_of(sizes.precision);
}

Type weights_type(const ConvolutionSizes &sizes)
{
    return sizes.is_int8 ? Type::s8 : type_of(sizes.precision);
}

Type result_type(const ConvolutionSizes &sizes)
{
    return sizes.is_int8 ? Type::s32 : type_of(sizes.precision);
}

bool append_activation(dnnl::post_ops &steps, const Activation &step)
{
    const auto append = [&](algorithm kind, float alpha, float beta) {
        append_eltwise(steps, kind, alpha, beta);
        return true;
    };
    switch (step.kind) {
    case ActivationKind::relu:
        return append(algorithm::eltwise_relu, 0, 0);
    case ActivationKind::leaky_relu:
        return append(algorithm::eltwise_relu, step.alpha, 0);
    case ActivationKind::elu:
        return append(algorithm::eltwise_elu, step.alpha, 0);
    case ActivationKind::gelu_erf:
        return append(algorithm::eltwise_gelu_erf, 0, 0);
    case ActivationKind::gelu_tanh:
        return append(algorithm::eltwise_gelu_tanh, 0, 0);
    case ActivationKind::silu:
        return append(algorithm::eltwise_swish, 1, 0);
    case ActivationKind::tanh:
        return append(algorithm::eltwise_tanh, 0, 0);
    case ActivationKind::sigmoid:
        return append(algorithm::eltwise_logistic, 0, 0);
    case ActivationKind::clamp:
        return append(algorithm::eltwise_clip, step.alpha, step.beta);
    default: // oneDNN 2 and 3 differ in these
        return false;
    }
}

bool append_binary(dnnl::post_ops &steps, const BinaryWith &step, const memory::desc &operand)
{
    if (step.kind == BinaryKind::subtract && step.reversed)
        return false;
    const algorithm kind = step.kind == BinaryKind::add        ? algorithm::binary_add
                           : step.kind == BinaryKind::multiply ? algorithm::binary_mul
                                                               : algorithm::binary_sub;
    steps.append_binary(kind, operand);
    return true;
}

// Reference code is slow.  oneDNN 2.6's products of matrices were seen to be wrong where another
// tensor is added to them, and their bits depend on the number of rows.  Its 1x1 kernels in bf16
// were also seen to be wrong, if channels do not fill a block.
bool is_trusted(const std::string &implementation, bool takes_operands)
{
    const auto is_of = [&](const char *kind) {
        return implementation.find(kind) != std::string::npos;
    };
    return !implementation.starts_with("ref") && !is_of("gemm") &&
           !(takes_operands && is_of("1x1"));
}

memory filled(const memory::desc &desc, const std::vector<float> &with)
{
    memory made(desc, cpu_engine());
    std::memcpy(made.get_data_handle(), with.data(), with.size() * sizeof(float));
    return made;
}

} // namespace

PackedConvolution::PackedConvolution(const Stage &stage, const ConvolutionSizes &sizes,
                                     size_t fused_steps)
    : convolution_(std::get<Convolution>(stage.core)), sizes_(sizes),
      fused_(stage.tail.begin(), stage.tail.begin() + static_cast<ptrdiff_t>(fused_steps))
{
    keep_bias_and_slopes();
}

std::shared_ptr<PackedConvolution> PackedConvolution::make(const Stage &stage,
                                                           const ConvolutionSizes &sizes,
                                                           size_t fused_steps,
                                                           const PackedConvolution *like)
{
    const OneThread one_thread;
    std::shared_ptr<PackedConvolution> made(new PackedConvolution(stage, sizes, fused_steps));
    if (like)
        made->packed_ = like->packed_;
    auto call = made->find(1);
    if (!call)
        return nullptr;
    made->calls_.emplace(1, std::move(*call));
    return made;
}

void PackedConvolution::prepare(int64_t rows)
{
    if (calls_.contains(rows))
        return;
    const OneThread one_thread;
    auto call = find(rows);
    if (!call)
        throw GraphError("oneDNN has no convolution for " + std::to_string(rows) + " rows");
    calls_.emplace(rows, std::move(*call));
}

std::optional<ConvolutionCall> PackedConvolution::find(int64_t rows)
{
    const ConvolutionDescription sought = description(rows);
    ConvolutionCall call;
    dnnl::post_ops steps;
    if (!append_steps(steps, sought.result, call.operands))
        return std::nullopt;
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(steps);
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const auto found = find_convolution(sought, attributes);
    if (!found || !is_trusted(found->impl_info_str(), !call.operands.empty()))
        return std::nullopt;
    call.primitive = dnnl::convolution_forward(*found);
    call.source = sought.source;
    call.result = sought.result;
    call.weights = pack(found->weights_desc());
    call.scratch_bytes = found->scratchpad_desc().get_size();
    call.implementation = found->impl_info_str();
    return call;
}

ConvolutionDescription PackedConvolution::description(int64_t rows) const
{
    const Convolution &it = core();
    const int64_t reach = it.dilation.x * (it.kernel.x - 1) + 1;
    const int64_t right =
        (sizes_.out_width - 1) * it.stride.x + reach - sizes_.in_width - it.padding.x;
    return {.source = source_of(rows),
            .weights = weights_of(Tag::any, weights_type(sizes_)),
            .bias = sizes_.is_int8 ? memory::desc()
                                   : memory::desc({it.out_channels}, Type::f32, Tag::x),
            .result = memory::desc({1, it.out_channels, rows, sizes_.out_width},
                                   result_type(sizes_), Tag::nhwc),
            .strides = {it.stride.y, it.stride.x},
            .dilations = {it.dilation.y - 1, it.dilation.x - 1},
            .padding_before = {0, it.padding.x},
            .padding_after = {0, std::max<int64_t>(0, right)}};
}

memory::desc PackedConvolution::source_of(int64_t rows) const
{
    const Convolution &it = core();
    const int64_t height = (rows - 1) * it.stride.y + it.dilation.y * (it.kernel.y - 1) + 1;
    return {{1, sizes_.in_channels, height, sizes_.in_width}, source_type(sizes_), Tag::nhwc};
}

memory::dims PackedConvolution::weight_sizes() const
{
    const Convolution &it = core();
    const int64_t in_each = sizes_.in_channels / it.groups;
    if (it.groups == 1)
        return {it.out_channels, in_each, it.kernel.y, it.kernel.x};
    return {it.groups, it.out_channels / it.groups, in_each, it.kernel.y, it.kernel.x};
}

memory::desc PackedConvolution::weights_of(Tag tag, Type type) const
{
    if (tag != Tag::any)
        tag = core().groups == 1 ? Tag::oihw : Tag::goihw;
    return {weight_sizes(), type, tag};
}

bool PackedConvolution::append_steps(dnnl::post_ops &steps, const memory::desc &result,
                                     std::vector<memory::desc> &operands) const
{
    for (const TailStep &step : fused_) {
        if (const auto *activation = std::get_if<Activation>(&step)) {
            if (!append_activation(steps, *activation))
                return false;
        } else if (const auto *binary = std::get_if<BinaryWith>(&step)) {
            if (!append_binary(steps, *binary, result))
                return false;
            operands.push_back(result);
        } else if (std::holds_alternative<Prelu>(step)) {
            steps.append_prelu(1 << 1);
        } else {
            return false;
        }
    }
    return true;
}

// All heights share one copy of the weights, unless oneDNN wants another order for one of them.
size_t PackedConvolution::pack(const memory::desc &wanted)
{
    for (size_t i = 0; i < packed_.size(); i++)
        if (packed_[i].get_desc() == wanted)
            return i;
    memory from = packed_.empty() ? filled(weights_of(Tag::oihw, Type::f32), core().weights.copy())
                                  : packed_.front();
    memory packed(wanted, cpu_engine());
    dnnl::stream stream(cpu_engine());
    dnnl::reorder(from, packed).execute(stream, from, packed);
    stream.wait();
    packed_.push_back(packed);
    convolution_.weights = {}; // never needed again
    return packed_.size() - 1;
}

void PackedConvolution::keep_bias_and_slopes()
{
    if (sizes_.is_int8)
        return;
    std::vector<float> bias = core().bias;
    bias.resize(static_cast<size_t>(core().out_channels));
    bias_ = filled({{core().out_channels}, Type::f32, Tag::x}, bias);
    for (const TailStep &step : fused_)
        if (const auto *prelu = std::get_if<Prelu>(&step)) {
            std::vector<float> slopes = prelu->slopes;
            slopes_.push_back(
                filled({{1, core().out_channels, 1, 1}, Type::f32, Tag::nchw}, slopes));
        }
}

bool PackedConvolution::hides_nan() const
{
    return std::ranges::any_of(
        fused_, [](const TailStep &step) { return !std::holds_alternative<BinaryWith>(step); });
}

size_t PackedConvolution::weight_bytes() const
{
    return std::accumulate(
        packed_.begin(), packed_.end(), size_t{0},
        [](size_t sum, const memory &it) { return sum + it.get_desc().get_size(); });
}

size_t PackedConvolution::scratch_bytes() const
{
    size_t most = 0;
    for (const auto &[rows, call] : calls_)
        most = std::max(most, call.scratch_bytes);
    return most;
}

ConvolutionRunner::ConvolutionRunner(const PackedConvolution &packed)
{
    for (const auto &[rows, call] : packed.calls())
        bound_.emplace(rows, bind(packed, call));
}

ConvolutionRunner::Bound ConvolutionRunner::bind(const PackedConvolution &packed,
                                                 const ConvolutionCall &call) const
{
    const dnnl::engine &engine = cpu_engine();
    Bound bound = {.primitive = call.primitive.get(),
                   .source = memory(call.source, engine, nullptr),
                   .result = memory(call.result, engine, nullptr),
                   .scratch = {},
                   .operands = {},
                   .arguments = {}};
    const auto pass = [&](int argument, const memory &it) {
        bound.arguments.push_back({argument, it.get()});
    };
    pass(DNNL_ARG_SRC, bound.source);
    pass(DNNL_ARG_DST, bound.result);
    pass(DNNL_ARG_WEIGHTS, packed.weights(call));
    if (packed.bias())
        pass(DNNL_ARG_BIAS, packed.bias());
    if (call.scratch_bytes) {
        const memory::desc bytes({static_cast<int64_t>(call.scratch_bytes)}, Type::u8, Tag::x);
        bound.scratch = memory(bytes, engine, nullptr);
        pass(DNNL_ARG_SCRATCHPAD, bound.scratch);
    }
    size_t slopes = 0;
    int place = 0;
    for (const TailStep &step : packed.steps()) {
        const int argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(place++);
        if (std::holds_alternative<Prelu>(step)) {
            pass(argument | DNNL_ARG_WEIGHTS, packed.slopes()[slopes++]);
        } else if (std::holds_alternative<BinaryWith>(step)) {
            const memory::desc &desc = call.operands[bound.operands.size()];
            bound.operands.emplace_back(desc, engine, nullptr);
            pass(argument | DNNL_ARG_SRC_1, bound.operands.back());
        }
    }
    return bound;
}

void ConvolutionRunner::run(dnnl::stream &stream, int64_t rows, const void *source, void *result,
                            std::span<const void *const> operands, void *scratch)
{
    Bound &bound = bound_.at(rows);
    // The C functions, because those of C++ make a vector for each call.
    bound.source.set_data_handle(const_cast<void *>(source));
    bound.result.set_data_handle(result);
    for (size_t i = 0; i < operands.size(); i++)
        bound.operands[i].set_data_handle(const_cast<void *>(operands[i]));
    if (bound.scratch)
        bound.scratch.set_data_handle(scratch);
    const auto count = static_cast<int>(bound.arguments.size());
    dnnl::error::wrap_c_api(
        dnnl_primitive_execute(bound.primitive, stream.get(), count, bound.arguments.data()),
        "oneDNN could not run a convolution");
}

} // namespace engine_torch::fused
