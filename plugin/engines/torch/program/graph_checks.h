// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a model's graph tells before it runs.
#pragma once

#include <functional>
#include <string>
#include <torch/csrc/jit/api/module.h>
#include <vector>

namespace engine_torch
{

using NodeVisitor = std::function<void(const torch::jit::Node &)>;

// Visits every node of every function that came with the module, and of what
// these hold within.
void visit_nodes(const torch::jit::Module &module, const NodeVisitor &visitor);

// The tensors that stand in the code itself, as in a model that was frozen
// before it was saved; shared ones as often as they stand there.
std::vector<at::Tensor> tensors_in_code(const torch::jit::Module &module);

} // namespace engine_torch
