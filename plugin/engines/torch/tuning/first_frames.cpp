// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "first_frames.h"

#include <algorithm>
#include <limits>

namespace engine_torch
{
namespace
{

constexpr std::chrono::milliseconds look_at_stop_every(20);

} // namespace

// ---- one run ----------------------------------------------------------------------------

FirstFrames::Run::Run(FirstFrames &frames, const Kind &kind, const Turn &turn)
    : frames_(frames), kind_(kind), turn_(turn), place_([&] {
          const std::lock_guard<std::mutex> lock(frames.mutex_);
          const Place place = {turn.number, frames.runs_++};
          frames.note(turn);
          frames.under_way_.emplace(place, kind);
          return place;
      }())
{
    frames_.changed_.notify_all();
}

FirstFrames::Run::~Run()
{
    {
        const std::lock_guard<std::mutex> lock(frames_.mutex_);
        frames_.under_way_.erase(place_);
    }
    frames_.changed_.notify_all();
}

FirstFrames::Verdict FirstFrames::Run::verdict(const std::atomic<bool> &stopped)
{
    using Clock = std::chrono::steady_clock;
    auto end_of_patience = Clock::now() + frames_.patience_;
    std::unique_lock<std::mutex> lock(frames_.mutex_);
    while (!stopped) {
        if (frames_.bad_ && *frames_.bad_ <= place_)
            return Verdict::bad;
        if (frames_.is_next(kind_, turn_, place_))
            return frames_.is_good(kind_) ? Verdict::good : Verdict::to_compare;
        frames_.changed_.wait_for(lock, look_at_stop_every);
        // A run that is under way may take long.
        if (frames_.under_way_.begin()->first < place_)
            end_of_patience = Clock::now() + frames_.patience_;
        else if (Clock::now() >= end_of_patience)
            frames_.is_patient_ = false;
    }
    return Verdict::stopped;
}

void FirstFrames::Run::decide(bool is_good)
{
    {
        const std::lock_guard<std::mutex> lock(frames_.mutex_);
        if (is_good)
            frames_.good_.insert(kind_);
        else if (!frames_.bad_ || place_ < *frames_.bad_)
            frames_.bad_ = place_;
    }
    frames_.changed_.notify_all();
}

// ---- all runs ---------------------------------------------------------------------------

bool FirstFrames::begin_good(const Kind &kind, const Turn &turn)
{
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (bad_ || !is_good(kind) || !is_next(kind, turn, {turn.number, runs_}))
            return false;
        note(turn);
    }
    changed_.notify_all();
    return true;
}

void FirstFrames::begin(const Turn &turn)
{
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        note(turn);
    }
    changed_.notify_all();
}

FirstFrames::Membership::Membership(FirstFrames &frames) : frames_(frames)
{
    const std::lock_guard<std::mutex> lock(frames_.mutex_);
    frames_.members_++;
}

FirstFrames::Membership::~Membership()
{
    const std::lock_guard<std::mutex> lock(frames_.mutex_);
    if (--frames_.members_ == 0)
        frames_.forget_stream();
}

// ---- under mutex_ -----------------------------------------------------------------------

// Keeps the verdicts.
void FirstFrames::forget_stream()
{
    complete_.reset();
    begun_.clear();
    is_patient_ = true;
    if (bad_)
        bad_ = Place(std::numeric_limits<int64_t>::min(), 0);
}

// A variant that is right for a picture with content counts as right for flat ones.
bool FirstFrames::is_good(const Kind &kind) const
{
    Kind with_contents = kind;
    std::get<4>(with_contents) = false;
    return good_.count(kind) > 0 || good_.count(with_contents) > 0;
}

// Whether the run's result no longer depends on timing.
bool FirstFrames::is_next(const Kind &kind, const Turn &turn, const Place &place) const
{
    if (has_unknown_before(place))
        return false;
    return is_good(kind) ? all_have_begun(turn.predecessor) : all_are_complete(turn.predecessor);
}

bool FirstFrames::has_unknown_before(const Place &place) const
{
    return std::any_of(under_way_.begin(), under_way_.lower_bound(place),
                       [this](const auto &each) { return !is_good(each.second); });
}

bool FirstFrames::all_are_complete(std::optional<int64_t> number) const
{
    return !is_patient_ || !number || (complete_ && *number <= *complete_);
}

bool FirstFrames::all_have_begun(std::optional<int64_t> number) const
{
    while (!all_are_complete(number)) {
        const auto begun = std::find_if(begun_.begin(), begun_.end(),
                                        [&](const Turn &each) { return each.number == *number; });
        if (begun == begun_.end())
            return false;
        number = begun->predecessor;
    }
    return true;
}

void FirstFrames::note(const Turn &turn)
{
    if (!is_patient_ || (complete_ && turn.number <= *complete_))
        return;
    const auto known = std::find_if(begun_.begin(), begun_.end(),
                                    [&](const Turn &each) { return each.number == turn.number; });
    if (known == begun_.end())
        begun_.push_back(turn);
    else
        known->has_more = known->has_more && turn.has_more;
    complete();
}

void FirstFrames::complete()
{
    const auto is_complete = [this](const Turn &each) {
        return !each.has_more && all_are_complete(each.predecessor);
    };
    for (;;) {
        const auto next = std::find_if(begun_.begin(), begun_.end(), is_complete);
        if (next == begun_.end())
            return;
        complete_ = std::max(complete_.value_or(next->number), next->number);
        begun_.erase(next);
    }
}

} // namespace engine_torch
