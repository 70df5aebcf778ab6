// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "held_signals.h"

#include <atomic>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

std::atomic<int> came[NSIG];

void count(int number)
{
    came[number]++;
}

std::atomic<int> status_to_leave_with;

void leave(int)
{
    _exit(status_to_leave_with);
}

bool is_ours(int number)
{
    struct sigaction now = {};
    return sigaction(number, nullptr, &now) == 0 && is_held_back(now);
}

} // namespace

bool is_handled(const struct sigaction &action)
{
    return (action.sa_flags & SA_SIGINFO) ||
           (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

bool is_held_back(const struct sigaction &action)
{
    return !(action.sa_flags & SA_SIGINFO) && action.sa_handler == count;
}

HeldSignals::HeldSignals()
    : held_{{{SIGINT, false, {}}, {SIGTERM, false, {}}, {SIGQUIT, false, {}}, {SIGHUP, false, {}}}}
{
    struct sigaction counting = {};
    counting.sa_handler = count;
    counting.sa_flags = SA_RESTART;
    sigfillset(&counting.sa_mask);
    for (Held &signal : held_)
        signal.is_held = sigaction(signal.number, nullptr, &signal.before) == 0 &&
                         is_handled(signal.before) &&
                         sigaction(signal.number, &counting, nullptr) == 0;
}

void leave_at_signals(int status) noexcept
{
    status_to_leave_with = status;
    struct sigaction leaving = {};
    leaving.sa_handler = leave;
    for (int number : {SIGINT, SIGTERM, SIGQUIT, SIGHUP})
        if (struct sigaction now = {}; sigaction(number, nullptr, &now) == 0 && is_handled(now))
            sigaction(number, &leaving, nullptr);
}

// Does not replace a handler that the program has set meanwhile.
HeldSignals::~HeldSignals()
{
    for (const Held &signal : held_)
        if (signal.is_held && is_ours(signal.number))
            sigaction(signal.number, &signal.before, nullptr);
    for (const Held &signal : held_)
        for (int i = came[signal.number].exchange(0); i > 0; i--)
            raise(signal.number);
}

} // namespace dnn_torch
