// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A filter instance that runs a model on frames.  All of it belongs to the thread that
// runs the graph; the workers see jobs and their plans alone.
#pragma once

#include "frame_loop.h"
#include "model_change.h"
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
    // `ctx` and `settings` outlive the filter.
    ModelFilter(AVFilterContext *ctx, const FilterSettings &settings, MakeTask make_task);

    ~ModelFilter();

    // Loads the model and finds out what it takes.  Throws Error.
    void open();

    // Those of the task; a list that lives for ever.
    const AVPixelFormat *formats() { return opener_.task().formats(); }

    // Learns what frames will come and tells `out` what will go.  Throws Error.
    void configure(const AVFilterLink *in, AVFilterLink *out);

    // libavfilter's turn, see FrameLoop::take_turn().
    int activate();

    // A command that changes the model, see ModelChange.  Throws Error.
    void change(const std::string &name, const std::string &value) { change_.ask(name, value); }

    // What the command "progress" or "stats" answers; nullopt for any other.
    std::optional<std::string> answer(const std::string &command) const;

private:
    void look_for_change();
    PrepareModel preparation();

    const FilterSettings &settings_;
    RunLog log_;
    ModelOpener opener_;
    FrameLoop loop_; // uses both
    ModelChange change_;
};

} // namespace dnn_torch
