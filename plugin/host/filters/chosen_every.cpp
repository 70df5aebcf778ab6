// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "chosen_every.h"

#include <algorithm>
#include <cmath>

namespace dnn_torch
{

void RecentTimes::add(double seconds)
{
    seconds_[next_] = seconds;
    next_ = (next_ + 1) % most;
    count_ = std::min(count_ + 1, most);
}

double RecentTimes::quantile(double share) const
{
    std::array<double, most> sorted = seconds_;
    auto *const nth = sorted.begin() + static_cast<size_t>(share * static_cast<double>(count_ - 1));
    std::nth_element(sorted.begin(), nth, sorted.begin() + count_);
    return *nth;
}

// A stall is one long run, and no reason to change.
bool ChosenEvery::ran(double seconds, size_t workers)
{
    constexpr size_t least_runs = 3;
    constexpr double usual = 0.875, busy = 0.95, idle = 0.8;
    runs_.add(seconds);
    runs_since_++;
    if (runs_.count() < least_runs || steps_.count() == 0)
        return false;
    if (runs_since_ >= patience_) // a smaller N has proved itself
        was_lowered_ = false;
    const double intervals =
        runs_.quantile(usual) / (steps_.quantile(0.5) * static_cast<double>(workers));
    const auto needed = [intervals](double load) {
        constexpr double largest = 1000;
        return static_cast<int>(std::clamp(std::ceil(intervals / load), 1.0, largest));
    };
    if (needed(busy) > every_)
        return change_to(needed(busy));
    if (runs_since_ >= patience_ && needed(idle) < every_)
        return change_to(needed(idle));
    return false;
}

bool ChosenEvery::change_to(int every)
{
    const bool is_lower = every < every_;
    if (!is_lower)
        patience_ = was_lowered_ ? std::min(2 * patience_, most_patience) : least_patience;
    was_lowered_ = is_lower;
    every_ = every;
    forget_runs();
    return true;
}

void ChosenEvery::forget_runs()
{
    runs_.clear();
    runs_since_ = 0;
}

} // namespace dnn_torch
