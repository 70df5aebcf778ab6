// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Collects warnings about a model.  Threads may read them while another one adds some.
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
    // Does nothing if the text is empty or was added before.
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

    // Returns all notices as one line, which is valid as long as this object.
    const char *text() const noexcept { return latest_; }

private:
    std::mutex mutex_;
    // ---- under mutex_
    std::list<std::string> texts_{""};
    // ---- without a lock
    std::atomic<const char *> latest_{""};
};

} // namespace engine_kit
