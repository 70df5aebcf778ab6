// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Names the two libavfilter versions, for every refusal.
#pragma once

#include <string>

namespace dnn_torch
{

// `running` is the result of the program's avfilter_version().
std::string both_versions(unsigned running);

// The same for the libavfilter that this module is linked to.
std::string both_versions();

} // namespace dnn_torch
