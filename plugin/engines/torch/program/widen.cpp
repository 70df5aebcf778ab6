// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "widen.h"

#include "graph_checks.h"

#include <ATen/core/grad_mode.h>
#include <ATen/core/Tensor.h>
#include <cstdint>
#include <torch/csrc/jit/ir/constants.h>

namespace engine_torch
{
namespace
{

using torch::jit::Module;
using torch::jit::Node;
using torch::jit::Value;

bool is_half(const at::Tensor &tensor)
{
    return tensor.defined() && tensor.scalar_type() == at::kHalf;
}

bool has_half_weights(const Module &module)
{
    for (const at::Tensor &parameter : module.parameters())
        if (is_half(parameter))
            return true;
    for (const at::Tensor &tensor : tensors_in_code(module))
        if (is_half(tensor) && tensor.numel() > 1)
            return true;
    return false;
}

void widen(at::Tensor tensor)
{
    if (is_half(tensor))
        tensor.set_data(tensor.to(at::kFloat));
}

void widen_constant(Node &node)
{
    if (node.kind() != c10::prim::Constant || !node.hasAttribute(c10::attr::value) ||
        node.kindOf(c10::attr::value) != torch::jit::AttributeKind::t ||
        !is_half(node.t(c10::attr::value)))
        return;
    const at::Tensor wide = node.t(c10::attr::value).to(at::kFloat);
    node.t_(c10::attr::value, wide);
    node.output()->inferTypeFrom(wide);
}

// "x.half()" and "torch.zeros(..., dtype=torch.float16)" have the type as an argument.
void widen_conversion(Node &node)
{
    const auto *const schema = node.maybeSchema();
    if (!schema)
        return;
    const auto place = schema->argumentIndexWithName("dtype");
    if (!place || static_cast<size_t>(*place) >= node.inputs().size())
        return;
    const auto index = static_cast<size_t>(*place);
    const auto type = torch::jit::toIValue(node.input(index));
    if (!type || !type->isInt() || type->toInt() != static_cast<int64_t>(at::kHalf))
        return;
    const torch::jit::WithInsertPoint before(&node);
    node.replaceInput(index, node.owningGraph()->insertConstant(static_cast<int64_t>(at::kFloat)));
}

} // namespace

void widen_halves(const Module &module)
{
    if (!has_half_weights(module))
        return;
    const at::NoGradGuard no_gradients;
    for (const at::Tensor &parameter : module.parameters())
        widen(parameter);
    for (const at::Tensor &buffer : module.buffers())
        widen(buffer);
    for (Node *node : nodes_to_change(module)) {
        widen_constant(*node);
        widen_conversion(*node);
    }
}

} // namespace engine_torch
