// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Bounds the arguments of operators whose arguments LibTorch does not check: with bad ones, it
// crashes or reads memory that no tensor owns.
#pragma once

#include <optional>
#include <string>
#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

// An operator, and the argument that no guard can make safe.
struct UnsoundCall {
    std::string name, with;
};

// Returns the first unsound call.
std::optional<UnsoundCall> find_unsound_call(const torch::jit::Module &module);

// Changes every function that came with the module, so that operators only get arguments within
// their bounds.  Arguments within bounds stay as they are.  An integer division by zero throws
// instead of ending the program.
void guard_arguments(const torch::jit::Module &module);

} // namespace engine_torch
