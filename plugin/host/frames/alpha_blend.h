// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

extern "C" {
#include <libavutil/frame.h>
}

namespace dnn_torch
{

// Makes the alpha of `result` that of `first`, as far as t is from 1, and of `second`.  All have
// the same size and format, in the machine's byte order; without alpha nothing changes.
void blend_alpha(const AVFrame *first, const AVFrame *second, double t, AVFrame &result);

} // namespace dnn_torch
