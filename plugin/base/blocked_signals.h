// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// While a BlockedSignals exists, threads start with all signals blocked, because our threads
// must not take the signals of the host program.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace dnn_torch
{

class BlockedSignals
{
public:
    BlockedSignals()
    {
        sigset_t all;
        sigfillset(&all);
        // These are the thread's own faults.  If they were blocked, the kernel would end the
        // process without the handlers of debuggers, sanitizers and programs that report crashes.
        for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP})
            sigdelset(&all, fault);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    BlockedSignals(const BlockedSignals &) = delete;
    BlockedSignals &operator=(const BlockedSignals &) = delete;

private:
    sigset_t before_;
};

} // namespace dnn_torch
