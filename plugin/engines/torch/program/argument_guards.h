// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Operators that only compute, as long as their arguments make sense: LibTorch
// trusts some of them, and crashes or reads what no tensor owns.
#pragma once

#include <string>
#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

// The first operator that has an argument for which there are no bounds, or "".
std::string find_unbounded_argument(const torch::jit::Module &module);

// From now on such arguments reach all others within their bounds, in every
// function that came with the module; sound ones are not changed.  A division of
// whole numbers by zero fails instead of ending the program.
void guard_arguments(const torch::jit::Module &module);

} // namespace engine_torch
