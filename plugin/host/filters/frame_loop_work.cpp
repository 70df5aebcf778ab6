// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Gives frames to the workers and takes results from them.
#include "frame_loop.h"

#include "base/thread_time.h"
#include "host/findings/findings.h"
#include "host/tasks/sample_gathering.h"
#include "host/tasks/task_worker.h"
#include "host/workers/worker_places.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <cmath>
#include <new>

namespace dnn_torch
{
namespace
{

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

// Downstream filters cannot change the format in mid-stream, unlike the size.
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

// The pool limits only the workers' time.  CPU time is compared because a reader of records may be
// slow, and waiting for it is no work.
bool exceeds(double seconds, std::chrono::seconds timeout)
{
    return timeout.count() > 0 && seconds > static_cast<double>(timeout.count());
}

Error timeout_error(std::chrono::seconds timeout)
{
    return {AVERROR(ETIMEDOUT), "what the model returned took more than " +
                                    std::to_string(timeout.count()) +
                                    " s to write down; raise timeout if it may, or ask for less"};
}

// Whether the timeline or strength 0 excludes the frame.
bool is_excluded(const FrameItem &item)
{
    return item.bypass && !item.skipped;
}

// Returns 0 if it is not known.
double rate_of(const FrameShape &input)
{
    return input.frame_rate.num > 0 && input.frame_rate.den > 0 ? av_q2d(input.frame_rate) : 0;
}

bool is_mixed(float strength)
{
    return strength != 0 && strength != 1;
}

} // namespace

// Repeats because a task may return no result for a frame, which makes room for the next one.
void FrameLoop::process_available()
{
    do
        take_in();
    while (collect() && results_.empty());
}

// ---- taking in ----------------------------------------------------------------

void FrameLoop::take_in()
{
    if (rest_)
        submit_ready();
    for (;;) {
        if (state_.may_change(load()))
            change();
        if (!state_.has_room(load()))
            return;
        if (waiting_ && complete_waiting(false))
            continue;
        // At most one frame waits.
        int ret = waiting_ ? AVERROR(EAGAIN) : gate_.receive(ctx_->inputs[0], frame_.get());
        if (ret >= 0) {
            take_frame();
            continue;
        }
        if (ret != AVERROR(EAGAIN))
            end_input(ret);
        // With async=0, nothing may be left in the filter when a program drops its graph.
        else if (!settings_.async)
            gatherer_.end_batch();
        return submit_ready();
    }
}

// Returns whether a frame or the end came.
bool FrameLoop::request()
{
    if (waiting_)
        return complete_waiting(true);
    int ret = gate_.receive_or_request(ctx_->inputs[0], frame_.get());
    if (ret == AVERROR(EAGAIN))
        return false;
    if (ret >= 0)
        take_frame();
    else
        end_input(ret);
    return true;
}

void FrameLoop::take_frame()
{
    double seconds = seconds_of(frame_->pts, input_.time_base);
    if (next_number_ == 0)
        log_.report_first_frame(seconds);
    last_seconds_ = seconds;
    if (frame_->pts != AV_NOPTS_VALUE)
        latest_pts_ = std::max(latest_pts_, frame_->pts);
    FrameItem item = {.frame = moved_out_of(frame_.get()),
                      .bypass = ctx_->is_disabled != 0 || settings_.strength == 0,
                      .strength = settings_.strength,
                      .arrival = Clock::now(),
                      .number = next_number_,
                      .seed = settings_.start_number + next_number_};
    next_number_++;
    note_arrival(item, seconds);
    if (extra_.empty())
        return accept(std::move(item));
    waiting_ = std::move(item);
    complete_waiting(false);
}

void FrameLoop::note_arrival(const FrameItem &item, double seconds)
{
    deadlines_.came(item.arrival, seconds);
    if (deadlines_.interval() > 0)
        chosen_every_.came(deadlines_.interval());
}

// Returns whether the waiting frame got what it waited for, or failed.
bool FrameLoop::complete_waiting(bool asks)
{
    try {
        if (!extra_.complete(*waiting_, input_.time_base, asks))
            return false;
        accept(*std::exchange(waiting_, std::nullopt));
    } catch (const AnyError &error) {
        fail(error);
    }
    return true;
}

// A frame of another size or format waits until all before it are done.
void FrameLoop::accept(FrameItem item)
{
    const AVFrame *const frame = item.frame.get();
    if (Size{frame->width, frame->height} == input_.size && frame->format == input_.format)
        return add(std::move(item));
    held_ = std::move(item);
    hold();
}

void FrameLoop::set_strength(float strength)
{
    if (settings_.hides && is_mixed(strength))
        throw Error(AVERROR(EINVAL), hides_nothing_mixed);
    if (work_ && !work_->plan->mixes && is_mixed(strength))
        throw Error(AVERROR(EINVAL), cannot_mix);
    if (!work_ && !strength_at_first_)
        strength_at_first_ = settings_.strength;
    settings_.strength = strength;
}

// Undoes a command that came before it was known that results cannot be mixed.
void FrameLoop::undo_strength()
{
    const float before = *strength_at_first_;
    if (is_mixed(settings_.strength))
        settings_.strength = before;
    for (FrameItem &item : early_)
        if (is_mixed(item.strength))
            item.strength = before;
    log_.report_error(cannot_mix);
}

// Nothing is planned before the first frame: ffmpeg builds each graph once more than it runs it.
// With async=0, no frame is kept back.
void FrameLoop::add(FrameItem item)
{
    if (!work_) {
        early_.push_back(std::move(item));
        if (early_.size() >= planner_.frames_wanted() || !settings_.async)
            begin();
        return;
    }
    if (!item.bypass)
        item.bypass = item.skipped = item.reuses = every_.skips(item);
    if (!item.bypass)
        work_->task->begin(item);
    find_start(item);
    if (!work_->plan->bridges_duplicates)
        return gather(std::move(item));
    for (FrameItem &each : duplicates_.pass(std::move(item)))
        gather(std::move(each));
}

void FrameLoop::gather(FrameItem item)
{
    gatherer_.add(std::move(item), work_->plan);
    submit_ready();
}

// The frames so far get no further neighbours.
void FrameLoop::flush(const Successor &successor)
{
    for (FrameItem &each : duplicates_.flush())
        gather(std::move(each));
    if (held_)
        gatherer_.flush_before(*held_);
    else
        gatherer_.flush(successor);
    submit_ready();
}

// Gaps are for states alone: frames of a window need not run.
void FrameLoop::find_start(FrameItem &item)
{
    const TaskPlan &plan = *work_->plan;
    if (!plan.in_order && plan.window == Window{} && plan.segments == Segments{})
        return;
    const char *why = continuity_.look_at(item.frame.get(), input_.time_base,
                                          item.bypass && !item.reuses && plan.in_order);
    item.starts_anew = why != nullptr;
    item.is_cut = continuity_.was_cut();
    if (why)
        log_.report_start(why, seconds_of(item.frame->pts, input_.time_base));
}

// The time of planning does not count for the frame.
void FrameLoop::add_as_new(FrameItem item)
{
    item.arrival = Clock::now();
    note_arrival(item, seconds_of(item.frame->pts, input_.time_base));
    add(std::move(item));
}

// Plans, and adds the early frames.  Does nothing if there are none.
void FrameLoop::begin()
{
    if (early_.empty())
        return;
    Work work = planner_.prepare(input_, early_);
    keep_first(early_.back());
    if (strength_at_first_ && !work.plan->mixes)
        undo_strength();
    continue_with(std::move(work));
    for (FrameItem &item : std::exchange(early_, {}))
        add_as_new(std::move(item));
}

// Keeps a frame only if the planner wants one.
void FrameLoop::keep_first(const FrameItem &item)
{
    if (planner_.wants_frame_kept())
        first_ = std::make_shared<const FrameItem>(new_reference(item));
}

void FrameLoop::submit_ready()
{
    while (!rest_ || state_.has_room_for_rest(load())) {
        std::unique_ptr<FrameJob> job = rest_ ? std::move(rest_) : gatherer_.next();
        if (!job)
            return;
        rest_ = work_->task->schedule(*job);
        if (deadlines_.any())
            promise(*job);
        pool_->submit(std::move(job));
    }
}

void FrameLoop::end_input(int status)
{
    input_status_ = status;
    state_.end_input();
    begin();
    flush({.kind = Successor::Kind::end, .pts = end_at_rate()});
}

// Returns where the input ends, in units of another rate; AV_NOPTS_VALUE if it is not known.
int64_t FrameLoop::end_at_rate()
{
    if (!work_ || work_->plan->rate.num == 0 || latest_pts_ == AV_NOPTS_VALUE)
        return AV_NOPTS_VALUE;
    return gate_.end_at_rate(ctx_->inputs[0], work_->plan->rate, latest_pts_);
}

// ---- changing -----------------------------------------------------------------

// What comes next waits until everything before it has left the workers.  They may be replaced, and
// their work would disturb measurements for a new size.
void FrameLoop::hold()
{
    begin();
    state_.hold();
    flush({.kind = Successor::Kind::other});
}

void FrameLoop::change()
{
    state_.resume();
    try {
        if (next_work_)
            continue_with(*std::exchange(next_work_, std::nullopt));
        else
            change_shape();
    } catch (const AnyError &error) {
        if (is_asked_to_end())
            throw;
        fail(error);
    }
}

void FrameLoop::change_shape()
{
    FrameItem item = *std::exchange(held_, std::nullopt);
    check_format(item.frame.get(), input_.format);
    FrameShape shape = input_;
    shape.size = {item.frame->width, item.frame->height};
    Work work = planner_.prepare(shape, {&item, 1});
    keep_first(item);
    input_ = shape;
    log_.report_shape(input_, work.plan->output);
    continue_with(std::move(work));
    add_as_new(std::move(item));
}

void FrameLoop::take_over()
{
    if (state_.phase() != Phase::running)
        return;
    std::optional<Work> work = std::exchange(offered_, std::nullopt);
    if (!work)
        return;
    if (work->plan->input.size != input_.size || work->plan->input.format != input_.format)
        return log_.warn("the new model was prepared for frames of another size; the current one "
                         "stays");
    planner_.adopt(work->task);
    bool same_workers = !work_ || work->budget.workers == work_->budget.workers;
    const bool same_time = !work_ || (work_->plan->window == work->plan->window &&
                                      work_->plan->segments == work->plan->segments);
    if (same_workers && same_time)
        return continue_with(std::move(*work));
    next_work_ = std::move(work);
    hold();
}

// If the number of workers stays, they switch to another plan with the first job that has it.
void FrameLoop::continue_with(Work work)
{
    deadlines_.expect(rate_of(input_));
    if (deadlines_.any() && settings_.async)
        work.budget.in_flight = std::max(work.budget.in_flight, deadlines_.most_frames());
    late_frames_.follow(*work.plan, work.task->reuse(),
                        settings_.deadline.late == Late::last || settings_.every != 1);
    chosen_every_.forget_runs();
    if (pool_ && work.budget.workers == work_->budget.workers) {
        pool_->set_capacity(work.budget.in_flight);
    } else {
        pool_.reset();
        pool_ = std::make_unique<OrderedPool<FrameJob>>(
            PoolSize{.workers = work.budget.workers,
                     .capacity = work.budget.in_flight,
                     .timeout = settings_.timeout},
            [plan = work.plan, places = places_here(work.budget)](size_t worker) {
                places.bind_thread(worker);
                return std::make_unique<TaskWorker>(plan);
            });
    }
    work_ = std::move(work);
    pool_->release_unused();
    log_.report_work(*work_, *pool_);
}

// ---- handing out ----------------------------------------------------------------

// Returns whether any job came out.
bool FrameLoop::collect()
{
    if (deadlines_.any())
        return collect_by_deadline();
    bool any = false;
    while (state_.job_is_due(load()))
        if (std::unique_ptr<FrameJob> done = take()) {
            keep(std::move(done));
            any = true;
        }
    return any;
}

// Returns nullptr after a failure.
std::unique_ptr<FrameJob> FrameLoop::take()
{
    Stopwatch watch(log_.waiting_for_workers());
    try {
        return pool_->take();
    } catch (const AnyError &error) {
        if (is_asked_to_end())
            throw;
        if (error.code() == AVERROR(ETIMEDOUT))
            work_->task->model()->give_up();
        fail(error);
        return nullptr;
    }
}

// The frame goes out even if it cannot be completed.  Returns whether it was.
bool FrameLoop::complete(FrameItem &item)
try {
    if (!failure_)
        work_->task->complete(item);
    return !failure_;
} catch (const AnyError &error) {
    fail(error);
    return false;
}

// A frame that cannot be hidden does not go out.
void FrameLoop::queue(FrameItem &item, const Origin &origin)
{
    const bool is_complete = complete(item);
    const bool is_dropped = origin.fate == Fate::dropped;
    const bool hides = settings_.hides && !is_dropped && (origin.in_doubt || !is_complete);
    const Fate fate = hides ? Fate::hidden : origin.fate;
    const bool has_age = late_frames_.has_earlier() && !hides && (item.skipped || !item.bypass);
    const int64_t age = has_age ? late_frames_.age_of(item) : -1;
    if (item.skipped && age >= 0)
        log_.add_age(age);
    if (fate == Fate::dropped)
        log_.add_late(fate);
    for (FramePointer &frame : item.results) {
        if (hides)
            hide_frame(*frame, settings_.hiding);
        if (deadlines_.any() || settings_.every != 1)
            mark_frame(*frame, fate, age);
        results_.push_back({.frame = std::move(frame),
                            .arrival = item.arrival,
                            .job_seconds = origin.job_seconds,
                            .excluded = is_excluded(item) && fate == Fate::ran,
                            .fate = fate});
    }
}

void FrameLoop::keep(std::unique_ptr<FrameJob> job)
{
    if (!spares_.empty())
        spares_.pop_front();
    if (job->not_begun) {
        deadlines_.was_not_begun();
        return replace(std::move(job->items.front()));
    }
    const double began = thread_seconds();
    std::erase_if(job->items, [](const FrameItem &item) { return item.seen_only; });
    const auto excluded =
        std::count_if(job->items.begin(), job->items.end(), [](const FrameItem &item) {
            return is_excluded(item) || item.schedule.continues;
        });
    log_.add_job(*job, static_cast<size_t>(excluded));
    log_.report_notice(*work_->task->model());
    for (FrameItem &item : job->items)
        keep_item(item, *job);
    if (!failure_ && exceeds(thread_seconds() - began, settings_.timeout))
        fail(timeout_error(settings_.timeout));
    bool is_of_old_plan = job->plan != work_->plan;
    job.reset();
    if (is_of_old_plan)
        pool_->release_unused();
}

void FrameLoop::keep_item(FrameItem &item, const FrameJob &job)
try {
    if (item.reuses)
        return replace(std::move(item));
    if (job.passed)
        late_frames_.forget();
    else if (!item.bypass)
        late_frames_.keep(item);
    if (!item.bypass)
        note_run(job);
    queue(item, {.job_seconds = job.stages.sum(),
                 .in_doubt = item.bypass || job.passed || job.saw_nan ||
                             (item.found && item.found->in_doubt)});
} catch (const AnyError &error) {
    fail(error);
}

} // namespace dnn_torch
