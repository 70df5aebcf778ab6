// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The inputs of a filter beside its first one.  The first one drives: each of its frames gets one
// frame of every other input.
#pragma once

#include "host/libavfilter/gate.h"
#include "host/tasks/task.h"
#include "second_stream.h"

#include <deque>
#include <vector>

namespace dnn_torch
{

// Belongs to the thread that runs the graph.
class FurtherInputs
{
public:
    // `ctx` outlives it.
    explicit FurtherInputs(AVFilterContext *ctx) : ctx_(ctx) {}

    // For pads 1 to `count`.  Throws Error.
    void open(size_t count);
    // The links have their formats and times.  Throws Error if their sizes are not that of the
    // first.
    void configure();

    bool empty() const { return inputs_.empty(); }
    std::vector<AVPixelFormat> formats() const;

    // Gives the item its frames.  Returns false if one of them has to come first.  With `asks`,
    // asks for that.  Throws Error if there will be none, or if it does not fit.
    bool complete(FrameItem &item, AVRational time_base, bool asks);

    // Nobody wants frames any more.
    void close();

private:
    struct Input {
        Gate gate;
        AVPixelFormat format = AV_PIX_FMT_NONE;
        SecondStream stream{AVRational{0, 1}};
    };
    AVFilterLink *link(size_t index) const { return ctx_->inputs[index + 1]; }
    const char *name(size_t index) const;
    bool settle(size_t index, const AVFrame *frame, AVRational time_base, bool asks);
    FramePointer shared(size_t index, const AVFrame *frame) const;

    AVFilterContext *ctx_;
    std::deque<Input> inputs_; // never moved: their gates have links that refer to them
    FramePointer frame_;       // the one being received
};

} // namespace dnn_torch
