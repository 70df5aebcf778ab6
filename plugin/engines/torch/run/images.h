// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Between the caller's views of images and tensors.
#pragma once

#include "dnn_torch/engine.h"

#include <ATen/core/Tensor.h>

namespace engine_torch
{

// A tensor [batch, channels, height, width] over the memory of the view, with
// its elements as they are (16-bit codes as signed ones).  Throws a Failure for
// a view that is none, or that has gaps.
at::Tensor tensor_over(const DnnTorchImages &images);

// float32 on the device of the tensor, 1.0 where the code is `white`; floats are left as they are.
at::Tensor floats_of(const at::Tensor &elements, int32_t white);

// Codes of that kind: clamped and rounded to nearest, NaN as 0.
at::Tensor codes_of(const at::Tensor &floats, int32_t element, int32_t white);

// A view of a tensor on the CPU.
DnnTorchImages view_of(const at::Tensor &picture);

} // namespace engine_torch
