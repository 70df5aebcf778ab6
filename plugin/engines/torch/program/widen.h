// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Weights of float16 on a processor that does not compute with them.
#pragma once

#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

// Makes float32 of all tensors of float16, and of the code's own conversions to it.  Does nothing
// if the module has no parameter of float16.  Nobody else may use the module meanwhile.
void widen_halves(const torch::jit::Module &module);

} // namespace engine_torch
