// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Which files may be read.
#pragma once

#include "cage.h"

#include <string>
#include <vector>

namespace dnn_torch
{

// Returns files, and folders with everything beneath them.  Some may not exist.  One thread at
// a time, because it reads the environment.
std::vector<std::string> readable_paths(const CageRules &rules);

} // namespace dnn_torch
