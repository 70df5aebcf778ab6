// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "layers.h"

namespace dnn_torch
{

std::string close_system_calls(const CageRules &)
{
    return "built without libseccomp";
}

} // namespace dnn_torch
