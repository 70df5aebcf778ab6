// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Lets one run after the other be tried again.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace isolation
{

// When a child ends, all runs in it fail, though only one of them is to blame.  If they were tried
// again side by side, that one would end the next child for all of them.
//
// Every member function may be called from several threads at once.
class RetryGate
{
public:
    // Waits for one's turn.  Returns false if `stopped` is true before.
    bool enter(const std::atomic<bool> &stopped)
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stopped || !is_taken_; });
        return !stopped && (is_taken_ = true);
    }

    void leave()
    {
        const std::lock_guard lock(mutex_);
        is_taken_ = false;
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
    bool is_taken_ = false;
};

} // namespace isolation
