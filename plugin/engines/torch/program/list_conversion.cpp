// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "list_conversion.h"

#include "sound_arguments.h"

#include <algorithm>
#include <torch/csrc/jit/ir/constants.h>

namespace engine_torch
{
namespace
{

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

bool is_true(const Value *value)
{
    const auto constant = torch::jit::toIValue(value);
    return constant && constant->isBool() && constant->toBool();
}

bool is_operator(const Node &node, const char *name)
{
    return node.kind() == c10::Symbol::fromQualString(name);
}

// Returns the only node that appends to the stored list, if the list begins empty and has no other
// use; otherwise null.
const Node *only_append(const Node &set)
{
    const Value *list = set.input(1);
    if (list->node()->kind() != c10::prim::ListConstruct || !list->node()->inputs().empty())
        return nullptr;
    const Node *append = nullptr;
    for (const auto &use : list->uses()) {
        const bool appends = is_operator(*use.user, "aten::append") && use.offset == 0;
        if (use.user != &set && (!appends || append))
            return nullptr;
        if (appends)
            append = use.user;
    }
    return append;
}

// Whether the body only takes an element, converts it and appends it.  The type may pass through a
// guard.
bool only_converts(const Block &body)
{
    return std::all_of(body.nodes().begin(), body.nodes().end(), [](const Node *node) {
        return node->kind() == c10::prim::Constant || is_operator(*node, "aten::__getitem__") ||
               is_operator(*node, "aten::to") || is_operator(*node, "aten::append") ||
               is_operator(*node, sound_type);
    });
}

// Whether the loop visits the whole list, in order.
bool goes_through(const Node &loop, const Value *list)
{
    const Node &count = *loop.input(0)->node();
    return is_operator(count, "aten::len") && count.input(0) == list && is_true(loop.input(1)) &&
           is_true(loop.blocks().at(0)->outputs().at(0));
}

// Whether `list` is the previous value of the attribute.
bool is_attribute(const Value *list, const Node &set)
{
    const Node &read = *list->node();
    return read.kind() == c10::prim::GetAttr && read.input() == set.input(0) &&
           read.s(c10::attr::name) == set.s(c10::attr::name) &&
           read.owningBlock() == set.owningBlock();
}

} // namespace

const Node *conversion_of_elements(const Node &set)
{
    const Node *append = only_append(set);
    const Node *loop = append ? append->owningBlock()->owningNode() : nullptr;
    if (!loop || loop->kind() != c10::prim::Loop || loop->owningBlock() != set.owningBlock() ||
        !only_converts(*append->owningBlock()))
        return nullptr;
    const Node *conversion = append->input(1)->node();
    if (!is_operator(*conversion, "aten::to") || conversion->owningBlock() != append->owningBlock())
        return nullptr;
    const Node *element = conversion->input(0)->node();
    const bool is_own = is_operator(*element, "aten::__getitem__") &&
                        element->input(1) == append->owningBlock()->inputs().at(0) &&
                        is_attribute(element->input(0), set) &&
                        goes_through(*loop, element->input(0));
    return is_own ? conversion : nullptr;
}

} // namespace engine_torch
