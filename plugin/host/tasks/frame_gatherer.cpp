// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame_gatherer.h"

#include "sample_gathering.h"
#include "task_worker.h"

#include <algorithm>
#include <utility>

namespace dnn_torch
{
namespace
{

// The earlier frame is never shown.
void take_place_of(const FrameItem &earlier, FrameItem &item)
{
    item.frame->pts = earlier.frame->pts;
    if (!item.starts_anew)
        item.is_cut = earlier.is_cut;
    item.starts_anew |= earlier.starts_anew;
}

bool is_segment(const FrameItem &item, const TaskPlan &plan)
{
    return plan.segments.length != 0 && !item.bypass;
}

} // namespace

SharedFrame &frame_at(const FrameItem &item, int distance, Border border)
{
    const auto before = static_cast<int>(item.before.size());
    const int last = before + static_cast<int>(item.after.size());
    int place = before + distance;
    if (border == Border::reflect)
        place = place < 0 ? -place : place > last ? 2 * last - place : place;
    place = std::clamp(place, 0, last);
    if (place == before)
        return *item.shared;
    return place < before ? *item.before[static_cast<size_t>(place)]
                          : *item.after[static_cast<size_t>(place - before - 1)];
}

// For another rate, the last frame waits until it is known whether it will ever be shown.
void FrameGatherer::add(FrameItem item, std::shared_ptr<const TaskPlan> plan)
{
    const bool is_timed = plan->rate.num != 0;
    const size_t after = plan->window.after + (is_timed ? 1 : 0);
    if (is_timed)
        replace_last(item);
    if (plan->window != Window{})
        item.shared = std::make_shared<SharedFrame>(new_reference(item.frame.get()));
    received_.push_back({.item = std::move(item), .plan = std::move(plan)});
    while (received_.size() - first_ > after)
        put_first_into_batch();
}

// Frames at one time, or back in time: the last one is shown.
void FrameGatherer::replace_last(FrameItem &next)
{
    if (received_.size() == first_ || next.frame->pts > received_.back().item.frame->pts)
        return;
    take_place_of(received_.back().item, next);
    received_.pop_back();
}

void FrameGatherer::flush_before(FrameItem &next)
{
    if (received_.size() > first_ && received_.back().plan->rate.num != 0)
        replace_last(next);
    flush({.kind = Successor::Kind::other, .pts = next.frame->pts});
}

void FrameGatherer::flush(const Successor &successor)
{
    while (first_ < received_.size())
        put_first_into_batch(successor);
    received_.clear();
    first_ = 0;
    hand_over_batch();
}

void FrameGatherer::end_batch()
{
    if (batch_ && !is_segment(batch_->items.front(), *batch_->plan))
        hand_over_batch();
}

void FrameGatherer::hand_over_batch()
{
    if (batch_)
        ready_.push_back(std::move(batch_));
}

std::unique_ptr<FrameJob> FrameGatherer::next()
{
    if (ready_.empty())
        return nullptr;
    std::unique_ptr<FrameJob> job = std::move(ready_.front());
    ready_.pop_front();
    return job;
}

size_t FrameGatherer::frames() const
{
    const auto own = [](const FrameJob &job) {
        return static_cast<size_t>(std::count_if(job.items.begin(), job.items.end(),
                                                 [](const auto &item) { return !item.seen_only; }));
    };
    size_t count = received_.size() - first_ + (batch_ ? own(*batch_) : 0);
    for (const auto &job : ready_)
        count += own(*job);
    return count;
}

// A batch runs or bypasses the model as a whole, so its frame numbers have no gaps.
void FrameGatherer::put_first_into_batch(const Successor &after_all)
{
    const std::shared_ptr<const TaskPlan> plan = received_[first_].plan;
    FrameItem &received = received_[first_].item;
    FrameItem item = {.frame = std::move(received.frame),
                      .bypass = received.bypass,
                      .strength = received.strength,
                      .arrival = received.arrival,
                      .number = received.number,
                      .seed = received.seed,
                      .extra = std::move(received.extra),
                      .shared = received.shared,
                      .starts_anew = received.starts_anew,
                      .is_cut = received.is_cut,
                      .successor = successor_of_first(after_all),
                      .skipped = received.skipped,
                      .reuses = received.reuses};
    give_neighbours(item, plan->window);
    first_++;
    drop_unreachable(plan->window);

    if (batch_ && !follows_batch(item, *plan))
        hand_over_batch();
    if (batch_ && batch_->items.size() >= plan->batch_size)
        begin_next_segment();
    if (!batch_)
        begin_batch(item, plan);
    batch_->items.push_back(std::move(item));
    // A segment waits for one more frame, because the last one has no seam.
    if (batch_->items.size() >= plan->batch_size)
        end_batch();
}

bool FrameGatherer::follows_batch(const FrameItem &item, const TaskPlan &plan) const
{
    const bool begins = item.starts_anew && (plan.in_order || plan.segments.length != 0);
    return batch_->plan.get() == &plan && batch_->items.back().bypass == item.bypass &&
           batch_->items.back().reuses == item.reuses && !begins;
}

void FrameGatherer::begin_next_segment()
{
    const size_t overlap = batch_->plan->segments.overlap, kept = overlap - overlap / 2;
    std::vector<FrameItem> shared;
    for (size_t i = 0; i < overlap; i++) {
        FrameItem &item = batch_->items[batch_->items.size() - overlap + i];
        shared.push_back(new_reference(item));
        shared.back().strength = item.strength;
        (i < kept ? shared.back() : item).seen_only = true;
    }
    const std::shared_ptr<const TaskPlan> plan = batch_->plan;
    hand_over_batch();
    if (!shared.empty())
        begin_batch(shared.front(), plan);
    for (FrameItem &item : shared)
        batch_->items.push_back(std::move(item));
}

void FrameGatherer::begin_batch(const FrameItem &item, std::shared_ptr<const TaskPlan> plan)
{
    batch_ = std::make_unique<FrameJob>();
    batch_->where = place_of(item.frame.get(), plan->input.time_base);
    batch_->starts_anew = std::exchange(starts_anew_, false) || item.starts_anew;
    if (item.bypass) // a later job resets the session
        starts_anew_ = batch_->starts_anew;
    if (!item.bypass && !plan->surely_runs(item)) {
        last_plan_.reset();
    } else if (!item.bypass) {
        if (last_plan_.lock() == plan)
            batch_->predecessor_distance = item.number - last_number_;
        last_plan_ = plan;
        last_number_ = item.number;
    }
    batch_->plan = std::move(plan);
}

Successor FrameGatherer::successor_of_first(const Successor &after_all) const
{
    if (first_ + 1 >= received_.size())
        return after_all;
    const FrameItem &next = received_[first_ + 1].item;
    using Kind = Successor::Kind;
    return {.kind = !next.starts_anew ? Kind::frame
                    : next.is_cut     ? Kind::cut
                                      : Kind::other,
            .pts = next.frame->pts};
}

void FrameGatherer::give_neighbours(FrameItem &item, const Window &window) const
{
    size_t begin = first_, end = first_ + 1;
    while (begin > 0 && first_ - begin < window.before && !received_[begin].item.starts_anew)
        begin--;
    while (end < received_.size() && end - first_ <= window.after &&
           !received_[end].item.starts_anew)
        end++;
    for (size_t i = begin; i < first_; i++)
        item.before.push_back(received_[i].item.shared);
    for (size_t i = first_ + 1; i < end; i++)
        item.after.push_back(received_[i].item.shared);
}

void FrameGatherer::drop_unreachable(const Window &window)
{
    for (; first_ > window.before; first_--)
        received_.pop_front();
}

} // namespace dnn_torch
