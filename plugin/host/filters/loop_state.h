// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Decides what the frame loop does next, from numbers alone: it knows neither frames nor
// libavfilter.
//
//     running  -- hold() -----------> changing -- resume() --> running
//     running, changing -- end_input() -------> draining
//     running, changing, draining -- fail() --> failing; failing_late after the input's end
//     failing  -- end_input() ----------------> failing_late
//     any      -- finish() -------------------> ended
#pragma once

#include <cstddef>

namespace dnn_torch
{

enum class Phase {
    running,      // frames come in, are worked on and go out
    changing,     // what comes next needs other workers, and waits for all before it
    draining,     // the input has ended; what is in flight goes out
    failing,      // something failed; older frames go out, then the failure is reported
    failing_late, // the same after the input's end
    ended,        // nothing more is done
};

// What is in flight at some moment.
struct Load {
    bool pool = false;        // there is a pool; without one, the next three are 0
    size_t jobs = 0;          // in the pool
    size_t most_jobs = 0;     // that the pool takes
    size_t most_results = 0;  // that may wait here while frames come in
    bool pool_failed = false; // it takes no more jobs, and its failure is not reported yet
    bool oldest_is_due = false;
    size_t results = 0; // frames that wait here until downstream wants them
    size_t others = 0;  // frames that wait here to become jobs
    bool rest = false;  // the rest of a job waits until there is room for it, and others behind it
};

class LoopState
{
public:
    // `one_at_a_time`: waits for each job as soon as there is one.
    // `ignores_late_failures`: libavfilter ends with success if a failure is reported after the
    // input's end, unless it is reported at once.
    LoopState(bool one_at_a_time, bool ignores_late_failures)
        : one_at_a_time_(one_at_a_time), ignores_late_failures_(ignores_late_failures)
    {
    }

    Phase phase() const { return phase_; }
    bool input_is_open() const;
    bool failing() const { return phase_ == Phase::failing || phase_ == Phase::failing_late; }

    // ---- what happens ----
    void begin_turn() { sent_ = 0; }
    void hold() { phase_ = Phase::changing; }
    void resume() { phase_ = Phase::running; }
    void end_input();
    void fail();
    void finish() { phase_ = Phase::ended; }
    void frame_sent() { sent_++; }

    // ---- what is to be done ----
    // Whether another frame may come in.
    bool has_room(const Load &load) const;

    // Whether the rest of a job may be submitted.
    bool has_room_for_rest(const Load &load) const;

    // Whether everything before a change is out.
    bool may_change(const Load &load) const;

    // Whether to take the oldest job, and to wait for it.
    bool job_is_due(const Load &load) const;

    // Whether all jobs must come in before a result goes out: a failure after that is ignored.
    bool collects_all() const { return phase_ == Phase::draining && ignores_late_failures_; }

    // Whether one more result goes out in this turn.
    bool sends(const Load &load) const;

    // Whether a failure at the end must be reported in this turn or not at all.
    bool fails_now_or_never(const Load &load) const;

    // Whether the input's end may be passed on downstream.
    bool is_drained(const Load &load) const;

    // Whether to ask upstream for a frame, at the end of a turn.
    bool wants_input() const { return phase_ == Phase::running && sent_ == 0; }

    bool sent_any() const { return sent_ != 0; }

    // ---- failing ----
    bool too_late_to_fail() const
    {
        return phase_ == Phase::failing_late && ignores_late_failures_;
    }

    // An error drops all frames that are still queued downstream, so the failure is reported in a
    // later turn than the frames before it.  Downstream wakes us when it has taken all and wants
    // more.  A frame that comes in also wakes us, maybe before downstream had its turn.  Downstream
    // has a turn before the next such frame, and then takes at least one of ours.
    void wait_with_failure() { on_the_way_ = sent_; }

    // The same for frames of an earlier graph: the program takes all of them after the first frame
    // that comes here.
    void wait_for_earlier_graph() { on_the_way_ = 1; }

    // Whether a turn is too early to report the failure.  The turn begins with nothing else left.
    // `frame_came` says whether a frame has woken us.
    bool is_too_early(bool frame_came);

private:
    bool one_at_a_time_, ignores_late_failures_;
    Phase phase_ = Phase::running;
    size_t sent_ = 0;       // frames, in this turn
    size_t on_the_way_ = 0; // frames sent in the turn that met the failure, minus turns since
};

} // namespace dnn_torch
