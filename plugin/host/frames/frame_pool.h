// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Frames whose memory is used again once nobody holds it.
#pragma once

#include "host/ffmpeg_pointers.h"
#include "host/size.h"

extern "C" {
#include <libavutil/pixfmt.h>
}

#include <cstddef>
#include <cstdint>

namespace dnn_torch
{

// Frames may be taken from several threads at once, and outlive the pool.
class FramePool
{
public:
    // Throws Error for a format or a size that has no frames.
    FramePool(AVPixelFormat format, Size size);

    // A writable frame with nothing but pixels of no meaning; throws std::bad_alloc.
    FramePointer take() const;

private:
    AVPixelFormat format_;
    Size size_;
    int linesizes_[4] = {};
    ptrdiff_t offsets_[4] = {}; // -1 where there is no such plane
    BufferPoolPointer pool_;
};

} // namespace dnn_torch
