// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Binds each worker to the processors of one node, on NUMA machines.
#pragma once

#include "core_budget.h"
#include "devices/topology.h"

#include <cstddef>
#include <vector>

namespace dnn_torch
{

// Immutable; any thread may use it.
class WorkerPlaces
{
public:
    // Binds no worker.
    WorkerPlaces() = default;

    // A session's buffers are on the node where its worker first wrote to them.  If the worker
    // moves to another node, each access crosses nodes.  So workers are spread over the nodes, in
    // proportion to each node's processors, and stay there.
    //
    // No worker is bound if that would leave a node idle (fewer workers than nodes), or if a node
    // has fewer processors than a run has threads.  On a device nothing is bound either.
    WorkerPlaces(const Topology &topology, const CoreBudget &budget);

    // Returns null if the worker is not bound.
    const Processors *of(size_t worker) const;

    // Binds the calling thread.  The session's threads inherit that, and so do those of an engine
    // in a separate process.  Ignores failures: an unbound thread is only slower.
    void bind_thread(size_t worker) const noexcept;

private:
    std::vector<Processors> nodes_;
    std::vector<size_t> node_of_; // by worker
};

// Returns the places on this machine.  DNN_TORCH_PIN=0 in the environment binds nothing.
WorkerPlaces places_here(const CoreBudget &budget);

} // namespace dnn_torch
