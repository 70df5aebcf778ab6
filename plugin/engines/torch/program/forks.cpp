// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "forks.h"

#include "graph_checks.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <torch/csrc/jit/passes/inline_fork_wait.h>

namespace engine_torch
{
namespace
{

using torch::jit::Graph;
using torch::jit::Node;

bool is_waited_for(const Node &fork)
{
    const auto &uses = fork.output()->uses();
    return std::all_of(uses.begin(), uses.end(), [](const torch::jit::Use &use) {
        return use.user->kind() == c10::aten::wait;
    });
}

// Whether the graph has forks, and can do without.
bool has_waiting_forks(const Graph &graph)
{
    bool any = false;
    for (const Node *node : nodes_in(*graph.block())) {
        if (node->kind() != c10::prim::fork)
            continue;
        any = true;
        if (!is_waited_for(*node))
            return false;
    }
    return any;
}

// A task may start others, which appear in the graph once its code is inlined.
void inline_all(const std::shared_ptr<Graph> &graph)
{
    constexpr int deepest = 16;
    for (int depth = 0; depth < deepest && has_waiting_forks(*graph); depth++)
        torch::jit::InlineForkWait(graph);
}

} // namespace

void inline_forks(const torch::jit::Module &module)
{
    for (const std::shared_ptr<Graph> &graph : graphs_of(module))
        inline_all(graph);
}

c10::IValue run_forward(const torch::jit::Module &module, const torch::jit::Kwargs &arguments)
{
    const auto result = module.get_method("forward").run_async(
        {}, arguments, [](const std::function<void()> &task) { task(); });
    result->waitAndThrow();
    return result->value();
}

} // namespace engine_torch
