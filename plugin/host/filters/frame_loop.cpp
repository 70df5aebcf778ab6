// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame_loop.h"

#include "host/libavfilter/version_differences.h"
#include "host/tasks/task.h"
#include "host/workers/engine_call.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <thread>

namespace dnn_torch
{
namespace
{

// Replaces codes that programs misread: they take EAGAIN for "later" and wait for ever, and EOF
// for the end and succeed.
int never_misread(int code)
{
    bool misread = code == AVERROR(EAGAIN) || code == AVERROR_EOF;
    assert(!misread);
    return misread ? AVERROR_EXTERNAL : code;
}

} // namespace

FrameLoop::FrameLoop(AVFilterContext *ctx, const Settings &settings, Planner &planner, RunLog &log)
    : ctx_(ctx), settings_(settings), planner_(planner), log_(log), frame_(av_frame_alloc()),
      extra_(ctx), state_(!settings.async, programs_ignore_late_failures),
      deadlines_(settings.deadline), every_(std::max(settings.every, 1)),
      continuity_(settings.continuity)
{
    if (!frame_)
        throw std::bad_alloc();
}

FrameLoop::~FrameLoop()
{
    if (is_orphaned())
        return;
    size_t lost = state_.phase() == Phase::ended ? 0 : in_flight();
    if (pool_)
        pool_->stop();
    // The program is about to call exit(), and abandoned threads go on registering handlers for it.
    if (is_asked_to_end())
        watch_exit();
    if (lost)
        log_.report_lost(lost, last_seconds_);
    log_.report_end(state());
}

void FrameLoop::open(size_t extra_inputs)
{
    if (int ret = gate_.open(); ret < 0)
        throw Error(ret, "no private graph can be made");
    if (extra_inputs != 0)
        extra_.open(extra_inputs);
}

std::vector<AVPixelFormat> FrameLoop::configure_extra_inputs()
{
    extra_.configure();
    return extra_.formats();
}

void FrameLoop::set_frame_rate(AVFilterLink *out, AVRational rate)
{
    if (int ret = gate_.set_frame_rate(out, rate); ret < 0)
        throw Error(ret, "the frame rate of the output cannot be set");
}

const char *FrameLoop::state() const
{
    if (is_orphaned())
        return "stopped";
    if (state_.phase() == Phase::ended)
        return result_ < 0 ? "failed" : "stopped";
    if (!pool_)
        return "waiting";
    switch (pool_->state()) {
    case AnyPool::State::stopped:
        return "stopped";
    case AnyPool::State::failed:
        return "failed";
    default:
        return state_.phase() == Phase::running ? "running" : "draining";
    }
}

size_t FrameLoop::in_flight() const
{
    size_t jobs = pool_ && !is_orphaned() ? pool_->in_flight() : 0;
    size_t in_jobs = jobs ? jobs * work_->plan->batch_size : 0;
    return in_jobs + others() + results_.size();
}

// Frames that have not become jobs yet.
size_t FrameLoop::others() const
{
    return early_.size() + gatherer_.frames() + duplicates_.frames() + (held_ ? 1 : 0) +
           (waiting_ ? 1 : 0) + (rest_ ? rest_->items.size() : 0);
}

Load FrameLoop::load() const
{
    Load load = {.results = results_.size(), .others = others(), .rest = rest_ != nullptr};
    if (!pool_)
        return load;
    load.pool = true;
    load.jobs = pool_->in_flight();
    load.most_jobs = work_->budget.in_flight;
    load.most_results = work_->budget.in_flight * work_->plan->batch_size;
    load.pool_failed = pool_->state() == AnyPool::State::failed;
    load.oldest_is_due = pool_->oldest_is_due();
    return load;
}

// ---- a turn -------------------------------------------------------------------

int FrameLoop::take_turn()
{
    if (is_orphaned() && state_.phase() != Phase::ended) {
        log_.report_error("the process was forked while the filter ran; open a new graph in it");
        state_.finish();
        result_ = AVERROR(EINVAL);
    }
    if (state_.phase() == Phase::ended)
        return result_;
    log_.begin_turn();
    state_.begin_turn();
    int ret = pass_frames_or_report();
    log_.end_turn(state_.sent_any());
    return never_misread(ret);
}

int FrameLoop::pass_frames_or_report()
{
    if (state_.failing() && results_.empty())
        return state_.is_too_early(drop_input()) ? 0 : report(*failure_);
    if (gate_.forward_close(ctx_->inputs[0], ctx_->outputs[0])) {
        extra_.close();
        return abandon();
    }
    if (is_asked_to_end())
        return give_up();
    try {
        return pass_frames();
    } catch (const AnyError &error) {
        return is_asked_to_end() ? give_up() : report(error);
    }
}

int FrameLoop::pass_frames()
{
    take_over();
    do {
        process_available();
        if (state_.fails_now_or_never(load()))
            check_end();
        hand_out();
        if (state_.failing())
            return go_on_failing();
        if (state_.is_drained(load()))
            return finish_or_fail();
        // After a frame is sent, downstream wakes us when it wants another one.
    } while (state_.wants_input() && request());
    return 0;
}

// If the frame size changes, the link keeps its size, as with ffmpeg's null filter.  The
// difference tells a scale filter downstream to configure itself anew.
void FrameLoop::hand_out()
{
    while (state_.sends(load()))
        send_one();
}

void FrameLoop::send_one()
{
    Result &result = results_.front();
    const int64_t pts = result.frame->pts;
    if (int ret = gate_.send(ctx_->outputs[0], result.frame.get()); ret < 0)
        throw Error(ret, "a frame cannot be handed on");
    if (pts != AV_NOPTS_VALUE) {
        end_pts_ = pts + (last_pts_ < pts && last_pts_ != AV_NOPTS_VALUE ? pts - last_pts_ : 1);
        last_pts_ = pts;
    }
    if (result.excluded)
        log_.add_excluded_frame();
    else
        log_.add_frame(result.arrival, result.job_seconds);
    if (result.fate != Fate::ran)
        log_.add_late(result.fate);
    state_.frame_sent();
    results_.pop_front();
}

// ---- failing ----------------------------------------------------------------

void FrameLoop::fail(const AnyError &error)
{
    failure_ = error;
    early_.clear();
    waiting_.reset();
    rest_.reset();
    spares_.clear();
    state_.fail();
}

// Frames older than the failure go out before it, one by one as downstream wants them.
int FrameLoop::go_on_failing()
{
    if (!results_.empty()) {
        drop_input();
        if (!state_.too_late_to_fail())
            return 0;
        hand_out();
    }
    if (!state_.sent_any())
        return report(*failure_);
    state_.wait_with_failure();
    drop_input();
    return state_.too_late_to_fail() ? report(*failure_) : 0;
}

// Discards the input of a filter that has failed.  Returns whether there was a frame.
bool FrameLoop::drop_input()
{
    bool any = false;
    while (state_.input_is_open()) {
        int ret = gate_.receive(ctx_->inputs[0], frame_.get());
        if (ret == AVERROR(EAGAIN))
            break;
        if (ret < 0)
            state_.end_input();
        else
            any = true;
        av_frame_unref(frame_.get());
    }
    return any;
}

// ---- ending -----------------------------------------------------------------

// Passes the input's end on downstream, once everything before it is out.
int FrameLoop::finish()
{
    end_task();
    log_.end("stopped");
    end_with(input_status_ == AVERROR_EOF ? 0 : input_status_);
    const bool ends_at_rate = work_ && work_->plan->rate.num != 0 && last_pts_ != AV_NOPTS_VALUE &&
                              input_status_ == AVERROR_EOF;
    const int ret =
        ends_at_rate ? gate_.end(ctx_->outputs[0], end_pts_) : gate_.forward_end(ctx_->outputs[0]);
    extra_.close();
    return ret;
}

// A failure to write at the end must not lose the last frames.
int FrameLoop::finish_or_fail()
try {
    return finish();
} catch (const AnyError &error) {
    if (is_asked_to_end())
        throw;
    fail(error);
    return go_on_failing();
}

// Runs before the last results go out: the turns that send them can no longer report a failure.
void FrameLoop::check_end()
{
    if (has_ended_task_)
        return;
    try {
        end_task();
        log_.check_end("draining");
    } catch (const AnyError &error) {
        fail(error);
    }
}

void FrameLoop::end_task()
{
    if (std::exchange(has_ended_task_, true))
        return;
    if (work_)
        work_->task->end();
    else
        planner_.end_without_frames();
}

int FrameLoop::report(const AnyError &error)
{
    log_.report_error(error.what());
    return end_with(error.code());
}

// Ends all work.  From now on turns return `code`.
int FrameLoop::end_with(int code)
{
    if (pool_)
        pool_->stop();
    state_.finish();
    result_ = never_misread(code);
    log_.report_end(state());
    return result_;
}

// Ends because downstream wants no more frames.
int FrameLoop::abandon()
{
    drop_waiting();
    return end_with(0);
}

void FrameLoop::drop_waiting()
{
    gatherer_ = {};
    rest_.reset();
    duplicates_ = {};
    early_.clear();
    waiting_.reset();
    held_.reset();
}

// Ends because a signal asked the program to end, and the program waits for this turn.  Sends what
// is nearly done, and waits for nothing else.  To downstream it is an ordinary end, so that the
// program completes its files.
int FrameLoop::give_up()
{
    const size_t all = in_flight();
    size_t done = 0;
    drop_waiting();
    try {
        finish_running_jobs();
        for (; !results_.empty(); done++)
            send_one();
        end_task();
    } catch (const AnyError &error) {
        log_.report_error(error.what());
    }
    log_.report_given_up(all - std::min(all, done));
    end_with(0);
    const int ret = gate_.end(ctx_->outputs[0], end_pts_);
    extra_.close();
    return ret;
}

// Waits briefly for jobs that workers have begun; they begin no others.
void FrameLoop::finish_running_jobs()
{
    constexpr std::chrono::milliseconds limit(150), poll_interval(5);
    const Clock::time_point end = Clock::now() + limit;
    while (pool_ && !pool_->empty()) {
        if (pool_->oldest_is_due())
            keep(pool_->take());
        else if (Clock::now() < end)
            std::this_thread::sleep_for(poll_interval);
        else
            return;
    }
}

// ---- leaving a graph in mid-stream ---------------------------------------------

bool FrameLoop::holds_frames() const
{
    const bool goes_on = state_.phase() != Phase::ended && !is_orphaned();
    return goes_on && (in_flight() != 0 || failure_);
}

bool FrameLoop::hand_out_all()
{
    if (!holds_frames())
        return false;
    bool any = false;
    log_.begin_turn();
    state_.begin_turn();
    try {
        while (!state_.failing() && empty_once())
            any = true;
        while (!results_.empty())
            send_one();
        if (state_.is_drained(load()))
            finish();
    } catch (const AnyError &error) {
        if (!is_asked_to_end()) // otherwise nobody wants the frames
            fail(error);
    }
    log_.end_turn(state_.sent_any());
    return any || state_.sent_any();
}

// Sends all frames.  As at the stream's end, the gatherer gets no more neighbours.
bool FrameLoop::empty_once()
{
    const int64_t next_before = next_number_;
    take_in();
    begin();
    flush();
    bool any = next_number_ != next_before;
    for (;;) {
        for (; !results_.empty(); any = true)
            send_one();
        if (rest_)
            submit_ready();
        if (state_.failing() || !pool_ || pool_->empty())
            return any;
        if (std::unique_ptr<FrameJob> done = take()) {
            keep(std::move(done));
            any = true;
        }
    }
}

// A frame that waits for one of an extra input is dropped.
std::optional<AnyError> FrameLoop::leave()
{
    if (state_.phase() == Phase::ended || is_orphaned())
        return std::nullopt;
    if (pool_)
        pool_->stop();
    log_.report_end("stopped");
    if (auto *recording = work_ ? dynamic_cast<RecordingTask *>(work_->task.get()) : nullptr)
        recording->close_records();
    drop_waiting();
    next_work_.reset();
    pool_.reset();
    work_.reset();
    state_.resume(); // so that requests still go upstream
    return std::exchange(failure_, std::nullopt);
}

void FrameLoop::inherit(const AnyError &failure)
{
    fail(failure);
    state_.wait_for_earlier_graph();
}

} // namespace dnn_torch
