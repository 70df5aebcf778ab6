// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Small tasks without a model.  A frame's number is each of its samples.
#pragma once

#include "host/error.h"
#include "host/frames/frame_pool.h"
#include "host/tasks/task.h"

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

namespace dnn_torch
{

inline FramePointer numbered_frame(int number)
{
    FramePointer frame = FramePool(AV_PIX_FMT_GRAY8, {16, 8}).take();
    frame->pts = number;
    memset(frame->data[0], number, static_cast<size_t>(frame->linesize[0]) * 8);
    return frame;
}

inline int number_of(const FramePointer &frame)
{
    return frame->data[0][0];
}

inline int number_of(const std::shared_ptr<SharedFrame> &shared)
{
    return shared->frame()->data[0][0];
}

// What is done to one frame with its neighbours; fills in the results.
using PerFrame = std::function<void(FrameItem &)>;

// A sum of the frame's number and those of its neighbours.
inline void sum_of_window(FrameItem &item)
{
    int sum = number_of(item.frame);
    for (const auto &frame : item.before)
        sum += number_of(frame);
    for (const auto &frame : item.after)
        sum += number_of(frame);
    FramePointer result = numbered_frame(sum);
    result->pts = item.frame->pts;
    item.results.push_back(std::move(result));
}

// Interpolation in miniature: the frame, and one between it and the next one.
inline void doubled(FrameItem &item)
{
    int64_t pts = item.frame->pts;
    int number = number_of(item.frame);
    int next = item.after.empty() ? number : number_of(item.after.front());
    FramePointer between = numbered_frame((number + next) / 2);
    between->pts = pts;
    item.results.push_back(std::move(item.frame));
    item.results.push_back(std::move(between));
}

inline void each_third(FrameItem &item)
{
    if (item.number % 3 == 0)
        item.results.push_back(std::move(item.frame));
}

struct FakeSession : TaskSession {
    FakeSession(PerFrame to_do, std::atomic<int> *to_count)
        : per_frame(std::move(to_do)), open_sessions(to_count)
    {
        if (open_sessions)
            ++*open_sessions;
    }
    ~FakeSession() override
    {
        if (open_sessions)
            --*open_sessions;
    }
    void run(FrameJob &job) override
    {
        for (FrameItem &item : job.items)
            per_frame(item);
    }
    void bypass(FrameJob &job) override
    {
        for (FrameItem &item : job.items)
            item.results.push_back(std::move(item.frame));
    }
    void reset() override { resets++; }
    void stop() noexcept override {}

    PerFrame per_frame;
    std::atomic<int> *open_sessions;
    int resets = 0;
};

struct FakePlan : TaskPlan {
    FakePlan(PerFrame to_do, Window wanted, size_t frames_in_one_job = 1)
        : per_frame(std::move(to_do))
    {
        input = {.format = AV_PIX_FMT_GRAY8, .size = {16, 8}, .time_base = {1, 25}};
        output = input.size;
        window = wanted;
        batch_size = frames_in_one_job;
    }
    std::unique_ptr<TaskSession> open_session() const override
    {
        if (refuses)
            throw Error(-12, "no session");
        return std::make_unique<FakeSession>(per_frame, open_sessions);
    }

    bool surely_runs(const FrameItem &item) const override { return item.number != may_not_run; }

    PerFrame per_frame;
    int64_t may_not_run = -1;                  // the number of a frame
    std::atomic<int> *open_sessions = nullptr; // counts them, if not null
    bool refuses = false;
};

} // namespace dnn_torch
