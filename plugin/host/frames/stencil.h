// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Marks some pixels of a frame: by a colour, or as alpha; or hides them.
#pragma once

#include "host/size.h"

extern "C" {
#include <libavutil/frame.h>
}

#include <array>
#include <cstdint>
#include <vector>

namespace dnn_torch
{

// The pixels of a rectangle of a frame that are marked.  The rectangle is inside the frame.
struct Stencil {
    int left = 0, top = 0;
    Size size = {0, 0};
    std::vector<uint8_t> inside = {}; // 0 or 1, row by row
};

// Blends the marked pixels half with that colour, given as R, G and B.  Alpha stays.  The frame
// must be writable and have one of formats_for_any_model(); the same holds for cut_out().
void paint(const Stencil &stencil, const std::array<uint8_t, 3> &colour, AVFrame *frame);

// How pixels are hidden.  `blur` leaves averages of cells of at least 16 x 16 pixels, 4 in the longer
// direction at most.
enum class Hiding { black, blur };

// Hides a rectangle of the frame and makes it opaque.  So are chroma samples hidden that it shares
// with other pixels.  The rectangle is clipped at the frame.
void hide(int left, int top, int right, int bottom, Hiding hiding, AVFrame *frame);

// Makes the marked pixels opaque, and all others transparent.  The format has alpha.
void cut_out(const Stencil &stencil, AVFrame *frame);

} // namespace dnn_torch
