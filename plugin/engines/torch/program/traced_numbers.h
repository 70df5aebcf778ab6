// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Python's numbers, which torch.jit.trace writes as tensors.
#pragma once

#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

// Traced code has the number of "mask * 2.0" as a tensor of float64 without dimensions.  As such it
// makes float64 of masks and whole numbers, which no layer takes; as a number it makes float32.
// LibTorch mends that only in its profiling executor, which the engine does not use.  Makes such
// operands of sums, differences, products and quotients numbers again.  Nobody else may use the
// module meanwhile.
void restore_traced_numbers(const torch::jit::Module &module);

} // namespace engine_torch
