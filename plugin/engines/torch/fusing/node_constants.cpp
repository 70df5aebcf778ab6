// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "node_constants.h"

#include <algorithm>
#include <memory>
#include <torch/csrc/jit/ir/constants.h>

namespace engine_torch
{
namespace
{

using torch::jit::Value;

std::optional<c10::IValue> constant(const Value *value)
{
    if (!value || value->node()->kind() != c10::prim::Constant)
        return std::nullopt;
    const auto found = torch::jit::toIValue(value);
    return found ? std::optional<c10::IValue>(*found) : std::nullopt;
}

// Reads a constant list, or a list of constants.
std::optional<std::vector<c10::IValue>> list_constant(const Value *value)
{
    if (const auto known = constant(value))
        return known->isList() ? std::optional(known->toListRef().vec()) : std::nullopt;
    if (!value || value->node()->kind() != c10::prim::ListConstruct || !stays_as_made(value))
        return std::nullopt;
    std::vector<c10::IValue> items;
    for (const Value *item : value->node()->inputs()) {
        auto known = constant(item);
        if (!known)
            return std::nullopt;
        items.push_back(std::move(*known));
    }
    return items;
}

std::optional<double> number_in(const c10::IValue &value)
{
    if (value.isInt())
        return static_cast<double>(value.toInt());
    return value.isDouble() ? std::optional(value.toDouble()) : std::nullopt;
}

} // namespace

bool stays_as_made(const Value *list)
{
    return std::all_of(list->uses().begin(), list->uses().end(), [](const torch::jit::Use &use) {
        if (use.user->kind() == c10::prim::ListUnpack)
            return true;
        const auto *const schema = use.user->kind().is_aten() ? use.user->maybeSchema() : nullptr;
        if (!schema || use.offset >= schema->arguments().size())
            return false;
        const auto *const alias = schema->arguments()[use.offset].alias_info();
        return !alias || !alias->isWrite();
    });
}

bool is_none(const Value *value)
{
    const auto known = constant(value);
    return !value || (known && known->isNone());
}

std::optional<int64_t> whole_constant(const Value *value)
{
    const auto known = constant(value);
    return known && known->isInt() ? std::optional(known->toInt()) : std::nullopt;
}

std::optional<bool> truth_constant(const Value *value)
{
    const auto known = constant(value);
    return known && known->isBool() ? std::optional(known->toBool()) : std::nullopt;
}

std::optional<std::string> word_constant(const Value *value)
{
    const auto known = constant(value);
    return known && known->isString() ? std::optional(known->toStringRef()) : std::nullopt;
}

std::optional<std::vector<int64_t>> whole_list_constant(const Value *value)
{
    const auto items = list_constant(value);
    if (!items)
        return std::nullopt;
    std::vector<int64_t> numbers;
    for (const c10::IValue &item : *items) {
        if (!item.isInt())
            return std::nullopt;
        numbers.push_back(item.toInt());
    }
    return numbers;
}

std::optional<std::vector<double>> number_list_constant(const Value *value)
{
    const auto items = list_constant(value);
    if (!items)
        return std::nullopt;
    std::vector<double> numbers;
    for (const c10::IValue &item : *items) {
        const auto number = number_in(item);
        if (!number)
            return std::nullopt;
        numbers.push_back(*number);
    }
    return numbers;
}

std::optional<fused::Pair> pair_constant(const Value *value)
{
    const auto numbers = whole_list_constant(value);
    if (!numbers || numbers->empty() || numbers->size() > 2)
        return std::nullopt;
    return fused::Pair{numbers->front(), numbers->back()};
}

std::optional<double> number_constant(const Value *value)
{
    const auto known = constant(value);
    if (!known)
        return std::nullopt;
    if (!known->isTensor())
        return number_in(*known);
    const at::Tensor tensor = known->toTensor();
    const bool is_number =
        tensor.defined() && tensor.dim() == 0 && tensor.device().is_cpu() && !tensor.is_complex();
    return is_number ? std::optional(tensor.item().toDouble()) : std::nullopt;
}

std::optional<double> number_or(const Value *value, double otherwise)
{
    return is_none(value) ? otherwise : number_constant(value);
}

std::optional<at::Tensor> float_constant(const Value *value)
{
    const auto known = constant(value);
    if (!known || !known->isTensor())
        return std::nullopt;
    const at::Tensor tensor = known->toTensor();
    if (!tensor.defined() || !tensor.is_floating_point() || !tensor.device().is_cpu() ||
        tensor.layout() != at::kStrided || tensor.scalar_type() == at::kDouble)
        return std::nullopt;
    return tensor.to(at::kFloat).contiguous();
}

std::vector<float> numbers_of(const at::Tensor &tensor)
{
    const auto *const numbers = tensor.data_ptr<float>();
    return std::vector<float>(numbers, numbers + tensor.numel());
}

fused::Weights weights_in(const at::Tensor &tensor)
{
    const auto kept = std::make_shared<const at::Tensor>(tensor);
    return {{kept, tensor.data_ptr<float>()}, static_cast<size_t>(tensor.numel())};
}

std::optional<std::vector<float>> channel_constants(const Value *value,
                                                    std::optional<float> missing, int64_t channels)
{
    const auto count = static_cast<size_t>(channels);
    if (missing && is_none(value))
        return std::vector<float>(count, *missing);
    if (const auto number = number_constant(value))
        return std::vector<float>(count, static_cast<float>(*number));
    const auto tensor = float_constant(value);
    if (!tensor)
        return std::nullopt;
    std::vector<float> numbers = numbers_of(*tensor);
    if (numbers.size() == 1 && tensor->dim() <= 4)
        return std::vector<float>(count, numbers.front());
    const bool is_vector = missing && tensor->dim() == 1;
    const bool is_broadcast = (tensor->dim() == 3 || tensor->dim() == 4) &&
                              tensor->size(-3) == channels && numbers.size() == count;
    if (numbers.size() != count || !(is_vector || is_broadcast))
        return std::nullopt;
    return numbers;
}

} // namespace engine_torch
