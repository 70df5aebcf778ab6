// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A task decides how a model is used: which frames it gets, in which form, and what is done with
// its results.  The filter and its loop know only these classes.
//
//     Task         examines the model, makes plans; used by one thread at a time
//     TaskPlan     how frames of one shape are run; immutable, shared by all threads
//     TaskSession  one thread's buffers for one plan
//     FrameJob     frames to process, with their plan
#pragma once

#include "host/ffmpeg_pointers.h"
#include "host/frames/shared_frame.h"
#include "host/model/contract.h"
#include "host/model/model.h"
#include "host/size.h"
#include "host/workers/core_budget.h"
#include "host/workers/ordered_pool.h"
#include "host/workers/statistics.h"
#include "rate_grid.h"

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

// The option `calibration`: which pictures int8 is calibrated with.  By default the engine
// generates pictures, the same ones for all models.
struct Calibration {
    bool is_of_stream = false; // use the first frames of the stream
    std::string clip;          // use frames of this file; "": none
};

// What all frames of a link have in common.
struct FrameShape {
    AVPixelFormat format;
    Size size;
    AVRational time_base;
    AVRational frame_rate = {0, 1}; // 0: not known, or it varies
    // The format of results.  NONE: the same format.
    AVPixelFormat result_format = AV_PIX_FMT_NONE;
    // The formats of the frames on further pads, which have the same size.
    std::vector<AVPixelFormat> extra = {};
};

inline AVPixelFormat format_of_results(const FrameShape &shape)
{
    return shape.result_format == AV_PIX_FMT_NONE ? shape.format : shape.result_format;
}

// What all results on a link have in common.
struct ResultShape {
    AVPixelFormat format;
    Size size;
    AVRational time_base, frame_rate;
};

// Results like the frames.
inline ResultShape like_frames(const FrameShape &input)
{
    return {.format = format_of_results(input),
            .size = input.size,
            .time_base = input.time_base,
            .frame_rate = input.frame_rate};
}

// How many neighbours a task needs with each frame.
struct Window {
    size_t before = 0, after = 0;
    bool operator==(const Window &) const = default;
};

// In which segments a task runs frames: a job is one.
struct Segments {
    size_t length = 0, overlap = 0; // frames; length 0: no segments
    bool operator==(const Segments &) const = default;
};

// The bytes of one frame.
struct FrameBytes {
    int64_t frame = 0, result = 0; // as they come in and go out
    int64_t floats = 0, made = 0;  // as the model gets the frame, and its result
};

class TaskPlan;
struct Findings; // host/findings/findings.h

struct FrameItem {
    FramePointer frame;
    bool bypass;        // the frame does not go through the model
    float strength = 1; // of the results, which are mixed with the frame
    Clock::time_point arrival;
    int64_t number; // in the stream, from 0 on
    int64_t seed;   // of random numbers
    // One frame of each further pad.  Items may share these pictures.
    std::vector<FramePointer> extra = {};
    // If the plan has a window: the frame itself, which other items share, and its neighbours, the
    // earliest first.  There are fewer neighbours at the beginning and the end of the stream, where
    // it starts anew, and at a change of the frame size.
    std::shared_ptr<SharedFrame> shared = {};
    std::vector<std::shared_ptr<SharedFrame>> before = {}, after = {};
    bool starts_anew = false; // no frame before it belongs to it: a cut, a seek
    bool is_cut = false;      // and the reason is a cut
    Successor successor = {}; // what comes after it, if the plan has a window
    Schedule schedule = {};   // what goes out, for a task of another rate
    double between = 0.5;     // for a model that makes a frame between this one and the next: where
    // The frames that the task makes of it, in output order: one, several or none.
    std::vector<FramePointer> results = {};
    bool seen_only = false; // the model sees the frame, and its result comes from another job
    bool skipped = false;   // the frame bypasses the model and gets an earlier result
    bool reuses = false;    // because of `every`
    // What the model found in the frame.  Null if the model did not get it, and for other tasks.
    std::shared_ptr<Findings> found = {};
};

// One request to the pool.
struct FrameJob : AnyJob {
    std::shared_ptr<const TaskPlan> plan;
    std::vector<FrameItem> items; // numbered without gaps; all bypass the model, or none does
    // Distance in frames to the previous job of the same plan that does not bypass the model, from
    // first frame to first frame.  0: there is none, or it may not have run the model.
    int64_t predecessor_distance = 0;
    bool starts_anew = false; // what a session remembers of earlier jobs is to be forgotten
    StageSeconds stages;
    double operations = 0; // multiplications and additions of the model; 0: not known
    bool saw_nan = false;
    int retries = 0;   // in a new process of the model
    std::string crash; // how the model's process ended, with the first frame's time; or ""
    std::vector<std::string> notes = {}; // to be logged as warnings, each once
    bool passed = false; // its frames bypassed the model because the process crashed twice

    // Adds the facts about the session's last run.
    void add_run(const Session &session)
    {
        operations += session.operations();
        retries += session.retries();
        if (crash.empty())
            crash = session.crash();
    }
};

// Created, used and destroyed on one thread, except for stop().  It may outlive its plan, but then
// runs nothing.
class TaskSession
{
public:
    virtual ~TaskSession() = default;

    // Fills in the results of all items.  Throws what went wrong.
    virtual void run(FrameJob &job) = 0;

    // The same without the model.
    virtual void bypass(FrameJob &job) = 0;

    // Forgets earlier runs.
    virtual void reset() = 0;

    // Makes a run() under way end soon, with an exception.  Called from another thread.
    virtual void stop() noexcept = 0;
};

class TaskPlan
{
public:
    virtual ~TaskPlan() = default;

    // Called on the thread that will use the session.  Throws Error.
    virtual std::unique_ptr<TaskSession> open_session() const = 0;

    // Returns whether the model always runs for that frame, unless the frame bypasses it.
    virtual bool surely_runs(const FrameItem &) const { return true; }

    FrameShape input;
    Size output;                 // of the frames that come out
    size_t batch_size = 1;       // frames in one job
    int threads = 1;             // of one run
    bool in_order = false;       // results depend on earlier runs: one worker runs the jobs
    bool mixes = false;          // results can be mixed with their frames
    bool passes_crashed = false; // frames that crash the model's process twice pass unchanged
    Window window = {};
    Segments segments = {};
    FrameBytes frame_bytes = {}; // with a window or segments
    std::vector<NumberInput> number_inputs = {};
    AVRational rate = {0, 1};        // of results, if it is not that of frames
    bool bridges_duplicates = false; // frames that repeat the one before are dropped
    bool hides = false;              // a frame for which the model returns NaN must be known
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
    std::string hint;                    // how other options would help; may be empty
    std::vector<std::string> notes = {}; // more lines for the log; each may be empty
    std::string warning = {};            // may be empty
};

// Of a plan that runs `model` as it is; `note` may be empty.
inline NewPlan plan_of(std::shared_ptr<TaskPlan> plan, const ModelPlan &model, std::string note)
{
    return {.plan = std::move(plan),
            .cost = cost_of(model.facts()),
            .variants = model.variants(),
            .hint = model.hint(),
            .notes = {std::move(note)}};
}

// What examine() found out about a model, for the log.
struct TaskFindings {
    std::string takes;
    std::string warning;      // may be empty
    std::string numbers = {}; // what the model's numbers mean, if known
};

// An input pad in addition to the one for frames.
struct ExtraPad {
    std::string name;
    const AVPixelFormat *formats; // as Task::formats()
};

// What of an earlier result a frame gets that the model did not get in time.
enum class Reuse {
    picture,  // all of it
    alpha,    // its alpha, with the frame's own picture
    findings, // what the model found: Task::complete() carries it over
};

class Task
{
public:
    explicit Task(std::shared_ptr<Model> model) : model_(std::move(model)) {}
    virtual ~Task() = default;
    Task(const Task &) = delete;
    Task &operator=(const Task &) = delete;

    // Finds out what the model takes.  Call it first.  Throws Error.
    virtual TaskFindings examine() = 0;

    // Returns the formats that the filter offers.  The list is static and ends with
    // AV_PIX_FMT_NONE.
    virtual const AVPixelFormat *formats() const = 0;
    // The same for results.  If it is the same list, each frame keeps its format.  Null: the
    // formats depend on the frame's.
    virtual const AVPixelFormat *result_formats() const { return formats(); }
    // Returns the formats that results of frames in `format` may have.
    virtual std::vector<AVPixelFormat> results_of(AVPixelFormat format) const
    {
        std::vector<AVPixelFormat> results = {format};
        if (const AVPixelFormat *other = result_formats(); other != formats())
            for (results.clear(); *other != AV_PIX_FMT_NONE; other++)
                results.push_back(*other);
        return results;
    }

    // Returns the further pads that the model needs, in order.
    virtual std::vector<ExtraPad> extra_pads() const { return {}; }

    // Says what leaves the filter for such frames: by default, results like the frames.  Throws
    // Error if the model takes no such frames.
    virtual ResultShape output_for(const FrameShape &input) { return like_frames(input); }

    // Finds the best way to run such frames.  Throws Error.
    virtual NewPlan plan(const FrameShape &input, const PlanParameters &parameters) = 0;

    // The following are called on the filter's thread, in the order of frames.

    // Called when a frame comes that the model is to get.
    virtual void begin(const FrameItem &) {}
    // Called before a job goes to the workers.  Returns a job with what is too much for this one,
    // to be scheduled and submitted later, or null.
    virtual std::unique_ptr<FrameJob> schedule(FrameJob &) { return nullptr; }
    // Completes a frame and its results before they go out.  Sessions give each result the time and
    // duration of its frame; a task of another rate stamps results here, in output_for()'s time
    // base.  Throws Error.
    virtual void complete(FrameItem &) {}
    // Says what the result of `earlier` adds to those of later frames, which complete() carries
    // over.  It came too late for `earlier` itself, which has gone out.
    virtual void learn(const FrameItem & /*earlier*/) {}
    // Called after the last frame.  Throws Error.
    virtual void end() {}

    virtual Reuse reuse() const { return Reuse::picture; }

    const std::shared_ptr<Model> &model() const { return model_; }

    // How the model is calibrated in int8.
    const Calibration &calibration() const { return calibration_; }
    void calibrate_with(Calibration calibration) { calibration_ = std::move(calibration); }

private:
    std::shared_ptr<Model> model_;
    Calibration calibration_;
};

// All that the frame loop needs to continue with a plan.
struct Work {
    std::shared_ptr<Task> task;
    std::shared_ptr<const TaskPlan> plan;
    CoreBudget budget;
    std::string variant, hint;           // variant: the one that the budget's workers run
    std::string warning = {};            // about the model; may be empty
    std::vector<std::string> notes = {}; // more lines for the log
};

// A task that writes records to a file or an address, where the filter of a later graph continues.
class RecordingTask
{
public:
    virtual ~RecordingTask() = default;

    // Closes the records.  Called on the filter's thread.
    virtual void close_records() = 0;
};

} // namespace dnn_torch
