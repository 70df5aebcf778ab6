// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "host/size.h"

extern "C" {
#include <libavutil/rational.h>
}

namespace dnn_torch
{

// Returns the sample aspect ratio with which the output has the input's display aspect ratio.  An
// unknown one (0/1) stays unknown.  If the model only cut edges off, the ratio stays; if it turned
// the picture by 90 degrees, the ratio is inverted.
AVRational sample_aspect_after(AVRational before, Size input, Size output);

} // namespace dnn_torch
