// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The open files of this process.  Any thread.
#pragma once

#include <string>

namespace dnn_torch
{

// Returns whether this process has that file open.  It may be ffmpeg's input, which must not be
// overwritten, or its output, which would overwrite ours.  False unless it is a regular file.
bool is_open_here(const std::string &path);

} // namespace dnn_torch
