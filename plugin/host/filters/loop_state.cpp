// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loop_state.h"

namespace dnn_torch
{

namespace
{

bool takes_jobs(const Load &load)
{
    return !load.pool_failed && load.jobs < load.most_jobs && load.results < load.most_results;
}

} // namespace

bool LoopState::input_is_open() const
{
    return phase_ == Phase::running || phase_ == Phase::changing || phase_ == Phase::failing;
}

void LoopState::end_input()
{
    phase_ = failing() ? Phase::failing_late : Phase::draining;
}

void LoopState::fail()
{
    phase_ = input_is_open() ? Phase::failing : Phase::failing_late;
}

bool LoopState::has_room(const Load &load) const
{
    return phase_ == Phase::running && !load.rest && (!load.pool || takes_jobs(load));
}

// At the input's end, all failures must come before the first result, if later ones are ignored.
bool LoopState::has_room_for_rest(const Load &load) const
{
    return !failing() && (takes_jobs(load) || (collects_all() && !load.pool_failed));
}

bool LoopState::may_change(const Load &load) const
{
    return phase_ == Phase::changing && load.jobs == 0 && !load.rest && !load.pool_failed;
}

// The loop waits for a job if nothing else can be done.  A failed pool takes no more jobs, so its
// failure must be reported before libavfilter stops calling us.
bool LoopState::job_is_due(const Load &load) const
{
    if (!load.pool || failing() || phase_ == Phase::ended)
        return false;
    if (load.oldest_is_due)
        return true;
    bool wait = phase_ == Phase::draining || phase_ == Phase::changing ||
                load.jobs >= load.most_jobs || one_at_a_time_ || load.pool_failed;
    return wait && load.jobs != 0 && (collects_all() || load.results == 0);
}

// One result goes out in a turn, as from a filter that outputs one frame for each.  Downstream
// filters give other timestamps to many frames at once than to frames that come one by one.
bool LoopState::sends(const Load &load) const
{
    return load.results != 0 && (sent_ == 0 || too_late_to_fail());
}

bool LoopState::fails_now_or_never(const Load &load) const
{
    return collects_all() && load.jobs == 0 && load.others == 0 && load.results != 0;
}

bool LoopState::is_drained(const Load &load) const
{
    return phase_ == Phase::draining && load.jobs == 0 && load.results == 0 && load.others == 0;
}

bool LoopState::is_too_early(bool frame_came)
{
    if (on_the_way_ == 0 || !frame_came || too_late_to_fail())
        return false;
    on_the_way_--;
    return true;
}

} // namespace dnn_torch
