// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Chooses which frame of another stream goes with each frame of the first one: the last that is
// not later, as libavfilter's overlay does, or the first of all.  When the stream has ended, its
// last frame stays.  Knows no libavfilter.
#pragma once

#include "host/ffmpeg_pointers.h"

extern "C" {
#include <libavutil/rational.h>
}

#include <cstdint>

namespace dnn_torch
{

// Holds two frames at most.  Belongs to one thread.
class SecondStream
{
public:
    explicit SecondStream(AVRational time_base) : time_base_(time_base) {}

    // Whether current() is what goes with a frame of that time.  If not, the next frame of this
    // stream has to be add()ed, or its end be told, before it is asked again.
    // Frames of the first stream come in order.  One without a time (AV_NOPTS_VALUE) takes what is
    // there; one of this stream goes with the next frame of the first.
    bool is_settled(int64_t pts, AVRational time_base);

    void add(FramePointer frame) { next_ = std::move(frame); }
    void end() { has_ended_ = true; }
    bool has_ended() const { return has_ended_; }

    // Null if the stream has ended without a frame.  Call it only while is_settled().
    const AVFrame *current() const { return current_.get(); }

private:
    bool is_due(int64_t pts, AVRational time_base) const;

    AVRational time_base_;
    FramePointer current_, next_;
    bool has_ended_ = false;
    bool took_untimed_ = false; // for the frame that is asked about
};

} // namespace dnn_torch
