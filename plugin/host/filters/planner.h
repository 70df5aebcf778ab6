// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "host/tasks/task.h"

#include <cstddef>
#include <memory>
#include <span>

namespace dnn_torch
{

// The frame loop asks it for plans.
class Planner
{
public:
    virtual ~Planner() = default;

    // How many frames it would see before it prepares.
    virtual size_t frames_wanted() const = 0;
    // Whether it may want to see one later, for another model.
    virtual bool wants_frame_kept() const = 0;

    // Finds the best way to run such frames, of which `first` are the first ones.  May take
    // seconds, also while the task's model runs.  Throws Error.
    virtual Work prepare(const FrameShape &input, std::span<const FrameItem> first) = 0;

    // From now on plans are made with this task.
    virtual void adopt(std::shared_ptr<Task> task) = 0;

    // The input has ended, and no frame came.  Throws Error.
    virtual void end_without_frames() = 0;
};

} // namespace dnn_torch
