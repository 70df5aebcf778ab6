// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The task that makes frames between frames: another rate.  A picture task runs the model, on
// windows of a frame and the next one.
#pragma once

#include "host/model/contract.h"
#include "picture_task.h"
#include "rate_grid.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace dnn_torch
{

// The rate that the user wants.
struct WantedRate {
    AVRational rate = {0, 1};              // num 0: a multiple of the input's
    AVRational factor = {2, 1};            // that multiple
    std::string text = {};                 // as the user wrote it
    std::optional<AVRational> anchor = {}; // see RateGrid
    bool bridges_duplicates = false;
};

// Takes the options: "60", "30000/1001", "ntsc", "source*2" and "2.5".  "" is not given.  Throws
// Error.
WantedRate wanted_rate(const std::string &fps, const std::string &factor);

// Takes the option of that name: seconds, "1001/24000" or "3".  Throws Error.
std::optional<AVRational> anchor_in(const std::string &text);

// Returns the rate of the output.  Throws Error if the input's is needed and not known.
AVRational rate_for(const WantedRate &wanted, AVRational input);

// What a filter's tasks share, one after the other.  Belongs to the filter's thread.
struct OutputClock {
    std::optional<RateGrid> grid; // from the first frame on
    HeldBack<FramePointer> held;
};

struct InterpolatePlan : TaskPlan {
    std::unique_ptr<TaskSession> open_session() const override;

    std::shared_ptr<TaskPlan> pictures; // of one frame between two
    bool takes_time = false;            // otherwise in the middle alone
    size_t pictures_at_once = 1;        // in one run
    bool takes_one_time = false;        // the pictures of a run are at the same time
    size_t most_results = 1;            // made in one job, which holds them all

private:
    mutable std::once_flag threads_are_set_;
};

class InterpolateTask : public Task
{
public:
    InterpolateTask(std::shared_ptr<Model> model, const Contract &contract, size_t batch_size,
                    WantedRate wanted, std::shared_ptr<OutputClock> clock);

    TaskFindings examine() override;
    const AVPixelFormat *formats() const override { return pictures_.formats(); }
    ResultShape output_for(const FrameShape &input) override;
    NewPlan plan(const FrameShape &input, const PlanParameters &parameters) override;
    std::unique_ptr<FrameJob> schedule(FrameJob &job) override;
    void complete(FrameItem &item) override;

private:
    Successor successor_of(const FrameItem &item) const;

    PictureTask pictures_;
    const size_t batch_size_;
    const bool takes_time_, takes_number_;
    const WantedRate wanted_;
    const std::shared_ptr<OutputClock> clock_;
};

} // namespace dnn_torch
