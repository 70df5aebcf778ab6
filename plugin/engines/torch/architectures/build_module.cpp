// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "build_module.h"

#include "base/compose.h"
#include "element_types.h"

#include <algorithm>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/isfinite.h>
#include <cctype>
#include <cstdint>
#include <string>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

// A class name must not contain punctuation: Real_CUGAN.
std::string class_of(std::string name)
{
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
}

// LibTorch needs aligned elements, but a file may have them anywhere.
char *aligned_bytes(const Weight &weight, std::string &aligned)
{
    if (reinterpret_cast<uintptr_t>(weight.bytes.data()) % bytes_of(weight.type) == 0)
        return const_cast<char *>(weight.bytes.data());
    aligned = weight.bytes;
    return aligned.data();
}

// Converts floats of any width to float32.  The result owns its memory.
at::Tensor tensor_of(const Weight &weight)
{
    std::string aligned;
    const at::Tensor view =
        at::from_blob(aligned_bytes(weight, aligned), weight.shape, weight.strides,
                      at::TensorOptions().dtype(scalar_type(weight.type)));
    const auto type = view.is_floating_point() ? c10::kFloat : c10::kLong;
    return at::empty(view.sizes(), at::TensorOptions().dtype(type)).copy_(view);
}

void expect_floats(const at::Tensor &tensor, const std::string &name)
{
    if (!tensor.is_floating_point())
        throw WeightFault(concat("has ", name,
                                 " as whole numbers, which no network that is known here computes "
                                 "with; use the file from before it was quantised"));
}

void expect_finite(const at::Tensor &tensor, const std::string &name)
{
    if (!at::isfinite(tensor).all().item<bool>())
        throw WeightFault(concat("has weights that are no finite numbers (", name,
                                 "): its training failed, or the file is damaged"));
}

template <class Number>
at::Tensor copy_of(std::vector<Number> values, const std::vector<int64_t> &shape)
{
    return at::from_blob(values.data(), shape, at::TensorOptions().dtype<Number>()).clone();
}

at::Tensor tensor_of(const NetTensor &tensor, const Weights &weights)
{
    if (!tensor.weight.empty()) {
        at::Tensor result = tensor_of(weights.at(tensor.weight));
        expect_floats(result, tensor.weight);
        expect_finite(result, tensor.weight);
        return result;
    }
    return tensor.indices.empty() ? copy_of(tensor.numbers, tensor.shape)
                                  : copy_of(tensor.indices, tensor.shape);
}

} // namespace

torch::jit::Module build_module(const Blueprint &blueprint, const Weights &weights,
                                const c10::Device &device, const torch::jit::ResolverPtr &names)
{
    torch::jit::Module module(concat("__torch__.", class_of(blueprint.architecture)));
    for (const NetTensor &tensor : blueprint.tensors) {
        const at::Tensor result = tensor_of(tensor, weights).to(device);
        if (tensor.weight.empty())
            module.register_buffer(tensor.attribute, result);
        else
            module.register_parameter(tensor.attribute, result, false);
    }
    module.define(blueprint.source, names);
    return module;
}

} // namespace engine_torch
