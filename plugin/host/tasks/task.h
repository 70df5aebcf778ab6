// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What is done with a model: which frames go in, what the model gets of them, and what
// becomes of its results.  The filter and its loop know tasks by these classes alone.
//
//     Task         studies the model, makes plans; belongs to one thread at a time
//     TaskPlan     how frames of one shape are run; immutable, shared by all threads
//     TaskSession  one thread's buffers for one plan
//     FrameJob     frames to work on, with the plan for them
#pragma once

#include "host/ffmpeg_pointers.h"
#include "host/inference/core_budget.h"
#include "host/inference/model.h"
#include "host/inference/ordered_pool.h"
#include "host/inference/statistics.h"
#include "host/size.h"

extern "C" {
#include <libavutil/pixfmt.h>
#include <libavutil/rational.h>
}

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dnn_torch
{

// What all frames of a link have in common.
struct FrameShape {
    AVPixelFormat format;
    Size size;
    AVRational time_base;
};

// How many neighbours of a frame the task wants to see beside it.
struct Window {
    size_t before = 0, after = 0;
    bool operator==(const Window &) const = default;
};

class TaskPlan;

struct FrameItem {
    FramePointer frame;
    bool bypass; // the timeline excludes it from the model
    Clock::time_point arrival;
    int64_t number; // in the stream, from 0 on
    // Its neighbours, the earliest first.  There are fewer where the stream begins or ends
    // and where its frames change their size.
    std::vector<FramePointer> before = {}, after = {};
    // What the task makes of it, in the order in which it goes out: one frame, more or none.
    std::vector<FramePointer> results = {};
};

// One request to the pool.
struct FrameJob : AnyJob {
    std::shared_ptr<const TaskPlan> plan;
    std::vector<FrameItem> items; // of successive numbers; all bypass the model, or none does
    StageSeconds stages;
    bool saw_nan = false;
};

// Made, used and destroyed on one thread, but for stop().  It may outlive its plan, but
// runs nothing after it.
class TaskSession
{
public:
    virtual ~TaskSession() = default;

    // Fills in the results of all items.  Throws what went wrong.
    virtual void run(FrameJob &job) = 0;

    // The same without the model.
    virtual void bypass(FrameJob &job) = 0;

    // Called from another thread: ends a run() under way, soon and with an exception.
    virtual void stop() noexcept = 0;
};

class TaskPlan
{
public:
    virtual ~TaskPlan() = default;

    // On the thread that will use the session.  Throws Error.
    virtual std::unique_ptr<TaskSession> open_session() const = 0;

    FrameShape input;
    Size output;           // of the frames that come out
    size_t batch_size = 1; // frames in one job
    int threads = 1;       // of one run
    bool in_order = false; // results depend on earlier runs: one worker runs the jobs
    Window window = {};
};

// A plan that its owner may still change, and what is known of it.
struct NewPlan {
    std::shared_ptr<TaskPlan> plan;
    RunCost cost;
    std::string variant; // of the model, which the plan runs
    std::string advice;  // what would be gained by other options; may be empty
};

// What was found out about a model, for the log.
struct TaskFindings {
    std::string takes;
    std::string doubt; // a warning; may be empty
};

class Task
{
public:
    explicit Task(std::shared_ptr<Model> model) : model_(std::move(model)) {}
    virtual ~Task() = default;
    Task(const Task &) = delete;
    Task &operator=(const Task &) = delete;

    // Finds out what the model takes; comes before all else.  Throws Error.
    virtual TaskFindings study() = 0;

    // The formats that the filter offers.  A list that lives for ever and ends with
    // AV_PIX_FMT_NONE.
    virtual const AVPixelFormat *formats() const = 0;

    // The size of what comes out.  Throws Error if the model takes no such frames.
    virtual Size output_for(const FrameShape &input) = 0;

    // Measures for about `tuning_seconds` how such frames are run best.  Throws Error.
    virtual NewPlan plan(const FrameShape &input, double tuning_seconds) = 0;

    const std::shared_ptr<Model> &model() const { return model_; }

private:
    std::shared_ptr<Model> model_;
};

// All that the frame loop needs to go on with a plan.
struct Work {
    std::shared_ptr<Task> task;
    std::shared_ptr<const TaskPlan> plan;
    CoreBudget budget;
    std::string variant, advice;
    std::string doubt = {}; // a warning that goes with the model; may be empty
};

} // namespace dnn_torch
