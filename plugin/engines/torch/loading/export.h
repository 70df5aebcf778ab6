// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Converts a file of weights to another format.
#pragma once

#include "engines/torch/checkpoint/checkpoint.h"
#include "engines/torch/exported/export_network.h"
#include "engines/torch/onnx/onnx_network.h"

#include <string>

namespace engine_torch
{

// Each function writes to the descriptor, which the caller keeps open, and returns a note for the
// user, or "".  Throws a Failure.

// Writes code and weights.  The architecture must be known.
std::string write_torchscript(const Checkpoint &checkpoint, int sink);
std::string write_torchscript(const OnnxFile &file, int sink);
std::string write_torchscript(const ExportFile &file, int sink);

// Writes the weights unchanged.  If no architecture is recognised, writes those of the largest
// candidate.
std::string write_safetensors(const Checkpoint &checkpoint, int sink);

} // namespace engine_torch
