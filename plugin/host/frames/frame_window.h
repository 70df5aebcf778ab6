// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Views of parts of frames and images, so that functions for whole ones also convert parts.
#pragma once

#include "host/ffmpeg_pointers.h"
#include "host/size.h"
#include "images.h"
#include "picture.h"

namespace dnn_torch
{

struct Region {
    int x, y;
    Size size;
    bool operator==(const Region &) const = default;
};

// How a picture is extended beyond its edges.
enum class Padding { reflect, replicate };

// A frame that points into another frame's memory.  It only has the planes of the requested
// components.  Belongs to one thread.
class FrameWindow
{
public:
    // Throws std::bad_alloc.
    FrameWindow();

    // Returns the region of `frame`.  It is valid until the next call, and as long as the frame.
    AVFrame *at(const AVFrame *frame, const Region &region, const Components &components);

private:
    FramePointer window_;
};

// Returns the region of each picture.
Images part_of(const Images &images, const Region &region);

// Extends picture `index` to the right and down, from its content of size `inside` at the top left.
void pad_picture(const Images &images, int index, Size inside, Padding padding);

} // namespace dnn_torch
