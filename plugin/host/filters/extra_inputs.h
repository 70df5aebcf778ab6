// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The extra inputs of a filter.  The first input drives: each of its frames gets one frame of every
// extra input.
#pragma once

#include "host/ffmpeg_pointers.h"
#include "host/libavfilter/gate.h"
#include "host/tasks/task.h"

extern "C" {
#include <libavutil/rational.h>
}

#include <cstdint>
#include <deque>
#include <vector>

namespace dnn_torch
{

// Chooses the frame of a second stream for each frame of the first stream: the last one that is not
// later, as libavfilter's overlay does, or the very first one.  After the stream's end, its last
// frame stays.  Does not depend on libavfilter.
// Holds at most two frames.  Belongs to one thread.
class SecondStream
{
public:
    explicit SecondStream(AVRational time_base) : time_base_(time_base) {}

    // Whether current() belongs to a frame of that time.  If not, the caller must add() the next
    // frame of this stream, or end() it, before the next call.
    // Frames of the first stream come in order.  One without a time (AV_NOPTS_VALUE) gets the
    // current frame.  One of this stream without a time belongs to the next frame of the first.
    bool is_ready_for(int64_t pts, AVRational time_base);

    void add(FramePointer frame) { next_ = std::move(frame); }
    void end() { has_ended_ = true; }
    bool has_ended() const { return has_ended_; }

    // Returns null if the stream ended without a frame.  May be called only after is_ready_for()
    // returned true.
    const AVFrame *current() const { return current_.get(); }

private:
    bool is_due(int64_t pts, AVRational time_base) const;

    AVRational time_base_;
    FramePointer current_, next_;
    bool has_ended_ = false;
    bool took_untimed_ = false; // for the frame that the calls are about
};

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
