// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Chooses the frame of a second stream for each frame of the first stream: the last one that is not
// later, as libavfilter's overlay does, or the very first one.  After the stream's end, its last
// frame stays.  Does not depend on libavfilter.
#pragma once

#include "host/ffmpeg_pointers.h"

extern "C" {
#include <libavutil/rational.h>
}

#include <cstdint>

namespace dnn_torch
{

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

} // namespace dnn_torch
