// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "first_frames.h"

#include <chrono>

namespace engine_torch
{
namespace
{

constexpr std::chrono::milliseconds look_at_stop_every(20);

} // namespace

FirstFrames::Run::Run(FirstFrames &frames, const Kind &kind, int64_t number)
    : frames_(frames), kind_(kind), place_([&] {
          const std::lock_guard<std::mutex> lock(frames.mutex_);
          const std::pair place = {number, frames.runs_++};
          frames.under_way_[kind].insert(place);
          return place;
      }())
{
}

FirstFrames::Run::~Run()
{
    {
        const std::lock_guard<std::mutex> lock(frames_.mutex_);
        const auto others = frames_.under_way_.find(kind_);
        others->second.erase(place_);
        if (others->second.empty())
            frames_.under_way_.erase(others);
    }
    frames_.decided_.notify_all();
}

FirstFrames::Verdict FirstFrames::Run::verdict(const std::atomic<bool> &stopped)
{
    std::unique_lock<std::mutex> lock(frames_.mutex_);
    while (!stopped) {
        if (frames_.bad_)
            return Verdict::bad;
        if (frames_.good_.count(kind_) > 0)
            return Verdict::good;
        if (*frames_.under_way_[kind_].begin() == place_)
            return Verdict::to_compare;
        frames_.decided_.wait_for(lock, look_at_stop_every);
    }
    return Verdict::stopped;
}

void FirstFrames::Run::decide(bool is_good)
{
    {
        const std::lock_guard<std::mutex> lock(frames_.mutex_);
        if (is_good)
            frames_.good_.insert(kind_);
        else
            frames_.bad_ = true;
    }
    frames_.decided_.notify_all();
}

bool FirstFrames::are_good(const Kind &kind) const
{
    const std::lock_guard<std::mutex> lock(mutex_);
    return !bad_ && good_.count(kind) > 0;
}

} // namespace engine_torch
