// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// All tensors that forward() returned, as a caller gets them with results=tensors.
#pragma once

#include "dnn_torch/engine.h"

#include <ATen/core/ivalue.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <string>
#include <vector>

namespace engine_torch
{

// On the CPU, without gaps, of float32 or int64.
struct HandedTensor {
    std::string name; // "1.0.boxes"; "" if forward() returned nothing but this
    at::Tensor tensor;
};

// Returns the tensors in order: those named `wanted` and below it, or all if it is "".  Their
// values are the model's.  They may share memory with `returned`.  Throws a Failure that says what
// came instead.  `device` is the model's.
std::vector<HandedTensor> all_tensors(const c10::IValue &returned, const std::string &wanted,
                                      const c10::Device &device);

// Returns a view that holds as long as the tensor.  A name that is too long is cut.
DnnTorchTensor view_of(const HandedTensor &handed);

} // namespace engine_torch
