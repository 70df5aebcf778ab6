// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "node_arguments.h"

#include "sound_arguments.h"

#include <string_view>

namespace engine_torch
{
namespace
{

using torch::jit::Node;
using torch::jit::Value;

// Returns the list that a check of ours passes on unchanged, or null if the node is none of them.
const Value *list_checked_by(const Node &node)
{
    const std::string_view name = node.kind().toQualString();
    if (name == sound_padding || name == sound_dimensions)
        return node.input(0);
    return name == sound_sizes ? node.input(1) : nullptr;
}

// Follows the value through casts and checks, and through branches that are always taken.
const Value &origin(const KnownValues &known, const Value &value)
{
    const Node &node = *value.node();
    if (const Value *list = list_checked_by(node))
        return origin(known, *list);
    if (node.kind() == c10::prim::unchecked_cast ||
        node.kind() == c10::prim::unchecked_unwrap_optional)
        return origin(known, *node.input());
    if (node.kind() != c10::prim::If)
        return value;
    const auto truth = known.truth_of(node.input());
    return truth ? origin(known, *node.blocks().at(*truth ? 0 : 1)->outputs().at(value.offset()))
                 : value;
}

// Returns the elements of a list that the graph builds from values that are the same in every run.
std::optional<std::vector<c10::IValue>> elements(const KnownValues &known, const Value &value)
{
    const Node *list = builder_of_list(known, &value);
    if (!list)
        return std::nullopt;
    std::vector<c10::IValue> all;
    for (const Value *element : list->inputs()) {
        const auto one = known.value_of(element);
        if (!one)
            return std::nullopt;
        all.push_back(*one);
    }
    return all;
}

// Converts each element with `read`, which returns nullopt for an element of another type.
template <class Number, class Read>
std::optional<std::vector<Number>> all_read(const KnownValues &known, const Value &value,
                                            const Read &read)
{
    const auto found = elements(known, value);
    if (!found)
        return std::nullopt;
    std::vector<Number> all;
    for (const c10::IValue &element : *found) {
        const std::optional<Number> number = read(element);
        if (!number)
            return std::nullopt;
        all.push_back(*number);
    }
    return all;
}

std::optional<int64_t> whole_in(const c10::IValue &value)
{
    return value.isInt() ? std::optional(value.toInt()) : std::nullopt;
}

std::optional<double> fraction_in(const c10::IValue &value)
{
    return value.isScalar() ? std::optional(value.toScalar().toDouble()) : std::nullopt;
}

} // namespace

const Value *argument(const Node &node, const char *name)
{
    const c10::FunctionSchema *schema = node.maybeSchema();
    if (!schema)
        return nullptr;
    const auto index = schema->argumentIndexWithName(name);
    return index ? node.input(static_cast<size_t>(*index)) : nullptr;
}

const Node *builder_of_list(const KnownValues &known, const Value *list)
{
    const Node *builder = list ? origin(known, *list).node() : nullptr;
    return builder && builder->kind() == c10::prim::ListConstruct ? builder : nullptr;
}

std::optional<std::vector<int64_t>> numbers(const KnownValues &known, const Value *value)
{
    if (!value)
        return std::nullopt;
    if (const auto one = known.value_of(&origin(known, *value))) {
        if (one->isInt())
            return std::vector<int64_t>{one->toInt()};
        return one->isIntList() ? std::optional(one->toIntVector()) : std::nullopt;
    }
    return all_read<int64_t>(known, *value, whole_in);
}

std::optional<std::vector<double>> fractions(const KnownValues &known, const Value *value)
{
    if (!value)
        return std::nullopt;
    if (const auto one = known.value_of(value)) {
        if (one->isScalar())
            return std::vector<double>{one->toScalar().toDouble()};
        return one->isDoubleList() ? std::optional(one->toDoubleVector()) : std::nullopt;
    }
    return all_read<double>(known, *value, fraction_in);
}

} // namespace engine_torch
