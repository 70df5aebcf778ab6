// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What becomes of the masks of things that were found.
#pragma once

#include "findings.h"

extern "C" {
#include <libavutil/frame.h>
}

namespace dnn_torch
{

enum class ShownMasks {
    none,    // frames pass as they are
    overlay, // each thing gets the colour of its class, half of it
    alpha,   // all but things becomes transparent
};

// Shows the masks in the frame, which becomes writable.  Throws Error or std::bad_alloc.
void show_masks(const Findings &found, ShownMasks how, AVFrame &frame);

} // namespace dnn_torch
