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

// Every member function may be called from several threads at once.
class Network
{
public:
    // For the layers in int8 and the layouts see CompileOptions.
    Network(Graph graph, Precision precision, LayerRanges int8 = {},
            LayoutChoice layouts = LayoutChoice::usual);

    int64_t in_channels() const { return graph_.values()[graph_.input()].channels; }
    int64_t out_channels() const { return graph_.values()[graph_.output()].channels; }
    Precision precision() const { return options_.precision; }

    // Returns a run for pictures of that size, which is the caller's until it gives it back.  The
    // first one of a size takes time.  Throws GraphError if the size cannot be had.
    std::unique_ptr<Run> take(Extent extent);
    void give_back(std::unique_ptr<Run> run);

private:
    struct Size {
        std::shared_ptr<const Program> program;
        std::vector<std::unique_ptr<Run>> idle;
    };

    Size &size_for(Extent extent);

    const Graph graph_;
    const CompileOptions options_;
    std::mutex mutex_;
    // ---- under mutex_
    std::list<Size> sizes_; // that used last first
};

} // namespace engine_torch::fused
