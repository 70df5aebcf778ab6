// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Files in Hugging Face's safetensors format: a size, a JSON header, the numbers.
#pragma once

#include "weights.h"

#include <functional>
#include <string_view>

namespace engine_torch
{

// Checks the first bytes.
bool is_safetensors(std::string_view file);

// Throws a WeightFault unless the header is sound and the tensors fill the file without overlap.
// The result refers to `file`.
Weights read_safetensors(std::string_view file);

// Writes such a file piece by piece.  Throws a WeightFault if a name is not text.
void write_safetensors(const Weights &weights, const std::function<void(std::string_view)> &write);

} // namespace engine_torch
