// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A filter instance that runs a model on frames.  All of it belongs to the thread that runs the
// graph; the workers see only jobs and their plans.
#pragma once

#include "frame_loop.h"
#include "model_change.h"
#include "model_opener.h"
#include "options.h"
#include "run_log.h"
#include "used_files.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dnn_torch
{

class ModelFilter
{
public:
    // `ctx` and `settings` must outlive the filter.
    ModelFilter(AVFilterContext *ctx, const FilterSettings &settings,
                const DeadlineSettings &deadline, TaskMaker task);

    ~ModelFilter();

    // Loads the model and finds out what it takes.  Throws Error.
    void open();

    // False if a signal asked the program to end before the model was open: then it takes frames of
    // any format, and outputs none.
    bool has_model() const { return opener_.has_task(); }

    // Returns the task that gets the next frames.  Throws Error if there is no model.
    Task &task() const;

    // Returns the task's input formats; the list lives for ever.  May be called only with a model.
    const AVPixelFormat *formats() const { return opener_.task().formats(); }
    // The same for the output; the same list if each frame keeps its format.
    const AVPixelFormat *result_formats() const { return opener_.task().result_formats(); }

    // Returns the pads of the extra inputs.
    std::vector<ExtraPad> extra_pads() const { return pads_; }

    // Reads from `in` which frames will come, and sets in `out` which will go out.  Throws Error.
    void configure(AVFilterLink *in, AVFilterLink *out);

    // libavfilter's turn, see FrameLoop::take_turn().
    int activate();

    // Like those of FrameLoop.
    bool holds_frames() const { return loop_.holds_frames(); }
    bool hand_out_all() { return loop_.hand_out_all(); }
    std::optional<AnyError> leave();
    void inherit(const AnyError &failure) { loop_.inherit(failure); }

    // A command that changes the model, see ModelChange.  Throws Error.
    void change(const std::string &name, const std::string &value);

    // Sets how much of the results the next frames get, 0 to 1.  Throws Error.
    void set_strength(const std::string &value);

    // The command "reset".
    void start_anew() { loop_.start_anew(); }

    // Returns the answer to the command "progress" or "stats"; nullopt for any other.
    std::optional<std::string> answer(const std::string &command) const;

private:
    void open_model();
    ResultShape output_for(const FrameShape &input);
    void check_for_change();
    void warn_of_calibration();
    PrepareModel preparation();

    const AVFilterContext *const ctx_;
    const FilterSettings &settings_;
    std::optional<UsedFiles> files_; // until everything is written
    RunLog log_;
    ModelOpener opener_;
    FrameLoop loop_; // uses log_ and opener_
    std::vector<ExtraPad> pads_;
    std::map<std::string, std::string> engine_values_; // of options, as the engine lists them
    ModelChange change_;
};

} // namespace dnn_torch
