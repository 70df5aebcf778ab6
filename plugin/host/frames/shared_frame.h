// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A frame that several jobs get, each with other neighbours: it is converted once for all.
#pragma once

#include "host/ffmpeg_pointers.h"
#include "images.h"

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace dnn_torch
{

// May be used by any number of threads at once.
class SharedFrame
{
public:
    explicit SharedFrame(FramePointer frame) : frame_(std::move(frame)) {}
    ~SharedFrame();
    SharedFrame(const SharedFrame &) = delete;
    SharedFrame &operator=(const SharedFrame &) = delete;

    const AVFrame *frame() const { return frame_.get(); }

    // Plans convert frames differently.  Only the identity of the plan matters.
    using Plan = std::shared_ptr<const void>;
    using Convert = std::function<FramePointer(const AVFrame *)>;
    using Read = std::function<void(const AVFrame *, const Images &)>;

    // Returns the frame in another format.  `convert` is called once for each plan.  The result is
    // valid as long as this object.
    const AVFrame *converted(const Plan &plan, const Convert &convert);

    // Returns the frame, or what it was converted to, as planes of floats.  `read` fills them, and
    // is called once for each plan.  The view is valid as long as this object.
    Images planes(const Plan &plan, int channels, const Read &read);

private:
    struct Made {
        std::weak_ptr<const void> plan;
        FramePointer converted = {};
        std::vector<float> samples = {};
        Images planes = {};
    };
    Made &made_for(const Plan &plan);

    FramePointer frame_;
    std::mutex mutex_;
    // ---- under mutex_
    std::list<Made> made_; // of one plan, or of two around a change
};

// Copies the region of `from`, planes of one picture, into picture `index` of `to` at its top left.
// Both have the same channels.
void copy_planes(const Images &from, int left, int top, const Images &to, int index);

} // namespace dnn_torch
