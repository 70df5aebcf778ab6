// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Shows which pixels of a frame belong to something: by a colour, or as alpha.
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

// Which pixels of a rectangle of a frame are meant.  The rectangle lies in the frame.
struct Stencil {
    int left = 0, top = 0;
    Size size = {0, 0};
    std::vector<uint8_t> inside = {}; // 0 or 1, row by row
};

// Brings what is meant halfway to that colour, given as R, G and B.  Alpha stays.  The frame is
// writable and has one of formats_for_any_model(); so for the next one.
void paint(const Stencil &stencil, const std::array<uint8_t, 3> &colour, AVFrame *frame);

// Makes what is meant opaque, and all else transparent.  The format has alpha.
void cut_out(const Stencil &stencil, AVFrame *frame);

} // namespace dnn_torch
