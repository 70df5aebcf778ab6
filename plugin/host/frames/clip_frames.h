// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Reads some sample frames of a video file.
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

// Throws Error unless the path is a readable regular file.  Does not block.
void check_clip(const std::string &path);

// Returns up to `count` frames, spread over the file's length, in that format and all of one size.
// Takes at most half a minute.  Throws Error if there is no frame.
std::vector<FramePointer> frames_of_clip(const std::string &path, AVPixelFormat format,
                                         size_t count);

} // namespace dnn_torch
