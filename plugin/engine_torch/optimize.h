// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Faster forms of a model, and the trial that they must pass.
#pragma once

#include <optional>
#include <string>
#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

// A frozen copy that shares the weights, or nothing where the model cannot be
// frozen; `reason` then says why.
std::optional<torch::jit::Module> freeze(const torch::jit::Module &plain, std::string &reason);

// The fastest form of the frozen module that gives the results of the plain
// one on small pictures, or nothing.  `notice` says so where something was in
// the way.  Runs the model; `input_name` is as in traits_of().
std::optional<torch::jit::Module> optimize(const torch::jit::Module &plain,
                                           const torch::jit::Module &frozen,
                                           const std::string &input_name, std::string &notice);

// One call of forward(), in a RunScope.
c10::IValue call_forward(const torch::jit::Module &module, const std::string &input_name,
                         const at::Tensor &images);

} // namespace engine_torch
