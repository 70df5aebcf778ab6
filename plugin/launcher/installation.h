// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Where this launcher's other parts lie: beside it in a build tree, in a
// directory of their own where installed.
#pragma once

#include <string>

namespace dnn_torch
{

// The path of the preload object, or empty with `places` telling where it was looked for.
std::string find_preload(std::string &places);

// The path of a host module or an engine, or empty with `places` as above.
std::string find_module(const std::string &file_name, std::string &places);

} // namespace dnn_torch
