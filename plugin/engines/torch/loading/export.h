// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Writes a file of weights in another format.
#pragma once

#include "engines/torch/checkpoint/checkpoint.h"

#include <string>

namespace engine_torch
{

// Each writes to the descriptor, which stays the caller's, and returns what the user should know of
// it, or "".  Throws a Failure.

// Writes code and weights.  The architecture must be known.
std::string write_torchscript(const Checkpoint &checkpoint, int sink);

// Writes the weights as they are.  Where no architecture is known, they are those of the largest
// candidate.
std::string write_safetensors(const Checkpoint &checkpoint, int sink);

} // namespace engine_torch
