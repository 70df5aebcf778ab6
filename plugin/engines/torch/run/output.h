// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds the picture in what forward() returned.
#pragma once

#include <ATen/core/ivalue.h>
#include <string>

namespace engine_torch
{

// Returns a float32 tensor [batch, channels, height, width] on `device`, of any strides.  It shares
// memory with `returned` if it can.  `name` chooses among several tensors: it is a key of a dict or
// an index into a tuple.  A single tensor has no name and is taken for any.  Throws a Failure that
// says what came instead, if `name` is not there or the value is no picture.
at::Tensor picture_of(const c10::IValue &returned, const std::string &name, int64_t batch,
                      const c10::Device &device);

} // namespace engine_torch
