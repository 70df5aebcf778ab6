// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finding and opening engines.
#pragma once

#include "dnn_torch/engine.h"

#include <string>

namespace dnn_torch
{

// The path of a file of ours, or "" with `places` telling where it was looked for.
std::string find_module_file(const std::string &file_name, std::string &places);

// The path of `engine-NAME.so`.  Throws Error.
std::string find_engine(const std::string &name);

// Opens it.  It then stays open: no LibTorch survives being unloaded.  Throws Error.
const DnnTorchEngine *open_engine(const std::string &name);

} // namespace dnn_torch
