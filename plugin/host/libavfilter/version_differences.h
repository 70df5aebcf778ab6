// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Behaviour that differs between FFmpeg versions.
#pragma once

extern "C" {
#include <libavfilter/version.h>
#include <libavutil/avutil.h>
#include <libavutil/frame.h>
#include <libavutil/version.h>
}

namespace dnn_torch
{

// Before 6.0, ffmpeg exits with 0 if a filter fails on a request for its last frames.  It
// reports a failure at the input's end.
constexpr bool programs_ignore_late_failures = LIBAVFILTER_VERSION_MAJOR < 9;

// A buffersrc of 6.0 and 6.1 takes the duration's old name over the new one if they differ, and
// filters such as settb set only the new one.
inline void settle_duration([[maybe_unused]] AVFrame &frame)
{
#if LIBAVUTIL_VERSION_MAJOR == 58
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    frame.pkt_duration = frame.duration;
#pragma GCC diagnostic pop
#endif
}

} // namespace dnn_torch
