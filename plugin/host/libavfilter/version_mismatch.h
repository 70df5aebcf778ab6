// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The two libavfilter versions that every refusal names.
#pragma once

#include <string>

namespace dnn_torch
{

// `running` is what the program's avfilter_version() returns.
std::string both_versions(unsigned running);

// The same, for the libavfilter that this module is linked to.
std::string both_versions();

} // namespace dnn_torch
