// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What this process has open.  Any thread.
#pragma once

#include <string>

namespace dnn_torch
{

// Whether this process has that file open: it may be the input of ffmpeg, which must not be
// overwritten, or its output, which would overwrite ours.  False for all that is no regular file.
bool is_open_here(const std::string &path);

} // namespace dnn_torch
