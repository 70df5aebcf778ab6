// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Makes fork() safe in a program whose other threads run models.
#pragma once

#include <mutex>
#include <pthread.h>

namespace engine_torch
{

// Makes sure that no thread holds the mutex while the process forks.  Otherwise it would stay
// locked in the child.  Use it for mutexes that are held for moments, and call it once.
template <std::mutex &mutex> void keep_over_fork()
{
    pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, [] { mutex.unlock(); });
}

} // namespace engine_torch
