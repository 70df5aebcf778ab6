// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a model file tells of itself, for a user who asks before running it.
#pragma once

#include "dnn_torch/engine.h"

#include <string>

namespace engine_torch
{

// Loads the file on the CPU, or no more than its code where loading would run
// something that is denied.  Throws a Failure that names the file.
DnnTorchDescription describe(const std::string &path);

} // namespace engine_torch
