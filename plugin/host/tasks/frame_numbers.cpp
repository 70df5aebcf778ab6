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

InputNumbers numbers_for(const NumberInput &input, const FrameJob &job, size_t count,
                         AVRational time_base)
{
    if (input.of == NumberInput::Of::between)
        return {.name = input.name,
                .numbers = std::vector{static_cast<float>(job.items.front().between)},
                .is_for_all = true};
    std::vector<float> seconds;
    std::vector<int64_t> numbers;
    for (size_t i = 0; i < count; i++)
        if (input.of == NumberInput::Of::time)
            seconds.push_back(seconds_of(job.items[i], input.name, time_base));
        else
            numbers.push_back(job.items[i].number);
    if (input.of == NumberInput::Of::time)
        return {.name = input.name, .numbers = std::move(seconds)};
    return {.name = input.name, .numbers = std::move(numbers)};
}

} // namespace

std::vector<InputNumbers> numbers_for(const FrameJob &job, const TaskPlan &plan)
{
    std::vector<InputNumbers> all;
    const size_t count = plan.segments.length ? 1 : job.items.size();
    for (const NumberInput &input : plan.number_inputs)
        all.push_back(numbers_for(input, job, count, plan.input.time_base));
    return all;
}

} // namespace dnn_torch
