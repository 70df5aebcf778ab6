// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "rate_grid.h"

#include "base/compose.h"
#include "host/error.h"

extern "C" {
#include <libavutil/error.h>
#include <libavutil/mathematics.h>
}

#include <algorithm>
#include <utility>

namespace dnn_torch
{

int64_t RateGrid::place_of(int64_t pts) const
{
    return av_rescale_q_rnd(pts, time_base_, av_inv_q(rate_),
                            static_cast<AVRounding>(AV_ROUND_NEAR_INF | AV_ROUND_PASS_MINMAX));
}

RateGrid::Wide RateGrid::time_of_output(Wide pts) const
{
    return (pts - first_output_) * rate_.den * time_base_.den;
}

RateGrid::Wide RateGrid::time_of_input(int64_t pts) const
{
    return (Wide{pts} - first_) * rate_.num * time_base_.num;
}

// Whether the output still shows the frame of that timestamp, or is between it and the next one.
bool RateGrid::is_before(Wide output, int64_t pts, const Successor &successor) const
{
    if (successor.kind == Successor::Kind::end)
        return output < std::max(successor.pts, limit_);
    if (successor.pts == AV_NOPTS_VALUE || successor.pts <= pts)
        return false;
    const Wide time = time_of_output(output), end = time_of_input(successor.pts);
    if (successor.kind == Successor::Kind::cut)
        return 2 * time < time_of_input(pts) + end;
    return time < end;
}

// A part of a video begins with the first output of the whole that is not before its first frame.
void RateGrid::begin(int64_t pts)
{
    first_ = latest_ = pts;
    if (anchor_)
        first_ = av_rescale_q(anchor_->num, {1, anchor_->den}, time_base_);
    if (anchor_ && av_compare_ts(first_, time_base_, anchor_->num, {1, anchor_->den}) != 0)
        throw Error(AVERROR(EINVAL), "anchor is no time of a frame of this video");
    first_output_ = next_output_ = place_of(first_);
    const Wide interval = Wide{rate_.den} * time_base_.den, time = time_of_input(pts);
    if (time > 0)
        next_output_ += static_cast<int64_t>((time + interval - 1) / interval);
}

Schedule RateGrid::next(int64_t pts, const Successor &successor, size_t most)
{
    if (pts == AV_NOPTS_VALUE)
        pts = latest_;
    Schedule schedule = {.continues = std::exchange(is_midway_, false)};
    const bool is_end = successor.kind == Successor::Kind::end;
    schedule.is_last = is_end;
    if (pts == AV_NOPTS_VALUE)
        return schedule;
    if (first_ == AV_NOPTS_VALUE)
        begin(pts);
    latest_ = std::max(latest_, pts);
    const Wide begin = time_of_input(pts), end = time_of_input(successor.pts);
    if (is_before(Wide{next_output_} + most_moments, pts, successor))
        throw Error(AVERROR(EINVAL),
                    concat("after the frame at ", av_rescale_q(pts, time_base_, {1, 1}),
                           " s comes none for longer than ", most_moments,
                           " frames of the output; if that is so, cut the stream there"));
    for (; is_before(next_output_, pts, successor); next_output_++) {
        if (schedule.moments.size() == most) {
            is_midway_ = true;
            break;
        }
        const Wide time = time_of_output(next_output_);
        const bool is_between = successor.kind == Successor::Kind::frame && time > begin;
        schedule.moments.push_back(
            {.pts = next_output_,
             .t = is_between ? static_cast<double>(time - begin) / static_cast<double>(end - begin)
                             : 0});
    }
    if (successor.pts != AV_NOPTS_VALUE)
        limit_ = std::max(limit_, is_end ? successor.pts : place_of(successor.pts));
    schedule.limit = limit_;
    schedule.is_whole = !is_midway_;
    schedule.is_last = is_end && !is_midway_;
    return schedule;
}

} // namespace dnn_torch
