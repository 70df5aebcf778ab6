// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "wide_interpolation.h"

#include "graph_checks.h"
#include "operator_traits.h"

#include <string_view>

namespace engine_torch
{
namespace
{

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

// Nearest-neighbour interpolation copies samples as they are.
bool mixes_samples(const Node &node)
{
    const std::string_view name = node.kind().toQualString();
    return interpolates(name) && name.find("nearest") == name.npos;
}

Value *as_floats(Graph &graph, Value *samples)
{
    Value *no = graph.insertConstant(false);
    Node *node = graph.create(c10::aten::to,
                              {samples, graph.insertConstant(static_cast<int64_t>(at::kFloat)), no,
                               no, graph.insertConstant(c10::IValue())});
    return graph.insertNode(node)->output();
}

void widen(Node *node)
{
    Graph &graph = *node->owningGraph();
    Value *samples = node->input(0);
    {
        torch::jit::WithInsertPoint before(node);
        node->replaceInput(0, as_floats(graph, samples));
    }
    node->output()->setType(c10::TensorType::get());
    Node *back = graph.create(c10::aten::type_as, {node->output(), samples});
    back->insertAfter(node);
    node->output()->replaceAllUsesAfterNodeWith(back, back->output());
}

} // namespace

void interpolate_in_floats(const torch::jit::Module &frozen)
{
    for (Node *node : nodes_in(*frozen.get_method("forward").graph()->block()))
        if (mixes_samples(*node))
            widen(node);
}

} // namespace engine_torch
