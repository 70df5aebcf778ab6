// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A filter instance that runs a model on each frame.  All of it belongs to the
// thread that runs the graph; the workers see a FramePlan alone.
#pragma once

#include "../gate/gate.h"
#include "../pipeline/error.h"
#include "frame_job.h"
#include "options.h"

#include <optional>

namespace dnn_torch {

// What a model takes.
enum class Channels { any, rgb, luma };

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

private:
    void open_model();
    Channels find_channels();
    std::optional<Error> probe_fault(int channels, Size size);
    Size find_output(Size input, int channels);
    void start_pool();

    int pass_frames();
    bool too_late_to_fail() const;
    void request();
    void take_in();
    void take_frame();
    void submit_batch();
    void end_input(int status);
    bool hand_out();
    std::unique_ptr<Job> take();
    bool due() const;
    int send(FrameJob &job);
    void warn_of_nan(const FrameJob &job);
    int finish();
    int abandon();
    int report(const Error &error);
    int end_with(int code);

    AVFilterContext *ctx_;
    const PrivateData &options_;
    Gate gate_;
    std::shared_ptr<Model> model_;
    std::unique_ptr<Session> probe_; // until the first frame
    int model_threads_ = 1;
    size_t workers_ = 1, in_flight_ = 1;
    Channels channels_ = Channels::any;

    std::shared_ptr<const FramePlan> plan_;
    std::unique_ptr<OrderedPool> pool_; // from the first frame on
    std::unique_ptr<FrameJob> batch_;   // being gathered
    FramePointer frame_;                // the one being received

    std::optional<int> input_status_; // how the input ended
    int64_t end_pts_ = AV_NOPTS_VALUE;
    std::optional<Error> failure_; // not told yet
    std::optional<int> result_;    // once set, the filter does no more
    bool warned_of_nan_ = false;
};

} // namespace dnn_torch
