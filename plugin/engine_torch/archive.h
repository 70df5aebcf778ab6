// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What can be said of a model file before LibTorch sees it.  Needs no LibTorch.
#pragma once

#include <string>

namespace engine_torch
{

// Throws a Failure that names the file and says what to do, unless the file is
// readable and is laid out as a TorchScript archive.  What its parts hold is
// not looked at.
void check_model_file(const std::string &path);

} // namespace engine_torch
