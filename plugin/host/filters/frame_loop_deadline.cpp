// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Frames that leave without the model's result, because that is late or because of `every`.
#include "frame_loop.h"
#include "host/tasks/sample_gathering.h"

namespace dnn_torch
{

// A job that is not begun is no predecessor of the next one.
void FrameLoop::promise(FrameJob &job)
{
    const FrameItem &item = job.items.front();
    FrameItem spare = new_reference(item);
    spare.arrival = item.arrival;
    spare.bypass = item.bypass;
    spare.skipped = item.skipped;
    spare.reuses = item.reuses;
    spares_.push_back(std::move(spare));
    job.predecessor_distance = 0;
    if (!item.bypass) {
        job.begin_by = deadlines_.begin_by(item.arrival);
        job.yields_after = deadlines_.yields_after(item.arrival);
    }
}

void FrameLoop::note_run(const FrameJob &job)
{
    const double seconds = job.stages.sum();
    deadlines_.ran(seconds);
    if (settings_.every != 0 || job.plan != work_->plan ||
        !chosen_every_.ran(seconds, work_->budget.workers))
        return;
    every_.use(chosen_every_.every());
    log_.report_every(chosen_every_.every(), seconds, deadlines_.interval());
}

// Frames leave in order, each when it is due at the latest.
bool FrameLoop::collect_by_deadline()
{
    learn_late_results();
    bool any = false;
    if (spares_.empty() && load().oldest_is_due)
        take(); // throws what failed after its frame had left
    for (; !spares_.empty() && !state_.failing(); any = true) {
        const FrameItem &oldest = spares_.front();
        Stopwatch watch(log_.waiting_for_workers());
        if (pool_->wait_for_oldest(waits_until(oldest))) {
            if (std::unique_ptr<FrameJob> done = take())
                keep(std::move(done));
        } else if (oldest.reuses || Clock::now() >= deadlines_.due(oldest.arrival)) {
            pool_->disown_oldest();
            FrameItem item = std::move(spares_.front());
            spares_.pop_front();
            replace(std::move(item));
        } else {
            break;
        }
    }
    return any;
}

// Does not wait while there is a result for downstream, which later failures may follow.
Clock::time_point FrameLoop::waits_until(const FrameItem &oldest) const
{
    if (oldest.reuses || !(results_.empty() || state_.collects_all()))
        return Clock::now();
    return deadlines_.wait_until(oldest.arrival, !settings_.async || !state_.has_room(load()));
}

// Takes the results of frames that have left without them.
void FrameLoop::learn_late_results()
{
    while (std::unique_ptr<FrameJob> job = pool_ ? pool_->take_disowned() : nullptr) {
        const FrameItem &item = job->items.front();
        if (item.bypass || job->not_begun)
            continue;
        log_.add_job(*job, 0);
        if (job->passed || job->plan != work_->plan)
            continue;
        note_run(*job);
        work_->task->learn(item);
        late_frames_.keep(item);
    }
}

Fate FrameLoop::fate_of(const FrameItem &item) const
{
    const bool is_excluded = item.bypass && !item.skipped;
    if (is_excluded)
        return Fate::ran;
    if (item.reuses)
        return late_frames_.has_earlier() ? Fate::ran : Fate::passed;
    if (item.skipped)
        return Fate::reused;
    switch (deadlines_.late()) {
    case Late::last:
        return late_frames_.has_earlier() ? Fate::reused : Fate::passed;
    case Late::drop:
        return Fate::dropped;
    case Late::hide:
        return Fate::hidden;
    default:
        return Fate::passed;
    }
}

// For a frame without a result of its own.
void FrameLoop::replace(FrameItem item)
try {
    const Fate fate = fate_of(item);
    if (fate != Fate::ran && !item.reuses)
        log_.warn_of_lateness();
    const bool reuses = item.reuses || fate == Fate::reused;
    item.skipped = item.skipped || (reuses && late_frames_.has_earlier());
    item.bypass = true;
    item.results.clear();
    if (fate != Fate::dropped)
        item.results.push_back(reuses ? late_frames_.reused(item.frame.get())
                                      : late_frames_.passed(item.frame.get()));
    item.frame.reset();
    queue(item, {.fate = fate, .in_doubt = true});
} catch (const AnyError &error) {
    fail(error);
}

} // namespace dnn_torch
