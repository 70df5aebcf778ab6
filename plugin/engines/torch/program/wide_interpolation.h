// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Interpolation in 16-bit variants.
#pragma once

#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

// Makes a frozen module's forward() interpolate in float32, and convert the result back.  On a CPU,
// some versions of LibTorch compute positions and weights in the type of the samples, whose 8 bits
// are too few: 1.13 is off by 5/255 in the mean.  Nobody else may use the module meanwhile.
void interpolate_in_floats(const torch::jit::Module &frozen);

} // namespace engine_torch
