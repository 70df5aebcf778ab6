// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model_filter.h"

#include "../ffmpeg_versions.h"
#include "../gate/self_test.h"
#include "../pipeline/core_budget.h"
#include "../pipeline/error.h"
#include "../pixels/picture.h"

#include <new>

namespace dnn_torch {
namespace {

std::string text(const char *value) { return value ? value : ""; }

std::string text(Size size)
{
    return std::to_string(size.width) + "x" + std::to_string(size.height);
}

void check_frame(const AVFrame *frame, const FramePlan &plan, int format)
{
    Size size = {frame->width, frame->height};
    if (size != plan.input || frame->format != format)
        throw Error(AVERROR(EINVAL),
                    "the frames changed from " + text(plan.input) + " to " + text(size) +
                        " or in format while the filter runs; configure a new graph for them");
}

} // namespace

ModelFilter::ModelFilter(AVFilterContext *ctx, const PrivateData &options)
    : ctx_(ctx), options_(options), frame_(av_frame_alloc())
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
    channels_ = find_channels();
}

void ModelFilter::open_model()
{
    CoreBudget budget = divide_cores(usable_cores(), static_cast<size_t>(options_.workers),
                                     static_cast<size_t>(options_.threads),
                                     static_cast<size_t>(options_.nireq), options_.async != 0);
    workers_ = budget.workers;
    in_flight_ = budget.in_flight;

    ModelOptions options;
    options.path = options_.model;
    options.device = text(options_.device);
    options.input_name = text(options_.input);
    options.output_name = text(options_.output);
    options.threads = static_cast<int>(budget.threads_per_worker);
    options.optimize = options_.optimize != 0;
    model_threads_ = options.threads;

    const DnnTorchEngine *engine = open_engine(text(options_.engine));
    model_ = std::make_shared<Model>(*engine, options);
    av_log(ctx_, AV_LOG_VERBOSE, "%s runs on %s %s\n", options_.model, engine->name,
           engine->version);
    if (std::string notice = model_->notice(); !notice.empty())
        av_log(ctx_, AV_LOG_WARNING, "%s\n", notice.c_str());
}

// Models seldom say what they take: a small picture of each kind tells.  One that
// takes neither may still take pictures of another size; configure() will see.
Channels ModelFilter::find_channels()
{
    constexpr Size small = {size_step, size_step};
    probe_ = std::make_unique<Session>(model_);
    std::optional<Error> rgb = probe_fault(3, small), luma = probe_fault(1, small);
    // What is wrong with the results is not a matter of what goes in.
    if (rgb && luma)
        for (const Error &fault : {*rgb, *luma})
            if (fault.code() != AVERROR_EXTERNAL)
                throw fault;
    return !rgb == !luma ? Channels::any : rgb ? Channels::luma : Channels::rgb;
}

std::optional<Error> ModelFilter::probe_fault(int channels, Size size)
{
    try {
        probe_->probe(size, channels);
        return std::nullopt;
    } catch (const Error &error) {
        return error;
    }
}

Size ModelFilter::find_output(Size input, int channels)
try {
    return predict_output(input, [&](Size size) { return probe_->probe(size, channels); });
} catch (const Error &fault) {
    if (fault.code() != AVERROR_EXTERNAL)
        throw;
    int other = channels == 3 ? 1 : 3;
    std::optional<Error> other_fault = probe_fault(other, input);
    auto kind = [](int count) { return count == 3 ? "3 channels (RGB)" : "1 channel (luma)"; };
    if (!other_fault)
        throw Error(AVERROR(EINVAL), std::string("the model takes ") + kind(other) + " at " +
                                         text(input) + "; put format=" +
                                         (other == 3 ? "rgb24" : "gray") + " before the filter");
    throw Error(fault.code(), "the model takes pictures of " + text(input) + " neither of " +
                                  kind(channels) + ": " + fault.what() + " -- nor of " +
                                  kind(other) + ": " + other_fault->what());
}

Size ModelFilter::configure(const AVFilterLink *in)
{
    auto format = static_cast<AVPixelFormat>(in->format);
    Size input = {in->w, in->h};
    int channels = model_channels(format);
    Size output = find_output(input, channels);

    plan_ = std::make_shared<FramePlan>(FramePlan{model_, channels, input, output, in->time_base,
                                                  static_cast<size_t>(options_.batch_size),
                                                  FramePool(format, output)});
    av_log(ctx_, AV_LOG_VERBOSE, "%s %s becomes %s\n", av_get_pix_fmt_name(format),
           text(input).c_str(), text(output).c_str());
    return output;
}

void ModelFilter::start_pool()
{
    probe_.reset();
    av_log(ctx_, AV_LOG_INFO, "%zu workers of %d threads, %zu requests of %d frames in flight\n",
           workers_, model_threads_, in_flight_, options_.batch_size);
    auto patience = std::chrono::ceil<std::chrono::seconds>(
        std::chrono::microseconds(options_.timeout));
    pool_ = std::make_unique<OrderedPool>(
        PoolSize{workers_, in_flight_, patience},
        [plan = plan_](size_t) { return std::make_unique<FrameWorker>(plan); });
}

// ---- running ----------------------------------------------------------------

int ModelFilter::activate()
{
    if (result_)
        return *result_;
    if (failure_)
        return report(*failure_);
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
    bool sent = hand_out();
    if (failure_)
        return sent && !too_late_to_fail() ? 0 : report(*failure_);
    if (input_status_ && (!pool_ || pool_->empty()))
        return finish();
    // After a frame has gone out, downstream wakes us when it wants another one.
    if (!sent && !input_status_)
        request();
    return 0;
}

// Whether a failure that is told later would end as a success.
bool ModelFilter::too_late_to_fail() const
{
    return input_status_ && programs_ignore_late_failures;
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
    end_pts_ = end_of_frame(received.get());
    batch_->items.push_back({std::move(received), ctx_->is_disabled != 0});
    if (batch_->items.size() >= plan_->batch_size)
        submit_batch();
}

void ModelFilter::submit_batch() { pool_->submit(std::move(batch_)); }

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

// Returns whether a frame went out.  A failure waits until downstream has taken
// what went out before it: an error drops whatever is still on its way there.
bool ModelFilter::hand_out()
{
    bool sent = false;
    while (!failure_ && pool_ && due()) {
        std::unique_ptr<Job> done = take();
        if (!done)
            break;
        FrameJob &job = static_cast<FrameJob &>(*done);
        warn_of_nan(job);
        if (int ret = send(job); ret < 0)
            throw Error(ret, "a frame cannot be handed on");
        sent = true;
    }
    return sent;
}

std::unique_ptr<Job> ModelFilter::take()
{
    try {
        return pool_->take();
    } catch (const Error &error) {
        failure_ = error;
        return nullptr;
    }
}

int ModelFilter::send(FrameJob &job)
{
    for (FrameJob::Item &item : job.items)
        if (int ret = gate_.send(ctx_->outputs[0], item.frame.get()); ret < 0)
            return ret;
    return 0;
}

void ModelFilter::warn_of_nan(const FrameJob &job)
{
    if (job.saw_nan && !warned_of_nan_)
        av_log(ctx_, AV_LOG_WARNING, "the model returns NaN, which becomes 0 here\n");
    warned_of_nan_ = warned_of_nan_ || job.saw_nan;
}

// ---- ending -----------------------------------------------------------------

// The input's end goes on downstream, once everything before it has.
int ModelFilter::finish()
{
    if (*input_status_ != AVERROR_EOF)
        return end_with(*input_status_);
    result_ = 0;
    return gate_.close(ctx_->outputs[0], end_pts_);
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
    return code;
}

// Nobody wants our frames any more.
int ModelFilter::abandon()
{
    batch_.reset();
    return end_with(0);
}

} // namespace dnn_torch
