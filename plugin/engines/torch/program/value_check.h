// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Whether a loaded model is what its types say, which LibTorch takes on trust.
#pragma once

#include <string>
#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

// Looks through all attributes and constants.  Returns what is wrong, for a
// sentence that begins with the file's name, or "": each value has the type that
// the code declares, and each tensor lies within its storage.
std::string find_wrong_value(const torch::jit::Module &module);

} // namespace engine_torch
