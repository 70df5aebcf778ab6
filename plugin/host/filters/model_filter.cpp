// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model_filter.h"

#include "../ffmpeg_versions.h"
#include "../gate/self_test.h"
#include "../pixels/picture.h"

#include <new>

namespace dnn_torch
{
namespace
{

std::string text(const char *value)
{
    return value ? value : "";
}

void check_frame(const AVFrame *frame, const FramePlan &plan, int format)
{
    Size size = {frame->width, frame->height};
    if (size != plan.input || frame->format != format)
        throw Error(AVERROR(EINVAL),
                    "the frames changed from " + to_text(plan.input) + " to " + to_text(size) +
                        " or in format while the filter runs; configure a new graph for them");
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
    size_t lost = pool_ ? pool_->stop() * static_cast<size_t>(options_.batch_size) : 0;
    lost += batch_ ? batch_->items.size() : 0;
    if (lost && !result_)
        av_log(ctx_, AV_LOG_INFO, "ended with up to %zu frames in flight\n", lost);
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
    probe_ = std::make_unique<ModelProbe>(model_);
    channels_ = probe_->find_channels();
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

Size ModelFilter::configure(const AVFilterLink *in)
{
    auto format = static_cast<AVPixelFormat>(in->format);
    auto batch_size = static_cast<size_t>(options_.batch_size);
    Size input = {in->w, in->h};
    int channels = model_channels(format);
    Size output = probe_->find_output(input, channels);

    plan_ = std::make_shared<FramePlan>(FramePlan{model_, 1, false, false, format, channels, input,
                                                  output, in->time_base, batch_size,
                                                  FramePool(format, output)});
    facts_ = {options_.model, "", {}, batch_size, av_get_pix_fmt_name(format), input, output};
    av_log(ctx_, AV_LOG_VERBOSE, "%s %s becomes %s\n", facts_.format.c_str(),
           to_text(input).c_str(), to_text(output).c_str());
    return output;
}

// Only once frames come: ffmpeg builds each graph once more than it runs.
CoreBudget ModelFilter::tune_model()
{
    DnnTorchShape shape = {options_.batch_size, plan_->channels, plan_->input.height,
                           plan_->input.width};
    DnnTorchTuning tuning = model_->tune(shape, static_cast<double>(options_.tune) / AV_TIME_BASE);
    follow_tuning(*plan_, tuning);
    CoreRequest request = {static_cast<size_t>(options_.workers),
                           static_cast<size_t>(options_.threads),
                           static_cast<size_t>(options_.nireq), options_.async != 0};
    request.device = !on_cpu_;
    return divide_cores(usable_machine(), request, {tuning.run_seconds, tuning.run_bytes});
}

void ModelFilter::start_pool()
{
    probe_.reset();
    CoreBudget budget = tune_model();
    plan_->threads = static_cast<int>(budget.threads_per_worker);
    facts_.budget = budget;
    facts_.form = model_->form();
    log_notice();
    av_log(ctx_, AV_LOG_INFO,
           "%zu workers of %zu threads, %zu requests of %d frames in flight; %s\n", budget.workers,
           budget.threads_per_worker, budget.in_flight, options_.batch_size, facts_.form.c_str());
    if (std::string advice = model_->advice(); !advice.empty())
        av_log(ctx_, AV_LOG_INFO, "%s\n", advice.c_str());

    statistics_.emplace(budget.workers);
    auto patience =
        std::chrono::ceil<std::chrono::seconds>(std::chrono::microseconds(options_.timeout));
    std::shared_ptr<const FramePlan> plan = plan_;
    pool_ = std::make_unique<OrderedPool>(
        PoolSize{budget.workers, budget.in_flight, patience},
        [plan](size_t) { return std::make_unique<FrameWorker>(plan); });
}

// ---- running ----------------------------------------------------------------

int ModelFilter::activate()
{
    if (statistics_)
        statistics_->enter();
    sent_ = 0;
    int ret = take_turn();
    if (statistics_)
        statistics_->leave(sent_ != 0);
    return ret;
}

int ModelFilter::take_turn()
{
    if (result_)
        return *result_;
    if (failure_)
        return may_be_too_early() ? 0 : report(*failure_);
    if (gate_.forward_close(ctx_->inputs[0], ctx_->outputs[0]))
        return abandon();
    try {
        return pass_frames();
    } catch (const Error &error) {
        return report(error);
    }
}

int ModelFilter::pass_frames()
{
    take_in();
    hand_out();
    if (failure_)
        return can_wait_with_failure() ? 0 : report(*failure_);
    if (input_status_ && (!pool_ || pool_->empty()))
        return finish();
    // After a frame has gone out, downstream wakes us when it wants another one.
    if (!sent_ && !input_status_)
        request();
    return 0;
}

// Whether a failure that is told later would end as a success.
bool ModelFilter::too_late_to_fail() const
{
    return input_status_ && programs_ignore_late_failures;
}

// An error drops whatever is still on its way downstream.
bool ModelFilter::can_wait_with_failure()
{
    if (!sent_)
        return false;
    on_the_way_ = sent_;
    drop_input();
    return !too_late_to_fail();
}

// Downstream wakes us once it has taken all and wants more.  A frame that comes in
// wakes us as well, maybe before downstream had its turn; it has one before the
// next such frame, and takes one of ours at least.
bool ModelFilter::may_be_too_early()
{
    if (on_the_way_ == 0 || !drop_input() || too_late_to_fail())
        return false;
    on_the_way_--;
    return true;
}

// Of a filter that has failed.  Returns whether a frame was there.
bool ModelFilter::drop_input()
{
    bool any = false;
    while (!input_status_) {
        int ret = gate_.receive(ctx_->inputs[0], frame_.get());
        if (ret == AVERROR(EAGAIN))
            break;
        if (ret < 0)
            input_status_ = ret;
        else
            any = true;
        av_frame_unref(frame_.get());
    }
    return any;
}

void ModelFilter::request()
{
    int ret = gate_.receive_or_request(ctx_->inputs[0], frame_.get());
    if (ret >= 0)
        take_frame();
    else if (ret != AVERROR(EAGAIN))
        end_input(ret);
}

void ModelFilter::take_in()
{
    auto has_room = [&] {
        return !pool_ || (pool_->state() == OrderedPool::State::running && !pool_->full());
    };
    while (!input_status_ && has_room()) {
        int ret = gate_.receive(ctx_->inputs[0], frame_.get());
        if (ret == AVERROR(EAGAIN))
            return;
        if (ret < 0)
            end_input(ret);
        else
            take_frame();
    }
}

void ModelFilter::take_frame()
{
    check_frame(frame_.get(), *plan_, ctx_->inputs[0]->format);
    if (!pool_)
        start_pool();
    if (!batch_)
        batch_ = std::make_unique<FrameJob>();
    FramePointer received(av_frame_alloc());
    if (!received)
        throw Error(AVERROR(ENOMEM), "out of memory");
    av_frame_move_ref(received.get(), frame_.get());
    batch_->items.push_back({std::move(received), ctx_->is_disabled != 0, Clock::now()});
    if (batch_->items.size() >= plan_->batch_size)
        submit_batch();
}

void ModelFilter::submit_batch()
{
    pool_->submit(std::move(batch_));
}

void ModelFilter::end_input(int status)
{
    input_status_ = status;
    if (batch_)
        submit_batch();
    if (pool_)
        pool_->drain();
}

// Whether the oldest job is to be waited for.  A failed pool takes no more in,
// so that its failure must come out before libavfilter goes to sleep on us.
bool ModelFilter::due() const
{
    bool wait = input_status_ || pool_->full() || !options_.async ||
                pool_->state() == OrderedPool::State::failed;
    return pool_->oldest_is_due() || (wait && !pool_->empty());
}

// A failure waits until downstream has taken what went out before it: an error
// drops whatever is still on its way there.
void ModelFilter::hand_out()
{
    while (!failure_ && pool_ && due()) {
        std::unique_ptr<Job> done = take();
        if (!done)
            break;
        FrameJob &job = static_cast<FrameJob &>(*done);
        warn_of_nan(job);
        log_notice();
        if (int ret = send(job); ret < 0)
            throw Error(ret, "a frame cannot be handed on");
    }
}

std::unique_ptr<Job> ModelFilter::take()
{
    Stopwatch watch(statistics_->waiting_for_workers());
    try {
        return pool_->take();
    } catch (const Error &error) {
        failure_ = error;
        return nullptr;
    }
}

int ModelFilter::send(FrameJob &job)
{
    statistics_->add_job(job.stages, job.items.size());
    for (FrameJob::Item &item : job.items) {
        if (int ret = gate_.send(ctx_->outputs[0], item.frame.get()); ret < 0)
            return ret;
        statistics_->add_frame(item.arrival, job.stages.sum());
        sent_++;
    }
    return 0;
}

void ModelFilter::warn_of_nan(const FrameJob &job)
{
    if (job.saw_nan && !warned_of_nan_)
        av_log(ctx_, AV_LOG_WARNING, "the model returns NaN, which becomes 0 here\n");
    warned_of_nan_ = warned_of_nan_ || job.saw_nan;
}

// ---- telling ----------------------------------------------------------------

const char *ModelFilter::state() const
{
    if (result_)
        return *result_ < 0 ? "failed" : "stopped";
    if (!pool_)
        return "waiting";
    switch (pool_->state()) {
    case OrderedPool::State::running:
        return "running";
    case OrderedPool::State::draining:
        return "draining";
    case OrderedPool::State::failed:
        return "failed";
    default:
        return "stopped";
    }
}

size_t ModelFilter::in_flight() const
{
    size_t jobs = pool_ ? pool_->in_flight() : 0;
    return jobs * static_cast<size_t>(options_.batch_size) + (batch_ ? batch_->items.size() : 0);
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

// ---- ending -----------------------------------------------------------------

// The input's end goes on downstream, once everything before it has.
int ModelFilter::finish()
{
    end_with(*input_status_ == AVERROR_EOF ? 0 : *input_status_);
    return gate_.forward_end(ctx_->outputs[0]);
}

int ModelFilter::report(const Error &error)
{
    av_log(ctx_, AV_LOG_ERROR, "%s\n", error.what());
    return end_with(error.code());
}

// Ends all work; from now on this is what activate() returns.
int ModelFilter::end_with(int code)
{
    if (pool_)
        pool_->stop();
    result_ = code;
    tell_statistics();
    return code;
}

// Nobody wants our frames any more.
int ModelFilter::abandon()
{
    batch_.reset();
    return end_with(0);
}

} // namespace dnn_torch
