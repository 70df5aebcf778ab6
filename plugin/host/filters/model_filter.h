// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A filter instance that runs a model on each frame.  All of it belongs to the
// thread that runs the graph; the workers see a FramePlan alone.
#pragma once

#include "../gate/gate.h"
#include "../pipeline/error.h"
#include "frame_job.h"
#include "model_probe.h"
#include "options.h"
#include "stats_report.h"

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

    // Learns what frames will come; returns the size that will go.  Throws Error.
    Size configure(const AVFilterLink *in);

    // libavfilter's turn: takes frames in, hands results out.  Returns an AVERROR.
    int activate();

    // What the command "progress" or "stats" answers; nothing for any other.
    std::optional<std::string> answer(const std::string &command) const;

private:
    void open_model();
    CoreBudget tune_model();
    void start_pool();
    void log_notice();

    int take_turn();
    int pass_frames();
    bool too_late_to_fail() const;
    bool can_wait_with_failure();
    bool may_be_too_early();
    bool drop_input();
    void request();
    void take_in();
    void take_frame();
    void submit_batch();
    void end_input(int status);
    void hand_out();
    std::unique_ptr<Job> take();
    bool due() const;
    int send(FrameJob &job);
    void warn_of_nan(const FrameJob &job);
    const char *state() const;
    size_t in_flight() const;
    void tell_statistics();
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
    std::unique_ptr<ModelProbe> probe_; // until the first frame
    Channels channels_ = Channels::any;
    StatsReport report_;

    std::shared_ptr<FramePlan> plan_; // not written to once the pool is there
    RunFacts facts_{};
    // From the first frame on:
    std::optional<Statistics> statistics_;
    std::unique_ptr<OrderedPool> pool_;
    std::unique_ptr<FrameJob> batch_; // being gathered
    FramePointer frame_;              // the one being received

    std::optional<int> input_status_; // how the input ended
    std::optional<Error> failure_; // not told yet
    std::optional<int> result_;    // once set, the filter does no more
    bool warned_of_nan_ = false;
    size_t sent_ = 0;       // frames, in this turn
    size_t on_the_way_ = 0; // those of the turn that met the failure, less turns since
};

} // namespace dnn_torch
