// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a user wants, and how that changes while frames pass.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

namespace dnn_torch
{

// The terms of each frame.  The thread of the filter sets them; any thread asks for them.
template <class Terms> class TermsInTime
{
public:
    explicit TermsInTime(Terms terms)
    {
        terms_.push_back({.frame = std::numeric_limits<int64_t>::min(),
                          .terms = std::make_shared<const Terms>(std::move(terms))});
    }

    // For frames that begin() is called for from now on.
    void set(Terms terms)
    {
        auto made = std::make_shared<const Terms>(std::move(terms));
        std::lock_guard lock(mutex_);
        next_ = std::move(made);
    }

    // The frame of that number came in, or has gone out.  Frames come and go in order.
    void begin(int64_t frame)
    {
        std::lock_guard lock(mutex_);
        if (next_)
            terms_.push_back({.frame = frame, .terms = std::exchange(next_, nullptr)});
    }
    void end(int64_t frame)
    {
        std::lock_guard lock(mutex_);
        while (terms_.size() > 1 && terms_[1].frame <= frame)
            terms_.pop_front();
    }

    // Returns those of the next frame.
    std::shared_ptr<const Terms> latest() const
    {
        std::lock_guard lock(mutex_);
        return next_ ? next_ : terms_.back().terms;
    }
    // Returns the terms of a frame between its begin() and its end().
    std::shared_ptr<const Terms> at(int64_t frame) const
    {
        std::lock_guard lock(mutex_);
        for (auto since = terms_.rbegin(); since != terms_.rend(); since++)
            if (since->frame <= frame)
                return since->terms;
        return terms_.front().terms;
    }

private:
    struct Since {
        int64_t frame;
        std::shared_ptr<const Terms> terms;
    };

    mutable std::mutex mutex_;
    // ---- under mutex_
    std::shared_ptr<const Terms> next_; // null: nothing new
    std::deque<Since> terms_;           // never empty
};

} // namespace dnn_torch
