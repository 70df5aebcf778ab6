// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "held_frames.h"

#include "base/compose.h"
#include "host/error.h"
#include "host/model/contract_inputs.h"

extern "C" {
#include <libavutil/error.h>
#include <libavutil/imgutils.h>
}

#include <algorithm>

namespace dnn_torch
{
namespace
{

int64_t bytes_in(AVPixelFormat format, Size size)
{
    return std::max(av_image_get_buffer_size(format, size.width, size.height, 1), 0);
}

int64_t floats_in(Size size, int channels)
{
    return int64_t{channels} * size.width * size.height * static_cast<int64_t>(sizeof(float));
}

} // namespace

Window window_of(const Contract &contract)
{
    const Neighbours neighbours = neighbours_in(contract);
    return {.before = static_cast<size_t>(neighbours.before),
            .after = static_cast<size_t>(neighbours.after)};
}

Segments segments_of(const Contract &contract)
{
    return {.length = static_cast<size_t>(contract.time.length),
            .overlap = static_cast<size_t>(contract.time.overlap)};
}

FrameBytes bytes_of(const FrameShape &input, Size output, int channels, int output_channels)
{
    return {.frame = bytes_in(input.format, input.size),
            .result = bytes_in(format_of_results(input), output),
            .floats = floats_in(input.size, channels),
            .made = floats_in(output, output_channels)};
}

// Frames of windows are converted once, and kept so.  A segment that waits is not converted yet.
HeldFrames held_frames(const Window &window, const Segments &segments, size_t batch_size,
                       const CoreBudget &budget, const FrameBytes &each)
{
    const auto times = [](size_t count, int64_t bytes) {
        return static_cast<int64_t>(count) * bytes;
    };
    const size_t in_jobs = budget.in_flight * batch_size;
    if (segments.length != 0)
        return {.frames = in_jobs + segments.length + 1,
                .bytes = times(in_jobs + segments.length + 1, each.frame) +
                         times(in_jobs, each.result) +
                         times(budget.workers * segments.length, each.floats + each.made)};
    if (window == Window{})
        return {};
    const size_t width = window.before + window.after + 1, frames = in_jobs + width;
    return {.frames = frames,
            .bytes = times(frames, each.frame + each.floats) + times(in_jobs, each.result) +
                     times(budget.workers * batch_size, times(width, each.floats) + each.made)};
}

std::string in_words(const HeldFrames &held)
{
    return concat(counted(held.frames, "frame"), ", ",
                  bytes_in_words(static_cast<double>(held.bytes)));
}

void expect_memory_for(const TaskPlan &plan, const CoreBudget &budget, const Machine &machine)
{
    const HeldFrames held =
        held_frames(plan.window, plan.segments, plan.batch_size, budget, plan.frame_bytes);
    if (machine.memory <= 0 || held.bytes <= machine.memory)
        return;
    const char *what = plan.segments.length != 0 ? "length" : "frames";
    throw Error(AVERROR(ENOMEM),
                concat(counted(budget.in_flight, "job"), " at once on ",
                       counted(budget.workers, "worker"), " hold ", in_words(held), ", and ",
                       bytes_in_words(static_cast<double>(machine.memory)),
                       " are free; lower nireq, workers or ", what));
}

} // namespace dnn_torch
