// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "known_values.h"

#include "graph_checks.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/runtime/operator.h>

namespace engine_torch
{
namespace
{

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

// A chain of more values is that of no published model, and may be longer than the stack.
constexpr int most_deep = 1000;

// The operators in conditions and in sizes of kernels.
constexpr std::array<std::string_view, 18> simple_operators = {
    "aten::__is__", "aten::__isnot__", "aten::__not__", "aten::__and__", "aten::__or__",
    "aten::eq",     "aten::ne",        "aten::lt",      "aten::le",      "aten::gt",
    "aten::ge",     "aten::len",       "aten::Bool",    "aten::add",     "aten::sub",
    "aten::mul",    "aten::neg",       "aten::floordiv"};

void collect_set_attributes(const Block &block, std::map<std::string, std::optional<bool>> &names)
{
    for (const Node *node : nodes_in(block)) {
        if (node->kind() == c10::prim::SetAttr) {
            const auto flag = constant_flag(node->input(1));
            const auto [known, is_new] = names.emplace(node->s(c10::attr::name), flag);
            if (!is_new && known->second != flag)
                known->second = std::nullopt;
        }
        if (const auto body = outer_body_of(*node))
            collect_set_attributes(*body->block(), names);
    }
}

bool is_simple(const Node &node)
{
    const std::string_view name = node.kind().toQualString();
    return std::find(simple_operators.begin(), simple_operators.end(), name) !=
           simple_operators.end();
}

// Whether the node compares objects without reading samples.
bool tests_identity(const Node &node)
{
    const std::string_view name = node.kind().toQualString();
    return name == "aten::__is__" || name == "aten::__isnot__";
}

// Whether None is compared with a value whose type does not allow None.
bool is_never_none(const Node &node)
{
    const c10::TypePtr none = c10::NoneType::get();
    const auto is_at = [&](size_t input) {
        return node.input(input)->type()->kind() == c10::TypeKind::NoneType &&
               !none->isSubtypeOf(*node.input(1 - input)->type());
    };
    return is_at(0) || is_at(1);
}

} // namespace

std::optional<bool> constant_flag(const Value *value)
{
    const auto constant = torch::jit::toIValue(value);
    return constant && constant->isBool() ? std::optional(constant->toBool()) : std::nullopt;
}

KnownValues::KnownValues(const torch::jit::Module &module, const torch::jit::Graph &graph)
    : module_(module), self_(graph.inputs().at(0))
{
    collect_set_attributes(*graph.block(), set_);
}

// Computes each value only once, however many others depend on it.
std::optional<c10::IValue> KnownValues::value_of(const Value *value) const
{
    const auto seen = seen_.find(value);
    if (seen != seen_.end())
        return seen->second;
    if (depth_ == most_deep)
        return std::nullopt;
    depth_++;
    const auto value_found = found(value);
    depth_--;
    return seen_[value] = value_found;
}

std::optional<c10::IValue> KnownValues::found(const Value *value) const
{
    if (value == self_)
        return c10::IValue(module_._ivalue());
    const Node &node = *value->node();
    switch (node.kind()) {
    case c10::prim::Constant:
        if (const auto constant = torch::jit::toIValue(value))
            return *constant;
        return std::nullopt;
    case c10::prim::GetAttr:
        return attribute(node);
    case c10::prim::If:
        return chosen(node, value->offset());
    case c10::prim::unchecked_cast:
        return value_of(node.input());
    default:
        return is_simple(node) ? computed(node) : std::nullopt;
    }
}

std::optional<bool> KnownValues::truth_of(const Value *value) const
{
    const auto known = value_of(value);
    return known && known->isBool() ? std::optional(known->toBool()) : std::nullopt;
}

bool KnownValues::may_be_parameter(const Node &get_attribute) const
{
    const auto object = value_of(get_attribute.input());
    if (!object || !object->isObject())
        return true;
    const auto &type = object->toObjectRef().type();
    const auto slot = type->findAttributeSlot(get_attribute.s(c10::attr::name));
    return !slot || (type->is_module() && type->is_parameter(*slot));
}

std::optional<c10::IValue> KnownValues::attribute(const Node &node) const
{
    const std::string &name = node.s(c10::attr::name);
    const auto object = value_of(node.input());
    if (!object || !object->isObject())
        return std::nullopt;
    const auto slot = object->toObjectRef().type()->findAttributeSlot(name);
    if (!slot)
        return std::nullopt;
    const c10::IValue &value = object->toObjectRef().getSlot(*slot);
    const auto set = set_.find(name);
    const bool stays =
        set == set_.end() || (set->second && value.isBool() && value.toBool() == *set->second);
    return stays ? std::optional(value) : std::nullopt;
}

// Tensors may be written to, so a value read from one is never known.
std::optional<c10::IValue> KnownValues::computed(const Node &node) const
{
    if (tests_identity(node) && is_never_none(node))
        return c10::IValue(std::string_view(node.kind().toQualString()) == "aten::__isnot__");
    torch::jit::Stack stack;
    for (const Value *input : node.inputs()) {
        const auto known = value_of(input);
        const bool is_plain = known && (known->isScalar() || known->isBool() || known->isString() ||
                                        known->isNone() || tests_identity(node));
        if (!is_plain)
            return std::nullopt;
        stack.push_back(*known);
    }
    try {
        node.getOperation()(stack);
    } catch (const std::exception &) {
        return std::nullopt;
    }
    return stack.size() == 1 ? std::optional(stack.front()) : std::nullopt;
}

std::optional<c10::IValue> KnownValues::chosen(const Node &node, size_t output) const
{
    const auto condition = truth_of(node.input());
    if (condition)
        return value_of(node.blocks().at(*condition ? 0 : 1)->outputs().at(output));
    const auto yes = value_of(node.blocks().at(0)->outputs().at(output));
    const auto no = value_of(node.blocks().at(1)->outputs().at(output));
    const bool is_same =
        yes && no && yes->isBool() && no->isBool() && yes->toBool() == no->toBool();
    return is_same ? yes : std::nullopt;
}

} // namespace engine_torch
