// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The system calls that running a model takes and that are allowed with any arguments.  Any thread.
#pragma once

#include <vector>

namespace dnn_torch
{

// Names, some of which this architecture or this libseccomp does not know.
const std::vector<const char *> &harmless_system_calls();

} // namespace dnn_torch
