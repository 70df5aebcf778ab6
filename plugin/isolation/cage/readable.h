// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What may be read by its path.
#pragma once

#include "cage.h"

#include <string>
#include <vector>

namespace dnn_torch
{

// Files and folders with all that is beneath them.  Some may not exist.  One thread at a
// time, for it reads the environment.
std::vector<std::string> readable_paths(const CageRules &rules);

} // namespace dnn_torch
