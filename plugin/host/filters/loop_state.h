// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What the frame loop may do next.  Numbers alone: no frames, no libavfilter.
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
    failing,      // something failed; what is older goes out, then the failure is told
    failing_late, // the same after the input's end
    ended,        // nothing more is done
};

// What is on its way at some moment.
struct Load {
    bool pool = false;        // there is one; without, the next three are 0
    size_t jobs = 0;          // in the pool
    size_t most_jobs = 0;     // that it takes
    size_t most_results = 0;  // that may wait here while frames come in
    bool pool_failed = false; // it takes no more in, and its failure has not been taken out
    bool oldest_is_due = false;
    size_t results = 0; // frames that wait here until downstream wants them
    size_t others = 0;  // frames that wait here to become jobs
};

class LoopState
{
public:
    // `one_at_a_time`: a job is waited for as soon as it is there.
    // `ignores_late_failures`: a failure that is told after the input's end, other than at
    // once, would end as a success.
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

    // Whether all that a change waits for is out.
    bool may_change(const Load &load) const;

    // Whether the oldest job is to be taken, and waited for.
    bool job_is_due(const Load &load) const;

    // Whether one more result goes out in this turn.
    bool sends(const Load &load) const;

    // Whether the input's end may go on downstream.
    bool is_drained(const Load &load) const;

    // Whether upstream is to be asked for a frame, at the end of a turn.
    bool wants_input() const { return phase_ == Phase::running && sent_ == 0; }

    bool sent_any() const { return sent_ != 0; }

    // ---- failing ----
    bool too_late_to_fail() const
    {
        return phase_ == Phase::failing_late && ignores_late_failures_;
    }

    // An error drops whatever is still on its way downstream, so the failure is told in a
    // later turn than the frames before it.  Downstream wakes us once it has taken all and
    // wants more.  A frame that comes in wakes us as well, maybe before downstream had its
    // turn; it has one before the next such frame, and takes one of ours at least.
    void wait_with_failure() { on_the_way_ = sent_; }

    // Of a turn that begins with nothing but the failure left: whether it is told later.
    // `frame_came` tells whether a frame has woken us.
    bool is_too_early(bool frame_came);

private:
    bool one_at_a_time_, ignores_late_failures_;
    Phase phase_ = Phase::running;
    size_t sent_ = 0;       // frames, in this turn
    size_t on_the_way_ = 0; // those of the turn that met the failure, less turns since
};

} // namespace dnn_torch
