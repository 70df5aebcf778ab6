// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A graph with its programs for the sizes that it is run with.
#pragma once

#include "program.h"
#include "run.h"

#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace engine_torch::fused
{

// Returns the node of the processor that the calling thread runs on; 0 if there is only one.
// Memory is on the node of the thread that writes to it first.
int memory_node() noexcept;

// How several nodes of memory are used.  Each thread gets runs whose buffers are on its own node.
struct NodeChoice {
    bool has_own_weights = false; // each node has the weights, too
    int (*node)() noexcept = memory_node;
};

// Every member function may be called from several threads at once.
class Network
{
public:
    // For the layers in int8 and the layouts see CompileOptions.
    Network(Graph graph, Precision precision, LayerRanges int8 = {},
            LayoutChoice layouts = LayoutChoice::fastest, NodeChoice nodes = {});

    int64_t in_channels() const { return graph_.values()[graph_.input()].channels; }
    int64_t out_channels() const { return graph_.values()[graph_.output()].channels; }
    Precision precision() const { return options_.precision; }

    // A run, and the node that it came from.
    struct Taken {
        std::unique_ptr<Run> run;
        int node = 0;
    };

    // Returns a run for pictures of that size, which is the caller's until it gives it back.  The
    // first one of a size takes time.  Throws GraphError if the size is not possible.
    Taken take(Extent extent);
    void give_back(Taken taken);

private:
    struct Size {
        std::shared_ptr<const Program> program;
        int node; // whose threads run it
        std::vector<std::unique_ptr<Run>> idle;
    };

    Size &size_for(Extent extent, int node);
    std::shared_ptr<const Program> program_for(Extent extent, int node);
    void drop_oldest_of(int node);

    const Graph graph_;
    const CompileOptions options_;
    const NodeChoice nodes_;
    std::mutex mutex_;
    // ---- under mutex_
    std::list<Size> sizes_; // most recently used first
};

} // namespace engine_torch::fused
