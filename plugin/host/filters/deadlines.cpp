// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "deadlines.h"

#include <algorithm>
#include <cmath>

namespace dnn_torch
{
namespace
{

constexpr double usual_rate = 60; // of a stream that does not say it

Clock::duration duration_of(double seconds)
{
    return std::chrono::round<Clock::duration>(std::chrono::duration<double>(seconds));
}

} // namespace

// Timestamps are steadier than arrivals: a filter that waits delays the next frame.
void Deadlines::came(Time arrival, double seconds)
{
    constexpr double longest = 3600;
    const double step = seconds - latest_seconds_;
    if (latest_ != Time{} && step > 0 && step < longest)
        interval_ = step;
    latest_ = arrival;
    latest_seconds_ = seconds;
}

void Deadlines::ran(double seconds)
{
    constexpr double weight = 0.25;
    run_ = run_ > 0 ? run_ + weight * (seconds - run_) : seconds;
    not_begun_ = 0;
}

// After a slow run none would be begun, and no run would show that the next ones are fast again.  A
// model that is a little too slow leaves out single frames.  With late=last some are always begun.
void Deadlines::was_not_begun()
{
    constexpr double decay = 0.9;
    if (settings_.late != Late::last && ++not_begun_ > 1)
        run_ *= decay;
}

Deadlines::Time Deadlines::due(Time arrival) const
{
    constexpr Clock::duration most = std::chrono::milliseconds(2);
    return arrival + settings_.limit - std::min(settings_.limit / 20, most);
}

// A result that is late for its own frame still serves later ones with late=last.
Deadlines::Time Deadlines::begin_by(Time arrival) const
{
    return settings_.late == Late::last ? due(arrival) : yields_after(arrival);
}

Deadlines::Time Deadlines::yields_after(Time arrival) const
{
    return due(arrival) - duration_of(run_);
}

Deadlines::Time Deadlines::wait_until(Time oldest, bool nothing_else) const
{
    const Time end = due(oldest);
    const double next = interval() > 0 ? interval() : 1 / usual_rate;
    return nothing_else ? end : std::min(end, latest_ + duration_of(next));
}

size_t Deadlines::most_frames() const
{
    constexpr double most = 1024;
    const double rate = rate_ > 0 ? rate_ : usual_rate;
    const double seconds = std::chrono::duration<double>(settings_.limit).count();
    return static_cast<size_t>(std::min(std::ceil(seconds * rate) + 1, most));
}

} // namespace dnn_torch
