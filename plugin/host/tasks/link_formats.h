// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Which pixel formats go in and come out for what a model takes and makes.
#pragma once

#include "model_probe.h"

extern "C" {
#include <libavutil/pixfmt.h>
}

namespace dnn_torch
{

// The lists live for ever.  If they are the same list, each frame keeps its format.
struct LinkFormats {
    const AVPixelFormat *in, *out;
};

LinkFormats link_formats(const FoundChannels &found, As as);

} // namespace dnn_torch
