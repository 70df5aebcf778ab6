// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Lets retried runs have the child for themselves.
#pragma once

#include "engine_kit/failure.h"

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace isolation
{

// When a child ends, all its runs fail, though only one of them is to blame.  So each is retried
// alone: one that ends its child again is the culprit, and takes no other with it.
//
// Every member function may be called from several threads at once.  No lock is held while a run
// is inside.
class RunGate
{
public:
    enum class Turn : bool { with_others, alone };

    // Waits for its turn.  Returns false if `stopped` becomes true first.
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
    bool is_taken_ = false; // by a run that is alone
};

// The host asked the session to stop.
class Stopped : public engine_kit::Failure
{
public:
    Stopped() : Failure(DNN_TORCH_STOPPED, "the run was stopped") {}
};

// Is inside the gate while it lives.
class Inside
{
public:
    // Throws Stopped if `stopped` becomes true first.
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
