// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Keeps fork() away from the locks of libraries: a child has no thread that would
// ever release one that a worker held at that moment.
#pragma once

#include <mutex>
#include <shared_mutex>

namespace dnn_torch
{

// As long as one lives, on any thread, fork() waits.  For a few microseconds of a
// worker's time, and never while it waits for anything.
class NoFork
{
public:
    NoFork();

private:
    std::shared_lock<std::shared_mutex> lock_;
};

} // namespace dnn_torch
