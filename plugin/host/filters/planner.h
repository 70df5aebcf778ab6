// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "host/tasks/task.h"

#include <cstddef>
#include <memory>
#include <span>

namespace dnn_torch
{

// Plans runs for the frame loop.
class Planner
{
public:
    virtual ~Planner() = default;

    // Returns how many frames it wants to see before it prepares.
    virtual size_t frames_wanted() const = 0;
    // Whether it may want a frame later, for another model.
    virtual bool wants_frame_kept() const = 0;

    // Finds the best way to run such frames, of which `first` are the first ones.  May take
    // seconds.  May be called while the task's model runs.  Throws Error.
    virtual Work prepare(const FrameShape &input, std::span<const FrameItem> first) = 0;

    // Uses this task for later plans.
    virtual void adopt(std::shared_ptr<Task> task) = 0;

    // Ends the task, because the input ended without a frame.  Throws Error.
    virtual void end_without_frames() = 0;
};

} // namespace dnn_torch
