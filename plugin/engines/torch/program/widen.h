// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Weights of float16 on a processor that does not compute in float16.
#pragma once

#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

// Converts all float16 tensors, and the code's own conversions to float16, to float32.  Does
// nothing if the module has no float16 parameter.  Nobody else may use the module meanwhile.
void widen_halves(const torch::jit::Module &module);

} // namespace engine_torch
