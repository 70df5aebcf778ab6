// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame_rate.h"

#include "host/frames/frame_pool.h"
#include "host/tasks/task_worker.h"

#include <algorithm>
#include <new>

namespace dnn_torch
{
namespace
{

// Returns a frame of pseudo-random samples, the same in each call.
FramePointer test_frame(const FrameShape &shape)
{
    FramePointer frame = FramePool(shape.format, shape.size).take();
    uint32_t state = 1;
    for (size_t i = 0; i < frame->buf[0]->size; i++) {
        state = state * 1664525U + 1013904223U;
        frame->buf[0]->data[i] = static_cast<uint8_t>(state >> 24);
    }
    return frame;
}

std::unique_ptr<FrameJob> job_of(const AVFrame *frame, std::shared_ptr<const TaskPlan> plan)
{
    auto job = std::make_unique<FrameJob>();
    job->plan = std::move(plan);
    const Segments &segments = job->plan->segments;
    for (size_t i = 0; i < std::max<size_t>(segments.length, 1); i++)
        job->items.push_back({.frame = new_reference(frame),
                              .bypass = false,
                              .arrival = Clock::now(),
                              .number = 0,
                              .seen_only = i < segments.overlap});
    return job;
}

} // namespace

double seconds_since(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<Setting> settings_to_measure(size_t cores, bool on_cpu, const Setting &own)
{
    std::vector<Setting> settings = {own};
    auto add = [&](const Setting &setting) {
        if (std::find(settings.begin(), settings.end(), setting) == settings.end())
            settings.push_back(setting);
    };
    for (size_t workers = on_cpu ? cores : std::min<size_t>(cores, 8); workers > 1;
         workers = (workers + 1) / 2)
        add({.workers = workers, .threads = on_cpu ? cores / workers : 1});
    add({.workers = 1, .threads = on_cpu ? cores : 1});
    add({.workers = 1, .threads = 1});
    return settings;
}

// Frames that a job shares with the next one count once.  Counts only whole rounds: the workers run
// in parallel, so a part of a round would distort the rate.
double measure_rate(const std::shared_ptr<const TaskPlan> &plan, size_t workers,
                    const WorkerPlaces &places, double seconds, std::chrono::microseconds timeout)
{
    FramePointer frame = test_frame(plan->input);
    OrderedPool<FrameJob> pool(
        {workers, workers + 1, std::chrono::ceil<std::chrono::seconds>(timeout)},
        [&](size_t worker) {
            places.bind_thread(worker);
            return std::make_unique<TaskWorker>(plan);
        });
    auto take_round = [&] {
        for (size_t i = 0; i < workers; i++) {
            while (!pool.full())
                pool.submit(job_of(frame.get(), plan));
            pool.take();
        }
    };
    take_round();
    Clock::time_point start = Clock::now();
    const size_t length = std::max<size_t>(plan->segments.length, 1);
    size_t frames = 0;
    do {
        take_round();
        frames += workers * (length - plan->segments.overlap);
    } while (seconds_since(start) < seconds);
    double rate = static_cast<double>(frames) / seconds_since(start);
    while (!pool.empty())
        pool.take();
    return rate;
}

} // namespace dnn_torch
