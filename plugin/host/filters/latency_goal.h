// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// goal=latency: one frame is made as soon as possible, rather than as many as possible.
#pragma once

#include "host/tasks/task.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace dnn_torch
{

// How long a run of one frame takes with that many threads.
struct RunTime {
    size_t threads;
    double seconds;
};

// What is requested of the cores for the goal.
struct LatencyChoice {
    CoreRequest cores;
    bool one_at_a_time = false; // a frame is made before the next one comes
    std::string note;           // for the log; may be empty
};

// Measures runs of that frame, with half as many threads each time, down to one, for about that
// long.  Returns nothing if the model does not surely run for the frame.  Throws what the model
// throws.  No other thread uses the plan.
std::vector<RunTime> time_runs(const std::shared_ptr<TaskPlan> &plan, const FrameItem &frame,
                               size_t most_threads, double seconds);

// `interval`: seconds between frames; 0 if not known.
LatencyChoice choose_for_latency(const CoreRequest &requested, const std::vector<RunTime> &times,
                                 double interval);

} // namespace dnn_torch
