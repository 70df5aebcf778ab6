// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model_opener.h"

#include "host/error.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace dnn_torch
{
namespace
{

std::string text(const char *value)
{
    return value ? value : "";
}

} // namespace

ModelOpener::ModelOpener(AVFilterContext *ctx, const PrivateData &options, MakeTask make_task)
    : ctx_(ctx), options_(options), make_task_(make_task)
{
}

void ModelOpener::open()
{
    task_ = make_task_(open_model(), static_cast<size_t>(options_.batch_size));
    TaskFindings found = task_->study();
    if (!found.doubt.empty())
        av_log(ctx_, AV_LOG_WARNING, "%s\n", found.doubt.c_str());
    av_log(ctx_, AV_LOG_VERBOSE, "the model takes %s\n", found.takes.c_str());
}

std::shared_ptr<Model> ModelOpener::open_model()
{
    DeviceChoice choice = choose_device(text(options_.device), text(options_.engine));
    if (!choice.why.empty())
        av_log(ctx_, AV_LOG_INFO, "%s\n", choice.why.c_str());
    on_cpu_ = choice.device == "cpu";
    ModelOptions options = {.path = text(options_.model),
                            .device = choice.device,
                            .input_name = text(options_.input),
                            .output_name = text(options_.output),
                            .precision = text(options_.precision),
                            .optimize = text(options_.optimize),
                            .allow = text(options_.allow),
                            .timeout = std::chrono::microseconds(options_.timeout)};
    const DnnTorchEngine *engine = open_engine(text(options_.engine));
    auto model = std::make_shared<Model>(*engine, options);
    av_log(ctx_, AV_LOG_VERBOSE, "%s runs on %s %s\n", options_.model, engine->name,
           engine->version);
    return model;
}

Work ModelOpener::prepare(const FrameShape &input)
{
    NewPlan made = task_->plan(input, tuning_seconds());
    planned_ = Clock::now();
    CoreBudget budget = divide(made);
    made.plan->threads = static_cast<int>(budget.threads_per_worker);
    return {.task = task_,
            .plan = std::move(made.plan),
            .budget = budget,
            .variant = std::move(made.variant),
            .advice = std::move(made.advice)};
}

CoreBudget ModelOpener::divide(const NewPlan &plan) const
{
    CoreRequest request = {.workers = static_cast<size_t>(options_.workers),
                           .threads = static_cast<size_t>(options_.threads),
                           .in_flight = static_cast<size_t>(options_.nireq),
                           .async = options_.async != 0,
                           .device = !on_cpu_,
                           .in_order = plan.plan->in_order};
    return divide_cores(usable_machine(), request, plan.cost);
}

// Frames whose size changes often must not be measured longer than they are worked on.
double ModelOpener::tuning_seconds() const
{
    constexpr double share = 0.1;
    double wanted = static_cast<double>(options_.tune) / AV_TIME_BASE;
    if (!planned_)
        return wanted;
    double since = std::chrono::duration<double>(Clock::now() - *planned_).count();
    return std::min(wanted, share * since);
}

} // namespace dnn_torch
