// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "task_worker.h"

#include "host/error.h"

extern "C" {
#include <libavutil/error.h>
}

#include <cstdio>
#include <new>

namespace dnn_torch
{

std::string place_of(const AVFrame *frame, AVRational time_base)
{
    if (frame->pts == AV_NOPTS_VALUE)
        return "frame without a timestamp";
    char text[64];
    snprintf(text, sizeof(text), "frame at %.3f s",
             static_cast<double>(frame->pts) * av_q2d(time_base));
    return text;
}

TaskWorker::TaskWorker(const std::shared_ptr<const TaskPlan> &plan)
{
    follow(plan);
}

void TaskWorker::run(FrameJob &job)
{
    follow(job.plan);
    const std::string where =
        job.where.empty() ? place_of(job.items.front().frame.get(), job.plan->input.time_base)
                          : job.where;
    try {
        if (job.items.front().reuses)
            return;
        if (job.items.front().bypass)
            session_->bypass(job);
        else
            run_model(job);
        if (!job.crash.empty())
            job.crash = where + ": " + job.crash;
    } catch (const AnyError &error) {
        throw Error(error.code(), where + ": " + error.what());
    } catch (const std::bad_alloc &) {
        throw Error(AVERROR(ENOMEM), where + ": out of memory; lower workers, nireq or batch_size");
    }
}

void TaskWorker::run_model(FrameJob &job)
try {
    if (job.starts_anew && job.plan->in_order)
        session_->reset();
    session_->run(job);
} catch (const Crash &crash) {
    if (!job.plan->passes_crashed || !crash.was_tried_again())
        throw;
    job.retries++;
    job.crash = crash.what();
    job.passed = true;
    session_->bypass(job);
}

// The stream uses one plan after the other.  Once a job has another plan, the last one gets no more
// jobs, so its memory is freed before the next one allocates.
void TaskWorker::follow(const std::shared_ptr<const TaskPlan> &plan)
{
    if (session_ && plan_.lock() == plan)
        return;
    use(nullptr);
    use(plan->open_session());
    plan_ = plan;
}

void TaskWorker::use(std::unique_ptr<TaskSession> session)
{
    {
        std::lock_guard lock(mutex_);
        session_.swap(session);
        if (session_ && stopped_)
            session_->stop();
    }
    session.reset(); // the last one, without the lock: closing may take long
}

void TaskWorker::release_unused() noexcept
{
    if (plan_.expired())
        use(nullptr);
}

void TaskWorker::stop() noexcept
{
    std::lock_guard lock(mutex_);
    stopped_ = true;
    if (session_)
        session_->stop();
}

} // namespace dnn_torch
