// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The operator with which a network of ours calls ONNX Runtime.
#pragma once

#include "onnx_runtime.h"

#include <string>
#include <torch/csrc/jit/frontend/resolver.h>

namespace engine_torch
{

// Names in code that was generated here: torch, and dnn_torch, whose functions are operators of our
// own.
std::shared_ptr<torch::jit::Resolver> names_of_generated_code();

} // namespace engine_torch
