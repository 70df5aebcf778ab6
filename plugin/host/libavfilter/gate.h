// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The gate: a filter outside libavfilter receives frames from its links and sends
// frames to them through it.
//
// libavfilter's own filters call functions for that (ff_inlink_consume_frame,
// ff_filter_frame and the like) which are hidden.  The gate owns a private graph with
// a buffersrc and a buffersink that are never linked.  For one call it lends them a
// link of the real graph.  The exported functions of buffersrc and buffersink then do
// on that link what the hidden ones would.
#pragma once

#include "host/ffmpeg_pointers.h"

#include <cstdint>

namespace dnn_torch
{

// One gate serves one filter instance, on the thread that runs its graph.
class Gate
{
public:
    // Builds the private graph; returns an AVERROR on failure.  A gate may be closed or
    // destroyed in any state.
    int open();
    ~Gate();
    Gate() = default;
    Gate(const Gate &) = delete;
    Gate &operator=(const Gate &) = delete;

    // Returns the frame rate of the link; {0, 1} or {1, 0}: not known, or it varies.
    AVRational frame_rate(AVFilterLink *in);

    // Sets the frame rate of `out`, which newer libavfilters hide.  Call it while `out` is
    // configured, after its size and time base are set.  Returns an AVERROR on failure.
    int set_frame_rate(AVFilterLink *out, AVRational rate);

    // Moves the next frame of `in` into `frame`.  Returns 0, AVERROR(EAGAIN) if no frame
    // is waiting, or the status with which the link ended (AVERROR_EOF, an error).
    int receive(AVFilterLink *in, AVFrame *frame);

    // The same, but asks upstream for a frame if none is waiting.
    int receive_or_request(AVFilterLink *in, AVFrame *frame);

    // Sends the frame downstream.  Takes its reference on success.
    int send(AVFilterLink *out, AVFrame *frame);

    // Ends `out` with the status and the time of the end of the filter's input.  Call it only
    // after receive() or receive_or_request() returned that status.  Returns 0 for
    // AVERROR_EOF, otherwise the status.
    int forward_end(AVFilterLink *out);

    // Ends `out` at that time, even if the filter's input goes on.  Returns an AVERROR on failure.
    int end(AVFilterLink *out, int64_t pts);

    // Returns when `in` ended, in 1/rate and rounded as libavfilter's filter `fps` does; not less
    // than `latest`, a timestamp of the link.  Call it only after receive() or receive_or_request()
    // returned a status.  Returns AV_NOPTS_VALUE if that cannot be found out.
    int64_t end_at_rate(AVFilterLink *in, AVRational rate, int64_t latest);

    // If downstream wants no more frames, ends `in` too, so that upstream produces none,
    // and returns true.  Then nothing else may be called.
    bool forward_close(AVFilterLink *in, AVFilterLink *out);

    // Only the gate's own filters call these.
    int break_loop();
    void end_relay();

private:
    int add_source(AVFilterContext **source, const char *name);
    int add_ticking();
    int add_relay();
    int add_lenders();
    int tick();
    void discard_ticks();

    GraphPointer graph_;
    AVFilterContext *lend_source_ = nullptr, *lend_sink_ = nullptr;
    AVFilterContext *tick_source_ = nullptr, *breaker_ = nullptr;
    AVFilterContext *relay_source_ = nullptr, *relay_ = nullptr;
    AVFilterLink *relay_in_ = nullptr, *relay_out_ = nullptr; // own links of these pads
    FramePointer tick_, scratch_;
    bool requesting_ = false; // receive_or_request() is under way
    int breaks_ = 0;          // since that call began
    bool relayed_ = false;    // the relay got its frame
    bool closed_ = false;
};

} // namespace dnn_torch
