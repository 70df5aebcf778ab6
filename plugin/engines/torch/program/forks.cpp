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

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;

struct Forks {
    bool any = false;
    bool all_are_waited_for = true;
};

bool is_waited_for(const Node &fork)
{
    const auto &uses = fork.output()->uses();
    return std::all_of(uses.begin(), uses.end(), [](const torch::jit::Use &use) {
        return use.user->kind() == c10::aten::wait;
    });
}

void find_forks(const Block &block, Forks &found)
{
    for (const Node *node : block.nodes()) {
        if (node->kind() == c10::prim::fork) {
            found.any = true;
            found.all_are_waited_for = found.all_are_waited_for && is_waited_for(*node);
        }
        for (const Block *inner : node->blocks())
            find_forks(*inner, found);
    }
}

// A task may start others, which appear in the graph once its code is inlined.
void inline_all(const std::shared_ptr<Graph> &graph)
{
    constexpr int deepest = 16;
    for (int depth = 0; depth < deepest; depth++) {
        Forks found;
        find_forks(*graph->block(), found);
        if (!found.any || !found.all_are_waited_for)
            return;
        torch::jit::InlineForkWait(graph);
    }
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
