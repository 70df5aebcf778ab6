// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model_opener.h"

#include "base/compose.h"
#include "devices/cpu.h"
#include "host/error.h"
#include "host/model/engine_choice.h"
#include "host/model/model_store.h"
#include "host/probing/interpolator.h"
#include "host/tasks/held_frames.h"
#include "host/tasks/sample_gathering.h"
#include "host/workers/time_limit.h"
#include "latency_goal.h"

extern "C" {
#include <libavutil/error.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace dnn_torch
{
namespace
{

bool holds(const AVPixelFormat *formats, AVPixelFormat format)
{
    for (; *formats != AV_PIX_FMT_NONE; formats++)
        if (*formats == format)
            return true;
    return false;
}

// The filter cannot change its pads.
void check_pads(const std::vector<ExtraPad> &wanted, const FrameShape &input)
{
    if (wanted.size() != input.extra.size())
        throw Error(AVERROR(EINVAL), concat("the model takes ", wanted.size(),
                                            " extra pictures with each frame, and the filter has "
                                            "inputs for ",
                                            input.extra.size()));
    for (size_t i = 0; i < wanted.size(); i++)
        if (!holds(wanted[i].formats, input.extra[i]))
            throw Error(AVERROR(EINVAL),
                        concat("the model takes no ", av_get_pix_fmt_name(input.extra[i]), " at '",
                               wanted[i].name, "'"));
}

// Other inputs and later frames come whenever they come.
void check_deadline(const TaskPlan &plan)
{
    if (plan.window.after != 0 || plan.segments.length != 0 || !plan.input.extra.empty())
        throw Error(AVERROR(EINVAL),
                    concat("deadline= cannot be kept: the model gets ",
                           plan.input.extra.empty() ? "later frames" : "another video",
                           " with each frame, and the filter has to wait for that; leave deadline "
                           "away, or take another model"));
}

double interval_of(const FrameShape &input)
{
    const AVRational rate = input.frame_rate;
    return rate.num > 0 && rate.den > 0 ? av_q2d(av_inv_q(rate)) : 0;
}

// Returns nothing if runs cannot be measured.  A worker will report why a model fails.
std::vector<RunTime> times_of_runs(const std::shared_ptr<TaskPlan> &plan,
                                   std::span<const FrameItem> first, double seconds,
                                   std::chrono::microseconds timeout)
{
    if (first.empty() || seconds <= 0)
        return {};
    const Machine machine = usable_machine();
    const size_t threads = std::max<size_t>(machine.cores / machine.filters, 1);
    const NowDoing doing("measuring how long a frame takes");
    const auto frame = std::make_shared<const FrameItem>(new_reference(first.back()));
    try {
        return value_within({.most = timeout, .line = "measuring takes too long"},
                            [=] { return time_runs(plan, *frame, threads, seconds); });
    } catch (const AnyError &) {
        return {};
    }
}

std::string describe(const EngineChoice &choice, const Model &model)
{
    RunningEngine engine = running_engine(choice, model);
    return engine.name + " " + engine.version +
           (engine.cage.empty() ? "" : " in a process of its own; " + engine.cage);
}

} // namespace

// ---- on any thread --------------------------------------------------------------

OpenedModel ModelSetup::open(const ModelRequest &request) const
{
    Calibration calibration = parse_calibration(request.calibration);
    DeviceChoice choice = choose_device(request.device, request.engine);
    ModelOptions options = {.path = request.path,
                            .device = choice.device,
                            .input_name = request.input,
                            .output_name = request.output,
                            .precision = request.precision,
                            .optimize = request.optimize,
                            .allow = request.allow,
                            .weights = request.weights,
                            .results = task.takes_tensors ? "tensors" : "",
                            .timeout = request.timeout};
    EngineChoice engine = choose_engine(request.engine, choice.device, request.isolation);
    options.isolated = engine.isolated;
    options.cage_required = request.isolation == Isolation::required;
    options.restarts = run.restarts;
    const OpenFile open_file = [&](const ModelOptions &wanted) {
        return model_store().open(*engine.engine, wanted);
    };
    const std::string path = contract_path(request.path);
    const auto [model, contract] =
        task.interpolates ? open_interpolator(request.contract, path, options, open_file)
                          : open_with_contract(request.contract, path, options, open_file);
    std::string where = describe(engine, *model);
    std::shared_ptr<Task> made = task.make(model, contract, run.batch_size);
    made->calibrate_with(std::move(calibration));
    TaskFindings findings = made->examine();
    std::string numbers = findings.numbers.empty() ? contract_in_words(contract) : findings.numbers;
    return {.task = std::move(made),
            .findings = std::move(findings),
            .on_cpu = choice.device == "cpu",
            .why_device = choice.why,
            .engine = std::move(where),
            .numbers = std::move(numbers),
            .why_here = std::move(engine.why_here),
            .is_incomplete = engine.is_incomplete};
}

Work ModelSetup::plan(const std::shared_ptr<Task> &with, bool on_cpu, const FrameShape &input,
                      std::span<const FrameItem> first, double tuning_seconds) const
{
    const std::shared_ptr<const Samples> samples = samples_for(*with, input, first);
    NewPlan made = with->plan(input, {.tuning_seconds = tuning_seconds, .samples = samples});
    if (samples && samples->empty())
        made.notes.emplace_back(
            "no frame for the calibration of int8 gives the model an input; it is calibrated with "
            "generated pictures");
    if (run.has_deadline)
        check_deadline(*made.plan);
    CoreRequest cores = run.cores;
    cores.device = !on_cpu;
    cores.in_order = made.plan->in_order;
    if (run.for_latency && on_cpu) {
        const LatencyChoice choice = choose_for_latency(
            cores, times_of_runs(made.plan, first, tuning_seconds, timeout), interval_of(input));
        cores = choice.cores;
        made.notes.push_back(choice.note);
    }
    CoreBudget budget = divide_cores(usable_machine(), cores, made.cost);
    expect_memory_for(*made.plan, budget, usable_machine());
    made.plan->threads = static_cast<int>(budget.threads_per_worker);
    if (run.cores.workers > 1 && made.cost.alone && !made.plan->in_order)
        made.notes.push_back(concat("the model's runs wait for one another: one worker does them, "
                                    "not ",
                                    run.cores.workers));
    made.plan->hides = run.hides;
    made.plan->passes_crashed = run.restarts != 0;
    return {.task = with,
            .plan = std::move(made.plan),
            .budget = budget,
            .variant = made.variants.with(budget.threads_per_worker).words,
            .hint = std::move(made.hint),
            .warning = std::move(made.warning),
            .notes = std::move(made.notes)};
}

// Downstream filters are configured for one format and one size.
Work ModelSetup::replace(const ModelRequest &request, const FrameShape &input,
                         std::span<const FrameItem> first, Size output) const
{
    OpenedModel opened = open(request);
    if (!holds(opened.task->formats(), input.format))
        throw Error(AVERROR(EINVAL), "the model takes " + opened.findings.takes +
                                         ", and the frames are " +
                                         av_get_pix_fmt_name(input.format));
    const AVPixelFormat result = format_of_results(input);
    const std::vector<AVPixelFormat> results = opened.task->results_of(input.format);
    if (std::find(results.begin(), results.end(), result) == results.end())
        throw Error(AVERROR(EINVAL), "the model takes " + opened.findings.takes +
                                         ", and the frames so far became " +
                                         av_get_pix_fmt_name(result));
    check_pads(opened.task->extra_pads(), input);
    const Size made = opened.task->output_for(input).size;
    if (made != output)
        throw Error(AVERROR(EINVAL), "the model makes " + to_text(made) + " of " +
                                         to_text(input.size) + ", and the frames so far became " +
                                         to_text(output));
    Work work = plan(opened.task, opened.on_cpu, input, first, run.tuning_seconds);
    if (!opened.findings.warning.empty())
        work.warning = opened.findings.warning;
    // If no session can be opened, the change is refused here.  In a worker the same failure would
    // end the filter.
    work.plan->open_session();
    return work;
}

// ---- on the filter's thread -------------------------------------------------------

ModelOpener::ModelOpener(AVFilterContext *ctx, const FilterSettings &settings, TaskMaker task)
    : ctx_(ctx), setup_{.run = request_of(settings.run),
                        .timeout = std::chrono::microseconds(settings.model.timeout),
                        .task = std::move(task)}
{
}

void ModelOpener::open(const ModelRequest &request)
{
    LongWait wait(notifier());
    OpenedModel opened = setup_.open(request);
    task_ = std::move(opened.task);
    on_cpu_ = opened.on_cpu;
    if (on_cpu_) {
        core_use_.emplace();
        warn_of_threads();
    }
    if (!opened.why_device.empty())
        av_log(ctx_, AV_LOG_INFO, "%s\n", opened.why_device.c_str());
    av_log(ctx_, AV_LOG_VERBOSE, "%s runs on %s\n", request.path.c_str(), opened.engine.c_str());
    if (!opened.why_here.empty())
        av_log(ctx_, opened.is_incomplete ? AV_LOG_WARNING : AV_LOG_VERBOSE, "%s\n",
               opened.why_here.c_str());
    if (!opened.findings.warning.empty())
        av_log(ctx_, AV_LOG_WARNING, "%s\n", opened.findings.warning.c_str());
    av_log(ctx_, AV_LOG_VERBOSE, "the model takes %s\n", opened.findings.takes.c_str());
    if (!opened.numbers.empty())
        av_log(ctx_, AV_LOG_VERBOSE, "its contract: %s\n", opened.numbers.c_str());
}

// Nothing else shows before the first frame that the filter is at work.
LongWait::Notify ModelOpener::notifier() const
{
    return
        [ctx = ctx_](const std::string &doing) { av_log(ctx, AV_LOG_INFO, "%s\n", doing.c_str()); };
}

void ModelOpener::warn_of_threads() const
{
    constexpr size_t most_of_a_core = 4;
    const size_t threads = setup_.run.cores.threads, cores = usable_cores();
    if (threads > most_of_a_core * cores)
        av_log(ctx_, AV_LOG_WARNING,
               "threads=%zu are many for the %s here, and slow: leave threads out, or give %zu at "
               "most\n",
               threads, counted(cores, "core").c_str(), cores);
}

size_t ModelOpener::frames_wanted() const
{
    return wants_frame_kept() && task_->model()->is_in_int8() ? Samples::most : 1;
}

Work ModelOpener::prepare(const FrameShape &input, std::span<const FrameItem> first)
{
    LongWait wait(notifier());
    Work work = setup_.plan(task_, on_cpu_, input, first, tuning_seconds());
    planned_ = Clock::now();
    return work;
}

// If the frame size changes often, measuring must not take longer than running the model.
double ModelOpener::tuning_seconds() const
{
    constexpr double share = 0.1;
    if (!planned_)
        return setup_.run.tuning_seconds;
    double since = std::chrono::duration<double>(Clock::now() - *planned_).count();
    return std::min(setup_.run.tuning_seconds, share * since);
}

} // namespace dnn_torch
