// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Makes results of frames that the model did not get, or not in time.
#pragma once

#include "host/frames/frame_converter.h"
#include "host/frames/frame_pool.h"
#include "host/frames/frame_scaler.h"
#include "host/frames/stencil.h"
#include "host/tasks/task.h"
#include "host/workers/statistics.h"

#include <cstdint>
#include <optional>

namespace dnn_torch
{

// Belongs to the filter's thread.
class LateFrames
{
public:
    // Says what results look like from now on.  Forgets earlier results if their frames had another
    // size.  `keeps`: earlier results are wanted.
    void follow(const TaskPlan &plan, Reuse reuse, bool keeps);

    // The model has made the item's result.  Ignores it if there is a later one.
    void keep(const FrameItem &item);
    void forget() { latest_ = -1; }
    bool has_earlier() const { return latest_ >= 0; }
    // Returns how many frames before that one the latest result belongs to.
    int64_t age_of(const FrameItem &item) const { return item.number - latest_; }

    // Return the frame's result: as it came, but in the form of results; or with the latest result.
    // Throw Error or std::bad_alloc.
    FramePointer passed(const AVFrame *frame);
    FramePointer reused(const AVFrame *frame);

private:
    FrameShape input_{};
    Size output_{};
    Reuse reuse_ = Reuse::picture;
    bool keeps_ = false;
    std::optional<FramePool> pool_; // if results have another form
    FrameScaler scaler_;
    FrameConverter converter_;
    int64_t latest_ = -1; // the number of the last frame with a result
    FramePointer result_;
};

// Hides the whole picture, and removes what else shows it.  Throws Error.
void hide_frame(AVFrame &frame, Hiding hiding);

// Sets the metadata keys lavfi.dnn_torch.age and, unless the model ran in time, .late.  `age` below
// 0: the frame has no result of the model.
void mark_frame(AVFrame &frame, Fate fate, int64_t age);

} // namespace dnn_torch
