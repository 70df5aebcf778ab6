// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

extern "C" {
#include <libavutil/frame.h>
}

namespace dnn_torch
{

// Whether two frames of the same size and format show the same but for noise: in no block of 16x16
// samples does their mean differ by 3 of 255 or more, nor do their samples, on average, by 10.
bool show_the_same(const AVFrame *one, const AVFrame *other);

} // namespace dnn_torch
