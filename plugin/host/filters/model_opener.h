// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Decides what must be known before frames pass: the device, the model, the task, the plan and the
// division of the cores.
#pragma once

#include "host/tasks/task.h"
#include "host/workers/core_budget.h"
#include "host/workers/time_limit.h"
#include "options.h"
#include "planner.h"

extern "C" {
#include <libavfilter/avfilter.h>
}

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace dnn_torch
{

// Creates the task of a filter for a model.  A copy may outlive the filter, and any thread may use
// it.
struct TaskMaker {
    // One run has at most `batch_size` frames.
    std::function<std::unique_ptr<Task>(std::shared_ptr<Model> model, const Contract &contract,
                                        size_t batch_size)>
        make;
    bool takes_tensors = false; // the task wants all tensors that the model returns
    bool interpolates = false;  // the model makes a frame between two others
};

// A model that was opened and probed with small pictures.
struct OpenedModel {
    std::shared_ptr<Task> task;
    TaskFindings findings;
    bool on_cpu = true;
    std::string why_device;     // may be empty
    std::string engine;         // its name and version, and in which process it runs
    std::string numbers;        // what the model's numbers mean, if known; may be empty
    std::string why_here;       // why it runs in this process; may be empty
    bool is_incomplete = false; // as in EngineChoice
};

// Opens models and plans their runs, on any thread.  A copy may outlive the filter.
struct ModelSetup {
    RunRequest run;
    std::chrono::microseconds timeout; // of one run; 0: no limit
    TaskMaker task;

    // Throws Error.
    OpenedModel open(const ModelRequest &request) const;

    // Measures for about `tuning_seconds`.  `first` are some of the frames.  Throws Error.
    Work plan(const std::shared_ptr<Task> &with, bool on_cpu, const FrameShape &input,
              std::span<const FrameItem> first, double tuning_seconds) const;

    // Opens and plans a model that is to continue with frames of that shape.  Throws Error, also if
    // the model would output frames of another size than `output`.
    Work replace(const ModelRequest &request, const FrameShape &input,
                 std::span<const FrameItem> first, Size output) const;
};

// Belongs to the thread that runs the graph.
class ModelOpener : public Planner
{
public:
    // `ctx` must outlive it.
    ModelOpener(AVFilterContext *ctx, const FilterSettings &settings, TaskMaker task);

    // Loads the model and finds out what it takes.  Throws Error.
    void open(const ModelRequest &request);

    const ModelSetup &setup() const { return setup_; }
    bool has_task() const { return task_ != nullptr; }
    Task &task() const { return *task_; }

    // Uses this task for later plans.
    void adopt(std::shared_ptr<Task> task) override { task_ = std::move(task); }
    size_t frames_wanted() const override;
    bool wants_frame_kept() const override { return task_->calibration().is_of_stream; }
    Work prepare(const FrameShape &input, std::span<const FrameItem> first) override;
    void end_without_frames() override
    {
        if (task_)
            task_->end();
    }

private:
    double tuning_seconds() const;
    LongWait::Notify notifier() const;
    void warn_of_threads() const;

    AVFilterContext *ctx_;
    ModelSetup setup_;
    bool on_cpu_ = true;
    std::optional<CoreUse> core_use_; // set if on_cpu_
    std::shared_ptr<Task> task_;
    std::optional<Clock::time_point> planned_; // when prepare() last ended
};

} // namespace dnn_torch
