// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds the parts of a frozen graph that a fused program can compute.
#pragma once

#include "engines/torch/fused/graph.h"

#include <memory>
#include <string>
#include <torch/csrc/jit/ir/ir.h>
#include <vector>

namespace engine_torch
{

// A part that computes one picture from one other.
struct Region {
    torch::jit::Value *input, *output;
    fused::Graph graph;
};

// Finds the parts with convolutions, in the order in which they run.  Input pictures have
// `channels`.  What depends on their rank alone is resolved beforehand: the graph is changed, but
// not what it computes.  Finds none if some other part may write to what they read.
std::vector<Region> find_regions(const std::shared_ptr<torch::jit::Graph> &graph,
                                 const std::string &input_name, int64_t channels);

} // namespace engine_torch
