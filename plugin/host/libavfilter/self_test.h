// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Tests whether the gate works with the running libavfilter, and names both versions for every
// refusal.
#pragma once

#include <string>

namespace dnn_torch
{

// Sends frames through a filter that uses a gate, in a private graph and in a bounded
// number of steps.  Returns null on success, otherwise one line that says what went
// wrong and names both versions.  The test runs once.  It is not part of opening the
// module, because it makes libavfilter log, and `ffmpeg -h` would show that.
const char *gate_fault();

// `running` is the result of the program's avfilter_version().
std::string both_versions(unsigned running);

// The same for the libavfilter that this module is linked to.
std::string both_versions();

} // namespace dnn_torch
