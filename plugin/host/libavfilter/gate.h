// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The gate: how a filter outside libavfilter takes frames from its links and
// gives frames to them.
//
// What libavfilter's own filters call for that (ff_inlink_consume_frame,
// ff_filter_frame and the like) is hidden.  The gate owns a private graph with
// a buffersrc and a buffersink that are never linked.  For the length of one
// call they are lent a link of the real graph, so that the exported functions
// of buffersrc and buffersink do there what the hidden ones would.
#pragma once

#include "host/ffmpeg_pointers.h"

#include <cstdint>

namespace dnn_torch
{

// One gate serves one filter instance, on the thread that runs its graph.
class Gate
{
public:
    // Builds the private graph; an AVERROR where it cannot.  Close, or destroy, in any state.
    int open();
    ~Gate();
    Gate() = default;
    Gate(const Gate &) = delete;
    Gate &operator=(const Gate &) = delete;

    // Moves the next frame of `in` into `frame`: 0, AVERROR(EAGAIN) where none
    // is waiting, or the status by which the link ended (AVERROR_EOF, an error).
    int receive(AVFilterLink *in, AVFrame *frame);

    // The same; where none is waiting, asks upstream for one.
    int receive_or_request(AVFilterLink *in, AVFrame *frame);

    // Sends the frame downstream; its reference is taken on success.
    int send(AVFilterLink *out, AVFrame *frame);

    // Ends `out` as `in` has ended: with its status and at its time.  Only once
    // receive() or receive_or_request() has told that status.  Returns 0 for
    // AVERROR_EOF, otherwise the status.
    int forward_end(AVFilterLink *out);

    // Where downstream wants no more frames, ends `in` too, so that upstream
    // makes none.  Returns whether that is so; then nothing else may be called.
    bool forward_close(AVFilterLink *in, AVFilterLink *out);

    // Called by the gate's own filters alone.
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
    AVFilterLink *relay_in_ = nullptr, *relay_out_ = nullptr; // in the places that are lent
    FramePointer tick_, scratch_;
    bool requesting_ = false; // receive_or_request() is under way
    int breaks_ = 0;          // since it began
    bool relayed_ = false;    // the relay handed its frame on
    bool closed_ = false;
};

} // namespace dnn_torch
