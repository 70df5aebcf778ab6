// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The extra inputs of a filter.  The first input drives: each of its frames gets one frame of every
// extra input.
#pragma once

#include "host/libavfilter/gate.h"
#include "host/tasks/task.h"
#include "second_stream.h"

#include <deque>
#include <vector>

namespace dnn_torch
{

// Belongs to the thread that runs the graph.
class ExtraInputs
{
public:
    // `ctx` must outlive it.
    explicit ExtraInputs(AVFilterContext *ctx) : ctx_(ctx) {}

    // Opens pads 1 to `count`.  Throws Error.
    void open(size_t count);
    // Must be called once the links are configured.  Throws Error if their sizes differ from that
    // of the first input.
    void configure();

    bool empty() const { return inputs_.empty(); }
    std::vector<AVPixelFormat> formats() const;

    // Gives the item its frames.  Returns false if one of them has not come yet, and requests it if
    // `asks` is set.  Throws Error if there will be none, or if it does not fit.
    bool complete(FrameItem &item, AVRational time_base, bool asks);

    // Tells upstream that no more frames are wanted.
    void close();

private:
    struct Input {
        Gate gate;
        AVPixelFormat format = AV_PIX_FMT_NONE;
        SecondStream stream{AVRational{0, 1}};
    };
    AVFilterLink *link(size_t index) const { return ctx_->inputs[index + 1]; }
    const char *name(size_t index) const;
    bool find_frame(size_t index, const AVFrame *frame, AVRational time_base, bool asks);
    FramePointer shared(size_t index, const AVFrame *frame) const;

    AVFilterContext *ctx_;
    std::deque<Input> inputs_; // never moved: their gates' links refer to them
    FramePointer frame_;       // the one being received
};

} // namespace dnn_torch
