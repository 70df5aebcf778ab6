// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// DySample: enlarges a picture by sampling it at positions that convolutions compute.
#pragma once

#include "net.h"

namespace engine_torch
{

// Uses `name`.offset, .scope, .init_pos and, if present, .end_conv.  Reads from the weights how
// many groups of channels are sampled together.  Throws a WeightFault.
Expression dysample(Net &net, const Expression &x, const std::string &name, int64_t scale);

// Returns the scale, for a network in which no other layer shows it.
int64_t dysample_scale(const Net &net, const std::string &name, int64_t groups);

} // namespace engine_torch
