// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What generated code calls by its number; see network_that_calls().
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace engine_torch
{

// Does not keep the objects alive.  Any thread.
template <class Object> class CalledObjects
{
public:
    // Returns the number of the object, which no other one ever gets.
    int64_t add(const std::shared_ptr<const Object> &object)
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        std::erase_if(objects_, [](const auto &each) { return each.second.expired(); });
        objects_.emplace(++last_, object);
        return last_;
    }

    // Returns null if it is gone.
    std::shared_ptr<const Object> find(int64_t number) const
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found = objects_.find(number);
        return found == objects_.end() ? nullptr : found->second.lock();
    }

private:
    mutable std::mutex mutex_;
    // ---- under mutex_
    std::map<int64_t, std::weak_ptr<const Object>> objects_;
    int64_t last_ = 0;
};

} // namespace engine_torch
