// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "graph_checks.h"

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/passes/inliner.h>

namespace engine_torch
{
namespace
{

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Module;
using torch::jit::Node;

void collect(auto &block, auto &nodes)
{
    for (auto *node : block.nodes()) {
        nodes.push_back(node);
        for (auto *inner : node->blocks())
            collect(*inner, nodes);
    }
}

// Forks and similar nodes hold their body as a graph in an attribute.
void visit_subgraphs(const Node &node, const NodeVisitor &visitor);

void visit(const Block &block, const NodeVisitor &visitor)
{
    for (const Node *node : nodes_in(block)) {
        visitor(*node);
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

std::shared_ptr<Graph> method_of_with(const Node &node)
{
    const auto type = node.input(0)->type()->cast<c10::ClassType>();
    torch::jit::Function *method =
        type ? type->findMethod(node.kind() == c10::prim::Enter ? "__enter__" : "__exit__")
             : nullptr;
    return method && method->isGraphFunction() ? torch::jit::toGraphFunction(*method).graph()
                                               : nullptr;
}

} // namespace

std::vector<const Node *> nodes_in(const Block &block)
{
    std::vector<const Node *> nodes;
    collect(block, nodes);
    return nodes;
}

std::vector<Node *> nodes_in(Block &block)
{
    std::vector<Node *> nodes;
    collect(block, nodes);
    return nodes;
}

std::shared_ptr<Graph> outer_body_of(const Node &node)
{
    std::shared_ptr<Graph> body;
    if (node.hasAttribute(c10::attr::Subgraph))
        body = node.g(c10::attr::Subgraph);
    else if (node.kind() == c10::prim::Enter || node.kind() == c10::prim::Exit)
        body = method_of_with(node);
    if (body) {
        body = body->copy();
        torch::jit::Inline(*body);
    }
    return body;
}

std::vector<std::shared_ptr<Graph>> graphs_of(const Module &module)
{
    std::vector<std::shared_ptr<Graph>> graphs;
    for (torch::jit::Function *function : module._ivalue()->compilation_unit()->get_functions()) {
        function->ensure_defined();
        graphs.push_back(torch::jit::toGraphFunction(*function).graph());
    }
    return graphs;
}

void visit_nodes(const Module &module, const NodeVisitor &visitor)
{
    for (const std::shared_ptr<Graph> &graph : graphs_of(module))
        visit(*graph->block(), visitor);
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
