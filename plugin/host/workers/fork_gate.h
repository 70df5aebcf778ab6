// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Keeps fork() away from the locks of libraries.  If a worker held a lock during fork(),
// the child would have no thread that releases it.
#pragma once

#include <mutex>
#include <shared_mutex>

namespace dnn_torch
{

// fork() waits as long as one lives, on any thread.  Keep it for a few microseconds only,
// and never while the thread waits for anything.
class NoFork
{
public:
    NoFork();

private:
    std::shared_lock<std::shared_mutex> lock_;
};

} // namespace dnn_torch
