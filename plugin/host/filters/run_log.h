// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Reports on a filter's run: log lines, statistics, answers to commands.
#pragma once

#include "host/tasks/task.h"
#include "options.h"
#include "stats_report.h"

#include <optional>
#include <set>
#include <string>

namespace dnn_torch
{

// The time in which frames bypass the model, which the statistics do not count.
class UncountedTime
{
public:
    // Records that a frame goes out that bypassed the model.
    void skip() { skips_ = true; }
    bool skips() const { return skips_; }
    // Records that a frame goes out that the model has seen.  Returns the uncounted time so far.
    Clock::duration until(Clock::time_point arrival, Clock::time_point now)
    {
        if (skips_ && last_ != Clock::time_point{} && arrival > last_)
            sum_ += arrival - last_;
        skips_ = false;
        last_ = now;
        return sum_;
    }

private:
    bool skips_ = false;
    Clock::time_point last_{}; // when the last frame went out that the model has seen
    Clock::duration sum_{0};
};

// Belongs to the thread that runs the graph.
class RunLog
{
public:
    // `ctx` and `settings` must outlive it.  Throws Error if the file for the statistics cannot be
    // written.
    RunLog(AVFilterContext *ctx, const FilterSettings &settings);

    // Reports which frames come and which go out.
    void report_shape(const FrameShape &input, Size output);
    void report_first_frame(double seconds);
    void report_start(const char *why, double seconds);
    // Reports that work continues with these workers.
    void report_work(const Work &work, const AnyPool &pool);
    // Reports that another model is used, and `changes`, what was requested.
    void report_change(const std::string &model, const std::string &changes);
    void report_notice(const Model &model);
    void warn(const char *text);
    void report_error(const char *text);

    // Record that a turn of the filter begins or ends; `sent`: whether a frame went out.
    void begin_turn();
    void end_turn(bool sent);

    // May be called only after report_work().
    double &waiting_for_workers() { return statistics_->waiting_for_workers(); }
    // `excluded` of its frames bypass the model, as the user wanted.
    void add_job(const FrameJob &job, size_t excluded);
    void add_frame(Clock::time_point arrival, double job_seconds);
    void add_excluded_frame();
    void add_late(Fate fate) { statistics_->add_late(fate); }
    // Warns once that a frame had no result at its deadline.
    void warn_of_lateness();
    void add_age(int64_t frames) { statistics_->add_age(frames); }
    // Reports N of every=auto, and the time of the run that changed it.
    void report_every(int every, double run_seconds, double interval);

    // Returns the answer to the command "progress" or "stats"; nullopt for any other.
    std::optional<std::string> answer(const std::string &command, const char *state,
                                      size_t in_flight) const;

    // Reports the statistics of the whole run.  Does nothing from the second call on.  Throws Error
    // if they cannot be written.
    void end(const char *state);
    // Throws Error if they cannot be written, as far as that can be found out before the end.
    void check_end(const char *state);
    // Like end(), but logs an error if they cannot be written.
    void report_end(const char *state);

    // Reports that a signal ended the filter with so many frames in it.
    void report_given_up(size_t frames);

    // Reports that the filter is freed with frames in it.
    void report_lost(size_t frames, double last_seconds);

private:
    void warn_of_order() const;
    Summary summary() const;
    void report_crash(const FrameJob &job);

    AVFilterContext *ctx_;
    const FilterSettings &settings_;
    StatsReport report_;
    std::string first_model_; // from the options, as in a new graph of the same text
    RunFacts facts_{};
    std::optional<Statistics> statistics_; // from the first frame on
    UncountedTime uncounted_;
    std::string told_;                   // notices
    std::set<std::string> logged_notes_; // of jobs
    bool warned_of_nan_ = false, warned_of_lateness_ = false;
};

} // namespace dnn_torch
