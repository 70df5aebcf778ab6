// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A task decides what is done with a model: which frames go in, what the model gets of
// them, and what becomes of its results.  The filter and its loop know only these classes.
//
//     Task         studies the model, makes plans; belongs to one thread at a time
//     TaskPlan     how frames of one shape are run; immutable, shared by all threads
//     TaskSession  one thread's buffers for one plan
//     FrameJob     frames to work on, with the plan for them
#pragma once

#include "calibration.h"
#include "host/ffmpeg_pointers.h"
#include "host/model/model.h"
#include "host/size.h"
#include "host/workers/core_budget.h"
#include "host/workers/ordered_pool.h"
#include "host/workers/statistics.h"

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
    // Of the frames that are made of them; none: the same format.
    AVPixelFormat result_format = AV_PIX_FMT_NONE;
    // Of the frames on further pads, which have the same size.
    std::vector<AVPixelFormat> extra = {};
};

inline AVPixelFormat format_of_results(const FrameShape &shape)
{
    return shape.result_format == AV_PIX_FMT_NONE ? shape.format : shape.result_format;
}

// How many neighbours the task wants to see beside each frame.
struct Window {
    size_t before = 0, after = 0;
    bool operator==(const Window &) const = default;
};

class TaskPlan;
struct Findings; // host/findings/findings.h

struct FrameItem {
    FramePointer frame;
    bool bypass;        // it goes by the model
    float strength = 1; // of the results, which are mixed with the frame
    Clock::time_point arrival;
    int64_t number; // in the stream, from 0 on
    // What came on further pads, one frame of each.  Other items may refer to the same pictures.
    std::vector<FramePointer> extra = {};
    // Its neighbours, the earliest first.  There are fewer at the beginning and the end of
    // the stream, and beside a change of the frame size.
    std::vector<FramePointer> before = {}, after = {};
    // The frames that the task makes of it, in the order in which they go out: one, several
    // or none.
    std::vector<FramePointer> results = {};
    bool skipped = false; // it goes by the model because the task skips it
    // What the model found in it.  Null if it did not see the frame, and of other tasks.
    std::shared_ptr<Findings> found = {};
};

// One request to the pool.
struct FrameJob : AnyJob {
    std::shared_ptr<const TaskPlan> plan;
    std::vector<FrameItem> items; // numbered without gaps; all bypass the model, or none does
    // How many frames earlier the job before it began that has the same plan and does not bypass
    // the model.  0: there is none, or it may have no run.
    int64_t behind = 0;
    StageSeconds stages;
    double operations = 0; // multiplications and additions of the model; 0: not known
    bool saw_nan = false;
    int retries = 0;   // how often it was tried again, in a new process of the model
    std::string crash; // how that process ended, with the first frame's time; or ""
    std::vector<std::string> notes = {}; // what the log should have of it as warnings, each once
    bool passed = false; // its frames go out without the model, whose process ended twice

    // Keeps what the session says of its last run.
    void add_run(const Session &session)
    {
        operations += session.operations();
        retries += session.retries();
        if (crash.empty())
            crash = session.crash();
    }
};

// Made, used and destroyed on one thread, except for stop().  It may outlive its plan, but
// then runs nothing.
class TaskSession
{
public:
    virtual ~TaskSession() = default;

    // Fills in the results of all items.  Throws what went wrong.
    virtual void run(FrameJob &job) = 0;

    // The same without the model.
    virtual void bypass(FrameJob &job) = 0;

    // Ends a run() under way, soon and with an exception.  Called from another thread.
    virtual void stop() noexcept = 0;
};

class TaskPlan
{
public:
    virtual ~TaskPlan() = default;

    // Called on the thread that will use the session.  Throws Error.
    virtual std::unique_ptr<TaskSession> open_session() const = 0;

    // Whether the model runs for that frame in any case, unless the frame bypasses it.
    virtual bool surely_runs(const FrameItem &) const { return true; }

    FrameShape input;
    Size output;                 // of the frames that come out
    size_t batch_size = 1;       // frames in one job
    int threads = 1;             // of one run
    bool in_order = false;       // results depend on earlier runs: one worker runs the jobs
    bool mixes = false;          // results can be mixed with their frames
    bool passes_crashed = false; // frames that end the model's process twice pass unchanged
    Window window = {};
};

constexpr const char *cannot_mix =
    "strength mixes each result with its frame, and this model's results have another size or "
    "other channels than their frames; leave strength at 1, or at 0 to pass them by the model";

inline RunCost cost_of(const DnnTorchPlanFacts &facts)
{
    return {.seconds = facts.run_seconds, .bytes = facts.run_bytes, .alone = facts.alone != 0};
}

// A plan that its owner may still change, and what is known about it.
struct NewPlan {
    std::shared_ptr<TaskPlan> plan;
    RunCost cost;
    Variants variants;                   // of the model that the plan runs
    std::string hint;                    // what would be gained by other options; may be empty
    std::vector<std::string> notes = {}; // what else the log should have; may be empty
    std::string warning = {};            // a warning; may be empty
};

// What was found out about a model, for the log.
struct TaskFindings {
    std::string takes;
    std::string warning;      // a warning; may be empty
    std::string numbers = {}; // what they mean, if that was found out
};

// A pad that the filter has beside the one for frames.
struct FurtherPad {
    std::string name;
    const AVPixelFormat *formats; // as Task::formats()
};

class Task
{
public:
    explicit Task(std::shared_ptr<Model> model) : model_(std::move(model)) {}
    virtual ~Task() = default;
    Task(const Task &) = delete;
    Task &operator=(const Task &) = delete;

    // Finds out what the model takes.  Call it before all others.  Throws Error.
    virtual TaskFindings examine() = 0;

    // Returns the formats that the filter offers.  The list lives for ever and ends with
    // AV_PIX_FMT_NONE.
    virtual const AVPixelFormat *formats() const = 0;
    // The same for what comes out.  If it is the same list, each frame keeps its format.  Null:
    // they depend on the frames'.
    virtual const AVPixelFormat *result_formats() const { return formats(); }
    // Returns those in which results of such frames may come out.
    virtual std::vector<AVPixelFormat> results_of(AVPixelFormat format) const
    {
        std::vector<AVPixelFormat> results = {format};
        if (const AVPixelFormat *other = result_formats(); other != formats())
            for (results.clear(); *other != AV_PIX_FMT_NONE; other++)
                results.push_back(*other);
        return results;
    }

    // Returns the further pads that the model needs, in order.
    virtual std::vector<FurtherPad> further_pads() const { return {}; }

    // Returns the size of what comes out.  Throws Error if the model takes no such frames.
    virtual Size output_for(const FrameShape &input) = 0;

    // Finds out how to run such frames best.  Throws Error.
    virtual NewPlan plan(const FrameShape &input, const PlanParameters &parameters) = 0;

    // The rest belongs to the thread of the filter, and is called in the order of frames.

    // Whether a frame that the timeline does not exclude goes by the model all the same.
    virtual bool skips(const FrameItem &) { return false; }
    // Completes a frame and its results before they go out.  Throws Error.
    virtual void complete(FrameItem &) {}
    // No frame follows.  Throws Error.
    virtual void end() {}

    const std::shared_ptr<Model> &model() const { return model_; }

    // How the model is calibrated in int8.
    const Calibration &calibration() const { return calibration_; }
    void calibrate_with(Calibration calibration) { calibration_ = std::move(calibration); }

private:
    std::shared_ptr<Model> model_;
    Calibration calibration_;
};

// All that the frame loop needs to go on with a plan.
struct Work {
    std::shared_ptr<Task> task;
    std::shared_ptr<const TaskPlan> plan;
    CoreBudget budget;
    std::string variant, hint;           // variant: the one that workers of the budget run
    std::string warning = {};            // a warning that goes with the model; may be empty
    std::vector<std::string> notes = {}; // what else the log should have
};

} // namespace dnn_torch
