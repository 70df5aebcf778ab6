// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sample_gathering.h"

#include "base/compose.h"
#include "host/error.h"
#include "host/frames/clip_frames.h"
#include "host/workers/fork_gate.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <utility>
#include <vector>

namespace dnn_torch
{
namespace
{

FramePointer guarded_reference(const FramePointer &frame)
{
    NoFork no_fork;
    return new_reference(frame.get());
}

FrameItem item_of(FramePointer frame, int64_t number)
{
    return {.frame = std::move(frame),
            .bypass = false,
            .strength = 1,
            .arrival = Clock::now(),
            .number = number,
            .seed = number};
}

// Uses frames that bypass the model only if there are no others.
std::vector<FrameItem> items_of(std::span<const FrameItem> frames)
{
    const bool all_bypass = std::all_of(frames.begin(), frames.end(),
                                        [](const FrameItem &frame) { return frame.bypass; });
    std::vector<FrameItem> items;
    for (const FrameItem &frame : frames)
        if (!frame.bypass || all_bypass)
            items.push_back(new_reference(frame));
    return items;
}

std::shared_ptr<const Samples> gathered(Task &task, const FrameShape &input,
                                        std::vector<FrameItem> items)
{
    const auto samples = std::make_shared<Samples>();
    PlanParameters parameters;
    parameters.gathered = samples;
    const std::shared_ptr<const TaskPlan> plan = task.plan(input, parameters).plan;
    const std::unique_ptr<TaskSession> session = plan->open_session();
    for (FrameItem &item : items) {
        FrameJob job;
        job.plan = plan;
        job.items.push_back(std::move(item));
        try {
            session->run(job);
        } catch (const SampleTaken &) {
            continue;
        }
    }
    return samples;
}

std::shared_ptr<const Samples> gathered(Task &task, const FrameShape &input,
                                        const std::string &clip)
{
    if (!input.extra.empty())
        throw Error(AVERROR(EINVAL), "calibration: a file has no extra pictures for its frames; "
                                     "calibration=first takes them from the stream");
    std::vector<FrameItem> items;
    for (FramePointer &frame : frames_of_clip(clip, input.format, Samples::most))
        items.push_back(item_of(std::move(frame), static_cast<int64_t>(items.size())));
    FrameShape shape = input;
    shape.size = {items.front().frame->width, items.front().frame->height};
    try {
        return gathered(task, shape, std::move(items));
    } catch (const Error &error) {
        throw Error(error.code(), concat("calibration: ", error.what()));
    }
}

} // namespace

FrameItem new_reference(const FrameItem &item)
{
    FrameItem result = item_of(guarded_reference(item.frame), item.number);
    result.arrival = item.arrival;
    result.seed = item.seed;
    for (const FramePointer &extra : item.extra)
        result.extra.push_back(guarded_reference(extra));
    return result;
}

std::shared_ptr<const Samples> samples_for(Task &task, const FrameShape &input,
                                           std::span<const FrameItem> first)
{
    const Calibration &calibration = task.calibration();
    if (!task.model()->is_in_int8())
        return nullptr;
    if (calibration.is_of_stream)
        return gathered(task, input, items_of(first));
    return calibration.clip.empty() ? nullptr : gathered(task, input, calibration.clip);
}

Calibration parse_calibration(const std::string &text)
{
    if (text.empty() || text == "generated")
        return {};
    if (text == "first")
        return {.is_of_stream = true, .clip = ""};
    check_clip(text);
    return {.is_of_stream = false, .clip = text};
}

} // namespace dnn_torch
