// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A frame's duration in its time base, which FFmpeg renamed in 6.0.  0: not known.
#pragma once

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/version.h>
}

#include <cstdint>

namespace dnn_torch
{

#if LIBAVUTIL_VERSION_MAJOR >= 58
inline int64_t frame_duration(const AVFrame &frame)
{
    return frame.duration;
}
inline void set_frame_duration(AVFrame &frame, int64_t duration)
{
    frame.duration = duration;
}
#else
inline int64_t frame_duration(const AVFrame &frame)
{
    return frame.pkt_duration;
}
inline void set_frame_duration(AVFrame &frame, int64_t duration)
{
    frame.pkt_duration = duration;
}
#endif

} // namespace dnn_torch
