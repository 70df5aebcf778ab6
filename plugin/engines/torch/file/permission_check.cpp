// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "permission_check.h"

#include "engines/torch/program/graph_checks.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/custom_class.h>

namespace engine_torch
{
namespace
{

using torch::jit::Module;
using torch::jit::Node;
using torch::jit::Value;
using Names = std::vector<std::string>;

void add_new(Names &names, const std::string &name)
{
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
}

constexpr std::string_view root = "__torch__.", custom_classes = "torch.classes.";

std::string refused_class(const Value &value, const Permissions &permissions)
{
    const auto type = value.type()->cast<c10::ClassType>();
    if (!type || !type->name())
        return "";
    const std::string whole = type->name()->qualifiedName();
    if (whole.compare(0, root.size(), root) != 0 ||
        whole.compare(root.size(), custom_classes.size(), custom_classes) != 0)
        return "";
    const std::string name = whole.substr(root.size());
    return permissions.has_class(name) ? "" : name;
}

// PyTorch writes such a cast when it knows more than the type: from an optional or a union to one
// of its types.  From a type to a union of it there is nothing to know (torch.norm has one).
bool is_sound_cast(const Node &node)
{
    const c10::Type &from = *node.input(0)->type(), &to = *node.output()->type();
    return to.isSubtypeOf(from) || from.isSubtypeOf(to);
}

std::string refused_in(const Node &node, const Permissions &permissions)
{
    std::string name = node.kind().toQualString();
    if (!permissions.has_node(name))
        return name;
    if (node.kind() == c10::prim::unchecked_cast && !is_sound_cast(node))
        return name;
    for (const Value *output : node.outputs())
        if (std::string type = refused_class(*output, permissions); !type.empty())
            return type;
    return "";
}

// True for names that LibTorch has no table of, and for torchvision, which is only loaded for
// models that need it.
bool may_be_known(std::string_view name)
{
    return name == loading_code || name == compiled_code ||
           name.substr(0, name.find("::")) == "prim" ||
           name.substr(0, name.find("::")) == "torchvision";
}

bool is_class(const std::string &name)
{
    return name.compare(0, custom_classes.size(), custom_classes) == 0 &&
           torch::getCustomClass(std::string(root) + name);
}

// Whether an operator has that name or, if the name ends with a star, begins with it.
bool is_operator(std::string_view name)
{
    const bool is_space = !name.empty() && name.back() == '*';
    const std::string_view begin = name.substr(0, name.size() - is_space);
    const auto &all = torch::jit::getAllOperators();
    return std::any_of(all.begin(), all.end(), [&](const auto &one) {
        const std::string &known = one->schema().name();
        return is_space ? known.compare(0, begin.size(), begin) == 0 : known == name;
    });
}

c10::Symbol zeros_for(c10::Symbol kind)
{
    if (kind == c10::aten::empty)
        return c10::aten::zeros;
    return kind == c10::aten::empty_like ? c10::aten::zeros_like : c10::aten::new_zeros;
}

// The arguments are the same and in the same order, except the memory format of empty().
void replace_by_zeros(Node *node)
{
    const bool has_format = node->kind() == c10::aten::empty;
    Node *zeros = node->owningGraph()->create(zeros_for(node->kind()));
    for (size_t i = 0; i + has_format < node->inputs().size(); i++)
        zeros->addInput(node->input(i));
    zeros->insertBefore(node);
    zeros->output()->copyMetadata(node->output());
    node->output()->replaceAllUsesWith(zeros->output());
    node->destroy();
}

} // namespace

Names find_refused(const SourceFacts &facts, const Permissions &permissions)
{
    Names names;
    for (const std::string &name : facts.operators)
        if (!permissions.has_operator(name))
            add_new(names, name);
    for (const std::string &name : facts.classes)
        if (!permissions.has_class(name))
            add_new(names, name);
    return names;
}

bool runs_while_loading(const SourceFacts &facts, const Permissions &permissions)
{
    return facts.runs_while_loading && !permissions.is_allowed(loading_code);
}

Names find_refused(const Module &module, const Permissions &permissions)
{
    Names names;
    visit_nodes(module, [&](const Node &node) { add_new(names, refused_in(node, permissions)); });
    return names;
}

Names find_unknown(const Permissions &permissions)
{
    Names names;
    for (const std::string &name : permissions.allowed())
        if (!may_be_known(name) && !is_class(name) && !is_operator(name))
            names.push_back(name_to_allow(name));
    return names;
}

void clear_raw_memory(const Module &module)
{
    for (Node *node : nodes_to_change(module))
        if (gives_raw_memory(node->kind().toQualString()))
            replace_by_zeros(node);
}

} // namespace engine_torch
