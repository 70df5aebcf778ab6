// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Maps a frame to a place in the picture that a model gets, and back.  Pure arithmetic; any thread.
#pragma once

#include "frame_window.h"
#include "host/size.h"

namespace dnn_torch
{

// How a frame is fitted into a picture of another size.
enum class Placing {
    letterbox, // all of it, in the middle, with its own aspect
    stretch,   // all of it, with the picture's aspect
    crop,      // as much of its middle as fills the picture with its own aspect
    corner,    // all of it, unscaled, at the top left; it must not be larger
};

// The part `source` of the frame fills the part `target` of the picture.
struct Placement {
    Region source, target;

    // Return by how much the frame is enlarged.
    float scale_x() const;
    float scale_y() const;

    // Convert a coordinate in the picture to one in the frame.  0 is the left or upper edge of the
    // first pixel.
    float x_in_frame(float x) const;
    float y_in_frame(float y) const;

    bool operator==(const Placement &) const = default;
};

// `chroma` says how many pixels share a sample of chroma; crops begin at multiples of that.
Placement place(Size frame, Size picture, Placing placing, Size chroma = {1, 1});

// Returns the smallest size that holds `size` and is a multiple of `multiple` both ways.
Size rounded_up(Size size, int multiple);

// Returns the size that holds a frame of that aspect with the least border.  Its sides are
// multiples, and the longer one is at most `longest`.
Size picture_for(Size frame, int longest, int multiple);

} // namespace dnn_torch
