// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Cuts the most informative parts out of a clip's pictures.
#pragma once

#include "engines/torch/shape.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace engine_torch
{

// Leaves out windows that are flat or not finite.
struct ClipWindows {
    at::Tensor liveliest; // a few, the liveliest first; undefined if there are none
    at::Tensor others;    // some of the others; undefined if there are none
};

// Both are [count, channels, rows, columns], or smaller if the pictures are.  `samples` are
// [count, channels, height, width] of float32 and are only read.
ClipWindows windows_of(const at::Tensor &samples, const Shape &shape, int64_t rows,
                       int64_t columns);

} // namespace engine_torch
