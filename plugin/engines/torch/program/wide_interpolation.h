// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Interpolation in variants of 16 bits.
#pragma once

#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

// Interpolates in float32 what a frozen module's forward() interpolates, and converts the result
// back.  Some LibTorch compute places and weights of samples in the type of the samples on a CPU,
// whose 8 bits are too few: 1.13 is 5 of 255 codes off in the mean.  Nobody else may use the module
// meanwhile.
void interpolate_in_floats(const torch::jit::Module &frozen);

} // namespace engine_torch
