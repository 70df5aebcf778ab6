// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finding and opening engines.
#pragma once

#include "dnn_torch/engine.h"

#include <string>

namespace dnn_torch
{

// Returns the path of an installed file of this project.  Returns "" if there is none; `places`
// then lists where it was looked for.
std::string find_module_file(const std::string &file_name, std::string &places);

// Returns the path of `engine-NAME.so`.  Throws Error if there is none.
std::string find_engine(const std::string &name);

// Opens an engine.  It stays open, because LibTorch cannot be unloaded.  Throws Error.
const DnnTorchEngine *open_engine(const std::string &name);

} // namespace dnn_torch
