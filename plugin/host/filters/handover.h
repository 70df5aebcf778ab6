// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Where one thread puts work that another one goes on with.
#pragma once

#include "host/tasks/task.h"

#include <mutex>
#include <optional>
#include <utility>

namespace dnn_torch
{

// Any thread may call.  Shared by both sides, so that neither has to wait for the other's end.
class Handover
{
public:
    // Takes the place of what was offered before and was not taken.
    void offer(Work work)
    {
        std::optional<Work> replaced(std::move(work));
        std::lock_guard lock(mutex_);
        offered_.swap(replaced);
    } // what was replaced is freed after the lock

    std::optional<Work> take()
    {
        std::lock_guard lock(mutex_);
        return std::exchange(offered_, std::nullopt);
    }

private:
    std::mutex mutex_;
    // ---- under mutex_ ----
    std::optional<Work> offered_;
};

} // namespace dnn_torch
