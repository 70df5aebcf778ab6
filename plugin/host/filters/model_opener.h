// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What is settled before frames pass: the device, the model, the task, the plan and the
// division of the cores.
#pragma once

#include "host/tasks/task.h"
#include "options.h"
#include "planner.h"

extern "C" {
#include <libavfilter/avfilter.h>
}

#include <memory>
#include <optional>

namespace dnn_torch
{

// Makes the task of a filter for a model; `batch_size` frames at most in one run.
using MakeTask = std::unique_ptr<Task> (*)(std::shared_ptr<Model> model, size_t batch_size);

// Belongs to the thread that runs the graph.
class ModelOpener : public Planner
{
public:
    // `ctx` and `options` outlive it.
    ModelOpener(AVFilterContext *ctx, const PrivateData &options, MakeTask make_task);

    // Loads the model and finds out what it takes.  Throws Error.
    void open();

    // From now on this one is planned with.
    void adopt(std::shared_ptr<Task> task) override { task_ = std::move(task); }
    Work prepare(const FrameShape &input) override;
    Task &task() { return *task_; }

private:
    std::shared_ptr<Model> open_model();
    CoreBudget divide(const NewPlan &plan) const;
    double tuning_seconds() const;

    AVFilterContext *ctx_;
    const PrivateData &options_;
    MakeTask make_task_;
    bool on_cpu_ = true;
    std::shared_ptr<Task> task_;
    std::optional<Clock::time_point> planned_; // when prepare() last ended
};

} // namespace dnn_torch
