// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A worker of the pool.  It keeps a session for the plan of its last job.
#pragma once

#include "task.h"

#include <memory>
#include <mutex>

namespace dnn_torch
{

// Returns "frame at 1.200 s".
std::string place_of(const AVFrame *frame, AVRational time_base);

class TaskWorker : public PoolWorker<FrameJob>
{
public:
    // Opens a session for the plan before the first job arrives.  Throws Error.
    explicit TaskWorker(const std::shared_ptr<const TaskPlan> &plan);

    // Opens another session if the job has another plan.  Errors name the frame.
    void run(FrameJob &job) override;

    // Closes the session if its plan no longer exists.
    void release_unused() noexcept override;
    void stop() noexcept override;

private:
    void run_model(FrameJob &job);
    void follow(const std::shared_ptr<const TaskPlan> &plan);
    void use(std::unique_ptr<TaskSession> session);

    std::weak_ptr<const TaskPlan> plan_; // of the session

    std::mutex mutex_;
    // ---- under mutex_; written only by the worker's own thread ----
    std::unique_ptr<TaskSession> session_;
    bool stopped_ = false;
};

} // namespace dnn_torch
