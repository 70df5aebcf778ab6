// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "graph_checks.h"

#include <torch/csrc/jit/api/function_impl.h>

namespace engine_torch
{
namespace
{

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Module;
using torch::jit::Node;

// A fork and similar nodes hold their body as a graph in an attribute.
void visit_subgraphs(const Node &node, const NodeVisitor &visitor);

void visit(const Block &block, const NodeVisitor &visitor)
{
    for (const Node *node : block.nodes()) {
        visitor(*node);
        for (const Block *inner : node->blocks())
            visit(*inner, visitor);
        visit_subgraphs(*node, visitor);
    }
}

void visit_subgraphs(const Node &node, const NodeVisitor &visitor)
{
    for (const c10::Symbol name : node.attributeNames()) {
        if (node.kindOf(name) == torch::jit::AttributeKind::g)
            visit(*node.g(name)->block(), visitor);
        if (node.kindOf(name) == torch::jit::AttributeKind::gs)
            for (const std::shared_ptr<Graph> &graph : node.gs(name))
                visit(*graph->block(), visitor);
    }
}

} // namespace

void visit_nodes(const Module &module, const NodeVisitor &visitor)
{
    for (torch::jit::Function *function : module._ivalue()->compilation_unit()->get_functions()) {
        function->ensure_defined();
        visit(*torch::jit::toGraphFunction(*function).graph()->block(), visitor);
    }
}

std::vector<Node *> nodes_to_change(const Module &module)
{
    std::vector<Node *> nodes;
    visit_nodes(module, [&](const Node &node) { nodes.push_back(const_cast<Node *>(&node)); });
    return nodes;
}

std::vector<at::Tensor> tensors_in_code(const Module &module)
{
    std::vector<at::Tensor> tensors;
    visit_nodes(module, [&](const Node &node) {
        if (node.kind() == c10::prim::Constant && node.hasAttribute(c10::attr::value) &&
            node.kindOf(c10::attr::value) == torch::jit::AttributeKind::t)
            tensors.push_back(node.t(c10::attr::value));
    });
    return tensors;
}

} // namespace engine_torch
