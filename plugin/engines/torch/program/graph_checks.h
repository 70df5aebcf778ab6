// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Facts that a model's graph shows before it runs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <torch/csrc/jit/api/module.h>
#include <vector>

namespace engine_torch
{

// Returns the graphs of all functions that came with the module.
std::vector<std::shared_ptr<torch::jit::Graph>> graphs_of(const torch::jit::Module &module);

using NodeVisitor = std::function<void(const torch::jit::Node &)>;

// Visits every node of every function that came with the module, and of the graphs within them.
void visit_nodes(const torch::jit::Module &module, const NodeVisitor &visitor);

// Returns the same nodes, to be changed.  Nobody else may use the module meanwhile.
std::vector<torch::jit::Node *> nodes_to_change(const torch::jit::Module &module);

// Returns the nodes of the block and of the blocks within, in order.
std::vector<const torch::jit::Node *> nodes_in(const torch::jit::Block &block);
std::vector<torch::jit::Node *> nodes_in(torch::jit::Block &block); // to be changed

// Returns a copy of the code that a node runs outside its graph, with all calls inlined: a fork's,
// or the method of an object that a `with` enters or exits by.  Returns nullptr for other nodes,
// and if the code cannot be found.
std::shared_ptr<torch::jit::Graph> outer_body_of(const torch::jit::Node &node);

// Returns the tensors in the code itself, which a model has if it was frozen before it was saved.
// Returns a shared tensor as often as the code has it.
std::vector<at::Tensor> tensors_in_code(const torch::jit::Module &module);

} // namespace engine_torch
