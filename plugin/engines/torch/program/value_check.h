// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Checks that a loaded model has the types that it declares.  LibTorch does not check that.
#pragma once

#include <string>
#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

// Checks all attributes and constants: each value must have its declared type, and each tensor must
// be within its storage.  Returns the fault, worded to follow the file's name in a sentence, or "".
std::string find_wrong_value(const torch::jit::Module &module);

} // namespace engine_torch
