// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Builds LibTorch's module from a network's code and weights.
#pragma once

#include "blueprint.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/resolver.h>

namespace engine_torch
{

// Returns the module with its weights as float32 on `device`.  `names` are those that its code may
// use.  Throws a WeightFault if a weight is not a finite number, or what LibTorch throws.
torch::jit::Module build_module(const Blueprint &blueprint, const Weights &weights,
                                const c10::Device &device, const torch::jit::ResolverPtr &names);

} // namespace engine_torch
