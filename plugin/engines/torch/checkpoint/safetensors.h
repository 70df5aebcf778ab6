// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Files of Hugging Face's format safetensors: a size, a header in JSON, the numbers.
#pragma once

#include "weights.h"

#include <functional>
#include <string_view>

namespace engine_torch
{

// By its first bytes.
bool is_safetensors(std::string_view file);

// Throws a WeightFault unless the header is sound and the tensors fill the file without overlap.
// The result refers to `file`.
Weights read_safetensors(std::string_view file);

// Writes such a file piece by piece.  Throws a WeightFault if a name is no text.
void write_safetensors(const Weights &weights, const std::function<void(std::string_view)> &write);

} // namespace engine_torch
