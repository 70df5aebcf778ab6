// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model_filter.h"

#include "host/frames/formats.h"
#include "host/frames/sample_aspect.h"
#include "host/libavfilter/self_test.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

namespace dnn_torch
{
namespace
{

std::string text(const char *value)
{
    return value ? value : "";
}

// What the filter that was freed last in this process took with it.
struct Lost {
    size_t frames;
    std::string model;
    double last_seconds; // the time of the last frame that came in
};
std::mutex lost_mutex;
Lost lost_before{};

// Whether a stream that begins at that time goes on where the lost frames were.
bool goes_on(const Lost &lost, const std::string &model, double first_seconds)
{
    constexpr double longest_gap = 1;
    double gap = first_seconds - lost.last_seconds; // maybe NaN
    return lost.frames && lost.model == model && gap > 0 && gap <= longest_gap;
}

} // namespace

ModelFilter::ModelFilter(AVFilterContext *ctx, const PrivateData &options)
    : ctx_(ctx), options_(options), report_(ctx, text(options.stats)), frame_(av_frame_alloc())
{
    if (!frame_)
        throw std::bad_alloc();
}

ModelFilter::~ModelFilter()
{
    if (is_orphaned())
        return;
    size_t lost = result_ ? 0 : in_flight();
    if (pool_)
        pool_->stop();
    if (lost) {
        av_log(ctx_, AV_LOG_INFO, "ended with up to %zu frames in flight\n", lost);
        std::lock_guard lock(lost_mutex);
        lost_before = {lost, options_.model, last_seconds_};
    }
    tell_statistics();
}

// ---- opening and configuring ----------------------------------------------

void ModelFilter::open()
{
    if (!options_.model || !*options_.model)
        throw Error(AVERROR(EINVAL), "no model given; write dnn_torch=model=FILE");
    // Programs that look the filter up by name come here untested.
    if (const char *fault = gate_fault())
        throw Error(AVERROR(ENOSYS), fault);
    if (int ret = gate_.open(); ret < 0)
        throw Error(ret, "no private graph can be made");
    open_model();
    probe_.emplace(model_);
    settle_channels();
}

void ModelFilter::settle_channels()
{
    FoundChannels found = probe_->find_channels();
    channels_ = found.channels;
    if (!found.doubt.empty())
        av_log(ctx_, AV_LOG_WARNING,
               "the model is run on luma alone, for it fails on RGB: %s; if it is a model of RGB, "
               "that is to be mended\n",
               found.doubt.c_str());
    av_log(ctx_, AV_LOG_VERBOSE, "the model takes %s\n",
           channels_ == Channels::any   ? "RGB and luma"
           : channels_ == Channels::rgb ? "RGB"
                                        : "luma");
}

void ModelFilter::open_model()
{
    ModelOptions options;
    options.path = options_.model;
    DeviceChoice choice = choose_device(text(options_.device), text(options_.engine));
    options.device = choice.device;
    if (!choice.why.empty())
        av_log(ctx_, AV_LOG_INFO, "%s\n", choice.why.c_str());
    on_cpu_ = choice.device == "cpu";
    options.input_name = text(options_.input);
    options.output_name = text(options_.output);
    options.precision = text(options_.precision);
    options.optimize = text(options_.optimize);
    options.timeout = std::chrono::microseconds(options_.timeout);
    options.allow = text(options_.allow);

    const DnnTorchEngine *engine = open_engine(text(options_.engine));
    model_ = std::make_shared<Model>(*engine, options);
    av_log(ctx_, AV_LOG_VERBOSE, "%s runs on %s %s\n", options_.model, engine->name,
           engine->version);
    log_notice();
}

void ModelFilter::log_notice()
{
    std::string notice = model_->notice();
    if (!notice.empty() && notice != told_notice_)
        av_log(ctx_, AV_LOG_WARNING, "%s\n", notice.c_str());
    told_notice_ = notice;
}

void ModelFilter::configure(const AVFilterLink *in, AVFilterLink *out)
{
    make_plan({in->w, in->h});
    out->w = plan_->output.width;
    out->h = plan_->output.height;
    out->sample_aspect_ratio =
        sample_aspect_after(in->sample_aspect_ratio, plan_->input, plan_->output);
}

int ModelFilter::channels_of(AVPixelFormat format) const
{
    return channels_ == Channels::any ? model_channels(format) : channels_ == Channels::rgb ? 3 : 1;
}

void ModelFilter::make_plan(Size input)
{
    const AVFilterLink *in = ctx_->inputs[0];
    auto format = static_cast<AVPixelFormat>(in->format);
    auto batch_size = static_cast<size_t>(options_.batch_size);
    int channels = channels_of(format);
    Size output = probe_->find_output(input, channels);

    plan_ = std::make_shared<FramePlan>(FramePlan{.model = model_,
                                                  .format = format,
                                                  .channels = channels,
                                                  .input = input,
                                                  .output = output,
                                                  .time_base = in->time_base,
                                                  .batch_size = batch_size,
                                                  .frames = FramePool(format, output)});
    facts_ = {options_.model, "", {}, batch_size, av_get_pix_fmt_name(format), input, output};
    av_log(ctx_, AV_LOG_VERBOSE, "%s %s becomes %s\n", facts_.format.c_str(),
           to_text(input).c_str(), to_text(output).c_str());
}

// Only once frames come: ffmpeg builds each graph once more than it runs.
CoreBudget ModelFilter::tune_model()
{
    DnnTorchShape shape = {options_.batch_size, plan_->channels, plan_->input.height,
                           plan_->input.width};
    DnnTorchTuning tuning = model_->tune(shape, tuning_seconds());
    planned_ = Clock::now();
    follow_tuning(*plan_, tuning);
    if (plan_->in_order)
        plan_->batch_size = 1;
    CoreRequest request = {static_cast<size_t>(options_.workers),
                           static_cast<size_t>(options_.threads),
                           static_cast<size_t>(options_.nireq), options_.async != 0};
    request.device = !on_cpu_;
    request.in_order = tuning.in_order != 0;
    return divide_cores(usable_machine(), request, {tuning.run_seconds, tuning.run_bytes});
}

// Frames whose size changes often must not be measured longer than they are worked on.
double ModelFilter::tuning_seconds() const
{
    constexpr double share = 0.1;
    double wanted = static_cast<double>(options_.tune) / AV_TIME_BASE;
    if (!statistics_)
        return wanted;
    return std::min(wanted, share * std::chrono::duration<double>(Clock::now() - planned_).count());
}

void ModelFilter::start_pool()
{
    CoreBudget budget = tune_model();
    plan_->threads = static_cast<int>(budget.threads_per_worker);
    auto patience =
        std::chrono::ceil<std::chrono::seconds>(std::chrono::microseconds(options_.timeout));
    std::shared_ptr<const FramePlan> plan = plan_;
    pool_ = std::make_unique<OrderedPool<FrameJob>>(
        PoolSize{budget.workers, budget.in_flight, patience},
        [plan](size_t) { return std::make_unique<FrameWorker>(plan); });

    budget.workers = pool_->workers();
    facts_.budget = budget;
    facts_.form = model_->form();
    if (!statistics_)
        statistics_.emplace(budget.workers);
    statistics_->use_workers(budget.workers);
    tell_of_workers();
}

// ---- telling ----------------------------------------------------------------

void ModelFilter::tell_of_workers()
{
    log_notice();
    if (plan_->in_order && options_.workers > 1)
        av_log(ctx_, AV_LOG_WARNING,
               "the model remembers earlier frames: one worker runs them in order, not %d\n",
               options_.workers);
    if (plan_->in_order && options_.batch_size > 1)
        av_log(ctx_, AV_LOG_WARNING,
               "the model remembers earlier frames: it gets one at a time, not batches of %d\n",
               options_.batch_size);
    if (!pool_->shortfall().empty())
        av_log(ctx_, AV_LOG_WARNING,
               "no more than %zu worker threads can be started: %s; raise the limit of memory or "
               "of threads (ulimit -v, -u)\n",
               pool_->workers(), pool_->shortfall().c_str());
    av_log(ctx_, AV_LOG_INFO,
           "%zu workers of %zu threads, %zu requests of %zu frames in flight; %s\n",
           facts_.budget.workers, facts_.budget.threads_per_worker, facts_.budget.in_flight,
           plan_->batch_size, facts_.form.c_str());
    if (std::string advice = model_->advice(); !advice.empty())
        av_log(ctx_, AV_LOG_INFO, "%s\n", advice.c_str());
}

// Programs free a graph with frames in it where nobody wants them, and also where they
// put another in its place; only that is a loss.
void ModelFilter::tell_of_lost_frames(double first_seconds)
{
    Lost lost{};
    {
        std::lock_guard lock(lost_mutex);
        lost = std::exchange(lost_before, {});
    }
    if (goes_on(lost, options_.model, first_seconds))
        av_log(ctx_, AV_LOG_WARNING,
               "up to %zu frames before this one are lost: the program put a new graph in place of "
               "one that still worked on them; async=0 loses none\n",
               lost.frames);
}

const char *ModelFilter::state() const
{
    if (is_orphaned())
        return "stopped";
    if (result_)
        return *result_ < 0 ? "failed" : "stopped";
    if (!pool_)
        return "waiting";
    switch (pool_->state()) {
    case AnyPool::State::running:
        return "running";
    case AnyPool::State::draining:
        return "draining";
    case AnyPool::State::failed:
        return "failed";
    default:
        return "stopped";
    }
}

size_t ModelFilter::in_flight() const
{
    size_t jobs = pool_ && !is_orphaned() ? pool_->in_flight() : 0;
    return jobs * static_cast<size_t>(options_.batch_size) + (batch_ ? batch_->items.size() : 0) +
           (held_ ? 1 : 0) + results_.size();
}

std::optional<std::string> ModelFilter::answer(const std::string &command) const
{
    Summary summary = statistics_ ? statistics_->summary() : Summary{};
    if (command == "progress")
        return StatsReport::progress(summary, in_flight());
    if (command == "stats")
        return StatsReport::json(facts_, summary, state(), in_flight());
    return std::nullopt;
}

void ModelFilter::tell_statistics()
{
    if (statistics_)
        report_.tell(facts_, statistics_->summary(), state());
}

} // namespace dnn_torch
