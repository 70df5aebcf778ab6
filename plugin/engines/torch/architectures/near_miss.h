// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds the only weight that a checkpoint lacks for a known architecture.
#pragma once

#include "architecture.h"

#include <string>

namespace engine_torch
{

// Returns the name of a weight without which the architecture does not recognise its own network:
// with it, in a fitting shape, all others are used and none is missing.  "" if there is no such
// weight.  Throws nothing but std::bad_alloc.
std::string missing_weight(const Architecture &architecture, const Weights &weights);

} // namespace engine_torch
