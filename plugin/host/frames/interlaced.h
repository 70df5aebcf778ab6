// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Whether a frame consists of two fields, which FFmpeg marks with a flag since 6.1.
#pragma once

extern "C" {
#include <libavutil/frame.h>
}

namespace dnn_torch
{

inline bool is_interlaced(const AVFrame &frame)
{
#ifdef AV_FRAME_FLAG_INTERLACED
    return (frame.flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
    return frame.interlaced_frame != 0;
#endif
}

} // namespace dnn_torch
