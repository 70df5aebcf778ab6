// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Writes a file of weights in another format.
#pragma once

#include "engines/torch/checkpoint/checkpoint.h"

namespace engine_torch
{

// Each writes to the descriptor, which stays the caller's, and throws a Failure.

// Writes code and weights.  The architecture must be known.
void write_torchscript(const Checkpoint &checkpoint, int sink);

// Writes the weights as they are.  Where no architecture is known, they are those of the largest
// candidate.
void write_safetensors(const Checkpoint &checkpoint, int sink);

} // namespace engine_torch
