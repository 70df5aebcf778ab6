// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A user's settings that change while frames pass.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

namespace dnn_torch
{

// The parameters of each frame.  The filter's thread sets them; any thread reads them.
template <class Parameters> class TimedParameters
{
public:
    explicit TimedParameters(Parameters parameters)
    {
        parameters_.push_back(
            {.frame = std::numeric_limits<int64_t>::min(),
             .parameters = std::make_shared<const Parameters>(std::move(parameters))});
    }

    // Applies to frames whose begin() is called from now on.
    void set(Parameters parameters)
    {
        auto next = std::make_shared<const Parameters>(std::move(parameters));
        std::lock_guard lock(mutex_);
        next_ = std::move(next);
    }

    // Called when the frame of that number arrives, and when it has left.  Frames keep their order.
    void begin(int64_t frame)
    {
        std::lock_guard lock(mutex_);
        if (next_)
            parameters_.push_back({.frame = frame, .parameters = std::exchange(next_, nullptr)});
    }
    void end(int64_t frame)
    {
        std::lock_guard lock(mutex_);
        while (parameters_.size() > 1 && parameters_[1].frame <= frame)
            parameters_.pop_front();
    }

    // Returns the parameters of the next frame.
    std::shared_ptr<const Parameters> latest() const
    {
        std::lock_guard lock(mutex_);
        return next_ ? next_ : parameters_.back().parameters;
    }
    // Returns the parameters of a frame between its begin() and its end().
    std::shared_ptr<const Parameters> at(int64_t frame) const
    {
        std::lock_guard lock(mutex_);
        for (auto since = parameters_.rbegin(); since != parameters_.rend(); since++)
            if (since->frame <= frame)
                return since->parameters;
        return parameters_.front().parameters;
    }

private:
    struct Since {
        int64_t frame;
        std::shared_ptr<const Parameters> parameters;
    };

    mutable std::mutex mutex_;
    // ---- under mutex_
    std::shared_ptr<const Parameters> next_; // null: no change
    std::deque<Since> parameters_;           // never empty
};

} // namespace dnn_torch
