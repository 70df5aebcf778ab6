// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Reads some frames of a file, to see what its pictures are like.
#pragma once

#include "host/ffmpeg_pointers.h"

#include <cstddef>
#include <string>
#include <vector>

extern "C" {
#include <libavutil/pixfmt.h>
}

namespace dnn_torch
{

// Throws Error unless it is a regular file that may be read.  Does not wait.
void check_clip(const std::string &path);

// Returns up to so many frames that lie as far apart as the file's length allows, in that format
// and all of one size.  Works for half a minute at most.  Throws Error if there is no frame.
std::vector<FramePointer> frames_of_clip(const std::string &path, AVPixelFormat format,
                                         size_t count);

} // namespace dnn_torch
