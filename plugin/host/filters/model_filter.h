// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A filter instance that runs a model on each frame.  All of it belongs to the
// thread that runs the graph; the workers see a FramePlan alone.
#pragma once

#include "host/error.h"
#include "host/libavfilter/gate.h"
#include "host/tasks/frame_job.h"
#include "host/tasks/model_probe.h"
#include "options.h"
#include "stats_report.h"

#include <deque>
#include <optional>

namespace dnn_torch
{

class ModelFilter
{
public:
    // `ctx` and `options` outlive the filter.
    ModelFilter(AVFilterContext *ctx, const PrivateData &options);
    ~ModelFilter();
    ModelFilter(const ModelFilter &) = delete;
    ModelFilter &operator=(const ModelFilter &) = delete;

    // Loads the model and finds out what it takes.  Throws Error.
    void open();
    Channels channels() const { return channels_; }

    // Learns what frames will come and tells `out` what will go.  Throws Error.
    void configure(const AVFilterLink *in, AVFilterLink *out);

    // libavfilter's turn: takes frames in, hands results out.  Returns an AVERROR,
    // but neither EAGAIN nor EOF, by which programs mean "later" and wait for ever.
    int activate();

    // What the command "progress" or "stats" answers; nothing for any other.
    std::optional<std::string> answer(const std::string &command) const;

private:
    // A result that waits for downstream to want it.
    struct Result {
        FramePointer frame;
        Clock::time_point arrival;
        double job_seconds;
    };

    // model_filter.cpp: what is settled before frames pass, and what is told.
    void settle_channels();
    void open_model();
    void make_plan(Size input);
    CoreBudget tune_model();
    double tuning_seconds() const;
    void start_pool();
    int channels_of(AVPixelFormat format) const;
    void tell_of_workers();
    void log_notice();
    void tell_of_lost_frames(double first_seconds);
    const char *state() const;
    size_t in_flight() const;
    void tell_statistics();

    // model_filter_turns.cpp: how frames pass.
    int take_turn();
    int pass_frames();
    int go_on_failing();
    bool too_late_to_fail() const;
    bool can_wait_with_failure();
    bool may_be_too_early();
    bool drop_input();
    void request();
    bool has_room() const;
    void take_in();
    void run_what_is_there();
    void take_frame();
    void change_plan();
    void add_to_batch(FrameJob::Item item);
    void submit_batch();
    void end_input(int status);
    void collect();
    bool due() const;
    std::unique_ptr<FrameJob> take();
    void keep(FrameJob &job);
    void hand_out();
    void send_one();
    void warn_of_nan(const FrameJob &job);
    bool is_orphaned() const { return pool_ && pool_->orphaned(); }
    int finish();
    int abandon();
    int report(const Error &error);
    int end_with(int code);

    AVFilterContext *ctx_;
    const PrivateData &options_;
    Gate gate_;
    std::shared_ptr<Model> model_;
    std::string told_notice_;
    bool on_cpu_ = true;
    std::optional<ModelProbe> probe_;
    Channels channels_ = Channels::any;
    StatsReport report_;

    std::shared_ptr<FramePlan> plan_; // not written to once the pool is there
    RunFacts facts_{};
    Clock::time_point planned_{};
    // From the first frame on:
    std::optional<Statistics> statistics_;
    std::unique_ptr<OrderedPool<FrameJob>> pool_;
    std::unique_ptr<FrameJob> batch_;    // being gathered
    FramePointer frame_;                 // the one being received
    std::optional<FrameJob::Item> held_; // needs another plan, and waits for all before it
    int64_t next_number_ = 0;
    double last_seconds_ = 0; // the time of the last frame that came in
    std::deque<Result> results_;

    std::optional<int> input_status_; // how the input ended
    std::optional<Error> failure_;    // not told yet
    std::optional<int> result_;       // once set, the filter does no more
    bool warned_of_nan_ = false;
    size_t sent_ = 0;       // frames, in this turn
    size_t on_the_way_ = 0; // those of the turn that met the failure, less turns since
};

} // namespace dnn_torch
