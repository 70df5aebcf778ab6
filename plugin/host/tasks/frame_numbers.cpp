// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame_numbers.h"

#include "base/compose.h"
#include "host/error.h"

extern "C" {
#include <libavutil/error.h>
}

namespace dnn_torch
{
namespace
{

float seconds_of(const FrameItem &item, const std::string &input, AVRational time_base)
{
    const int64_t pts = item.frame->pts;
    if (pts == AV_NOPTS_VALUE)
        throw Error(AVERROR(EINVAL), concat("inputs=", input, "=time: frame ", item.number,
                                            " has no time; number counts frames instead"));
    return static_cast<float>(static_cast<double>(pts) * av_q2d(time_base));
}

} // namespace

std::vector<InputNumbers> numbers_for(const FrameJob &job, const TaskPlan &plan)
{
    std::vector<InputNumbers> all;
    const size_t count = plan.segments.length ? 1 : job.items.size();
    for (const NumberInput &input : plan.number_inputs) {
        std::vector<float> seconds;
        std::vector<int64_t> numbers;
        for (size_t i = 0; i < count; i++)
            if (input.is_time)
                seconds.push_back(seconds_of(job.items[i], input.name, plan.input.time_base));
            else
                numbers.push_back(job.items[i].number);
        all.push_back({.name = input.name, .numbers = std::move(numbers)});
        if (input.is_time)
            all.back().numbers = std::move(seconds);
    }
    return all;
}

} // namespace dnn_torch
