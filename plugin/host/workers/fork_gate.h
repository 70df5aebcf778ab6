// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Delays fork() while libraries hold locks.  If a worker held a lock during fork(), no thread of
// the child could release it.
#pragma once

#include <mutex>
#include <shared_mutex>

namespace dnn_torch
{

// fork() waits while one exists, on any thread.  It must exist for a few microseconds only, and
// never while the thread waits for anything.
class NoFork
{
public:
    NoFork();

private:
    std::shared_lock<std::shared_mutex> lock_;
};

} // namespace dnn_torch
