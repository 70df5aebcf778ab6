// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Keeps tuning records in a folder of the user: DNN_TORCH_CACHE, or below XDG_CACHE_HOME or HOME.
// Any thread.  No function throws because of a file.
#pragma once

#include <string>

namespace engine_torch
{

// Returns the text that an earlier write_to_folder() kept for that line, or "".
std::string read_from_folder(const std::string &line);

// Does nothing if there is no such folder.  It is no failure if it cannot be written to.
void write_to_folder(const std::string &line, const std::string &text);

} // namespace engine_torch
