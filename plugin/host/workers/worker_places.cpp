// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "worker_places.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace dnn_torch
{
namespace
{

bool is_binding_useful(const std::vector<Processors> &nodes, const CoreBudget &budget)
{
    if (budget.cores == 0 || nodes.size() < 2 || budget.workers < nodes.size())
        return false;
    return std::all_of(nodes.begin(), nodes.end(), [&](const Processors &node) {
        return node.size() >= budget.threads_per_worker;
    });
}

// Returns the node that has the most processors per worker after it gets one more worker.
size_t emptiest(const std::vector<Processors> &nodes, const std::vector<size_t> &workers)
{
    size_t best = 0;
    for (size_t i = 1; i < nodes.size(); i++)
        if (nodes[i].size() * (workers[best] + 1) > nodes[best].size() * (workers[i] + 1))
            best = i;
    return best;
}

bool user_forbids()
{
    const char *value = secure_getenv("DNN_TORCH_PIN");
    return value && std::strcmp(value, "0") == 0;
}

} // namespace

WorkerPlaces::WorkerPlaces(const Topology &topology, const CoreBudget &budget)
{
    if (!is_binding_useful(topology.nodes, budget))
        return;
    nodes_ = topology.nodes;
    std::vector<size_t> workers(nodes_.size());
    for (size_t i = 0; i < budget.workers; i++) {
        node_of_.push_back(emptiest(nodes_, workers));
        workers[node_of_.back()]++;
    }
}

const Processors *WorkerPlaces::of(size_t worker) const
{
    return worker < node_of_.size() ? &nodes_[node_of_[worker]] : nullptr;
}

void WorkerPlaces::bind_thread(size_t worker) const noexcept
{
    if (const Processors *node = of(worker))
        keep_to(*node);
}

WorkerPlaces places_here(const CoreBudget &budget)
{
    return user_forbids() ? WorkerPlaces() : WorkerPlaces(usable_topology(), budget);
}

} // namespace dnn_torch
