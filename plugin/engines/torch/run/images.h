// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Between the caller's views of pictures and LibTorch's tensors.
#pragma once

#include "dnn_torch/engine.h"
#include "engines/torch/shape.h"

#include <ATen/core/Tensor.h>

namespace engine_torch
{

// The extents of [batch, channels, height, width], maybe below 1.  Throws a Failure for
// another rank, and for extents that are too large.
Shape shape_of(const DnnTorchTensor &pictures);

// A tensor [batch, channels, height, width] over the memory of the view, with
// its elements as they are (16-bit codes as signed ones).  Throws a Failure for
// a view that is none, or that has gaps.
at::Tensor tensor_over(const DnnTorchTensor &pictures);

// float32 on the device of the tensor, 1.0 where the code is `white`; floats are left as they are.
at::Tensor floats_of(const at::Tensor &elements, int32_t white);

// Codes of that type: clamped and rounded to nearest, NaN as 0.
at::Tensor codes_of(const at::Tensor &floats, int32_t type, int32_t white);

// A view of a tensor on the CPU.
DnnTorchTensor view_of(const at::Tensor &picture);

} // namespace engine_torch
