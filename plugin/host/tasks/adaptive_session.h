// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Runs frames with the current tiling of their plan.  If memory runs out, it continues with smaller
// tiles, from the same frame.
#pragma once

#include "picture_task.h"

#include <memory>
#include <mutex>

namespace dnn_torch
{

class AdaptiveSession : public TaskSession
{
public:
    // `plan` must live during run() and bypass(); it may be gone after them.
    explicit AdaptiveSession(const PicturePlan &plan);

    void run(FrameJob &job) override;
    void bypass(FrameJob &job) override;
    void reset() override { session_->reset(); }
    void stop() noexcept override;

private:
    void follow(std::shared_ptr<const PictureTiling> tiling);

    const PicturePlan &plan_;
    std::shared_ptr<const PictureTiling> tiling_; // of the session

    std::mutex mutex_;
    // ---- under mutex_; written only by the session's own thread
    std::unique_ptr<TaskSession> session_;
    bool is_stopped_ = false;
};

} // namespace dnn_torch
