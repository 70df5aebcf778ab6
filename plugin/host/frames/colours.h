// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What the samples of a YUV frame mean in R, G and B.
#pragma once

#include "convert.h"

extern "C" {
#include <libavutil/frame.h>
}

namespace dnn_torch
{

// By the frame's matrix and range; as ffmpeg's scale has it, a frame that names no
// matrix, or one that is none, has that of BT.601, and one without a range the limited.
Colours colours_of(const AVFrame *frame);

} // namespace dnn_torch
