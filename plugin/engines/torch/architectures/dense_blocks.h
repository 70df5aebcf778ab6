// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// ESRGAN's blocks, which other networks have, too.
#pragma once

#include "net.h"

#include <string>

namespace engine_torch
{

// Three dense blocks and their residual.  Their layers are PREFIX1.conv1END to PREFIX3.conv5END.
Expression residual_dense_blocks(Net &net, const Expression &input, const std::string &prefix,
                                 const std::string &end);

} // namespace engine_torch
