// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What the filters make of the tensors of a model that may be hostile.
#pragma once

#include "digest.h"
#include "dnn_torch/engine.h"

#include <span>
#include <stdexcept>

namespace fuzz
{

// What must not come out, whoever sent it.
class Fault : public std::runtime_error
{
    using std::runtime_error::runtime_error;
};

// Finds detections, classes and class maps in tensors, as the filters do: they decide by the
// `shapes` that the model had when it was probed what to do with the `tensors` of a run.  Throws a
// Fault if what they find makes no sense.
void use_tensors(std::span<const DnnTorchTensor> shapes, std::span<const DnnTorchTensor> tensors,
                 Digest &digest);

} // namespace fuzz
