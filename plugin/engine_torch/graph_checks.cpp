// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "graph_checks.h"

#include "denied.h"

#include <algorithm>
#include <caffe2/serialize/inline_container.h>
#include <functional>
#include <string_view>
#include <strings.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/passes/inliner.h>

namespace engine_torch
{
namespace
{

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Module;
using torch::jit::Node;
using torch::jit::Value;
using Visitor = std::function<void(const Node &)>;

// Fork and its like carry their body as a graph among the attributes.
void visit_subgraphs(const Node &node, const Visitor &visitor);

void visit(const Block &block, const Visitor &visitor)
{
    for (const Node *node : block.nodes()) {
        visitor(*node);
        for (const Block *inner : node->blocks())
            visit(*inner, visitor);
        visit_subgraphs(*node, visitor);
    }
}

void visit_subgraphs(const Node &node, const Visitor &visitor)
{
    for (const c10::Symbol name : node.attributeNames()) {
        if (node.kindOf(name) == torch::jit::AttributeKind::g)
            visit(*node.g(name)->block(), visitor);
        if (node.kindOf(name) == torch::jit::AttributeKind::gs)
            for (const std::shared_ptr<Graph> &graph : node.gs(name))
                visit(*graph->block(), visitor);
    }
}

std::string class_name(const Value &value)
{
    const auto type = value.type()->cast<c10::ClassType>();
    return type && type->name() ? type->name()->qualifiedName() : "";
}

std::string denied_in(const Node &node)
{
    const std::string name = node.kind().toQualString();
    if (is_denied_operator(name))
        return name;
    for (const Value *output : node.outputs())
        if (const std::string type = class_name(*output); is_denied_class(type))
            return type;
    return "";
}

void visit_functions(const Module &module, const Visitor &visitor)
{
    for (torch::jit::Function *function : module._ivalue()->compilation_unit()->get_functions()) {
        function->ensure_defined();
        visit(*torch::jit::toGraphFunction(*function).graph()->block(), visitor);
    }
}

void add_new(std::vector<std::string> &names, const std::string &name)
{
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
}

// The reader that LibTorch loads with takes any case for the same name.
bool is_source(std::string_view name)
{
    constexpr std::string_view extension = ".py";
    if (name.size() < extension.size())
        return false;
    name.remove_prefix(name.size() - extension.size());
    return strncasecmp(name.data(), extension.data(), extension.size()) == 0;
}

bool is_mutable(const Value &value)
{
    const c10::TypeKind kind = value.type()->kind();
    return kind == c10::TypeKind::TensorType || kind == c10::TypeKind::ListType ||
           kind == c10::TypeKind::DictType;
}

bool changes_attribute(const Node &node, const torch::jit::AliasDb &aliases)
{
    if (node.kind() == c10::prim::SetAttr)
        return true;
    return node.kind() == c10::prim::GetAttr && is_mutable(*node.output()) &&
           aliases.hasWriters(node.output());
}

} // namespace

std::vector<std::string> find_denied_operators(const Module &module)
{
    std::vector<std::string> found;
    visit_functions(module, [&](const Node &node) { add_new(found, denied_in(node)); });
    return found;
}

std::vector<std::string> find_denied_in_loading_code(const std::string &path)
{
    caffe2::serialize::PyTorchStreamReader archive(path);
    std::vector<std::string> found;
    bool runs_code = false;
    for (const std::string &name : archive.getAllRecords()) {
        if (!is_source(name))
            continue;
        const auto [data, size] = archive.getRecord(name);
        const std::string_view source(static_cast<const char *>(data.get()), size);
        runs_code = runs_code || source.find("__setstate__") != std::string_view::npos;
        add_new(found, denied_name_in_source(source));
    }
    return runs_code ? found : std::vector<std::string>();
}

std::vector<at::Tensor> tensors_in_code(const Module &module)
{
    std::vector<at::Tensor> tensors;
    visit_functions(module, [&](const Node &node) {
        if (node.kind() == c10::prim::Constant && node.hasAttribute(c10::attr::value) &&
            node.kindOf(c10::attr::value) == torch::jit::AttributeKind::t)
            tensors.push_back(node.t(c10::attr::value));
    });
    return tensors;
}

Traits traits_of(const Module &module, const std::string &input_name)
{
    const auto method = module.get_method("forward");
    const auto graph = method.graph()->copy();
    torch::jit::Inline(*graph);
    const torch::jit::AliasDb aliases(graph);
    Traits traits = {};
    const auto index = method.function().getSchema().argumentIndexWithName(input_name);
    traits.writes_input =
        !index || aliases.hasWriters(graph->inputs().at(static_cast<std::size_t>(*index)));
    visit(*graph->block(), [&](const Node &node) {
        traits.keeps_state = traits.keeps_state || changes_attribute(node, aliases);
    });
    return traits;
}

} // namespace engine_torch
