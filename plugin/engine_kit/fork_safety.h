// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// fork() in a program whose other threads run models.
#pragma once

#include <mutex>
#include <pthread.h>

namespace engine_torch
{

// From now on no thread holds that mutex while the process forks: in the child
// it would stay held.  For mutexes that are held for moments; call it once.
template <std::mutex &mutex> void keep_over_fork()
{
    pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, [] { mutex.unlock(); });
}

} // namespace engine_torch
