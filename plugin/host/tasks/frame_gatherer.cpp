// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame_gatherer.h"

#include "task_worker.h"

#include <algorithm>

namespace dnn_torch
{

void FrameGatherer::add(FrameItem item, std::shared_ptr<const TaskPlan> plan)
{
    size_t after = plan->window.after;
    seen_.push_back({.item = std::move(item), .plan = std::move(plan)});
    while (seen_.size() - first_ > after)
        put_first_into_batch();
}

void FrameGatherer::flush()
{
    while (first_ < seen_.size())
        put_first_into_batch();
    seen_.clear();
    first_ = 0;
    cut();
}

void FrameGatherer::cut()
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
    size_t count = seen_.size() - first_ + (batch_ ? batch_->items.size() : 0);
    for (const auto &job : ready_)
        count += job->items.size();
    return count;
}

// A whole batch runs through the model or bypasses it, so the numbers in it have no gaps.
void FrameGatherer::put_first_into_batch()
{
    const std::shared_ptr<const TaskPlan> plan = seen_[first_].plan;
    FrameItem &seen = seen_[first_].item;
    FrameItem item = {.frame = plan->window == Window{} ? std::move(seen.frame)
                                                        : new_reference(seen.frame.get()),
                      .bypass = seen.bypass,
                      .strength = seen.strength,
                      .arrival = seen.arrival,
                      .number = seen.number,
                      .extra = std::move(seen.extra),
                      .skipped = seen.skipped};
    give_neighbours(item, plan->window);
    first_++;
    forget_what_no_window_reaches(plan->window);

    if (batch_ && (batch_->plan != plan || batch_->items.back().bypass != item.bypass))
        cut();
    if (!batch_)
        begin_batch(item, plan);
    batch_->items.push_back(std::move(item));
    if (batch_->items.size() >= plan->batch_size)
        cut();
}

void FrameGatherer::begin_batch(const FrameItem &item, std::shared_ptr<const TaskPlan> plan)
{
    batch_ = std::make_unique<FrameJob>();
    batch_->where = place_of(item.frame.get(), plan->input.time_base);
    if (!item.bypass && !plan->surely_runs(item)) {
        last_plan_.reset();
    } else if (!item.bypass) {
        if (last_plan_.lock() == plan)
            batch_->behind = item.number - last_number_;
        last_plan_ = plan;
        last_number_ = item.number;
    }
    batch_->plan = std::move(plan);
}

void FrameGatherer::give_neighbours(FrameItem &item, const Window &window) const
{
    size_t begin = first_ - std::min(first_, window.before);
    size_t end = std::min(seen_.size(), first_ + 1 + window.after);
    for (size_t i = begin; i < first_; i++)
        item.before.push_back(new_reference(seen_[i].item.frame.get()));
    for (size_t i = first_ + 1; i < end; i++)
        item.after.push_back(new_reference(seen_[i].item.frame.get()));
}

void FrameGatherer::forget_what_no_window_reaches(const Window &window)
{
    for (; first_ > window.before; first_--)
        seen_.pop_front();
}

} // namespace dnn_torch
