// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "second_stream.h"

extern "C" {
#include <libavutil/avutil.h>
#include <libavutil/mathematics.h>
}

#include <utility>

namespace dnn_torch
{

bool SecondStream::is_ready_for(int64_t pts, AVRational time_base)
{
    if (next_ && is_due(pts, time_base)) {
        took_untimed_ = next_->pts == AV_NOPTS_VALUE;
        current_ = std::exchange(next_, nullptr);
    }
    const bool is_ready = next_ || has_ended_ || (current_ && pts == AV_NOPTS_VALUE);
    if (is_ready)
        took_untimed_ = false;
    return is_ready;
}

bool SecondStream::is_due(int64_t pts, AVRational time_base) const
{
    if (!current_)
        return true;
    if (next_->pts == AV_NOPTS_VALUE)
        return !took_untimed_;
    return pts != AV_NOPTS_VALUE && av_compare_ts(next_->pts, time_base_, pts, time_base) <= 0;
}

} // namespace dnn_torch
