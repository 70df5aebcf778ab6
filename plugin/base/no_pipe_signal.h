// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// While a NoPipeSignal exists, its thread's writes to a pipe without a reader fail and raise no
// signal.
#pragma once

#include <signal.h>
#include <time.h>

namespace dnn_torch
{

class NoPipeSignal
{
public:
    NoPipeSignal()
    {
        sigset_t pending;
        sigpending(&pending);
        was_pending_ = sigismember(&pending, SIGPIPE);
        sigemptyset(&pipe_);
        sigaddset(&pipe_, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    ~NoPipeSignal()
    {
        const timespec at_once = {0, 0};
        if (!was_pending_)
            sigtimedwait(&pipe_, nullptr, &at_once);
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    NoPipeSignal(const NoPipeSignal &) = delete;
    NoPipeSignal &operator=(const NoPipeSignal &) = delete;

private:
    sigset_t pipe_, before_;
    bool was_pending_;
};

} // namespace dnn_torch
