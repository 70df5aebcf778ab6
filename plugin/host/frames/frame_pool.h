// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Makes frames whose memory is used again when nobody holds them.
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
    // Throws Error if there are no frames of this format or size.
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
