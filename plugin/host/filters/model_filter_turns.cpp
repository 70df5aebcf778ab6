// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How frames pass.  All that libavfilter calls the filter for comes in as a turn.
#include "host/libavfilter/version_differences.h"
#include "model_filter.h"

#include <cassert>
#include <cmath>
#include <new>

namespace dnn_torch
{
namespace
{

// Programs take EAGAIN for "later" and EOF for the end, and wait for ever or end well.
int never_misread(int code)
{
    bool misread = code == AVERROR(EAGAIN) || code == AVERROR_EOF;
    assert(!misread);
    return misread ? AVERROR_EXTERNAL : code;
}

double seconds_of(int64_t pts, AVRational time_base)
{
    return pts == AV_NOPTS_VALUE ? NAN : static_cast<double>(pts) * av_q2d(time_base);
}

FramePointer moved_out_of(AVFrame *frame)
{
    FramePointer own(av_frame_alloc());
    if (!own)
        throw std::bad_alloc();
    av_frame_move_ref(own.get(), frame);
    return own;
}

// The filters behind are made for the format of the link, as they are not for its size.
void check_format(const AVFrame *frame, AVPixelFormat format)
{
    if (frame->format == format)
        return;
    const char *other = av_get_pix_fmt_name(static_cast<AVPixelFormat>(frame->format));
    throw Error(AVERROR(EINVAL),
                std::string("the frames changed from ") + av_get_pix_fmt_name(format) + " to " +
                    (other ? other : "an unknown format") + " while the filter runs; put format=" +
                    av_get_pix_fmt_name(format) + " before the filter");
}

} // namespace

int ModelFilter::activate()
{
    if (is_orphaned() && !result_) {
        av_log(ctx_, AV_LOG_ERROR,
               "the process was forked while the filter ran; open a new graph in it\n");
        result_ = AVERROR(EINVAL);
    }
    if (result_)
        return *result_;
    if (statistics_)
        statistics_->enter();
    sent_ = 0;
    int ret = take_turn();
    if (statistics_)
        statistics_->leave(sent_ != 0);
    return never_misread(ret);
}

int ModelFilter::take_turn()
{
    if (failure_ && results_.empty())
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
    collect();
    hand_out();
    if (failure_)
        return go_on_failing();
    if (input_status_ && in_flight() == 0)
        return finish();
    // After a frame has gone out, downstream wakes us when it wants another one.
    if (!sent_ && !input_status_)
        request();
    return 0;
}

// ---- failing ----------------------------------------------------------------

// What is older than the failure goes out before it, frame by frame as downstream wants them.
int ModelFilter::go_on_failing()
{
    if (!results_.empty()) {
        drop_input();
        if (!too_late_to_fail())
            return 0;
        hand_out();
    }
    return can_wait_with_failure() ? 0 : report(*failure_);
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

// ---- taking in ----------------------------------------------------------------

void ModelFilter::request()
{
    int ret = gate_.receive_or_request(ctx_->inputs[0], frame_.get());
    if (ret >= 0)
        take_frame();
    else if (ret != AVERROR(EAGAIN))
        end_input(ret);
}

bool ModelFilter::has_room() const
{
    if (input_status_ || failure_)
        return false;
    if (!pool_)
        return true;
    bool works = pool_->state() == AnyPool::State::running;
    size_t most = facts_.budget.in_flight * plan_->batch_size;
    bool failed = pool_->state() == AnyPool::State::failed;
    return held_ ? pool_->empty() && !failed : works && !pool_->full() && results_.size() < most;
}

void ModelFilter::take_in()
{
    while (has_room()) {
        if (held_) {
            change_plan();
            continue;
        }
        int ret = gate_.receive(ctx_->inputs[0], frame_.get());
        if (ret == AVERROR(EAGAIN))
            return run_what_is_there();
        if (ret < 0)
            end_input(ret);
        else
            take_frame();
    }
}

// With async=0 nothing may be left in the filter when a program drops its graph.
void ModelFilter::run_what_is_there()
{
    if (!options_.async && batch_)
        submit_batch();
}

void ModelFilter::take_frame()
{
    double seconds = seconds_of(frame_->pts, plan_->time_base);
    if (next_number_ == 0)
        tell_of_lost_frames(seconds);
    last_seconds_ = seconds;
    Size size = {frame_->width, frame_->height};
    bool fits = size == plan_->input && frame_->format == plan_->format;
    FrameJob::Item item = {moved_out_of(frame_.get()), ctx_->is_disabled != 0, Clock::now(),
                           next_number_++};
    if (fits)
        return add_to_batch(std::move(item));
    held_ = std::move(item);
    if (batch_)
        submit_batch();
    if (pool_)
        pool_->drain();
    else
        change_plan();
}

// Everything before the frame that is held has left the workers.
void ModelFilter::change_plan()
{
    FrameJob::Item item = std::move(*held_);
    held_.reset();
    try {
        check_format(item.frame.get(), plan_->format);
        pool_.reset();
        make_plan({item.frame->width, item.frame->height});
        add_to_batch(std::move(item));
    } catch (const Error &error) {
        failure_ = error;
    }
}

// A batch goes past the model, or through it, as a whole: its numbers have no gaps.
void ModelFilter::add_to_batch(FrameJob::Item item)
{
    if (!pool_)
        start_pool();
    if (batch_ && batch_->items.back().bypass != item.bypass)
        submit_batch();
    if (!batch_)
        batch_ = std::make_unique<FrameJob>();
    batch_->items.push_back(std::move(item));
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

// ---- handing out ----------------------------------------------------------------

// Whether the oldest job is to be taken, and waited for.  It is waited for where nothing
// else can be done: a failed pool takes no more in, so that its failure must come out
// before libavfilter goes to sleep on us.
bool ModelFilter::due() const
{
    if (pool_->oldest_is_due())
        return true;
    bool wait = input_status_ || held_ || pool_->full() || !options_.async ||
                pool_->state() == AnyPool::State::failed;
    bool all = input_status_ && programs_ignore_late_failures;
    return wait && !pool_->empty() && (all || results_.empty());
}

void ModelFilter::collect()
{
    while (!failure_ && pool_ && due())
        if (std::unique_ptr<FrameJob> done = take())
            keep(*done);
}

std::unique_ptr<FrameJob> ModelFilter::take()
{
    Stopwatch watch(statistics_->waiting_for_workers());
    try {
        return pool_->take();
    } catch (const Error &error) {
        failure_ = error;
        return nullptr;
    }
}

void ModelFilter::keep(FrameJob &job)
{
    warn_of_nan(job);
    log_notice();
    statistics_->add_job(job.stages, job.items.size());
    for (FrameJob::Item &item : job.items)
        results_.push_back({std::move(item.frame), item.arrival, job.stages.sum()});
}

// One in a turn, as a filter would that has one for each that comes in: filters behind
// make of a heap of frames other times than of frames that come when they are wanted.
// The link keeps its size where that of the frames changes, as with ffmpeg's null: a
// scale behind sees by the difference that it has to begin anew.
void ModelFilter::hand_out()
{
    bool all = failure_ && too_late_to_fail();
    while (!results_.empty() && (all || sent_ == 0))
        send_one();
}

void ModelFilter::send_one()
{
    Result &result = results_.front();
    if (int ret = gate_.send(ctx_->outputs[0], result.frame.get()); ret < 0)
        throw Error(ret, "a frame cannot be handed on");
    statistics_->add_frame(result.arrival, result.job_seconds);
    sent_++;
    results_.pop_front();
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
    result_ = never_misread(code);
    tell_statistics();
    return *result_;
}

// Nobody wants our frames any more.
int ModelFilter::abandon()
{
    batch_.reset();
    return end_with(0);
}

} // namespace dnn_torch
