// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Converts between the caller's views of pictures and LibTorch's tensors.
#pragma once

#include "dnn_torch/engine.h"
#include "engines/torch/shape.h"

#include <ATen/core/Tensor.h>

namespace engine_torch
{

// Returns the extents of [batch, channels, height, width], which may be below 1.  Throws a Failure
// for another rank, and for extents that are too large.
Shape shape_of(const DnnTorchTensor &pictures);

// Returns a tensor [batch, channels, height, width] over the view's memory, with its elements
// unchanged (16-bit samples appear as signed numbers).  Throws a Failure if the view is not valid
// or has gaps.
at::Tensor tensor_over(const DnnTorchTensor &pictures);

// Converts integer samples to float32 on the tensor's device: `white` becomes 1.0.  Floats stay as
// they are.
at::Tensor floats_of(const at::Tensor &elements, int32_t white);

// Returns a copy of a tensor of numbers, of any rank.  Throws a Failure if the view is not valid or
// has gaps.
at::Tensor numbers_of(const DnnTorchTensor &view);

// Converts floats to integer samples of that type: clamps, rounds to nearest, and turns NaN into 0.
at::Tensor integers_of(const at::Tensor &floats, int32_t type, int32_t white);

// Returns a view of a tensor on the CPU, of at most DNN_TORCH_DIMENSIONS dimensions.
DnnTorchTensor view_of(const at::Tensor &tensor);

// Returns grey pictures of float32, where black is 0.
at::Tensor grey_pictures(const Shape &shape, double white);

} // namespace engine_torch
