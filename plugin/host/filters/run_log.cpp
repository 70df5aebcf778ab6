// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "run_log.h"

#include "base/compose.h"
#include "devices/peak.h"
#include "host/error.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <mutex>
#include <set>
#include <utility>

namespace dnn_torch
{
namespace
{

// Whether no graph has reported this yet: ffmpeg makes the graph anew at each change of frames.
bool is_new(const std::string &text)
{
    static std::mutex mutex;
    // Never destroyed, because filters may be freed at the end of the program.
    static auto *const reported = new std::set<std::string>;
    std::lock_guard lock(mutex);
    return reported->insert(text).second;
}

// ---- frames that were in a filter of this process when it was freed ----
// A program may free a graph because nobody wants its frames, or because it replaces the graph.
// Only in the second case are the frames lost.

struct LostFrames {
    size_t frames;
    std::string model;
    double last_seconds; // the time of the last frame received; may be NaN
};

std::mutex lost_mutex;
// ---- under lost_mutex ----
LostFrames latest{};

bool goes_on(const LostFrames &lost, const std::string &model, double first_seconds)
{
    constexpr double longest_gap = 1;
    double gap = first_seconds - lost.last_seconds; // may be NaN
    return lost.frames && lost.model == model && gap > 0 && gap <= longest_gap;
}

// Any thread may call.
void remember_lost(LostFrames lost)
{
    std::lock_guard lock(lost_mutex);
    latest = std::move(lost);
}

// Returns how many frames of this model are lost before the first one of a stream, if the stream
// continues at their time; otherwise 0.  Forgets them.
size_t take_lost_before(const std::string &model, double first_seconds)
{
    LostFrames lost{};
    {
        std::lock_guard lock(lost_mutex);
        lost = std::exchange(latest, {});
    }
    return goes_on(lost, model, first_seconds) ? lost.frames : 0;
}

} // namespace

RunLog::RunLog(AVFilterContext *ctx, const FilterSettings &settings)
    : ctx_(ctx), settings_(settings), report_(ctx, text_or_empty(settings.run.stats))
{
    facts_.model = first_model_ = request_of(settings.model).path;
    facts_.batch_size = static_cast<size_t>(settings.run.batch_size);
}

void RunLog::report_shape(const FrameShape &input, Size output)
{
    facts_.format = text_or_empty(av_get_pix_fmt_name(input.format));
    facts_.input = input.size;
    facts_.output = output;
    av_log(ctx_, AV_LOG_VERBOSE, "%s %s becomes %s\n", facts_.format.c_str(),
           to_text(input.size).c_str(), to_text(output).c_str());
}

void RunLog::report_first_frame(double seconds)
{
    if (size_t lost = take_lost_before(first_model_, seconds))
        av_log(ctx_, AV_LOG_WARNING,
               "up to %zu frames before this one are lost: the program put a new graph in place of "
               "one that still worked on them; async=0 loses none\n",
               lost);
}

void RunLog::report_start(const char *why, double seconds)
{
    av_log(ctx_, AV_LOG_VERBOSE, "starts anew at %.3f s: %s\n", seconds, why);
}

void RunLog::report_work(const Work &work, const AnyPool &pool)
{
    facts_.budget = work.budget;
    facts_.budget.workers = pool.workers();
    facts_.form = work.variant;
    facts_.window = work.plan->window;
    facts_.segments = work.plan->segments;
    facts_.in_order = work.plan->in_order;
    if (!statistics_)
        statistics_.emplace(pool.workers());
    statistics_->use_workers(pool.workers());
    if (settings_.run.every == 0)
        statistics_->choose_every();
    statistics_->set_deadline(static_cast<double>(settings_.run.deadline) / AV_TIME_BASE);

    if (!work.warning.empty())
        warn(work.warning.c_str());
    for (const std::string &note : work.notes)
        if (!note.empty())
            av_log(ctx_, AV_LOG_INFO, "%s\n", note.c_str());
    report_notice(*work.task->model());
    if (work.plan->in_order)
        warn_of_order();
    if (work.plan->segments.length && settings_.run.batch_size > 1)
        av_log(ctx_, AV_LOG_WARNING, "a run has one segment: batch_size=%d is left out\n",
               settings_.run.batch_size);
    if (!pool.shortfall().empty())
        av_log(
            ctx_, AV_LOG_WARNING,
            "no more than %s can be started: %s; raise the limit of memory or of threads (ulimit "
            "-v, -u)\n",
            counted(pool.workers(), "worker thread").c_str(), pool.shortfall().c_str());
    av_log(ctx_, AV_LOG_INFO, "%s of %s, %s of %s in flight; %s\n",
           counted(pool.workers(), "worker").c_str(),
           counted(work.budget.threads_per_worker, "thread").c_str(),
           counted(work.budget.in_flight, "request").c_str(),
           counted(work.plan->batch_size, "frame").c_str(), work.variant.c_str());
    if (!work.hint.empty())
        av_log(ctx_, AV_LOG_INFO, "%s\n", work.hint.c_str());
}

void RunLog::warn_of_order() const
{
    if (settings_.run.workers > 1)
        av_log(ctx_, AV_LOG_WARNING,
               "the model remembers earlier frames: one worker runs them in order, not %d\n",
               settings_.run.workers);
    if (settings_.run.batch_size > 1 && !facts_.segments.length)
        av_log(ctx_, AV_LOG_WARNING,
               "the model remembers earlier frames: it gets one at a time, not batches of %d\n",
               settings_.run.batch_size);
}

void RunLog::report_change(const std::string &model, const std::string &changes)
{
    facts_.model = model;
    av_log(ctx_, AV_LOG_INFO, "changed to %s\n", changes.c_str());
}

// The engine repeats what it told before, and answers of several sessions overtake each other.
void RunLog::report_notice(const Model &model)
{
    const std::string notice = model.notice(), told = told_ + "; ";
    if (notice.empty() || told.starts_with(notice + "; "))
        return;
    av_log(ctx_, AV_LOG_WARNING, "%s\n",
           notice.c_str() + (notice.starts_with(told) ? told.size() : 0));
    told_ = notice;
}

void RunLog::warn(const char *text)
{
    av_log(ctx_, AV_LOG_WARNING, "%s\n", text);
}

void RunLog::report_error(const char *text)
{
    av_log(ctx_, AV_LOG_ERROR, "%s\n", text);
}

void RunLog::begin_turn()
{
    if (statistics_ && !uncounted_.skips())
        statistics_->enter();
}

void RunLog::end_turn(bool sent)
{
    if (statistics_)
        statistics_->leave(sent);
}

void RunLog::add_job(const FrameJob &job, size_t excluded)
{
    if (job.saw_nan && !warned_of_nan_)
        av_log(ctx_, AV_LOG_WARNING, "the model returns NaN, which becomes 0 here\n");
    warned_of_nan_ = warned_of_nan_ || job.saw_nan;
    for (const std::string &note : job.notes)
        if (logged_notes_.insert(note).second)
            warn(note.c_str());
    statistics_->add_job(job.stages, job.items.size() - excluded, job.operations);
    if (job.retries)
        report_crash(job);
}

void RunLog::warn_of_lateness()
{
    if (!std::exchange(warned_of_lateness_, true))
        warn("a frame had no result at its deadline; the statistics count such frames (option late "
             "says what becomes of them)");
}

void RunLog::report_every(int every, double run_seconds, double interval)
{
    statistics_->set_every(every);
    av_log(ctx_, AV_LOG_VERBOSE,
           "every=%d from now on: a run took %.1f ms, frames come each %.1f\n", every,
           run_seconds * 1e3, interval * 1e3);
}

void RunLog::report_crash(const FrameJob &job)
{
    bool is_one = job.items.size() == 1;
    std::string frames =
        is_one ? "the frame" : "the " + std::to_string(job.items.size()) + " frames of its batch";
    std::string what = job.passed ? "it ended once more in a new process, so " + frames +
                                        (is_one ? " passes" : " pass") + " without the model"
                                  : "a new process has processed " + frames;
    const char *memory = job.plan->in_order ? "; what it remembered of earlier frames is gone" : "";
    av_log(ctx_, AV_LOG_WARNING, "%s; %s%s\n", job.crash.c_str(), what.c_str(), memory);
    statistics_->add_crash(static_cast<size_t>(job.retries), job.passed ? job.items.size() : 0);
}

void RunLog::add_frame(Clock::time_point arrival, double job_seconds)
{
    const Clock::time_point now = Clock::now();
    const Clock::duration uncounted = uncounted_.until(arrival, now);
    statistics_->add_frame(arrival - uncounted, job_seconds, now - uncounted);
}

void RunLog::add_excluded_frame()
{
    uncounted_.skip();
    facts_.excluded++;
}

std::optional<std::string> RunLog::answer(const std::string &command, const char *state,
                                          size_t in_flight) const
{
    if (command == "progress")
        return StatsReport::progress(summary(), in_flight);
    if (command == "stats")
        return StatsReport::json(facts_, summary(), state, in_flight);
    return std::nullopt;
}

Summary RunLog::summary() const
{
    Summary known = statistics_ ? statistics_->summary() : Summary{};
    if (known.operations_per_second > 0 && facts_.budget.cores > 0)
        known.share_of_peak = known.operations_per_second / peak_operations_of_core() /
                              static_cast<double>(facts_.budget.cores);
    return known;
}

void RunLog::end(const char *state)
{
    report_.finish(facts_, summary(), state);
}

void RunLog::check_end(const char *state)
{
    if (statistics_)
        report_.check(facts_, summary(), state);
}

void RunLog::report_end(const char *state)
try {
    if (statistics_)
        end(state);
} catch (const AnyError &error) {
    if (is_new(error.what()))
        report_error(error.what());
}

void RunLog::report_given_up(size_t frames)
{
    if (frames)
        av_log(ctx_, AV_LOG_VERBOSE, "a signal ended up to %zu frames in flight\n", frames);
}

void RunLog::report_lost(size_t frames, double last_seconds)
{
    av_log(ctx_, AV_LOG_INFO, "ended with up to %s in flight\n", counted(frames, "frame").c_str());
    remember_lost({.frames = frames, .model = first_model_, .last_seconds = last_seconds});
}

} // namespace dnn_torch
