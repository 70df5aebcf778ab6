// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Which processors each worker keeps to, on machines with several nodes of memory.
#pragma once

#include "core_budget.h"
#include "devices/topology.h"

#include <cstddef>
#include <vector>

namespace dnn_torch
{

// Immutable, for any thread.
class WorkerPlaces
{
public:
    // Every worker may run everywhere.
    WorkerPlaces() = default;

    // A worker has the buffers of its session on the node where it first wrote to them.  If it
    // moves to another node, each access to them crosses over.  So workers are spread over the
    // nodes, by the processors that each node has, and stay there.
    //
    // They may run everywhere where that would leave a node idle, or the threads of one run without
    // a processor each: with fewer workers than nodes, and with more threads than a node has
    // processors.  On a device nothing is bound either.
    WorkerPlaces(const Topology &topology, const CoreBudget &budget);

    // Null if the worker may run everywhere.
    const Processors *of(size_t worker) const;

    // Binds the calling thread.  The session's threads inherit that, and so do those of an engine
    // in a process of its own.  A refusal leaves it free, which is only slower.
    void keep(size_t worker) const noexcept;

private:
    std::vector<Processors> nodes_;
    std::vector<size_t> node_of_; // of each worker
};

// What the user wants: DNN_TORCH_PIN=0 in the environment binds nothing.
WorkerPlaces places_here(const CoreBudget &budget);

} // namespace dnn_torch
