// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Allocates frames whose memory is reused when nobody references them.
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

// Several threads may take frames at once.  Frames may outlive the pool.
class FramePool
{
public:
    // Throws Error if no frame can have this format and size.
    FramePool(AVPixelFormat format, Size size);

    // Returns a writable frame with undefined pixels and no properties.  Throws
    // std::bad_alloc.
    FramePointer take() const;

private:
    AVPixelFormat format_;
    Size size_;
    int linesizes_[4] = {};
    ptrdiff_t offsets_[4] = {}; // -1 if there is no such plane
    BufferPoolPointer pool_;
};

} // namespace dnn_torch
