// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A filter instance that runs a model on frames.  All of it belongs to the thread that
// runs the graph; the workers see jobs and their plans alone.
#pragma once

#include "frame_loop.h"
#include "model_opener.h"
#include "options.h"
#include "run_log.h"

#include <memory>
#include <optional>
#include <string>

namespace dnn_torch
{

class ModelFilter
{
public:
    // `ctx` and `options` outlive the filter.
    ModelFilter(AVFilterContext *ctx, const PrivateData &options, MakeTask make_task);

    // Loads the model and finds out what it takes.  Throws Error.
    void open();

    // Those of the task; a list that lives for ever.
    const AVPixelFormat *formats() { return opener_.task().formats(); }

    // Learns what frames will come and tells `out` what will go.  Throws Error.
    void configure(const AVFilterLink *in, AVFilterLink *out);

    // libavfilter's turn, see FrameLoop::take_turn().
    int activate() { return loop_.take_turn(); }

    // Work that is offered takes over at a frame's edge, see FrameLoop::handover().  Another
    // thread may keep this and offer work through it, even after the filter is gone.
    const std::shared_ptr<Handover> &handover() const { return loop_.handover(); }

    // What the command "progress" or "stats" answers; nullopt for any other.
    std::optional<std::string> answer(const std::string &command) const;

private:
    const PrivateData &options_;
    RunLog log_;
    ModelOpener opener_;
    FrameLoop loop_; // uses both
};

} // namespace dnn_torch
