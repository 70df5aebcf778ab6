// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a user should be told of a model, which grows while others read it.
#pragma once

#include "text.h"

#include <atomic>
#include <list>
#include <mutex>
#include <string>

namespace engine_kit
{

// Every member function may be called from several threads at once.
class Notices
{
public:
    // Does nothing with an empty one, or one that was there before.
    void add(const std::string &text)
    {
        const std::string notice = printable(text);
        const std::lock_guard<std::mutex> lock(mutex_);
        const std::string &before = texts_.back();
        if (before.find(notice) != std::string::npos)
            return;
        texts_.push_back(before + (before.empty() ? "" : "; ") + notice);
        latest_ = texts_.back().c_str();
    }

    // All of them as one line, which holds as long as this object.
    const char *text() const noexcept { return latest_; }

private:
    std::mutex mutex_;
    // ---- under mutex_
    std::list<std::string> texts_{""};
    // ---- for everybody
    std::atomic<const char *> latest_{""};
};

} // namespace engine_kit
