// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "traced_numbers.h"

#include "graph_checks.h"

#include <algorithm>
#include <array>
#include <ATen/core/Tensor.h>
#include <optional>
#include <string_view>
#include <torch/csrc/jit/ir/constants.h>

namespace engine_torch
{
namespace
{

using torch::jit::Node;
using torch::jit::Value;

// Their second operand may be a tensor or, in another overload, a number.
constexpr std::array<std::string_view, 5> operators = {"aten::add", "aten::sub", "aten::mul",
                                                       "aten::div", "aten::floor_divide"};

bool takes_two_tensors(const Node &node)
{
    const std::string_view name = node.kind().toQualString();
    return std::find(operators.begin(), operators.end(), name) != operators.end() &&
           node.inputs().size() >= 2 &&
           node.input(0)->type()->isSubtypeOf(*c10::TensorType::get()) &&
           node.input(1)->type()->isSubtypeOf(*c10::TensorType::get());
}

// Numbers of Python have these types.  Tensors of other types were tensors in Python, too.
std::optional<at::Scalar> number_of(const Value &value)
{
    const auto constant = torch::jit::toIValue(&value);
    if (!constant || !constant->isTensor())
        return std::nullopt;
    const at::Tensor &tensor = constant->toTensor();
    const bool is_number =
        tensor.defined() && tensor.dim() == 0 &&
        (tensor.scalar_type() == at::kDouble || tensor.scalar_type() == at::kLong ||
         tensor.scalar_type() == at::kComplexDouble);
    return is_number ? std::optional(tensor.item()) : std::nullopt;
}

} // namespace

void restore_traced_numbers(const torch::jit::Module &module)
{
    for (Node *node : nodes_to_change(module)) {
        if (!takes_two_tensors(*node))
            continue;
        if (const auto number = number_of(*node->input(1))) {
            const torch::jit::WithInsertPoint before(node);
            node->replaceInput(1, node->owningGraph()->insertConstant(*number));
        }
    }
}

} // namespace engine_torch
