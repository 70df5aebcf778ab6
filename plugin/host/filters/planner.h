// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "host/tasks/task.h"

#include <memory>

namespace dnn_torch
{

// The frame loop asks it for plans.
class Planner
{
public:
    virtual ~Planner() = default;

    // Finds the best way to run such frames.  May take seconds, also while the task's
    // model runs.  Throws Error.
    virtual Work prepare(const FrameShape &input) = 0;

    // From now on plans are made with this task.
    virtual void adopt(std::shared_ptr<Task> task) = 0;

    // The input has ended, and no frame came.  Throws Error.
    virtual void end_without_frames() = 0;
};

} // namespace dnn_torch
