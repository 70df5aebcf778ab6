// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// DySample: enlarges a picture by taking samples where convolutions say.
#pragma once

#include "net.h"

namespace engine_torch
{

// `name`.offset, .scope, .init_pos and, unless the scale is 1, .end_conv.  The groups of channels
// that are sampled together are read off the weights.  Throws a WeightFault.
Expression dysample(Net &net, const Expression &x, const std::string &name, int64_t scale);

// The scale, off a network whose other layers do not tell it.
int64_t dysample_scale(const Net &net, const std::string &name, int64_t groups);

} // namespace engine_torch
