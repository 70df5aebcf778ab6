// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Lets runs that are tried again have the child for themselves.
#pragma once

#include "engine_kit/failure.h"

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace isolation
{

// When a child ends, all runs in it fail, though only one of them is to blame.  So each is tried
// again alone: one that ends its child again is the one, and takes no other with it.
//
// Every member function may be called from several threads at once.  No lock is held while a run
// is inside.
class RunGate
{
public:
    enum class Turn : bool { with_others, alone };

    // Waits for one's turn.  Returns false if `stopped` is true before.
    bool enter(Turn turn, const std::atomic<bool> &stopped)
    {
        std::unique_lock lock(mutex_);
        const bool alone = turn == Turn::alone;
        waiting_alone_ += alone;
        changed_.wait(lock, [&] {
            return stopped || (!is_taken_ && (alone ? inside_ == 0 : waiting_alone_ == 0));
        });
        waiting_alone_ -= alone;
        if (stopped) {
            changed_.notify_all();
            return false;
        }
        is_taken_ = alone;
        inside_++;
        return true;
    }

    void leave()
    {
        const std::lock_guard lock(mutex_);
        is_taken_ = false;
        inside_--;
        changed_.notify_all();
    }

    // Call it after a `stopped` became true.
    void note_stop()
    {
        const std::lock_guard lock(mutex_);
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    // ---- under mutex_
    int inside_ = 0, waiting_alone_ = 0;
    bool is_taken_ = false; // by one alone
};

// The end of a session's work, which the host wanted.
class Stopped : public engine_kit::Failure
{
public:
    Stopped() : Failure(DNN_TORCH_STOPPED, "the run was stopped") {}
};

// The time that somebody is inside the gate.
class Inside
{
public:
    // Throws Stopped if that becomes true before its turn.
    Inside(RunGate &gate, RunGate::Turn turn, const std::atomic<bool> &stopped) : gate_(gate)
    {
        if (!gate_.enter(turn, stopped))
            throw Stopped();
    }
    ~Inside() { gate_.leave(); }
    Inside(const Inside &) = delete;
    Inside &operator=(const Inside &) = delete;

private:
    RunGate &gate_;
};

} // namespace isolation
