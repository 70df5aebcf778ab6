// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// From what forward() returned to a picture.
#pragma once

#include <ATen/core/ivalue.h>
#include <string>

namespace engine_torch
{

// A float32 tensor [batch, channels, height, width] on `device`, of any strides,
// that shares memory with the returned value if it can.  `name` chooses among
// several tensors: a key of a dict or an index into a tuple; one that is not
// there is a fault.  A tensor by itself has no name, and is taken under any.  Throws a Failure that
// tells what came instead.
at::Tensor picture_of(const c10::IValue &returned, const std::string &name, int64_t batch,
                      const c10::Device &device);

} // namespace engine_torch
