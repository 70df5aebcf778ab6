// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "host/size.h"

extern "C" {
#include <libavutil/rational.h>
}

namespace dnn_torch
{

// The shape of a sample where frames of one size became frames of another, so that the
// picture keeps its own; unknown (0/1) stays so.  A picture whose edges were cut off
// keeps its samples, and one that was turned on its side turns them.
AVRational sample_aspect_after(AVRational before, Size input, Size output);

} // namespace dnn_torch
