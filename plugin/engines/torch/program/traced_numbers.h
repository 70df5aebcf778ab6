// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Numbers of Python, which torch.jit.trace writes as tensors.
#pragma once

#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

// Turns such tensors back into numbers if they are operands of sums, differences, products or
// quotients.  Traced code has the number in "mask * 2.0" as a float64 tensor of rank 0.  As a
// tensor, it turns masks and integers into float64, which no layer takes; as a number, into
// float32.  LibTorch only fixes that in its profiling executor, which the engine does not use.
// Nobody else may use the module meanwhile.
void restore_traced_numbers(const torch::jit::Module &module);

} // namespace engine_torch
