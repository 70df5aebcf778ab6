// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How a frame lies in the picture that a model gets of it, and the way back.  Pure numbers; any
// thread.
#pragma once

#include "frame_window.h"
#include "host/size.h"

namespace dnn_torch
{

// How a frame is brought to a picture of another size.
enum class Placing {
    letterbox, // all of it, in the middle, with its own aspect
    stretch,   // all of it, with the picture's aspect
    crop,      // as much of its middle as fills the picture with its own aspect
    corner,    // all of it, unscaled, at the left and the top; it must not be larger
};

// The part `source` of the frame fills the part `target` of the picture.
struct Placement {
    Region source, target;

    // By how much the frame is enlarged.
    float scale_x() const;
    float scale_y() const;

    // Return where a place in the picture is in the frame.  0 is the left or upper edge of the
    // first pixel.
    float x_in_frame(float x) const;
    float y_in_frame(float y) const;

    bool operator==(const Placement &) const = default;
};

// `chroma` says how many pixels share a sample of chroma; crops begin at multiples of that.
Placement place(Size frame, Size picture, Placing placing, Size chroma = {1, 1});

// Returns the smallest size that holds `size` and has width and height of the multiple.
Size rounded_up(Size size, int multiple);

// Returns the size, its longer side at most `longest` and both multiples, that holds a frame of
// that aspect with the least border.
Size picture_for(Size frame, int longest, int multiple);

} // namespace dnn_torch
