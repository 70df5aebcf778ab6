// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Wraps a session: converts frames to the formats that it works in, and its results back.
#pragma once

#include "host/frames/recoder.h"
#include "picture_task.h"

#include <memory>
#include <vector>

namespace dnn_torch
{

class ConvertedSession : public TaskSession
{
public:
    // `session` works in the plan's formats.  `plan` must live during run() and bypass().
    ConvertedSession(const PicturePlan &plan, std::unique_ptr<TaskSession> session);

    void run(FrameJob &job) override;
    void bypass(FrameJob &job) override;
    void reset() override { session_->reset(); }
    void stop() noexcept override { session_->stop(); }

private:
    void convert_in(FrameJob &job);
    FramePointer converted(const AVFrame *frame);
    const AVFrame *share_converted(const FrameJob &job, SharedFrame &frame);
    void convert_out(FrameJob &job);
    template <class Run> void run_converted(FrameJob &job, const Run &run);

    const PicturePlan &plan_;
    std::unique_ptr<TaskSession> session_;
    Recoder in_, out_;
    std::vector<FramePointer> sources_; // the unconverted frames of the current job
};

} // namespace dnn_torch
