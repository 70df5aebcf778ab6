// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Changes to a model's graph before it runs.  Nobody else may use the module meanwhile.
#pragma once

#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

// Converts all float16 tensors, and the code's own conversions to float16, to float32.  Does
// nothing if the module has no float16 parameter.
void widen_halves(const torch::jit::Module &module);

// Makes a frozen module's forward() interpolate in float32, and convert the result back.  On a CPU,
// some versions of LibTorch compute positions and weights in the type of the samples, whose 8 bits
// are too few: 1.13 is off by 5/255 in the mean.
void interpolate_in_floats(const torch::jit::Module &frozen);

// Sets each flag of the module that only controls a warning to the value that forward() would set.
// Then no run changes it, and none warns.  torchvision's detectors have such a flag.
void preset_warning_flags(const torch::jit::Module &module);

// Turns Python's numbers, which torch.jit.trace writes as tensors, back into numbers if they are
// operands of sums, differences, products or
// quotients.  Traced code has the number in "mask * 2.0" as a float64 tensor of rank 0.  As a
// tensor, it turns masks and integers into float64, which no layer takes; as a number, into
// float32.  LibTorch only fixes that in its profiling executor, which the engine does not use.
void restore_traced_numbers(const torch::jit::Module &module);

} // namespace engine_torch
