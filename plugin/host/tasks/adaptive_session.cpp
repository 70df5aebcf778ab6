// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adaptive_session.h"

#include "host/error.h"
#include "picture_session.h"
#include "tiled_session.h"

extern "C" {
#include <libavutil/error.h>
}

namespace dnn_torch
{

AdaptiveSession::AdaptiveSession(const PicturePlan &plan) : plan_(plan)
{
    follow(plan.tiling->current());
}

// Frees the last session's memory before the next one allocates.
void AdaptiveSession::follow(std::shared_ptr<const PictureTiling> tiling)
{
    std::unique_ptr<TaskSession> last;
    {
        std::lock_guard lock(mutex_);
        last.swap(session_);
    }
    last.reset();
    std::unique_ptr<TaskSession> next;
    if (plan_.tiling->fit().is_plain() && tiling->grid.count() == 1)
        next = std::make_unique<PictureSession>(plan_);
    else
        next = std::make_unique<TiledSession>(plan_, tiling);
    tiling_ = std::move(tiling);
    std::lock_guard lock(mutex_);
    session_ = std::move(next);
    if (is_stopped_)
        session_->stop();
}

void AdaptiveSession::run(FrameJob &job)
{
    for (;;) {
        if (std::shared_ptr<const PictureTiling> tiling = plan_.tiling->current();
            tiling != tiling_)
            follow(std::move(tiling));
        if (tiling_->is_second)
            job.behind = 0;
        try {
            return session_->run(job);
        } catch (const Error &error) {
            std::string note;
            if (error.code() != AVERROR(ENOMEM) || !plan_.tiling->smaller(tiling_.get(), note))
                throw;
            if (!note.empty())
                job.notes.push_back(note);
        }
    }
}

void AdaptiveSession::bypass(FrameJob &job)
{
    session_->bypass(job);
}

void AdaptiveSession::stop() noexcept
{
    std::lock_guard lock(mutex_);
    is_stopped_ = true;
    if (session_)
        session_->stop();
}

} // namespace dnn_torch
