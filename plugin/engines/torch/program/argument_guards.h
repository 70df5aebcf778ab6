// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Bounds the arguments of operators.  These only compute if their arguments make sense: LibTorch
// does not check some of them, and crashes or reads memory that no tensor owns.
#pragma once

#include <optional>
#include <string>
#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

// An operator, and with what it is called so that no guard makes it safe.
struct UnsoundCall {
    std::string name, with;
};

// Returns the first one.
std::optional<UnsoundCall> find_unsound_call(const torch::jit::Module &module);

// Changes every function that came with the module, so that such arguments reach the operators
// within their bounds.  Arguments within their bounds stay as they are.  A division of whole
// numbers by zero fails instead of ending the program.
void guard_arguments(const torch::jit::Module &module);

} // namespace engine_torch
