// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a filter tells of its run: log lines, statistics, answers to commands.
#pragma once

#include "host/tasks/task.h"
#include "options.h"
#include "stats_report.h"

#include <optional>
#include <string>

namespace dnn_torch
{

// Belongs to the thread that runs the graph.
class RunLog
{
public:
    // `ctx` and `settings` outlive it.  Throws Error if the file for the statistics cannot be
    // written.
    RunLog(AVFilterContext *ctx, const FilterSettings &settings);

    // What frames come and what goes out.
    void tell_shape(const FrameShape &input, Size output);
    void tell_first_frame(double seconds);
    // Work goes on with these workers.
    void tell_work(const Work &work, const AnyPool &pool);
    // Another model goes on, as `changes` say.
    void tell_change(const std::string &model, const std::string &changes);
    void tell_notice(const Model &model);
    void warn(const char *text);
    void tell_error(const char *text);

    // A turn of the filter; at its end, whether a frame went out.
    void begin_turn();
    void end_turn(bool sent);

    // Only once tell_work() was called.
    double &waiting_for_workers() { return statistics_->waiting_for_workers(); }
    void add_job(const FrameJob &job);
    void add_frame(Clock::time_point arrival, double job_seconds);

    // What the command "progress" or "stats" answers; nullopt for any other.
    std::optional<std::string> answer(const std::string &command, const char *state,
                                      size_t in_flight) const;

    // The statistics of the whole run; does nothing from the second time on.
    void tell_end(const char *state);

    // The filter is freed with frames in it.
    void tell_lost(size_t frames, double last_seconds);

private:
    void warn_of_order() const;

    AVFilterContext *ctx_;
    const FilterSettings &settings_;
    StatsReport report_;
    std::string first_model_; // by the options; what a new graph begins with as well
    RunFacts facts_{};
    std::optional<Statistics> statistics_; // from the first frame on
    std::string told_notice_;
    bool warned_of_nan_ = false;
};

} // namespace dnn_torch
