// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The open files of this process, and writing to them.  Any thread.
#pragma once

#include <signal.h>
#include <string>
#include <time.h>

namespace dnn_torch
{

// Returns whether this process has that file open.  It may be ffmpeg's input, which must not be
// overwritten, or its output, which would overwrite ours.  False unless it is a regular file.
bool is_open_here(const std::string &path);

// While it exists, its thread's writes to a pipe without a reader fail and raise no signal.
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
