// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What differs between FFmpeg versions and is no matter of layouts.
#pragma once

extern "C" {
#include <libavfilter/version.h>
#include <libavutil/avutil.h>
#include <libavutil/frame.h>
#include <libavutil/version.h>
}

namespace dnn_torch
{

inline int64_t frame_duration(const AVFrame *frame)
{
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100) // FFmpeg 6.0
    return frame->duration;
#else
    return frame->pkt_duration;
#endif
}

// Where the stream ends if this frame is its last; AV_NOPTS_VALUE where unknown.
inline int64_t end_of_frame(const AVFrame *frame)
{
    if (frame->pts == AV_NOPTS_VALUE)
        return AV_NOPTS_VALUE;
    return frame->pts + (frame_duration(frame) > 0 ? frame_duration(frame) : 1);
}

// Before 6.0, ffmpeg exits with 0 where a filter fails while it is asked for its
// last frames, and not while it is told of its input's end.
constexpr bool programs_ignore_late_failures = LIBAVFILTER_VERSION_MAJOR < 9;

} // namespace dnn_torch
