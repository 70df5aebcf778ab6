// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Draws the masks of findings into frames.
#pragma once

#include "findings.h"

extern "C" {
#include <libavutil/frame.h>
}

namespace dnn_torch
{

enum class ShownMasks {
    none,    // frames pass as they are
    overlay, // each object is tinted with the colour of its class, by half
    alpha,   // everything but the objects becomes transparent
};

// Copies the frame if others refer to its picture.  Throws Error.
void make_frame_writable(AVFrame &frame);

// Draws the masks into the frame, which becomes writable.  Throws Error or std::bad_alloc.
void show_masks(const Findings &found, ShownMasks how, AVFrame &frame);

} // namespace dnn_torch
