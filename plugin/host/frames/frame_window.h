// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Parts of frames and of images, so that what converts whole ones converts parts.
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

// How a picture goes on beyond its edges.
enum class Padding { reflect, replicate };

// A frame that looks into another one's memory.  Only the planes with some components are there.
// Belongs to one thread.
class FrameWindow
{
public:
    // Throws std::bad_alloc.
    FrameWindow();

    // Returns the region of `frame`; holds until the next call, and as long as the frame's memory.
    AVFrame *at(const AVFrame *frame, const Region &region, const Components &components);

private:
    FramePointer window_;
};

// Returns the region of each picture.
Images part_of(const Images &images, const Region &region);

// Fills picture `index` to the right of and below what it has at `inside`, from the left and top.
void pad_picture(const Images &images, int index, Size inside, Padding padding);

} // namespace dnn_torch
