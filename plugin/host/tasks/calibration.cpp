// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "calibration.h"

#include "host/frames/clip_frames.h"

namespace dnn_torch
{

Calibration parse_calibration(const std::string &text)
{
    if (text.empty() || text == "generated")
        return {};
    if (text == "first")
        return {.is_of_stream = true, .clip = ""};
    check_clip(text);
    return {.is_of_stream = false, .clip = text};
}

} // namespace dnn_torch
