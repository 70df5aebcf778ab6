// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Cuts those parts out of a clip's pictures that tell the most of it.
#pragma once

#include "engines/torch/shape.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace engine_torch
{

// What of samples is not finite tells nothing, nor does what is flat.

// Returns a few parts of `rows` and `columns`, or less if the pictures are smaller, the liveliest
// first: [count, channels, rows, columns].  Undefined if no part tells anything.  `samples` are
// [count, channels, height, width] of float32 and are only read.
at::Tensor liveliest_windows(const at::Tensor &samples, const Shape &shape, int64_t rows,
                             int64_t columns);

} // namespace engine_torch
